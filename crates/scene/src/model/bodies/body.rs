//! Reads the records of bodies, each for one body or for many.

use super::Reader;
use super::drawn::Drawn;
use super::random::random;
use crate::file::Fault;
use crate::file::format;
use nonsmooth_multibody::{Body, CoordinateLayout, DEFAULT_MATERIAL, Mobility, Pose, Twist, Vec2, Weight};

/// Names that formulas of a body may use besides parameters.
const BODY_NAMES: [&str; 4] = ["i", "random", "random2", "random3"];

impl Reader<'_> {
    pub(super) fn bodies(&mut self, record: u64, body: &format::Body) -> Result<(), Fault> {
        let name = &body.name.name;
        self.out.places.insert(name, &body.name.origin);
        let count = match &body.count {
            Some(f) => Some(self.count(f, "`count`")?),
            None => None,
        };
        let made = count.unwrap_or(1);
        let mobility = self.mobility(body)?;
        let coordinates = match mobility {
            Mobility::Free => CoordinateLayout::new(made, 0).nq(),
            Mobility::Fixed | Mobility::Driven(_) => made,
        };
        self.reserve(coordinates, &body.name.origin)?;
        if let Some(position) = body.position.as_ref().filter(|_| body.fill.is_some()) {
            let origin = position.first().map_or(&body.origin, |f| &f.origin);
            return Err(Fault::new(origin, format!("body `{name}` has `position` and `fill`: give one of them")));
        }
        let places = match &body.fill {
            Some(fill) => Some(self.fill(fill, made, name)?),
            None => None,
        };
        for i in 0..made {
            let values = [
                i as f64,
                random(self.seed, record, i as u64, 0),
                random(self.seed, record, i as u64, 1),
                random(self.seed, record, i as u64, 2),
            ];
            if count.is_some() {
                BODY_NAMES.iter().zip(values).for_each(|(n, v)| self.numbers.offer(n, v));
            }
            let own = if count.is_some() { format!("{name}_{i}") } else { name.clone() };
            let result = self.body(body, own, mobility.clone(), places.as_ref().map(|p| p[i]));
            if count.is_some() {
                BODY_NAMES.iter().for_each(|n| self.numbers.withdraw(n));
            }
            result?;
        }
        Ok(())
    }

    fn body(
        &mut self,
        body: &format::Body,
        name: String,
        mobility: Mobility,
        place: Option<Vec2>,
    ) -> Result<(), Fault> {
        let origin = &body.origin;
        let mut shapes = Vec::new();
        for shape in body.shape.iter().chain(&body.shapes) {
            shapes.push(self.shape(shape)?);
        }
        let (free, driven) = match mobility {
            Mobility::Free => (true, false),
            Mobility::Fixed => (false, false),
            Mobility::Driven(_) => (false, true),
        };
        let weight = match (&body.density, &body.mass, &body.inertia) {
            (Some(d), None, None) => Weight::Density(self.number(d)?),
            (None, Some(m), Some(j)) => Weight::Given { mass: self.number(m)?, inertia: self.number(j)? },
            (None, None, None) if !free => Weight::Density(1.0),
            _ => {
                let message = format!("body `{}` needs `density`, or `mass` and `inertia`", body.name.name);
                return Err(Fault::new(origin, message));
            }
        };
        let useless = [
            ("position", body.position.as_deref().and_then(<[_]>::first), driven, "its motion is prescribed"),
            ("angle", body.angle.as_ref(), driven, "its motion is prescribed"),
            ("velocity", body.velocity.as_deref().and_then(<[_]>::first), !free, "it does not move by forces"),
            ("spin", body.spin.as_ref(), !free, "it does not move by forces"),
        ];
        for (key, formula, refused, why) in useless {
            if let Some(f) = formula.filter(|_| refused) {
                let message = format!("body `{}`: `{key}` has no effect, {why}", body.name.name);
                return Err(Fault::new(&f.origin, message));
            }
        }
        let centre = match place {
            Some(p) => p,
            None => self.pair_or(body.position.as_ref(), "`position`", origin)?,
        };
        let pose = Pose { centre, angle: self.number_or(body.angle.as_ref(), 0.0)? };
        let velocity = self.pair_or(body.velocity.as_ref(), "`velocity`", origin)?;
        let twist = Twist { velocity, spin: self.number_or(body.spin.as_ref(), 0.0)? };
        let material = body.material.as_ref().map_or(DEFAULT_MATERIAL.into(), |k| k.name.clone());
        let colour = self.number_or(body.colour.as_ref(), 0.0)?;
        let shown = match &mobility {
            Mobility::Driven(m) => m.at(0.0).0,
            Mobility::Free | Mobility::Fixed => pose,
        };
        self.out.drawn.push(Drawn { name: name.clone(), shapes: shapes.clone(), colour, first: None, pose: shown });
        self.out.builder.body(Body { name, mobility, weight, pose, twist, shapes, material });
        Ok(())
    }
}
