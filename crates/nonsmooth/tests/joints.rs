//! Bilateral constraints: drift and its projection, redundancy, periods, rolling and driven joints.

use nonsmooth::contract::Evaluator;
use nonsmooth::scheme::Settings;
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::simulation::{EventKind, Observer, Record, Recording, Status, StepView, Trajectory};
use nonsmooth::{Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, Summary, System, scheme};
use nonsmooth_reference::{DoublePendulum, Pendulum};

const SCHEMES: [&str; 3] = ["moreau-jean", END, "moreau-midpoint"];
/// `moreau-jean` with directions at the end of the step, as (18a) prints.
const END: &str = "moreau-jean, end";

/// Largest |W^T u + chi| of all interactions at the ends of steps, and all states.
struct Watch {
    defect: f64,
    states: Trajectory,
}

impl Observer for Watch {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        self.states.begin(system, start);
    }
    fn step(&mut self, view: &StepView) {
        let end = &view.end;
        for k in view.step.candidates.items() {
            let (mut w, mut gamma) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
            view.system.velocity(k, end.t, &end.q, &mut w, &mut gamma);
            for (row, g) in w.chunks_exact(k.dofs.len()).zip(&mut gamma) {
                *g += k.row_times(row, &end.u);
                self.defect = self.defect.max(g.abs());
            }
        }
        self.states.step(view);
    }
}

struct Run {
    summary: Summary,
    records: Vec<Record>,
    velocity_defect: f64,
}

fn run(system: &dyn System, name: &str, q: &[f64], u: &[f64], h: f64, end: f64, stabilise: Stabilise) -> Run {
    let mut options = SimulationOptions::new(h, end);
    options.stabilise = stabilise;
    let settings = if name == END { Settings::new().word("directions", "end") } else { Settings::new() };
    let scheme = scheme::make(if name == END { "moreau-jean" } else { name }, &settings).expect("a registered scheme");
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    let mut watch = Watch { defect: 0.0, states: Trajectory::new(Recording::Every(1)) };
    let summary = Simulation::new(system, start, scheme, options).expect("a good start").run_with(&mut watch);
    assert_eq!(summary.status, Status::Done, "{name}: {:?}", summary.stop.map(|s| s.to_string()));
    // W of the end takes energy through joints, and says so.
    let expected = |w: &String| name == END && w.starts_with("joints have taken");
    assert!(summary.warnings.iter().all(expected), "{name}: {:?}", summary.warnings);
    Run { summary, records: watch.states.records().to_vec(), velocity_defect: watch.defect }
}

/// Orders between neighbouring (h, error).
fn orders(errors: &[(f64, f64)]) -> Vec<f64> {
    errors.windows(2).map(|w| (w[0].1 / w[1].1).ln() / (w[0].0 / w[1].0).ln()).collect()
}

fn double_pendulum() -> (Differentiated<DoublePendulum>, Vec<f64>) {
    let model = DoublePendulum { length: 1.0, mass: 1.0, g: 9.81 };
    let q = model.configuration(1.2, 0.6);
    (Differentiated::new(model).expect("the model fits together"), q)
}

#[test]
fn without_projection_joints_drift_and_less_with_smaller_steps() {
    // One step of moreau-jean (θ = 1/2, both velocities tangent at their own ends, up to O(h²) that does not add up) changes g by −h/4 Δg_q Δu = O(h³):
    // order 2.
    // So does one of moreau-midpoint, whose laws are those of the ends.
    let (system, q) = double_pendulum();
    for (name, order) in [("moreau-jean", 2.0), (END, 2.0), ("moreau-midpoint", 2.0)] {
        let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3]
            .map(|h| (h, run(&system, name, &q, &[0.0; 6], h, 1.0, Stabilise::None).summary.worst.joint_violation))
            .to_vec();
        println!("{name}: drift of the double pendulum in 1 s {errors:?}, orders {:.3?}", orders(&errors));
        for o in orders(&errors) {
            // Asymptotic to a tenth at these steps.
            assert!((o - order).abs() < 0.15, "{name}: order {o}");
        }
    }
}

