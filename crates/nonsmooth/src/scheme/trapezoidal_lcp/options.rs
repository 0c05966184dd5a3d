//! Options of the scheme.

use crate::scheme::option::{choice, number, options, words};
use crate::scheme::settings::{OptionInfo, Settings, SettingsError};
use complementarity::Polygon;
use std::sync::Arc;

options! {
    /// Options of [`super::TrapezoidalLcp`].
    #[derive(Debug, Clone, PartialEq)]
    pub struct TrapezoidalLcpOptions {
        /// Velocity in the laws.
        pub variant: Variant = choice("variant",
            "velocity in the laws: at the end of the step (I, (6.12)) or its mean (II, (6.10))"),
        /// Where the laws take their directions.
        pub laws: Laws = choice("laws",
            "laws about velocities at the ends of the step, or with the directions of its middle, as (6.10) and (6.12) are printed"),
        /// Which events end a step.
        pub detection: Detection = choice("detection",
            "which events end a step: all, collisions only, or none"),
        /// How transitions are located.
        pub events: Transitions = choice("events",
            "how stick, slip and take-off are located: by slip and forces of the continuous problem, or where the basis of the LCP changes"),
        /// Section of the polyhedral cone in space; none: the circular cone.
        pub facets: Option<Arc<Polygon>> = number("facets", 0.0, [0.0, 64.0], "",
            "generators of the polyhedral cone that stands for a circular one in space (even, 4 to 64); 0: the cone itself").read_by(polygon),
        /// ε_a of (7.1), m.
        pub eps_a: f64 = number("eps_a", 1e-10, [0.0, 1.0], "m",
            "a contact touches below this gap (7.1)"),
        /// ε_b of (7.1), m/s³.
        pub eps_b: f64 = number("eps_b", 0.0, [0.0, 1e12], "m/s^3",
            "or below this times the cube of the step (7.1)"),
        /// Shortest step that an event ends, s.
        pub min_step: f64 = number("min_step", 1e-9, [1e-15, 1.0], "s",
            "no event ends a step earlier than that, and a flight shorter than that is none"),
        /// Which Jacobians.
        pub jacobian: JacobianRule = choice("jacobian",
            "Jacobians of forces: as they are; those of (10.13), (10.14) with F(v), which never drive; the choice between both by the step; or their dissipative part"),
        /// Approach up to which there is no restitution, m/s.
        pub threshold: f64 = number("restitution_threshold", 0.0, [0.0, 1e6], "m/s",
            "a slower approach is an impact without restitution"),
    }
}

words! {
    /// Which velocity the laws are about.
    pub enum Variant (default II) {
        /// v^{l+1}, (6.12).
        I = "I",
        /// (v^l + v^{l+1})/2, (6.10).
        II = "II",
    }
}

words! {
    /// Where the laws of a step take the directions of joints and contacts.
    pub enum Laws (default Ends) {
        /// At its ends, by a right-hand side.
        Ends = "ends",
        /// In its middle.
        Midpoint = "midpoint",
    }
}

words! {
    /// Which events end a step.
    pub enum Detection (default All) {
        /// Collisions, stick-slip and take-off.
        All = "all",
        /// Collisions.
        Collisions = "collisions",
        /// None: a collision is resolved at the end of the step in which it is found.
        None = "none",
    }
}

words! {
    /// How stick-slip and take-off are located.
    pub enum Transitions (default Continuous) {
        /// By the slip velocity and the forces of the continuous problem.
        Continuous = "continuous",
        /// Where the basis of the LCP becomes degenerate.
        Basis = "basis",
    }
}

words! {
    /// Which Jacobians of forces enter M̃.
    pub enum JacobianRule (default Auto) {
        /// k_q and k_v while what the paper's leave out is small beside inertia, the paper's beyond.
        Auto = "auto",
        /// k_q and k_v.
        Exact = "exact",
        /// (10.13), (10.14) of springs and dampers, F(v) of Coriolis forces.
        Paper = "paper",
        /// Symmetric parts of k_q and k_v without what would drive the motion.
        Spd = "spd",
    }
}

/// The regular polygon of an even number of facets.
fn polygon(settings: &Settings, option: &OptionInfo) -> Result<Option<Arc<Polygon>>, SettingsError> {
    let facets = settings.get_number(option)?;
    if facets == 0.0 {
        return Ok(None);
    }
    let odd = || SettingsError::Value {
        key: option.key,
        found: facets.to_string(),
        expected: "0, or an even whole number from 4 to 64".into(),
    };
    if facets % 2.0 != 0.0 || facets < 4.0 {
        return Err(odd());
    }
    Ok(Some(Arc::new(Polygon::regular(facets as usize).map_err(|_| odd())?)))
}

impl TrapezoidalLcpOptions {
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
