//! Force laws as data: which set the percussion of a step lies in, and the restitution.
//!
//! A law relates the percussion P of a step to the relative velocity by
//!
//! ```text
//! −ξ ∈ N_Â(P),    ξ = γ⁺ + e γ⁻,    Â = C·dt + D
//! ```
//!
//! [Studer2008, (10), (11), (17)] with the set C of forces and the set D of impulses. A contact has
//! C = D = its cone, so that Â is the cone itself; a bound on friction has C = ball(a), D = {0},
//! so that Â = ball(a·dt): it gives no impulse at an impact.
//!
//! | law | C | D | velocity |
//! |---|---|---|---|
//! | Signorini with Newton restitution | R₊ | R₊ | ġ_N, ξ_N = ġ_N⁺ + e_N ġ_N⁻ |
//! | Coulomb, dimension 1 to 3 | μλ_N·ball | μΛ_N·ball | γ_F, ξ_F = γ_F⁺ + e_F γ_F⁻ |
//! | polyhedral cone | μλ_N·conv{d_j} | μΛ_N·conv{d_j} | γ_F |
//! | Tresca (constant bound) | ball(a) | {0} | γ_F while the contact is closed |
//! | element: ball | ball(a) | ball(b) | γ |
//! | element: box | Π[l_i, u_i] | Π[L_i, U_i] | γ |
//! | bilateral | R^d | R^d | ġ or γ, no restitution |
//!
//! Coulomb-Contensou friction is the ball of dimension 3 with the spin scaled into a velocity by the
//! model's slip function (Breuling §5.4).

use complementarity::{Polygon, Set};
use std::sync::Arc;

/// Law of a contact in normal direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Normal {
    /// Signorini with Newton restitution: ġ⁺ = −e ġ⁻ where a percussion acts.
    Newton {
        /// Coefficient of restitution, 0 to 1.
        e: f64,
    },
    /// Signorini with Poisson restitution: the expansion returns e times the percussion of the compression.
    Poisson {
        /// Coefficient of restitution, 0 to 1.
        e: f64,
    },
}

impl Normal {
    /// The coefficient, whatever the law.
    pub fn restitution(self) -> f64 {
        match self {
            Normal::Newton { e } | Normal::Poisson { e } => e,
        }
    }
}

/// Law of a contact in tangential direction.
#[derive(Debug, Clone, PartialEq)]
pub enum Friction {
    /// Isotropic Coulomb friction on interval, disc or 3-ball.
    Coulomb {
        /// Friction coefficient.
        mu: f64,
    },
    /// Coulomb friction on a polyhedral cone; slip dimension 2.
    Polyhedral {
        /// Friction coefficient.
        mu: f64,
        /// Section of the cone.
        polygon: Arc<Polygon>,
    },
    /// Constant bound, independent of the normal force.
    Tresca {
        /// Largest friction force, N.
        bound: f64,
    },
}

/// Law of a unilateral contact.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactLaw {
    /// Normal law.
    pub normal: Normal,
    /// Friction law; `None` is frictionless.
    pub friction: Option<Friction>,
    /// Dimension of the slip velocity γ_F: 0 without friction, else 1 to 3.
    pub slip_dim: usize,
    /// Tangential restitution e_F, 0 to 1.
    pub e_tangential: f64,
}

impl ContactLaw {
    /// Frictionless contact with Newton restitution.
    #[inline]
    pub fn newton(e: f64) -> Self {
        Self { normal: Normal::Newton { e }, friction: None, slip_dim: 0, e_tangential: 0.0 }
    }

    /// Frictionless contact with Poisson restitution.
    #[inline]
    pub fn poisson(e: f64) -> Self {
        Self { normal: Normal::Poisson { e }, ..Self::newton(e) }
    }

    /// Adds Coulomb friction with a slip velocity of `dim` components (1, 2 or 3).
    #[inline]
    pub fn coulomb(self, dim: usize, mu: f64) -> Self {
        Self { friction: Some(Friction::Coulomb { mu }), slip_dim: dim, ..self }
    }

    /// Adds polyhedral friction with a slip velocity of 2 components.
    #[inline]
    pub fn polyhedral(self, mu: f64, polygon: Arc<Polygon>) -> Self {
        Self { friction: Some(Friction::Polyhedral { mu, polygon }), slip_dim: 2, ..self }
    }

    /// Adds friction with a constant bound in newtons.
    #[inline]
    pub fn tresca(self, dim: usize, bound: f64) -> Self {
        Self { friction: Some(Friction::Tresca { bound }), slip_dim: dim, ..self }
    }

    /// Sets the tangential restitution.
    #[inline]
    pub fn tangential_restitution(self, e: f64) -> Self {
        Self { e_tangential: e, ..self }
    }
}

