//! The energy ledger.
//!
//! With E = ½ uᵀM(t,q)u + Σ V_i(t,q) and a step M*(u₁ − u₀) = dt Σ h_i* + Σ W P, the kinetic energy with the
//! frozen M* changes by exactly ū·(dt Σ h_i* + Σ W P), ū = (u₀ + u₁)/2. Hence
//!
//! ```text
//! E₁ − E₀ = Σ_{i without potential} dt ū·h_i*                          the forces, by name
//!         + Σ ū·W P                                                    normal, friction, joints, elements
//!         + Σ_{i with potential} D_i                                   drive: V_i changing by itself
//!         + Σ_{i with potential} [V_i₁ − V_i₀ − D_i + dt w·h_i*]       quadrature (numerical)
//!         + Σ_{i with potential} dt (ū − w)·h_i*                       theta (numerical)
//!         + ½u₁ᵀ(M₁ − M*)u₁ − ½u₀ᵀ(M₀ − M*)u₀                          mass change (numerical)
//!         + E(after) − E(before) of a correction of the state, or of a projection of its position within the step      projection (numerical)
//!         + Σ (w_s − ū)·W P_s of a scheme whose stages s have velocities w_s of their own      stages (numerical)
//!         + dt ū·h' of forces h' that only a linearised scheme has                            jacobian (numerical)
//! ```
//!
//! with w the velocity that moves the position, and D_i = V_i(t₁,q*) − V_i(t₀,q*) plus the part of
//! β. Every line is computed by its own formula, none as the remainder, so that closure is a genuine test.
//! A gyroscopic force and the change of M balance each other in a smooth motion;
//! both lines are shown.

use crate::contract::Evaluator;
use crate::state::{State, bytes};

/// A line of the ledger that is not a named force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Normal percussions of contacts: impacts.
    Normal,
    /// Tangential percussions of contacts.
    Friction,
    /// Bilateral constraints.
    Joints,
    /// Elements without a gap.
    Elements,
    /// Potentials that change with time by themselves.
    Drive,
    /// Numerical: quadrature of potentials.
    Quadrature,
    /// Numerical: the velocity at which forces do work differs from the one that moves the position.
    Theta,
    /// Numerical: change of M within a step.
    MassChange,
    /// Numerical: projections of the position within a step, and corrections of the state after it.
    Projection,
    /// Numerical: extrapolation.
    Extrapolation,
    /// Numerical: the velocity at which percussions of a stage do work differs from the mean of the step.
    Stages,
    /// Numerical: forces that a linearised scheme adds for the drift of coordinates, or with another Jacobian than their own.
    Jacobian,
}

const LINES: [(Line, &str); 12] = [
    (Line::Normal, "contact.normal"),
    (Line::Friction, "contact.friction"),
    (Line::Joints, "joints"),
    (Line::Elements, "elements"),
    (Line::Drive, "drive"),
    (Line::Quadrature, "numerical.quadrature"),
    (Line::Theta, "numerical.theta"),
    (Line::MassChange, "numerical.mass_change"),
    (Line::Projection, "numerical.projection"),
    (Line::Extrapolation, "numerical.extrapolation"),
    (Line::Stages, "numerical.stages"),
    (Line::Jacobian, "numerical.jacobian"),
];

/// Lines of causes that have a throughput of energy. Ideal joints have none: their work is that of their motion, or an error.
const PHYSICAL: [Line; 4] = [Line::Normal, Line::Friction, Line::Elements, Line::Drive];
/// Lines of errors.
const NUMERICAL: [Line; 6] =
    [Line::Quadrature, Line::Theta, Line::Projection, Line::Extrapolation, Line::Stages, Line::Jacobian];

/// A compensated sum (Neumaier): the ledger of a million steps keeps its last digits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CompensatedSum {
    sum: f64,
    compensation: f64,
}

impl CompensatedSum {
    fn add(&mut self, x: f64) {
        let t = self.sum + x;
        self.compensation += if self.sum.abs() >= x.abs() { (self.sum - t) + x } else { (x - t) + self.sum };
        self.sum = t;
    }

    fn value(self) -> f64 {
        self.sum + self.compensation
    }
}

bytes!(CompensatedSum { sum, compensation });

/// Work of every named cause since the start. See the [module](self).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    forces: Vec<CompensatedSum>,
    names: Vec<String>,
    lines: [CompensatedSum; LINES.len()],
    absolute: CompensatedSum,
    throughput: CompensatedSum,
}

// Names and their number are the system's.
bytes!(Ledger { forces, lines, absolute, throughput });

