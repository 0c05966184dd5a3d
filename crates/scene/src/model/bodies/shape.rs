//! Shapes of bodies.

use super::Reader;
use crate::file::Fault;
use crate::file::format;
use nonsmooth_multibody::Shape;

impl Reader<'_> {
    pub(super) fn shape(&mut self, s: &format::Shape) -> Result<Shape, Fault> {
        let origin = &s.origin;
        let mut found = Vec::new();
        if let Some(d) = &s.disc {
            let centre = self.pair_or(d.centre.as_ref(), "`centre`", origin)?;
            found.push(Shape::Disc { centre, radius: self.number(&d.radius)? });
        }
        if let Some(d) = &s.inner_circle {
            let centre = self.pair_or(d.centre.as_ref(), "`centre`", origin)?;
            found.push(Shape::InnerCircle { centre, radius: self.number(&d.radius)? });
        }
        if let Some(h) = &s.half_plane {
            let point = self.pair_or(h.point.as_ref(), "`point`", origin)?;
            found.push(Shape::HalfPlane { point, normal: self.pair(&h.normal, "`normal`", origin)? });
        }
        if let Some(w) = &s.segment {
            let (from, to) = (self.pair(&w.from, "`from`", origin)?, self.pair(&w.to, "`to`", origin)?);
            found.push(Shape::segment(from, to, self.number_or(w.thickness.as_ref(), 0.0)?));
        }
        if let Some(r) = &s.rectangle {
            let centre = self.pair_or(r.centre.as_ref(), "`centre`", origin)?;
            let half = [0.5 * self.number(&r.width)?, 0.5 * self.number(&r.height)?];
            found.push(Shape::Box { centre, half, angle: self.number_or(r.angle.as_ref(), 0.0)? });
        }
        match found.as_slice() {
            [one] => Ok(*one),
            _ => {
                let kinds = "disc, inner_circle, half_plane, segment, rectangle";
                Err(Fault::new(origin, format!("a shape is one of {kinds}; this has {} of them", found.len())))
            }
        }
    }
}