#[test]
fn with_projection_joints_close_in_position_and_velocity() {
    let (system, q) = double_pendulum();
    for name in SCHEMES {
        let free = run(&system, name, &q, &[0.0; 6], 1e-3, 10.0, Stabilise::None);
        let held = run(&system, name, &q, &[0.0; 6], 1e-3, 10.0, Stabilise::Projection);
        println!(
            "{name}, 10 s at h = 1e-3: drift {:.3e} m, velocity {:.3e} m/s without; {:.3e} m, {:.3e} m/s with projection",
            free.summary.worst.joint_violation,
            free.velocity_defect,
            held.summary.worst.joint_violation,
            held.velocity_defect
        );
        // Stated accuracy of the projection.
        assert!(held.summary.worst.joint_violation <= 1e-10, "{name}: {:e}", held.summary.worst.joint_violation);
        assert!(held.velocity_defect <= 1e-10, "{name}: {:e}", held.velocity_defect);
        // It does something: without it the joints are off by far more.
        assert!(free.summary.worst.joint_violation > 1e-7, "{name}: {:e}", free.summary.worst.joint_violation);
    }
}

#[test]
fn the_energy_ledger_of_the_double_pendulum_closes_and_its_loss_falls_with_the_step() {
    let (system, q) = double_pendulum();
    for name in SCHEMES {
        for stabilise in [Stabilise::None, Stabilise::Projection] {
            let mut errors = Vec::new();
            for h in [2e-3, 1e-3, 5e-4] {
                let s = run(&system, name, &q, &[0.0; 6], h, 1.0, stabilise).summary;
                // Thousands of terms at rounding accuracy and solves to 1e-10.
                assert!(s.energy.closure <= 1e-9, "{name}, {stabilise:?}: closure {:e}", s.energy.closure);
                errors.push((h, (s.energy.last - s.energy.initial).abs()));
                let gain = s.energy.max - s.energy.initial;
                if name == "moreau-jean" {
                    // The energy swings: 8.5e-5 J of 10 J at the largest step, and falls with its square.
                    assert!(gain <= 1e-4 * (h / 2e-3f64).powi(2), "{name}, h = {h}: {:?}", s.energy);
                } else if name == "moreau-midpoint" {
                    // The same: 5.6e-4 J of 10 J.
                    assert!(gain <= 1e-3 * (h / 2e-3f64).powi(2), "{name}, h = {h}: {:?}", s.energy);
                } else {
                    // No energy comes from nowhere beyond what the largest step shows.
                    assert!(gain <= errors[0].1, "{name}: {:?}", s.energy);
                }
            }
            println!("{name}, {stabilise:?}: |E − E0| after 1 s {errors:?} J, orders {:.3?}", orders(&errors));
            for o in orders(&errors) {
                // At least first order, to a tenth.
                assert!(o > 0.9, "{name}, {stabilise:?}: order {o}");
            }
        }
    }
}

#[test]
fn a_redundant_joint_changes_nothing_and_is_logged() {
    let start = |copies| Differentiated::new(Pendulum { g: 9.81, copies }).unwrap();
    let (single, double) = (start(1), start(2));
    let angle: f64 = 1.0;
    let q = [angle.sin(), -angle.cos()];
    for name in SCHEMES {
        for stabilise in [Stabilise::None, Stabilise::Projection] {
            let a = run(&single, name, &q, &[0.0; 2], 2e-3, 4.0, stabilise);
            let b = run(&double, name, &q, &[0.0; 2], 2e-3, 4.0, stabilise);
            for (x, y) in a.records.iter().zip(&b.records) {
                for k in 0..2 {
                    // The same steps up to rounding, 2000 of them on a motion that is not chaotic.
                    assert!((x.q[k] - y.q[k]).abs() <= 1e-12, "{name}, {stabilise:?}: t = {}", x.t);
                    assert!((x.u[k] - y.u[k]).abs() <= 1e-11, "{name}, {stabilise:?}: t = {}", x.t);
                }
            }
            let logged = |r: &Run| r.summary.events.iter().filter(|e| e.kind == EventKind::Redundancy).count();
            assert_eq!((logged(&a), logged(&b)), (0, 1), "{name}, {stabilise:?}: redundancy is logged once");
            // The least norm shares the percussion evenly.
            let (p0, p1) = (b.summary.percussions["rod0"][0], b.summary.percussions["rod1"][0]);
            let p = a.summary.percussions["rod0"][0];
            assert!(
                (p0 - p1).abs() <= 1e-9 * p.abs() && (p0 + p1 - p).abs() <= 1e-9 * p.abs(),
                "{name}: {p0} {p1} {p}"
            );
        }
    }
}

