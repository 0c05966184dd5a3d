//! Options of the nonsmooth RATTLE scheme.

use crate::scheme::option::{automatic, choice, number, options, words};

options! {
    /// Options of [`Rattle`](super::Rattle).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RattleOptions: Default {
        /// Residual at which Newton's method stops.
        pub newton_tol: f64 = number("newton_tol", 1e-10, [1e-15, 1e-2], "",
            "residual at which Newton's method stops; gaps and joints to a thousandth of it"),
        /// How it is measured.
        pub newton_norm: NewtonNorm = choice("newton_norm",
            "how the residual is measured: relative to the terms of each equation, or as the paper does, in SI units as it is"),
        /// Factor r of the switching tests, kg; `None`: 1/G_ii.
        pub r: Option<f64> = automatic("r", [1e-12, 1e12], "kg",
            "factor of the switching tests; auto: 1/G_ii of every contact. The paper has 0.1"),
        /// Where Newton's method starts.
        pub guess: Guess = choice("guess",
            "where Newton's method starts: where the percussions of the step before lead, or at its unknowns (the paper's)"),
        /// Which slip velocity friction opposes.
        pub friction_direction: FrictionDirection = choice("friction_direction",
            "slip that friction opposes: at the end of the step (the paper's), or the mean of both ends: order 2 where slip turns"),
        /// Where velocity joints hold in the first stage.
        pub velocity_joints: VelocityJoints = choice("velocity_joints",
            "where velocity joints hold for u_{n+1/2}: in the mean of both ends, or at the end as (29a) prints, of order 1 where they turn"),
        /// Where the velocity before an impact is taken.
        pub approach: Approach = choice("approach",
            "velocity before an impact: that with which the contact is reached, along its direction there, or that of the start of the step, as (32) is printed"),
    }
}

words! {
    /// How residuals of Newton's method are measured.
    pub enum NewtonNorm (default Scaled) {
        /// Relative to the terms of each equation.
        Scaled = "scaled",
        /// In SI units as they are, all in one maximum.
        Absolute = "absolute",
    }
}

words! {
    /// Where Newton's method starts.
    pub enum Guess (default Predicted) {
        /// Percussions of the step before, and the velocities and positions that they lead to.
        Predicted = "predicted",
        /// All unknowns of the step before.
        Previous = "previous",
    }
}

words! {
    /// Which slip velocity friction opposes.
    pub enum FrictionDirection (default End) {
        /// That of the end of the step, (34).
        End = "end",
        /// The mean of start and end, where slip persists and turns.
        Mean = "mean",
    }
}

words! {
    /// Where velocity joints hold in the first stage.
    pub enum VelocityJoints (default Mean) {
        /// γ(t_n,q_n,v) + γ(t_{n+1},q_{n+1},v) = 0.
        Mean = "mean",
        /// γ(t_{n+1},q_{n+1},v) = 0, (29a).
        End = "end",
    }
}

words! {
    /// Where the velocity before an impact is taken.
    pub enum Approach (default Start) {
        /// At the end of the step, where the contact is reached.
        Arrival = "arrival",
        /// At its start, (32).
        Start = "start",
    }
}
