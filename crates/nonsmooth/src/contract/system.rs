//! The contract of a mechanical system, as every scheme sees it.

use super::candidates::{Candidates, Interaction, Kind, Reach};
use super::evaluator::Workspace;
use super::features::Features;
use super::part::Violation;
use crate::names::Names;
use complementarity::linear::{Matrix, Pattern};

/// A mechanical system with set-valued laws.
///
/// # The equations
///
/// Coordinates q ∈ R^nq, velocities u ∈ R^nu (right-continuous, of bounded variation), and
///
/// ```text
/// q̇ = B(t,q) u + β(t,q)                                                    kinematics
/// M(t,q) du = h(t,q,u) dt + W_g dP_g + W_γ dP_γ + W_N dP_N + W_F dP_F      equality of measures
/// h = Σ_i h_i,     h_i = −Bᵀ ∂V_i/∂q where contribution i has a potential
/// ```
///
/// The percussion measures dP = λ dt + Λ dη belong to **interactions**. Each interaction k has a
/// velocity γ_k ∈ R^d that is affine in u,
///
/// ```text
/// γ_k(t,q,u) = W_kᵀ(t,q) u + χ_k(t,q),
/// ```
///
/// and W_k, the direction in which its percussion acts, is nothing but (∂γ_k/∂u)ᵀ: it is never stated
/// a second time. The kinds of interaction are
///
/// | [`Kind`] | position | velocity γ | law |
/// |---|---|---|---|
/// | `Joint` | g(t,q) = 0 | ġ = g_q (B u + β) + g_t | bilateral |
/// | `VelocityJoint` | - | γ(t,q,u) = 0 | bilateral |
/// | `Contact` | g_N(t,q) ≥ 0 | (ġ_N, γ_F), slip γ_F of dimension 0 to 3 | Signorini, friction, restitution |
/// | `Element` | - | γ(t,q,u) | force set C, impulse set D |
///
/// Obstacles that move are gaps and slips with explicit t; they show as χ ≠ 0.
///
/// # Interactions and candidates
///
/// [`System::candidates`] is called once per step attempt and lists every interaction that can matter
/// while no point of the system moves farther than a [`Reach`] allows: all joints and elements,
/// and all contacts that can close by that. The list is frozen during the attempt, but each interaction can
/// be evaluated at any (t,q) near by, as position-level schemes must. [`System::travel`] says by how much a step really went
/// beyond what velocities at its start explain; a step that left its reach is redone with a larger one. A fast body so widens the
/// search around itself and nowhere else. The identity of an interaction is stable from step to step, so that percussions, modes
/// and events can be followed.
///
/// # Derivatives
///
/// Derivatives are taken over velocities: along the directions in which the system can move, the columns of B, so that schemes know
/// nothing of how a system states its positions. ∂g/∂q B is in W already. Schemes ask for a·h_q B + b·h_u (added to an iteration
/// matrix), γ_q B, and the time derivative of γ at u̇ = 0. The provided methods use central differences and [`System::derivatives`] says so in
/// every report; systems with exact derivatives override both. [`super::check`] compares any
/// system's derivatives with differences.
///
/// # Kinematics
///
/// Where q̇ ≠ u, coordinates and velocities fall into [blocks](KinematicBlock) (a body, a wheel) that move by themselves. A block of a body that turns
/// in space may have a *chart*: local coordinates about a position, one for each velocity, in which schemes add up what they integrate, so that
/// they know nothing of quaternions. Where ξ are those of a block about q₀, q = q₀ ⊕ ξ and ξ̇ = T(ξ)⁻¹u with T(0) = I.
/// See [`Evaluator::about`](super::Evaluator::about) for how they are laid out.
pub trait System: Send + Sync {
    /// Sizes, names, sparsity, features.
    fn structure(&self) -> &Structure;

