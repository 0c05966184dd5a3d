//! Stops: contacts of one coordinate with a fixed value, g = s (q − q₀) with s = ±1.

use crate::error::{BuildError, check};
use crate::layout::CoordinateLayout;
use crate::proximity::identity::Identity;
use nonsmooth::contract::{Interaction, Kind};
use nonsmooth::law::{ContactLaw, Law};
use nonsmooth::names::{Names, hint};
use std::sync::Arc;

/// Description of a stop.
#[derive(Debug, Clone)]
pub(crate) struct StopDescription {
    pub(crate) name: String,
    pub(crate) coordinate: String,
    pub(crate) sign: f64,
    pub(crate) offset: f64,
    pub(crate) law: ContactLaw,
}

/// A stop in a system.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub(crate) name: String,
    /// Number of the coordinate.
    coordinate: usize,
    sign: f64,
    offset: f64,
    pub(crate) interaction: Interaction,
}

impl Stop {
    /// The stop with a number, of one of these coordinates.
    pub(crate) fn new(
        number: usize,
        s: &StopDescription,
        coordinates: &Names,
        layout: &CoordinateLayout,
    ) -> Result<Self, BuildError> {
        let found = coordinates.iter().position(|c| c == s.coordinate);
        let (coordinate, rate) = found.and_then(|c| Some((c, layout.rate_of(c)?))).ok_or_else(|| {
            let hint = hint(&s.coordinate, coordinates.iter(), String::new);
            let (part, name) = (s.name.clone(), s.coordinate.clone());
            BuildError::Unknown { part, name, expected: "not a coordinate", hint }
        })?;
        let law = Law::Contact(s.law.clone());
        law.validate(1).map_err(|source| BuildError::Law { contact: s.name.clone(), source })?;
        let expected = "finite, and the sign not zero";
        check(&s.name, "its sign", expected, s.sign, s.sign.is_finite() && s.sign != 0.0)?;
        check(&s.name, "its offset", expected, s.offset, s.offset.is_finite())?;
        let id = Identity::stop(number as u32).number();
        let interaction = Interaction::new(id, Kind::Contact, 1, Arc::new(law), [rate as u32]);
        let interaction = interaction.with_constant_directions(true);
        Ok(Self { name: s.name.clone(), coordinate, sign: s.sign.signum(), offset: s.offset, interaction })
    }

    /// g.
    #[inline]
    pub(crate) fn gap(&self, q: &[f64]) -> f64 {
        self.sign * (q[self.coordinate] - self.offset)
    }

    /// ∂g/∂q, and the row of Wᵀ.
    #[inline]
    pub(crate) fn direction(&self) -> f64 {
        self.sign
    }
}