/// 2π/agm(1, cos(θ0/2)) · sqrt(l/g): the period of a pendulum released at θ0.
fn period(angle: f64, g: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * angle).cos());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    std::f64::consts::TAU / (a * g.sqrt())
}

#[test]
fn the_period_of_the_pendulum_is_that_of_the_elliptic_integral() {
    let (angle, g): (f64, f64) = (1.5, 9.81);
    let exact = period(angle, g);
    let system = Differentiated::new(Pendulum { g, copies: 1 }).unwrap();
    let q = [angle.sin(), -angle.cos()];
    // Order 1 where W of a joint is that of q_{k+1} for the whole step, 2 where it is that of q_{k+1/2}.
    for (name, order) in [("moreau-jean", 2.0), (END, 1.0)] {
        for stabilise in [Stabilise::None, Stabilise::Projection] {
            let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3]
                .map(|h| {
                    let r = run(&system, name, &q, &[0.0; 2], h, 1.2 * exact, stabilise).records;
                    // Released at rest at the right: x passes zero at T/4 (down) and 3T/4 (up): half a period in between, located
                    // by a cubic through four points, far below the error of the scheme.
                    let crossings: Vec<f64> = (2..r.len() - 1)
                        .filter(|&i| r[i - 1].q[0] * r[i].q[0] < 0.0)
                        .map(|i| crossing(&r[i - 2..i + 2]))
                        .collect();
                    (h, (2.0 * (crossings[1] - crossings[0]) - exact).abs())
                })
                .to_vec();
            println!("period {exact:.9} s, {name}, {stabilise:?}: errors {errors:?}, orders {:.3?}", orders(&errors));
            for o in orders(&errors) {
                // To a tenth.
                assert!((o - order).abs() < 0.15, "{name}, {stabilise:?}: order {o}");
            }
        }
    }
}

/// Time at which x = 0 by inverse cubic interpolation of four records.
fn crossing(r: &[Record]) -> f64 {
    (0..4)
        .map(|i| {
            let others = (0..4).filter(|&j| j != i);
            r[i].t * others.map(|j| r[j].q[0] / (r[j].q[0] - r[i].q[0])).product::<f64>()
        })
        .sum()
}

/// A skate (x, y, φ) that moves along its blade only: −x' sin φ + y' cos φ = 0.
struct Skate;

impl Model for Skate {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y", "phi"]).constant_mass().velocity_joint("blade", 1)
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(2.0);
        m[4] = T::from(2.0);
        m[8] = T::from(0.3);
    }
    fn velocity_joint<T: Scalar>(&self, _i: usize, _t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        gamma[0] = u[1] * q[2].cos() - u[0] * q[2].sin();
    }
}

