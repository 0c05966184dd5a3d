//! Options of the scheme.

use crate::scheme::settings::{OptionInfo, OptionKind, Settings, SettingsError};
use complementarity::Polygon;
use std::sync::Arc;

const VARIANT: OptionInfo = OptionInfo {
    key: "variant",
    kind: OptionKind::Choice { default: "II", words: &["I", "II"] },
    summary: "velocity in the laws: at the end of the step (I, (6.12)) or its mean (II, (6.10))",
};
const DETECTION: OptionInfo = OptionInfo {
    key: "detection",
    kind: OptionKind::Choice { default: "all", words: &["all", "collisions", "none"] },
    summary: "which events end a step: all, collisions only, or none",
};
const EVENTS: OptionInfo = OptionInfo {
    key: "events",
    kind: OptionKind::Choice { default: "continuous", words: &["continuous", "basis"] },
    summary: "how stick, slip and take-off are located: by slip and forces of the continuous problem, or where the basis of the LCP changes",
};
const FACETS: OptionInfo = OptionInfo {
    key: "facets",
    kind: OptionKind::Number { default: 8.0, min: 4.0, max: 64.0, unit: "" },
    summary: "generators of the polyhedral cone that stands for a circular one in space (even)",
};
const EPS_A: OptionInfo = OptionInfo {
    key: "eps_a",
    kind: OptionKind::Number { default: 1e-10, min: 0.0, max: 1.0, unit: "m" },
    summary: "a contact touches below this gap (7.1)",
};
const EPS_B: OptionInfo = OptionInfo {
    key: "eps_b",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 1e12, unit: "m/s^3" },
    summary: "or below this times the cube of the step (7.1)",
};
const MIN_STEP: OptionInfo = OptionInfo {
    key: "min_step",
    kind: OptionKind::Number { default: 1e-9, min: 1e-15, max: 1.0, unit: "s" },
    summary: "no event ends a step earlier than that, and a flight shorter than that is none",
};
const JACOBIAN: OptionInfo = OptionInfo {
    key: "jacobian",
    kind: OptionKind::Choice { default: "exact", words: &["exact", "spd"] },
    summary: "Jacobians of forces as they are, or their dissipative part: the matrix is positive definite for any step",
};
const THRESHOLD: OptionInfo = OptionInfo {
    key: "restitution_threshold",
    kind: OptionKind::Number { default: 0.0, min: 0.0, max: 1e6, unit: "m/s" },
    summary: "a slower approach is an impact without restitution",
};
pub(super) const OPTIONS: &[OptionInfo] =
    &[VARIANT, DETECTION, EVENTS, FACETS, EPS_A, EPS_B, MIN_STEP, JACOBIAN, THRESHOLD];

/// Which velocity the laws are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// v^{l+1}, (6.12).
    I,
    /// (v^l + v^{l+1})/2, (6.10).
    II,
}

/// Which events end a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detection {
    /// Collisions, stick-slip and take-off.
    All,
    /// Collisions.
    Collisions,
    /// None: a collision is resolved at the end of the step in which it is found.
    None,
}

/// How stick-slip and take-off are located.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transitions {
    /// By the slip velocity and the forces of the continuous problem.
    Continuous,
    /// Where the basis of the LCP becomes degenerate.
    Basis,
}

/// Which Jacobians of forces enter M̃.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JacobianRule {
    /// k_q and k_v.
    Exact,
    /// Their symmetric parts without what would drive the motion.
    Spd,
}

/// Options of [`super::TrapezoidalLcp`].
#[derive(Debug, Clone, PartialEq)]
pub struct TrapezoidalLcpOptions {
    /// Velocity in the laws.
    pub variant: Variant,
    /// Which events end a step.
    pub detection: Detection,
    /// How transitions are located.
    pub events: Transitions,
    /// Section of the polyhedral cone in space.
    pub facets: Arc<Polygon>,
    /// ε_a of (7.1), m.
    pub eps_a: f64,
    /// ε_b of (7.1), m/s³.
    pub eps_b: f64,
    /// Shortest step that an event ends, s.
    pub min_step: f64,
    /// Which Jacobians.
    pub jacobian: JacobianRule,
    /// Approach up to which there is no restitution, m/s.
    pub threshold: f64,
}

impl TrapezoidalLcpOptions {
    pub(super) fn from_settings(s: &Settings) -> Result<Self, SettingsError> {
        let facets = s.get_number(&FACETS)?;
        let odd = || SettingsError::Value {
            key: FACETS.key,
            found: facets.to_string(),
            expected: "an even whole number from 4 to 64".into(),
        };
        if facets % 2.0 != 0.0 {
            return Err(odd());
        }
        let polygon = Polygon::regular(facets as usize).map_err(|_| odd())?;
        Ok(Self {
            variant: if s.get_word(&VARIANT)? == "I" { Variant::I } else { Variant::II },
            detection: match s.get_word(&DETECTION)? {
                "none" => Detection::None,
                "collisions" => Detection::Collisions,
                _ => Detection::All,
            },
            events: if s.get_word(&EVENTS)? == "basis" { Transitions::Basis } else { Transitions::Continuous },
            facets: Arc::new(polygon),
            eps_a: s.get_number(&EPS_A)?,
            eps_b: s.get_number(&EPS_B)?,
            min_step: s.get_number(&MIN_STEP)?,
            jacobian: if s.get_word(&JACOBIAN)? == "spd" { JacobianRule::Spd } else { JacobianRule::Exact },
            threshold: s.get_number(&THRESHOLD)?,
        })
    }

    /// e of the laws in a step: they are about γ⁺ + e γ⁻.
    pub(super) fn weight(&self) -> f64 {
        match self.variant {
            Variant::I => 0.0,
            Variant::II => 1.0,
        }
    }

    /// Gap below which a contact touches, for a step of this length.
    pub(super) fn touching(&self, dt: f64) -> f64 {
        self.eps_a.max(self.eps_b * dt * dt * dt)
    }
}