impl Ledger {
    /// An empty ledger for a system.
    pub fn new(system: &Evaluator) -> Self {
        let s = system.structure();
        let names = s.forces.iter().map(|f| format!("force.{}", f.name)).collect();
        Self { forces: vec![CompensatedSum::default(); s.forces.len()], names, ..Self::default() }
    }

    /// Adds work to a line, J.
    pub fn add(&mut self, line: Line, work: f64) {
        self.lines[line as usize].add(work);
        self.absolute.add(work.abs());
        if PHYSICAL.contains(&line) {
            self.throughput.add(work.abs());
        }
    }

    /// Adds work of a force without potential, J.
    pub fn add_force(&mut self, i: usize, work: f64) {
        self.forces[i].add(work);
        self.absolute.add(work.abs());
        self.throughput.add(work.abs());
    }

    /// Number of forces.
    pub(crate) fn forces(&self) -> usize {
        self.forces.len()
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.forces.fill(CompensatedSum::default());
        self.lines = Default::default();
        self.absolute = CompensatedSum::default();
        self.throughput = CompensatedSum::default();
    }

    /// Adds another ledger of the same system, times a weight.
    pub(crate) fn add_scaled(&mut self, weight: f64, other: &Ledger) {
        let lines = self.forces.iter_mut().zip(&other.forces).chain(self.lines.iter_mut().zip(&other.lines));
        lines.for_each(|(mine, theirs)| mine.add(weight * theirs.value()));
        self.absolute.add(weight.abs() * other.absolute.value());
        self.throughput.add(weight.abs() * other.throughput.value());
    }

    /// Adds the lines of a force with potential in a step to (t₁, q₁): `q_star` is where it was evaluated, `mean` its work
    /// over the mean velocity and `moved` over the velocity that moved the position.
    pub(crate) fn add_potential(
        &mut self,
        system: &Evaluator,
        i: usize,
        start: &State,
        (t1, q1): (f64, &[f64]),
        q_star: &[f64],
        mean: f64,
        moved: f64,
    ) {
        let v = |t: f64, q: &[f64]| system.potential(i, t, q);
        let t0 = start.t;
        let mut drive = v(t1, q_star) - v(t0, q_star);
        if !system.structure().identity_kinematics() {
            // The drift β moves the position without work of the force on u.
            let zero = vec![0.0; start.u.len()];
            let mut beta = vec![0.0; q_star.len()];
            let t = 0.5 * (t0 + t1);
            system.kinematics(t, q_star, &zero, &mut beta);
            if beta.iter().any(|&b| b != 0.0) {
                let shifted =
                    |s: f64| -> Vec<f64> { q_star.iter().zip(&beta).map(|(q, b)| q + s * (t1 - t0) * b).collect() };
                drive += v(t, &shifted(0.5)) - v(t, &shifted(-0.5));
            }
        }
        let change = v(t1, q1) - v(t0, &start.q);
        self.add(Line::Drive, drive);
        self.add(Line::Quadrature, change - drive + moved);
        self.add(Line::Theta, mean - moved);
    }

    /// Name and work of every line, forces first.
    pub fn lines(&self) -> Vec<(String, f64)> {
        let forces = self.names.iter().cloned().zip(self.forces.iter().map(|s| s.value()));
        let rest = LINES.iter().map(|(line, name)| ((*name).to_string(), self.get(*line)));
        forces.chain(rest).collect()
    }

    /// Work of every line in the order of [`Ledger::lines`], J.
    pub fn work(&self) -> impl Iterator<Item = f64> {
        self.forces.iter().chain(&self.lines).map(|s| s.value())
    }

    /// Work of one line, J.
    pub fn get(&self, line: Line) -> f64 {
        self.lines[line as usize].value()
    }

    /// Sum of all lines, J.
    pub fn total(&self) -> f64 {
        let mut s = CompensatedSum::default();
        for x in self.forces.iter().chain(&self.lines) {
            s.add(x.sum);
            s.add(x.compensation);
        }
        s.value()
    }

    /// Sum of the absolute values of all entries, J: the scale of the closure.
    pub fn absolute(&self) -> f64 {
        self.absolute.value()
    }

    /// Energy that causes other than potentials, joints and the numerics have put in or taken out, whatever the sign, J.
    pub fn throughput(&self) -> f64 {
        self.throughput.value()
    }

    /// Energy that the numerics have added, J: all numerical lines but the change of M, which balances gyroscopic forces.
    pub fn made(&self) -> f64 {
        NUMERICAL.iter().map(|line| self.get(*line)).sum()
    }

    /// Energy that has left through lines other than the numerical ones, J.
    pub fn taken(&self) -> f64 {
        let losses = self.forces.iter().map(|s| s.value()).chain(PHYSICAL.iter().map(|line| self.get(*line)));
        losses.fold(0.0, |sum, work| sum - work.min(0.0))
    }
}