#[test]
fn a_skate_goes_in_a_circle() {
    // Closed form: speed v and turn rate ω stay; a circle of radius v/ω.
    let (v, omega, end) = (1.5, 2.0, 2.0);
    let exact = [v / omega * f64::sin(omega * end), v / omega * (1.0 - f64::cos(omega * end)), omega * end];
    let system = Differentiated::new(Skate).unwrap();
    // Order 1 where W is that of the end, as for every constraint whose direction turns; 2 where it is that of the middle.
    for (name, order) in [("moreau-jean", 2.0), (END, 1.0)] {
        let errors: Vec<(f64, f64)> = [2e-2, 1e-2, 5e-3]
            .map(|h| {
                let r = run(&system, name, &[0.0; 3], &[v, 0.0, omega], h, end, Stabilise::None);
                // The constraint itself holds to the solver's accuracy at every step, or with W of the middle to ΔWᵀΔu/4, where
                // W turns by ωh and u with it: v (ωh)²/4.
                let defect = if name == END { 1e-9 } else { 0.3 * v * (omega * h).powi(2) };
                assert!(r.velocity_defect <= defect, "{name}, h = {h}: {:e}", r.velocity_defect);
                let last = r.records.last().expect("records");
                let speed = last.u[0].hypot(last.u[1]);
                println!("skate, h = {h}: speed {speed:.9} of {v}, turned {:.12} of {}", last.q[2], exact[2]);
                (h, (0..3).map(|k| (last.q[k] - exact[k]).abs()).fold(0.0, f64::max))
            })
            .to_vec();
        println!("skate, {name}: errors {errors:?}, orders {:.3?}", orders(&errors));
        for o in orders(&errors) {
            // Asymptotic to a tenth.
            assert!((o - order).abs() < 0.15, "{name}: order {o}");
        }
    }
}

#[test]
fn a_skate_converges_to_the_circle_with_every_scheme() {
    let (v, omega, end) = (1.5, 2.0, 2.0);
    let exact = [v / omega * f64::sin(omega * end), v / omega * (1.0 - f64::cos(omega * end))];
    let system = Differentiated::new(Skate).unwrap();
    for name in SCHEMES {
        for stabilise in [Stabilise::None, Stabilise::Projection] {
            let errors: Vec<(f64, f64)> = [2e-2, 1e-2, 5e-3, 2.5e-3]
                .map(|h| {
                    let r = run(&system, name, &[0.0; 3], &[v, 0.0, omega], h, end, stabilise);
                    if stabilise == Stabilise::Projection {
                        // The projection holds velocity joints as well.
                        assert!(r.velocity_defect <= 1e-10, "{name}: {:e}", r.velocity_defect);
                    }
                    let last = r.records.last().expect("records");
                    (h, (0..2).map(|k| (last.q[k] - exact[k]).abs()).fold(0.0, f64::max))
                })
                .to_vec();
            // First order at least.
            assert!(orders(&errors).iter().all(|&o| o > 0.9), "{name}, {stabilise:?}: {errors:?}");
        }
    }
}

/// A unit pendulum whose pivot moves as (A sin ωt, 0).
struct Driven {
    amplitude: f64,
    omega: f64,
    g: f64,
}

impl Model for Driven {
    fn layout(&self) -> Layout {
        Layout::new(["x", "y"]).constant_mass().potential("gravity").linear().joint("rod", 1).moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
        m[3] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[1] * self.g
    }
    fn joint<T: Scalar>(&self, _i: usize, t: T, q: &[T], g: &mut [T]) {
        let x = q[0] - (t * self.omega).sin() * self.amplitude;
        g[0] = (x * x + q[1] * q[1]).sqrt() - 1.0;
    }
}

