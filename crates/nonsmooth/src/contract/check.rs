//! The derivative checker: compares every derivative of a system with central differences of its values.
//!
//! One checker serves all systems: adapters, bodies, formulas. It checks ∂q̇/∂q and B, h_q B, h_u, γ_q B, the rate of γ, and W against
//! the change of g along every velocity.

use super::candidates::{Candidates, Interaction, Kind, Reach};
use super::evaluator::{Evaluator, Workspace};
use super::system::System;
use complementarity::linear::Matrix;

/// A derivative that does not agree with differences.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// What was compared, for example `W of contact ground`.
    pub what: String,
    /// Row and column.
    pub entry: (usize, usize),
    /// Derivative of the system.
    pub system: f64,
    /// Derivative by differences.
    pub differences: f64,
}

/// Forwards only the values of a system, so that the provided difference formulas apply.
struct ValuesOnly<'a>(&'a dyn System);

impl System for ValuesOnly<'_> {
    fn structure(&self) -> &super::Structure {
        self.0.structure()
    }
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.0.mass(work, t, q, m);
    }
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        self.0.force(work, i, t, q, u, h);
    }
    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        self.0.candidates(work, t, q, u, reach, out);
    }
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.position(work, k, t, q, g);
    }
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        self.0.velocity(work, k, t, q, w, chi);
    }
    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        self.0.kinematics(work, t, q, u, qdot);
    }
    fn retract(&self, q0: &[f64], y: &mut [f64]) {
        self.0.retract(q0, y);
    }
    fn localise(&self, q0: &[f64], q: &mut [f64]) {
        self.0.localise(q0, q);
    }
    fn local_rates(&self, y: &[f64], rates: &mut [f64]) {
        self.0.local_rates(y, rates);
    }
    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        self.0.potential(work, i, t, q)
    }
    fn name(&self, id: u64) -> String {
        self.0.name(id)
    }
}

/// All derivatives at (t,q,u) that differ from central differences by more than `tolerance`, relative
/// to the larger of 1 and the size of the entry. Truncation and rounding of the differences are
/// about 1e-9 for functions of order one: 1e-6 finds every wrong formula and no right one.
pub fn derivatives(system: &dyn System, t: f64, q: &[f64], u: &[f64], tolerance: f64) -> Vec<Mismatch> {
    derivatives_within(system, t, q, u, Reach::ALL, tolerance)
}