/// Law of a set-valued element without a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementLaw {
    /// Sets of force and impulse.
    pub sets: ElementSets,
    /// Restitution e of ξ = γ⁺ + e γ⁻, 0 to 1.
    pub e: f64,
}

/// Force and impulse sets of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementSets {
    /// ‖force‖ ≤ `force`, ‖impulse‖ ≤ `impulse`; dimension 1 to 3.
    Ball {
        /// Largest force, N.
        force: f64,
        /// Largest impulse, N·s.
        impulse: f64,
    },
    /// Bounds per component; infinite bounds allowed. A pre-stressed spring has force [−a, ∞).
    Box {
        /// Bounds of the force, N.
        force: Vec<(f64, f64)>,
        /// Bounds of the impulse, N·s; an infinite bound of the force should be one here too.
        impulse: Vec<(f64, f64)>,
    },
}

impl ElementLaw {
    /// Constant friction bound of `force` newtons, no impulse.
    #[inline]
    pub fn bound(force: f64) -> Self {
        Self { sets: ElementSets::Ball { force, impulse: 0.0 }, e: 0.0 }
    }

    /// Box of forces and impulses.
    #[inline]
    pub fn boxed(force: Vec<(f64, f64)>, impulse: Vec<(f64, f64)>) -> Self {
        Self { sets: ElementSets::Box { force, impulse }, e: 0.0 }
    }
}

/// A law parameter outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LawError {
    /// Restitution outside [0, 1].
    #[error("{which} restitution must be in [0, 1], got {value}")]
    Restitution {
        /// Normal or tangential.
        which: &'static str,
        /// What was given.
        value: f64,
    },
    /// Friction coefficient negative or not finite.
    #[error("friction coefficient must be finite and >= 0, got {0}")]
    Friction(f64),
    /// A bound that is negative or not finite.
    #[error("{which} bound must be finite and >= 0, got {value}")]
    Bound {
        /// Which bound.
        which: &'static str,
        /// What was given.
        value: f64,
    },
    /// Bounds of a box that exclude every value.
    #[error("component {component}: {which} bounds [{lower}, {upper}] are empty or undefined")]
    Box {
        /// Force or impulse.
        which: &'static str,
        /// Component of the box.
        component: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// Dimension of a slip velocity or an element that the law does not have.
    #[error("dimension {found} does not fit the law, which needs {expected}")]
    Dimension {
        /// What was given.
        found: usize,
        /// What the law allows.
        expected: &'static str,
    },
}

fn restitution(which: &'static str, value: f64) -> Result<(), LawError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(LawError::Restitution { which, value }) }
}

fn bound(which: &'static str, value: f64) -> Result<(), LawError> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(LawError::Bound { which, value }) }
}

/// The law of one interaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// Bilateral constraint.
    Bilateral,
    /// Unilateral contact.
    Contact(ContactLaw),
    /// Element without a gap.
    Element(ElementLaw),
}

