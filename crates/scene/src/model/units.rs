//! Units of coordinates and velocities, for plots.

use crate::file::Fault;
use crate::file::format::Scene;
use nonsmooth::names::nearest;

/// Units by number of a coordinate or velocity. What is not known has an empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Number of coordinates of bodies, in threes, and with those of bars.
    bodies: usize,
    before: usize,
    /// Of the model's own.
    coordinates: Vec<String>,
    velocities: Vec<String>,
}

impl Units {
    /// Units of a scene with so many coordinates of bodies, and of bodies and bars.
    pub fn build(scene: &Scene, bodies: usize, before: usize) -> Result<Self, Fault> {
        let mut this = Self { bodies, before, ..Self::default() };
        let Some(model) = &scene.model else { return Ok(this) };
        let own = model.velocities.as_deref().unwrap_or(&[]);
        let names = || model.coordinates.iter().chain(own).map(|k| k.name.as_str());
        if let Some((key, _)) = model.units.0.iter().find(|(k, _)| !names().any(|n| n == k.name)) {
            let hint = match nearest(&key.name, names()) {
                Some(n) => format!(": did you mean `{n}`?"),
                None => format!(" (there are {})", names().collect::<Vec<_>>().join(", ")),
            };
            let message = format!("`units`: there is no coordinate or velocity `{}`{hint}", key.name);
            return Err(Fault::new(&key.origin, message));
        }
        let given = |name: &str| model.units.0.iter().find(|(k, _)| k.name == name).map(|(_, unit)| unit.clone());
        this.coordinates = model.coordinates.iter().map(|k| given(&k.name).unwrap_or_default()).collect();
        let identity = scene.kinematics.0.is_empty();
        let rates = this.coordinates.iter().map(|u| per_second(u)).chain(std::iter::repeat(String::new()));
        this.velocities = match &model.velocities {
            None => rates.take(this.coordinates.len()).collect(),
            Some(list) => {
                let rate = rates.map(|r| if identity { r } else { String::new() });
                list.iter().zip(rate).map(|(k, rate)| given(&k.name).unwrap_or(rate)).collect()
            }
        };
        Ok(this)
    }

    /// Unit of a coordinate.
    pub fn coordinate(&self, i: usize) -> &str {
        if i < self.bodies {
            return if i % 3 == 2 { "rad" } else { "m" };
        }
        if i < self.before { "m" } else { self.coordinates.get(i - self.before).map_or("", String::as_str) }
    }

    /// Unit of a velocity.
    pub fn velocity(&self, i: usize) -> String {
        if i < self.before {
            return per_second(self.coordinate(i));
        }
        self.velocities.get(i - self.before).cloned().unwrap_or_default()
    }
}

fn per_second(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!("{unit}/s") }
}