/// The same, with the interactions of a reach: for systems that find contacts by collision detection.
pub fn derivatives_within(
    system: &dyn System,
    t: f64,
    q: &[f64],
    u: &[f64],
    reach: Reach,
    tolerance: f64,
) -> Vec<Mismatch> {
    let s = system.structure();
    let (values, work) = (ValuesOnly(system), [Workspace::default(), Workspace::default()]);
    let (system, values) = (Evaluator::new(system, &work[0]), Evaluator::new(&values, &work[1]));
    let mut found = Vec::new();
    let mut compare = |what: String, width: usize, exact: &[f64], approx: &[f64]| {
        for (i, (&a, &b)) in exact.iter().zip(approx).enumerate() {
            if !((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)) {
                let entry = (i / width.max(1), i % width.max(1));
                found.push(Mismatch { what: what.clone(), entry, system: a, differences: b });
            }
        }
    };

    // Kinematics.
    for (b, block) in s.kinematics.iter().enumerate() {
        let (n, m) = (block.coordinates.len(), block.velocities.len());
        let (mut exact, mut approx) = ((vec![0.0; n * n], vec![0.0; n * m]), (vec![0.0; n * n], vec![0.0; n * m]));
        system.kinematics_jacobian(b, t, q, u, &mut exact.0, &mut exact.1);
        values.kinematics_jacobian(b, t, q, u, &mut approx.0, &mut approx.1);
        compare(format!("q'_q of the kinematics (block {b})"), n, &exact.0, &approx.0);
        compare(format!("B of the kinematics (block {b})"), m, &exact.1, &approx.1);
    }
    // Charts: ⊖ undoes ⊕, T is the displacement by a change of ξ, and rates belong to T.
    for (b, block) in s.kinematics.iter().enumerate().filter(|(_, block)| block.chart) {
        let m = block.velocities.len();
        let mut y = vec![0.0; q.len()];
        system.origin(q, &mut y);
        // Some ξ of the size of a long step, without a symmetry.
        block.coordinates.iter().take(m).enumerate().for_each(|(i, &c)| y[c] = 0.3 - 0.07 * i as f64);
        let mut there = y.clone();
        system.retract(q, &mut there);
        let mut back = there.clone();
        system.localise(q, &mut back);
        let of = |y: &[f64]| -> Vec<f64> { block.coordinates.iter().map(|&c| y[c]).collect() };
        compare(format!("local coordinates of the kinematics (block {b})"), 1, &of(&back), &of(&y));
        let (mut tangent, e) = (vec![0.0; m * m], 1e-6);
        system.tangent(b, &y, &mut tangent);
        let mut columns = vec![0.0; m * m];
        for j in 0..m {
            let moved = |sign: f64| {
                let mut x = y.clone();
                x[block.coordinates[j]] += sign * e;
                system.retract(q, &mut x);
                system.localise(&there, &mut x);
                of(&x)
            };
            for (i, (plus, minus)) in moved(1.0).iter().zip(&moved(-1.0)).take(m).enumerate() {
                columns[i * m + j] = (plus - minus) / (2.0 * e);
            }
        }
        compare(format!("T of the kinematics (block {b})"), m, &tangent, &columns);
        let mut rates = vec![0.0; q.len()];
        system.local_rates(t, q, &there, u, &mut rates);
        let rates = of(&rates);
        let along: Vec<f64> =
            tangent.chunks_exact(m).map(|row| row.iter().zip(&rates).map(|(a, b)| a * b).sum()).collect();
        let velocities: Vec<f64> = block.velocities.iter().map(|&v| u[v]).collect();
        compare(format!("local rates of the kinematics (block {b})"), 1, &along, &velocities);
    }
    // q̇ along a velocity: u, and each velocity by itself.
    let rate = |v: &[f64]| {
        let mut qdot = vec![0.0; q.len()];
        if s.identity_kinematics() {
            qdot.copy_from_slice(v);
        } else {
            system.kinematics(t, q, v, &mut qdot);
        }
        qdot
    };
    let still = if s.identity_kinematics() { vec![0.0; q.len()] } else { rate(&vec![0.0; s.nu()]) };
    let unit = |j: usize| -> Vec<f64> { (0..s.nu()).map(|i| f64::from(i == j)).collect() };

    // Forces: the potential's gradient, and both Jacobians.
    let n = s.nu();
    let all = |f: &dyn Fn(&mut Matrix)| -> Vec<f64> {
        // A dense pattern, so that an entry outside the declared one is found as well.
        let mut pattern = complementarity::linear::Pattern::new(n);
        pattern.couple(&(0..n).collect::<Vec<_>>());
        let mut m = Matrix::new(&pattern);
        f(&mut m);
        (0..n * n).map(|k| m.get(k / n, k % n)).collect()
    };
    for (i, info) in s.forces.iter().enumerate() {
        for (name, a, b) in [("h_q B", 1.0, 0.0), ("h_u", 0.0, 1.0)] {
            let exact = all(&|m| system.force_jacobian(i, t, q, u, a, b, m));
            let approx = all(&|m| values.force_jacobian(i, t, q, u, a, b, m));
            compare(format!("{name} of force {}", info.name), n, &exact, &approx);
        }
        if info.potential {
            // Power of the force along the motion: −dV/dt with t frozen.
            let mut h = vec![0.0; n];
            system.force(i, t, q, u, &mut h);
            let mut base = u.to_vec();
            let rate = |v: &[f64]| {
                let (mut qdot, mut zero) = (vec![0.0; q.len()], vec![0.0; q.len()]);
                if s.identity_kinematics() {
                    qdot.copy_from_slice(v);
                } else {
                    system.kinematics(t, q, v, &mut qdot);
                    system.kinematics(t, q, &vec![0.0; n], &mut zero);
                }
                let e = 1e-6;
                qdot.iter_mut().zip(&zero).for_each(|(r, z)| *r -= z);
                let shift = |sign: f64| system.displaced(q, &qdot, sign * e);
                -(system.potential(i, t, &shift(1.0)) - system.potential(i, t, &shift(-1.0))) / (2.0 * e)
            };
            for j in 0..n {
                base.fill(0.0);
                base[j] = 1.0;
                compare(format!("potential of force {} (velocity {j})", info.name), 1, &[h[j]], &[rate(&base)]);
            }
        }
    }

    // Interactions.
    let mut list = Candidates::default();
    system.candidates(t, q, u, reach, &mut list);
    for k in list.items() {
        let name = format!("{:?} {}", k.kind, system.name(k.id)).to_lowercase();
        let nd = k.dofs.len();
        let mut exact = vec![0.0; k.dim() * nd];
        let mut approx = exact.clone();
        system.velocity_gradient(k, 0, t, q, u, &mut exact);
        values.velocity_gradient(k, 0, t, q, u, &mut approx);
        compare(format!("gamma_q B of {name}"), nd, &exact, &approx);

        let mut exact = vec![0.0; k.dim()];
        let mut approx = exact.clone();
        system.velocity_rate(k, t, q, u, &mut exact);
        values.velocity_rate(k, t, q, u, &mut approx);
        compare(format!("rate of {name}"), 1, &exact, &approx);

        // ġ along the motion, and along every velocity, from g itself: W and χ of position-level interactions.
        let rows = k.position_dim();
        let mut w = vec![0.0; k.dim() * nd];
        let mut chi = vec![0.0; k.dim()];
        system.velocity(k, t, q, &mut w, &mut chi);
        if matches!(k.kind, Kind::Joint | Kind::Contact) {
            let e = 1e-6;
            let slope = |along: &[f64], time: f64| -> Vec<f64> {
                let at = |sign: f64| {
                    let x = system.displaced(q, along, sign * e);
                    let mut g = vec![0.0; rows];
                    system.position(k, t + sign * e * time, &x, &mut g);
                    g
                };
                at(1.0).iter().zip(&at(-1.0)).map(|(a, b)| (a - b) / (2.0 * e)).collect()
            };
            let moving = slope(&rate(u), 1.0);
            for r in 0..rows {
                let along: f64 = chi[r] + k.row_times(&w[r * nd..(r + 1) * nd], u);
                compare(format!("W and chi of {name}"), 1, &[along], &[moving[r]]);
            }
            for (c, &j) in k.dofs.iter().enumerate() {
                let along: Vec<f64> = rate(&unit(j as usize)).iter().zip(&still).map(|(a, b)| a - b).collect();
                let by_differences = slope(&along, 0.0);
                for r in 0..rows {
                    compare(format!("W of {name} (velocity {c})"), 1, &[w[r * nd + c]], &[by_differences[r]]);
                }
            }
        }
    }
    found
}