impl Law {
    /// Checks the parameters for a velocity of `dim` components.
    pub fn validate(&self, dim: usize) -> Result<(), LawError> {
        match self {
            Law::Bilateral => Ok(()),
            Law::Contact(law) => {
                restitution("normal", law.normal.restitution())?;
                restitution("tangential", law.e_tangential)?;
                let fits = |ok: bool, expected| {
                    if ok { Ok(()) } else { Err(LawError::Dimension { found: law.slip_dim, expected }) }
                };
                fits(dim == law.slip_dim.saturating_add(1), "one normal component and the slip dimension")?;
                match &law.friction {
                    None => fits(law.slip_dim == 0, "slip dimension 0 (frictionless)"),
                    Some(Friction::Coulomb { mu }) => {
                        if !(*mu >= 0.0 && mu.is_finite()) {
                            return Err(LawError::Friction(*mu));
                        }
                        fits((1..=3).contains(&law.slip_dim), "slip dimension 1, 2 or 3")
                    }
                    Some(Friction::Polyhedral { mu, .. }) => {
                        if !(*mu >= 0.0 && mu.is_finite()) {
                            return Err(LawError::Friction(*mu));
                        }
                        fits(law.slip_dim == 2, "slip dimension 2")
                    }
                    Some(Friction::Tresca { bound: b }) => {
                        bound("friction", *b)?;
                        fits((1..=3).contains(&law.slip_dim), "slip dimension 1, 2 or 3")
                    }
                }
            }
            Law::Element(law) => {
                restitution("element", law.e)?;
                match &law.sets {
                    ElementSets::Ball { force, impulse } => {
                        bound("force", *force)?;
                        bound("impulse", *impulse)?;
                        if (1..=3).contains(&dim) {
                            Ok(())
                        } else {
                            Err(LawError::Dimension { found: dim, expected: "dimension 1, 2 or 3" })
                        }
                    }
                    ElementSets::Box { force, impulse } => {
                        if force.len() != dim || impulse.len() != dim {
                            let expected = "one pair of bounds per component";
                            return Err(LawError::Dimension { found: force.len().min(impulse.len()), expected });
                        }
                        for (which, bounds) in [("force", force), ("impulse", impulse)] {
                            for (component, &(lower, upper)) in bounds.iter().enumerate() {
                                let ok = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
                                if !ok {
                                    return Err(LawError::Box { which, component, lower, upper });
                                }
                            }
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    /// Restitution of component `k` of the velocity.
    #[inline]
    pub fn restitution(&self, k: usize) -> f64 {
        match self {
            Law::Bilateral => 0.0,
            Law::Contact(law) if k == 0 => law.normal.restitution(),
            Law::Contact(law) => law.e_tangential,
            Law::Element(law) => law.e,
        }
    }

    /// The sets of the percussion of a step of length `dt` for a velocity of `dim` components, in
    /// the order of the components: Â = C·dt + D.
    pub fn percussion_sets(&self, dim: usize, dt: f64, mut emit: impl FnMut(Set)) {
        match self {
            Law::Bilateral => {
                // Blocks of at most MAX_DIM components.
                let max = complementarity::sets::MAX_DIM;
                let mut left = dim;
                while left > 0 {
                    emit(Set::Free { dim: left.min(max) });
                    left -= left.min(max);
                }
            }
            Law::Contact(law) => match &law.friction {
                None => emit(Set::NonNegative),
                Some(Friction::Coulomb { mu }) => emit(Set::Coulomb { dim: law.slip_dim, mu: *mu }),
                Some(Friction::Polyhedral { mu, polygon }) => {
                    emit(Set::Polyhedral { mu: *mu, polygon: polygon.clone() });
                }
                Some(Friction::Tresca { bound }) => {
                    emit(Set::NonNegative);
                    emit(Set::Ball { dim: law.slip_dim, radius: bound * dt });
                }
            },
            Law::Element(law) => match &law.sets {
                ElementSets::Ball { force, impulse } => emit(Set::Ball { dim, radius: force * dt + impulse }),
                ElementSets::Box { force, impulse } => {
                    for (&(lf, uf), &(li, ui)) in force.iter().zip(impulse) {
                        emit(Set::Interval { lower: lf * dt + li, upper: uf * dt + ui });
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_parameters_are_named() {
        let check = |law: ContactLaw| {
            let dim = 1 + law.slip_dim;
            Law::Contact(law).validate(dim)
        };
        assert!(check(ContactLaw::newton(0.5).coulomb(2, 0.3)).is_ok());
        assert!(matches!(check(ContactLaw::newton(1.5)), Err(LawError::Restitution { which: "normal", .. })));
        assert!(matches!(check(ContactLaw::newton(f64::NAN)), Err(LawError::Restitution { .. })));
        assert!(matches!(check(ContactLaw::newton(0.0).coulomb(1, -0.1)), Err(LawError::Friction(_))));
        assert!(matches!(check(ContactLaw::newton(0.0).coulomb(4, 0.1)), Err(LawError::Dimension { .. })));
        assert!(matches!(check(ContactLaw::newton(0.0).tresca(1, -1.0)), Err(LawError::Bound { .. })));
        assert!(matches!(
            check(ContactLaw::newton(0.0).coulomb(1, 0.1).tangential_restitution(-0.5)),
            Err(LawError::Restitution { which: "tangential", .. })
        ));
        let element = Law::Element(ElementLaw::boxed(vec![(1.0, -1.0)], vec![(0.0, 0.0)]));
        assert!(matches!(element.validate(1), Err(LawError::Box { which: "force", .. })));
    }

    #[test]
    fn the_percussion_set_of_an_element_is_c_dt_plus_d() {
        let mut sets = Vec::new();
        let spring = Law::Element(ElementLaw::boxed(vec![(-2.0, f64::INFINITY)], vec![(0.0, f64::INFINITY)]));
        spring.percussion_sets(1, 0.1, |s| sets.push(s));
        assert_eq!(sets, [Set::Interval { lower: -0.2, upper: f64::INFINITY }]);
        sets.clear();
        let law = Law::Element(ElementLaw { sets: ElementSets::Ball { force: 3.0, impulse: 0.5 }, e: 0.0 });
        law.percussion_sets(2, 0.1, |s| sets.push(s));
        assert_eq!(sets, [Set::Ball { dim: 2, radius: 3.0 * 0.1 + 0.5 }]);
    }
}
