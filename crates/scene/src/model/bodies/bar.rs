//! Reads the records of bars.

use super::Reader;
use super::drawn::DrawnBar;
use crate::file::Fault;
use crate::file::format;
use nonsmooth_multibody::{Bar, CoordinateLayout};

impl Reader<'_> {
    pub(super) fn bar(&mut self, bar: &format::Bar) -> Result<(), Fault> {
        self.out.places.insert(&bar.name.name, &bar.name.origin);
        let elements = self.count(&bar.elements, "`elements`")?;
        self.reserve(CoordinateLayout::new(0, elements.saturating_add(1)).nq(), &bar.name.origin)?;
        let made = Bar {
            name: bar.name.name.clone(),
            elements,
            length: self.number(&bar.length)?,
            area: self.number(&bar.area)?,
            density: self.number(&bar.density)?,
            modulus: self.number(&bar.modulus)?,
            displacement: self.number_or(bar.displacement.as_ref(), 0.0)?,
            velocity: self.number_or(bar.velocity.as_ref(), 0.0)?,
        };
        self.out.bars.push(DrawnBar { name: made.name.clone(), first: 0, elements, length: made.length });
        self.out.builder.bar(made);
        Ok(())
    }
}