    /// Adds M(t,q) to `m` (kg and derived units). Symmetric and positive definite.
    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix);

    /// Adds the force contribution `i` at (t,q,u) to `h` (N and derived units).
    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]);

    /// Adds all force contributions.
    fn forces(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        for i in 0..self.structure().forces.len() {
            self.force(work, i, t, q, u, h);
        }
    }

    /// Lists the interactions that can matter within a reach from (t,q,u). The list passed in is the one
    /// of the step before and may be left as it is. [`Reach::ALL`] asks for everything that the system can name
    /// beforehand: contacts that are found by collision detection are not part of that.
    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates);

    /// The gap g_N of a contact (1 value) or the defect g of a joint (its dimension). Not called for the others.
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]);

    /// The rows of Wᵀ over [`Interaction::dofs`] (row by row) and χ, at (t,q).
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]);

    /// q̇ = B(t,q) u + β(t,q). Only called if q̇ is not u ([`Structure::identity_kinematics`]). Of a block with a chart ξ̇ at ξ = 0: its velocities,
    /// at the places of its first coordinates, and zeros at those of the others.
    fn kinematics(&self, _work: &Workspace, _t: f64, _q: &[f64], u: &[f64], qdot: &mut [f64]) {
        qdot.copy_from_slice(u);
    }

    /// ∂q̇/∂q and B = ∂q̇/∂u of one of [`Structure::kinematics`] at (t,q,u), row by row over its coordinates and its velocities; an empty `by_q` is not
    /// wanted.
    fn kinematics_jacobian(
        &self,
        work: &Workspace,
        block: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        by_q: &mut [f64],
        by_u: &mut [f64],
    ) {
        differences::kinematics_jacobian(self, work, block, t, q, u, by_q, by_u);
    }

    /// Makes of local coordinates about `q0`, in blocks with charts, the coordinates q₀ ⊕ ξ, in place.
    fn retract(&self, _q0: &[f64], _y: &mut [f64]) {}

    /// Makes of coordinates, in blocks with charts, the local coordinates q ⊖ q₀ about `q0`, in place.
    fn localise(&self, _q0: &[f64], _q: &mut [f64]) {}

    /// Makes of [`System::kinematics`], in blocks with charts, the rates T(ξ)⁻¹u at the local coordinates in `y`, in place.
    fn local_rates(&self, _y: &[f64], _rates: &mut [f64]) {}

    /// T(ξ) of a block with a chart at the local coordinates in `y`, row by row over its velocities.
    fn tangent(&self, block: usize, _y: &[f64], out: &mut [f64]) {
        let m = self.structure().kinematics[block].velocities.len();
        out.fill(0.0);
        (0..m).for_each(|i| out[i * m + i] = 1.0);
    }

    /// Potential V_i(t,q) of a contribution that has one (J).
    fn potential(&self, _work: &Workspace, _i: usize, _t: f64, _q: &[f64]) -> f64 {
        0.0
    }

    /// Adds a·(∂h_i/∂q) B + b·∂h_i/∂u to `m`.
    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        differences::force_jacobian(self, work, i, t, q, u, a, b, m);
    }

    /// ∂γ/∂q B at (t,q,u), row by row over [`Interaction::dofs`], without the first `skip` rows: 0, or [`Interaction::position_dim`].
    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        differences::velocity_gradient(self, work, k, skip, t, q, u, out);
    }

    /// dγ/dt along the motion with u̇ = 0: the part of the relative acceleration that is not Wᵀu̇.
    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        differences::velocity_rate(self, work, k, t, q, u, out);
    }

    /// Brings q back onto its manifold (unit quaternions) after an accepted step. Called where q̇ ≠ u, or with
    /// joint projection.
    fn normalise(&self, _q: &mut [f64]) {}

    /// A bound on how far (metres) any point that can come into contact moved between two states beyond t₁ − t₀ times its speed
    /// in the first. Zero for a system whose candidate list is always complete.
    fn travel(&self, _t0: f64, _q0: &[f64], _u0: &[f64], _t1: f64, _q1: &[f64]) -> f64 {
        0.0
    }

    /// Smallest extent of the bodies of a contact, m: what a penetration is compared with. Infinite where it is not known.
    fn extent(&self, _k: &Interaction) -> f64 {
        f64::INFINITY
    }

    /// A contact of the list whose bodies have gone through each other between two states (t, q): they are on other sides than before, or so deep that they have none,
    /// which the gap at the end need not show. A step that ends so is refused. None for gaps with a sign everywhere. Bodies that hardly moved need not be looked at, unless it is
    /// to be done `closely`: then a step was refused just before.
    fn passed(
        &self,
        _work: &Workspace,
        _list: &Candidates,
        _start: (f64, &[f64]),
        _end: (f64, &[f64]),
        _closely: bool,
    ) -> Option<u64> {
        None
    }

    /// How the derivatives are made.
    fn derivatives(&self) -> Derivatives {
        Derivatives::Differences
    }

    /// Name of the interaction with this identity, for events, records and messages.
    fn name(&self, id: u64) -> String;

    /// Checks at a state what only the system itself can see (missing functions, velocities that are
    /// not affine in u).
    fn probe(&self, _work: &Workspace, _t: f64, _q: &[f64], _u: &[f64]) -> Result<(), Violation> {
        Ok(())
    }
}