#[test]
fn a_driven_pivot_is_followed() {
    let model = Driven { amplitude: 0.2, omega: 5.0, g: 9.81 };
    let (a, w, g) = (model.amplitude, model.omega, model.g);
    let angle: f64 = 0.4;
    let end = 1.0;
    // Reference: φ'' = −g sin φ + A ω² sin(ωt) cos φ by RK4 with 1e-4: error 1e-12 or so.
    let rate = |t: f64, y: [f64; 2]| [y[1], -g * y[0].sin() + a * w * w * (w * t).sin() * y[0].cos()];
    let (mut y, n) = ([angle, 0.0], 10_000);
    let h = end / f64::from(n);
    for i in 0..n {
        let t = f64::from(i) * h;
        let shift = |k: [f64; 2], s: f64| [y[0] + s * k[0], y[1] + s * k[1]];
        let k1 = rate(t, y);
        let k2 = rate(t + 0.5 * h, shift(k1, 0.5 * h));
        let k3 = rate(t + 0.5 * h, shift(k2, 0.5 * h));
        let k4 = rate(t + h, shift(k3, h));
        for j in 0..2 {
            y[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
        }
    }
    let exact = [a * (w * end).sin() + y[0].sin(), -y[0].cos()];
    let system = Differentiated::new(model).unwrap();
    let q = [angle.sin(), -angle.cos()];
    // The pivot starts with velocity A ω; the mass starts with it too (φ' = 0).
    let u = [a * w, 0.0];
    for name in SCHEMES {
        for stabilise in [Stabilise::None, Stabilise::Projection] {
            let errors: Vec<(f64, f64)> = [4e-3, 2e-3, 1e-3, 5e-4]
                .map(|h| {
                    let r = run(&system, name, &q, &u, h, end, stabilise);
                    let worst = r.summary.worst.joint_violation;
                    if stabilise == Stabilise::Projection {
                        assert!(
                            worst <= 1e-10 && r.velocity_defect <= 1e-10,
                            "{name}: {worst:e} {:e}",
                            r.velocity_defect
                        );
                    } else if name == END {
                        // The rod turns at up to 5 rad/s: drift of h²/8 per step (Δg_q Δu, see above) in 1/h steps, generously.
                        assert!(worst <= 100.0 * h * h && r.velocity_defect <= 1e-9, "{name}: {worst:e} at h = {h}");
                    }
                    if name == "moreau-jean" && stabilise == Stabilise::None {
                        // The same drift; γ is zero up to ΔWᵀΔu/4: the rod turns by 5h, and u, at up to 5 m/s, with it.
                        assert!(
                            worst <= 100.0 * h * h && r.velocity_defect <= 125.0 / 4.0 * h * h,
                            "{worst:e} at h = {h}"
                        );
                    }
                    let last = r.records.last().expect("records");
                    (h, (0..2).map(|k| (last.q[k] - exact[k]).abs()).fold(0.0, f64::max))
                })
                .to_vec();
            println!("driven, {name}, {stabilise:?}: errors {errors:?}, orders {:.3?}", orders(&errors));
            // First order at least at the finest steps, to a tenth; and the finest step is close.
            assert!(orders(&errors)[2] > 0.9, "{name}, {stabilise:?}: {errors:?}");
            assert!(errors[3].1 < 5e-3, "{name}, {stabilise:?}: {errors:?}");
        }
    }
}

/// A pendulum released at the horizontal loses nothing: an ideal joint works over the mean of velocities that are tangent at both ends.
#[test]
fn a_joint_takes_no_energy() {
    let system = Differentiated::new(Pendulum { g: 9.81, copies: 1 }).unwrap();
    let lost = |name: &str, h: f64| {
        let s = run(&system, name, &[1.0, 0.0], &[0.0; 2], h, 10.0, Stabilise::None).summary;
        (s.energy.last - s.energy.initial).abs()
    };
    let errors = [1e-2, 5e-3, 2.5e-3].map(|h| (h, lost("moreau-jean", h)));
    let (new, old) = (lost("moreau-jean", 1e-3), lost(END, 1e-3));
    println!("pendulum, 10 s at h = 1e-3: {new:.2e} J; with directions of the end {old:.2e} J; {errors:?}");
    // What P does over ΔWᵀΔu/4 cancels but for its change: O(h³); 1.3e-6 J at h = 1e-3 of the 9.81 J that swing.
    assert!(new <= 3e-6, "{new:e}");
    // First order, and large: the contrast that (18a) prints.
    assert!((0.8..1.0).contains(&old), "{old}");
    for o in orders(&errors) {
        assert!(o > 2.7, "{errors:?}");
    }
}
