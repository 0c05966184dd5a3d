//! Keys of records that state a law: `restitution`, `tangential_restitution`, `friction`, bounds.

use super::scope::Numbers;
use crate::file::format::{Contact, Friction, Restitution};
use crate::file::{Document, Fault, Formula};
use complementarity::Polygon;
use nonsmooth::law::ContactLaw;
use std::sync::Arc;

/// Most facets of a polyhedral law.
const MAX_FACETS: usize = 64;

/// The slip velocity of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slip {
    /// By formula, with its number of components; 0 without one.
    Formula(usize),
    /// Of bodies in the plane: one component.
    Planar,
}

impl Slip {
    fn dim(self) -> usize {
        match self {
            Slip::Formula(n) => n,
            Slip::Planar => 1,
        }
    }
}

impl Numbers {
    /// A coefficient of restitution.
    pub(super) fn restitution(&mut self, document: &Document, formula: &Formula) -> Result<f64, Fault> {
        let e = self.evaluate(document, formula)?;
        if (0.0..=1.0).contains(&e) {
            return Ok(e);
        }
        Err(Fault::new(&formula.origin, format!("a coefficient of restitution lies in [0, 1], this is {e}")))
    }

    /// A friction coefficient or a bound.
    pub(super) fn not_negative(&mut self, document: &Document, formula: &Formula, what: &str) -> Result<f64, Fault> {
        let v = self.evaluate(document, formula)?;
        if v >= 0.0 {
            return Ok(v);
        }
        Err(Fault::new(&formula.origin, format!("{what} must not be negative, this is {v}")))
    }

    /// The law of a contact, with a gap by formula or between bodies.
    pub(super) fn contact_law(
        &mut self,
        document: &Document,
        contact: &Contact,
        slip: Slip,
    ) -> Result<ContactLaw, Fault> {
        let name = &contact.name.name;
        let mut law = match &contact.restitution {
            None => ContactLaw::newton(0.0),
            Some(Restitution::Newton(e)) => ContactLaw::newton(self.restitution(document, e)?),
            Some(Restitution::Poisson(e)) => ContactLaw::poisson(self.restitution(document, e)?),
        };
        if let Some(e) = &contact.tangential_restitution {
            let lacking = match (slip, &contact.friction) {
                (Slip::Formula(0), _) => Some("`slip` and `friction`"),
                (Slip::Planar, None) => Some("`friction`"),
                (Slip::Formula(_), _) | (Slip::Planar, Some(_)) => None,
            };
            if let Some(lacking) = lacking {
                let message = format!("`tangential_restitution` has no effect: contact `{name}` has no {lacking}");
                return Err(Fault::new(&e.origin, message));
            }
            law = law.tangential_restitution(self.restitution(document, e)?);
        }
        let dim = slip.dim();
        Ok(match (&contact.friction, slip) {
            (None, Slip::Formula(0) | Slip::Planar) => law,
            (None, Slip::Formula(_)) => {
                let origin = contact.slip.as_ref().map_or(&contact.origin, |f| f.origin());
                return Err(Fault::new(origin, format!("contact `{name}` has a slip velocity but no `friction`")));
            }
            (Some(friction), Slip::Formula(0)) => {
                let message = format!("contact `{name}` has friction but no `slip` velocity");
                return Err(Fault::new(friction.origin(), message));
            }
            (Some(Friction::Coulomb(mu)), _) => {
                law.coulomb(dim, self.not_negative(document, mu, "a friction coefficient")?)
            }
            (Some(Friction::Bound(a)), _) => law.tresca(dim, self.not_negative(document, a, "a bound")?),
            (Some(Friction::Polyhedral(mu, _)), Slip::Planar) => {
                let message = "polyhedral friction needs two directions of slip, the plane has one";
                return Err(Fault::new(&mu.origin, message));
            }
            (Some(Friction::Polyhedral(mu, facets)), Slip::Formula(n)) => {
                if n != 2 {
                    let message = format!("polyhedral friction needs a slip velocity of 2 components, this has {n}");
                    return Err(Fault::new(&mu.origin, message));
                }
                let count = usize::try_from(*facets).ok().filter(|n| *n <= MAX_FACETS);
                let Some(polygon) = count.and_then(|n| Polygon::regular(n).ok()) else {
                    let message = format!("{facets} facets: 3 to {MAX_FACETS} are possible");
                    return Err(Fault::new(&mu.origin, message));
                };
                law.polyhedral(self.not_negative(document, mu, "a friction coefficient")?, Arc::new(polygon))
            }
        })
    }
}