/// How a system makes its derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Derivatives {
    /// Analytic or automatic.
    Exact,
    /// Central differences: accurate to about 1e-9, relative.
    Differences,
}

/// One named force contribution.
#[derive(Debug, Clone, PartialEq)]
pub struct ForceInfo {
    /// Its name.
    pub name: String,
    /// Whether it has a potential.
    pub potential: bool,
    /// Whether the potential is ½ γ φ² of one deflection φ(t,q): a spring.
    pub spring: bool,
    /// Whether h_q and h_u are constant (then an iteration matrix need not be made anew).
    pub constant_jacobian: bool,
}

/// What never changes about a system.
#[derive(Debug, Clone)]
pub struct Structure {
    /// Names of the coordinates.
    pub coordinates: Names,
    /// Names of the velocities.
    pub velocities: Names,
    /// Force contributions in order.
    pub forces: Vec<ForceInfo>,
    /// Couplings of M.
    pub mass_pattern: Pattern,
    /// Couplings of M and of all force Jacobians: of iteration matrices. A clone of the other where forces couple no more than M does.
    pub pattern: Pattern,
    /// Blocks of coordinates and velocities that move by themselves; every coordinate and velocity is in one of them. None where q̇ = u.
    pub kinematics: Vec<KinematicBlock>,
    /// Whether M depends neither on t nor on q.
    pub constant_mass: bool,
    /// What a scheme must support.
    pub needs: Features,
    /// Known times at which forces or motions jump: a step ends there.
    pub breaks: Vec<f64>,
}

/// Coordinates whose q̇ depends on these coordinates and these velocities alone: a body that turns, a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KinematicBlock {
    /// Its coordinates.
    pub coordinates: Vec<usize>,
    /// Its velocities.
    pub velocities: Vec<usize>,
    /// Whether it has local coordinates: then there are no fewer coordinates than velocities, and no drift β.
    pub chart: bool,
}

impl Structure {
    /// Whether q̇ = u.
    #[inline]
    pub fn identity_kinematics(&self) -> bool {
        self.kinematics.is_empty()
    }

    /// Number of coordinates.
    #[inline]
    pub fn nq(&self) -> usize {
        self.coordinates.len()
    }

    /// Number of velocities.
    #[inline]
    pub fn nu(&self) -> usize {
        self.velocities.len()
    }
}

/// Central differences for systems without derivatives of their own.
///
/// Step ε^{1/3}·max(1, |x|): truncation and rounding errors balance at about ε^{2/3} ≈ 4e-11 of the third
/// derivative. These functions allocate; exact systems never come here.
mod differences {
    use super::*;

    fn step(x: f64) -> f64 {
        f64::EPSILON.cbrt() * x.abs().max(1.0)
    }

