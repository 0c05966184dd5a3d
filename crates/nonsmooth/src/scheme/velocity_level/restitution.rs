//! Which restitution the laws of a step take.

use crate::contract::{Interaction, Kind};
use crate::state::Step;

/// Which restitution enters ξ = γ⁺ + e γ⁻.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::scheme) enum Restitution {
    /// That of the law.
    #[default]
    Law,
    /// The same for all rows: 0 for laws about γ⁺, 1 for laws about the mean of γ⁺ and γ⁻.
    All(f64),
    /// The same for all rows but those of joints, whose laws are about γ⁺.
    AllButJoints(f64),
    /// That of the law, but for contacts in normal direction these, by place in the list.
    Normal(Vec<f64>),
    /// This power of that of the law.
    Power(f64),
}

impl Restitution {
    /// That of the laws, as the step wants it.
    pub(in crate::scheme) fn wanted(step: &Step) -> Self {
        if step.restitution_exponent != 1.0 { Restitution::Power(step.restitution_exponent) } else { Restitution::Law }
    }

    /// e of component `j` of interaction `i`.
    #[inline]
    pub(super) fn of(&self, i: usize, k: &Interaction, j: usize) -> f64 {
        match self {
            Restitution::Law => k.law.restitution(j),
            Restitution::All(e) => *e,
            Restitution::AllButJoints(_) if matches!(k.kind, Kind::Joint | Kind::VelocityJoint) => 0.0,
            Restitution::AllButJoints(e) => *e,
            Restitution::Normal(e) if j == 0 && k.kind == Kind::Contact => e[i],
            Restitution::Normal(_) => k.law.restitution(j),
            Restitution::Power(n) => k.law.restitution(j).powf(*n),
        }
    }
}
