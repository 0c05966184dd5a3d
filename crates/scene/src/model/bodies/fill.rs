//! Positions of many bodies that fill a region.

use super::Reader;
use crate::file::Fault;
use crate::file::format;
use nonsmooth_multibody::Vec2;

impl Reader<'_> {
    /// The first cells of a hexagonal lattice in a region, row by row from its bottom.
    pub(super) fn fill(&mut self, fill: &format::Fill, count: usize, name: &str) -> Result<Vec<Vec2>, Fault> {
        let origin = &fill.origin;
        let s = self.number(&fill.spacing)?;
        if !(s > 0.0) {
            return Err(Fault::new(&fill.spacing.origin, format!("`spacing` must be positive, it is {s}")));
        }
        let (low, high, circle) = match (&fill.radius, &fill.from, &fill.to) {
            (Some(r), None, None) => {
                let (r, c) = (self.number(r)?, self.pair_or(fill.centre.as_ref(), "`centre`", origin)?);
                ([c[0] - r, c[1] - r], [c[0] + r, c[1] + r], Some((c, r)))
            }
            (None, Some(from), Some(to)) => (self.pair(from, "`from`", origin)?, self.pair(to, "`to`", origin)?, None),
            _ => return Err(Fault::new(origin, "a `fill` needs `radius`, or `from` and `to`")),
        };
        // Rows of n and n − 1 cells in turn, each in the middle of the region from side to side.
        let height = s * 0.75f64.sqrt();
        let columns = ((high[0] - low[0]) / s * (1.0 + 1e-12)).floor().clamp(0.0, 1e9);
        let middle = 0.5 * (low[0] + high[0]);
        // Rounding of the bounds, wherever the region lies.
        let slack = 1e-12 * (high[1] - low[1]) + 4.0 * f64::EPSILON * low[1].abs().max(high[1].abs());
        let mut out = Vec::new();
        let mut row = 0.0;
        while out.len() < count {
            let y = low[1] + 0.5 * s + row * height;
            if !(y + 0.5 * s <= high[1] + slack) || columns < 1.0 {
                break;
            }
            let cells = if row % 2.0 == 0.0 { columns } else { columns - 1.0 };
            let mut column = 0.0;
            while column < cells && out.len() < count {
                let x = middle + (column - 0.5 * (cells - 1.0)) * s;
                let inside = circle.is_none_or(|(c, r): (Vec2, f64)| (x - c[0]).hypot(y - c[1]) + 0.5 * s <= r);
                if inside {
                    out.push([x, y]);
                }
                column += 1.0;
            }
            row += 1.0;
        }
        if out.len() < count {
            let message =
                format!("the region has room for {} bodies `{name}` at this spacing, {count} are asked for", out.len());
            return Err(Fault::new(origin, message));
        }
        Ok(out)
    }
}