    fn kinematics<S: System + ?Sized>(s: &S, work: &Workspace, t: f64, q: &[f64], u: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; q.len()];
        if s.structure().identity_kinematics() {
            out.copy_from_slice(u);
        } else {
            s.kinematics(work, t, q, u, &mut out);
        }
        out
    }

    /// q ⊕ h d for a rate d of the kinematics.
    pub(in crate::contract) fn displaced<S: System + ?Sized>(s: &S, q: &[f64], d: &[f64], h: f64) -> Vec<f64> {
        let mut y: Vec<f64> = q.to_vec();
        for block in s.structure().kinematics.iter().filter(|b| b.chart) {
            block.coordinates.iter().for_each(|&i| y[i] = 0.0);
        }
        y.iter_mut().zip(d).for_each(|(y, d)| *y += h * d);
        s.retract(q, &mut y);
        y
    }

    /// x + h d.
    fn shifted(x: &[f64], d: &[f64], h: f64) -> Vec<f64> {
        x.iter().zip(d).map(|(x, d)| x + h * d).collect()
    }

    /// (f(h) − f(−h))/2h where `at` makes x ⊕ h d, for the size of x and d.
    fn along(
        n: usize,
        (q, direction): (&[f64], &[f64]),
        at: impl Fn(f64) -> Vec<f64>,
        mut f: impl FnMut(&[f64], f64, &mut [f64]),
    ) -> Vec<f64> {
        let scale = direction.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(1e-300);
        let size = q.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        let h = step(size) / scale.max(1.0);
        let (mut plus, mut minus) = (vec![0.0; n], vec![0.0; n]);
        f(&at(h), h, &mut plus);
        f(&at(-h), -h, &mut minus);
        plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * h)).collect()
    }

    /// B e_j: where q goes along velocity `j`.
    fn direction<S: System + ?Sized>(s: &S, work: &Workspace, t: f64, q: &[f64], j: usize) -> Vec<f64> {
        let mut unit = vec![0.0; s.structure().nu()];
        let zero = kinematics(s, work, t, q, &unit);
        unit[j] = 1.0;
        kinematics(s, work, t, q, &unit).iter().zip(&zero).map(|(a, b)| a - b).collect()
    }

    pub(super) fn kinematics_jacobian<S: System + ?Sized>(
        s: &S,
        work: &Workspace,
        block: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        by_q: &mut [f64],
        by_u: &mut [f64],
    ) {
        let KinematicBlock { coordinates, velocities, .. } = &s.structure().kinematics[block];
        let (n, m) = (coordinates.len(), velocities.len());
        for (c, &j) in velocities.iter().enumerate() {
            let column = direction(s, work, t, q, j);
            coordinates.iter().enumerate().for_each(|(r, &i)| by_u[r * m + c] = column[i]);
        }
        for (c, &j) in coordinates.iter().enumerate().take(if by_q.is_empty() { 0 } else { n }) {
            let mut unit = vec![0.0; q.len()];
            unit[j] = 1.0;
            let column = along(
                q.len(),
                (q, &unit),
                |h| shifted(q, &unit, h),
                |x, _, out| {
                    out.copy_from_slice(&kinematics(s, work, t, x, u));
                },
            );
            coordinates.iter().enumerate().for_each(|(r, &i)| by_q[r * n + c] = column[i]);
        }
    }

    pub(super) fn force_jacobian<S: System + ?Sized>(
        s: &S,
        work: &Workspace,
        i: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        a: f64,
        b: f64,
        m: &mut Matrix,
    ) {
        let nu = u.len();
        for j in 0..nu {
            let mut unit = vec![0.0; nu];
            unit[j] = 1.0;
            if a != 0.0 {
                // Column j of h_q B: the derivative along B e_j.
                let way = direction(s, work, t, q, j);
                let at = |h| displaced(s, q, &way, h);
                let column = along(nu, (q, &way), at, |x, _, out| s.force(work, i, t, x, u, out));
                for (row, v) in column.iter().enumerate() {
                    m.add(row, j, a * v);
                }
            }
            if b != 0.0 {
                let at = |h| shifted(u, &unit, h);
                let column = along(nu, (u, &unit), at, |x, _, out| s.force(work, i, t, q, x, out));
                for (row, v) in column.iter().enumerate() {
                    m.add(row, j, b * v);
                }
            }
        }
    }

    fn gamma<S: System + ?Sized>(
        s: &S,
        work: &Workspace,
        k: &Interaction,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        let mut w = vec![0.0; k.dim() * k.dofs.len()];
        s.velocity(work, k, t, q, &mut w, out);
        for (row, g) in w.chunks_exact(k.dofs.len().max(1)).zip(out) {
            *g += k.row_times(row, u);
        }
    }

    pub(super) fn velocity_gradient<S: System + ?Sized>(
        s: &S,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        for (c, &j) in k.dofs.iter().enumerate() {
            let way = direction(s, work, t, q, j as usize);
            let at = |h| displaced(s, q, &way, h);
            let column = along(k.dim(), (q, &way), at, |x, _, out| gamma(s, work, k, t, x, u, out));
            for (r, v) in column.iter().skip(skip).enumerate() {
                out[r * k.dofs.len() + c] = *v;
            }
        }
    }

    pub(super) fn velocity_rate<S: System + ?Sized>(
        s: &S,
        work: &Workspace,
        k: &Interaction,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        let direction = kinematics(s, work, t, q, u);
        let at = |h| displaced(s, q, &direction, h);
        let rate = along(k.dim(), (q, &direction), at, |x, h, out| gamma(s, work, k, t + h, x, u, out));
        out[..k.dim()].copy_from_slice(&rate);
    }
}

impl Interaction {
    /// Number of values of [`System::position`].
    #[inline]
    pub fn position_dim(&self) -> usize {
        match self.kind {
            Kind::Contact => 1,
            Kind::Joint => self.dim(),
            Kind::VelocityJoint | Kind::Element => 0,
        }
    }
}
