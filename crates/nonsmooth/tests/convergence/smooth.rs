//! Orders on smooth motion: every scheme on oscillators, flights, a pendulum, a bead and a top.

use super::{Point, assert_every_scheme, degree, jean, l1, row, run, system};
use nonsmooth::scheme::{self, Settings};
use nonsmooth::simulation::{Observe, Status};
use nonsmooth::{Simulation, SimulationOptions, State, System};
use nonsmooth_reference::{Bead, DrivenSpring, Flight, Oscillator, Swing, Top, damped_free};

/// The states at ascending times that begin with the start.
type Reference = Box<dyn Fn(&[f64]) -> Vec<(Vec<f64>, Vec<f64>)>>;

struct Smooth {
    name: &'static str,
    system: Box<dyn System>,
    start: State,
    end: f64,
    reference: Reference,
    /// q̇ = u, h = h(t,q) and M constant: `moreau-midpoint` is a leapfrog and of order 2, as its page says.
    leapfrog: bool,
    /// Rate of its fastest motion, about, rad/s.
    rate: f64,
}

/// A reference by closed form of one coordinate.
fn closed(f: impl Fn(f64) -> Point + 'static) -> Reference {
    Box::new(move |times| times.iter().map(|&t| f(t)).map(|(q, u)| (vec![q], vec![u])).collect())
}

/// A reference by the classical Runge-Kutta method with steps up to 5e-4: its error is about
/// (5e-4)⁴ · |d⁵q/dt⁵|/120 ≲ 1e-12 here, five digits below the errors it measures.
fn runge_kutta(q0: f64, u0: f64, acceleration: impl Fn(f64, f64) -> f64 + 'static) -> Reference {
    Box::new(move |times| {
        let f = |(q, u): Point| (u, acceleration(q, u));
        let add = |(q, u): Point, s: f64, (dq, du): Point| (q + s * dq, u + s * du);
        let mut y = (q0, u0);
        let mut out = vec![(vec![y.0], vec![y.1])];
        for w in times.windows(2) {
            let n = ((w[1] - w[0]) / 5e-4).ceil().max(1.0);
            let h = (w[1] - w[0]) / n;
            for _ in 0..n as usize {
                let k1 = f(y);
                let k2 = f(add(y, 0.5 * h, k1));
                let k3 = f(add(y, 0.5 * h, k2));
                let k4 = f(add(y, h, k3));
                let sum = (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0, k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
                y = add(y, h / 6.0, sum);
            }
            out.push((vec![y.0], vec![y.1]));
        }
        out
    })
}

fn smooth_problems() -> Vec<Smooth> {
    let one = |name, system, q: f64, u: f64, end, leapfrog, reference| Smooth {
        name,
        system,
        start: State::new(0.0, vec![q], vec![u]),
        end,
        reference,
        leapfrog,
        rate: 3.0,
    };
    let damped = Oscillator { c: 0.3, k: 4.0, stop: f64::NEG_INFINITY, ..Oscillator::default() };
    let undamped = Oscillator { c: 0.0, ..damped.clone() };
    let (delta, omega) = (0.15, (4.0f64 - 0.15 * 0.15).sqrt());
    let top = Top::default();
    let free_top: Reference = {
        let top = top.clone();
        Box::new(move |times| {
            let exact = |&t: &f64| top.exact(1.5, 4.0, t);
            times.iter().map(exact).map(|(q, u)| (q.to_vec(), u.to_vec())).collect()
        })
    };
    vec![
        one(
            "damped oscillator",
            system(damped),
            1.0,
            0.5,
            3.0,
            false,
            closed(move |t| damped_free(delta, omega, 1.0, 0.5, t)),
        ),
        one(
            "undamped oscillator",
            system(undamped),
            1.0,
            0.5,
            3.0,
            true,
            closed(|t| damped_free(0.0, 2.0, 1.0, 0.5, t)),
        ),
        Smooth {
            rate: 2.0,
            ..one(
                "flight, force -10 exp(t)",
                system(Flight::default()),
                0.0,
                1.0,
                1.0,
                true,
                closed(|t| Flight::default().exact(0.0, 1.0, t)),
            )
        },
        one(
            "spring with moving foot",
            system(DrivenSpring::default()),
            0.2,
            0.0,
            3.0,
            true,
            closed(|t| DrivenSpring::default().exact(0.2, 0.0, t)),
        ),
        Smooth {
            rate: 6.0,
            ..one(
                "pendulum in its angle",
                system(Swing::default()),
                2.0,
                0.0,
                2.0,
                true,
                runge_kutta(2.0, 0.0, |q, u| Swing::default().acceleration(q, u)),
            )
        },
        Smooth {
            rate: 16.0,
            ..one(
                "bead, M(q)",
                system(Bead::default()),
                1.2,
                0.5,
                2.0,
                false,
                runge_kutta(1.2, 0.5, |q, u| Bead::default().acceleration(q, u)),
            )
        },
        Smooth {
            name: "free top, quaternion",
            system: system(top),
            start: State::new(0.0, vec![1.0, 0.0, 0.0, 0.0], vec![1.5, 0.0, 4.0]),
            end: 2.0,
            reference: free_top,
            leapfrog: false,
            rate: 4.0,
        },
    ]
}

/// Of a given order; the one step of the first order with which it begins is too short to be seen.
fn fixed(order: usize) -> Settings {
    Settings::new().number("fixed_order", order as f64).number("dt_min", 1e-9)
}

#[test]
fn every_scheme_has_its_order_on_smooth_motion() {
    let rows = [
        row("moreau-jean theta=1/2", "moreau-jean", jean(0.5)),
        row("moreau-jean theta=1", "moreau-jean", jean(1.0)),
        row("moreau-jean theta=0", "moreau-jean", jean(0.0)),
        row("trapezoid theta=1/2", "moreau-jean", jean(0.5).word("force", "trapezoid")),
        row("trapezoid theta=1", "moreau-jean", jean(1.0).word("force", "trapezoid")),
        row("moreau-midpoint", "moreau-midpoint", Settings::new()),
        row("schatzman-paoli theta=1/2", "schatzman-paoli", jean(0.5)),
        row("schatzman-paoli theta=1", "schatzman-paoli", jean(1.0)),
        row("schatzman-paoli theta=0", "schatzman-paoli", jean(0.0)),
        row("projected-direct theta=1/2", "projected-direct", jean(0.5)),
        row("projected-combined theta=1/2", "projected-combined", jean(0.5)),
        row("projected-combined theta=1", "projected-combined", jean(1.0)),
        row("position-theta theta=1/2", "position-theta", jean(0.5)),
        row("position-theta theta=1", "position-theta", jean(1.0)),
        row("rattle", "rattle", Settings::new()),
        row("trapezoidal-lcp II", "trapezoidal-lcp", Settings::new()),
        row("trapezoidal-lcp I", "trapezoidal-lcp", Settings::new().word("variant", "I")),
        row("augmented p=2", "augmented", fixed(2)),
        row("augmented p=3", "augmented", fixed(3).word("extrapolation", "every")),
        row("augmented p=4", "augmented", fixed(4)),
        row("augmented p=4 moreau-jean", "augmented", fixed(4).word("base", "moreau-jean")),
        row("augmented p=4 rattle", "augmented", fixed(4).word("base", "rattle")),
        row("augmented p=4 projected-direct", "augmented", fixed(4).word("base", "projected-direct")),
        row("augmented p=4 projected-combined", "augmented", fixed(4).word("base", "projected-combined")),
        row("tdg-minus M=0", "tdg-minus", degree(0)),
        row("tdg-minus M=1", "tdg-minus", degree(1)),
        row("tdg-minus M=2", "tdg-minus", degree(2)),
        row("tdg-minus M=3", "tdg-minus", degree(3)),
        row("tdg-minus M=4", "tdg-minus", degree(4)),
        row("tdg-minus M=5", "tdg-minus", degree(5)),
        row("tdg-plus M=0", "tdg-plus", degree(0)),
        row("tdg-plus M=1", "tdg-plus", degree(1)),
        row("tdg-plus M=2", "tdg-plus", degree(2)),
        row("tdg-plus M=3", "tdg-plus", degree(3)),
        row("tdg-plus M=4", "tdg-plus", degree(4)),
        row("tdg-plus M=5", "tdg-plus", degree(5)),
    ];
    assert_every_scheme(&rows);
    // Whole steps: parts of the end time.
    let counts = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0];
    // The errors of higher orders are soon those of rounding.
    let few = [1.0, 1.25, 1.5, 1.75, 2.0, 2.5];
    let mut failures = Vec::new();
    println!(
        "smooth motion                                         expected    q      u   (errors at the smallest step)"
    );
    for problem in smooth_problems() {
        for row in &rows {
            let scheme = row.make();
            let structure = problem.system.structure();
            if scheme.info().supports.missing(&structure.needs).is_some() {
                continue;
            }
            let central = structure.constant_mass && row.label == "schatzman-paoli theta=0";
            let leapfrog = central || (problem.leapfrog && scheme.info().name == "moreau-midpoint");
            // Orders of extrapolation in even powers are even.
            let even = problem.leapfrog && scheme.info().adaptive;
            let order = scheme.order().smooth;
            let expected = if leapfrog { 2 } else { order + u32::from(even && order % 2 == 1) };
            let (mut q, mut u) = (Vec::new(), Vec::new());
            // Long enough that errors of higher orders stay above rounding: up to a radian of the fastest motion.
            let longest = match expected {
                0..=2 => 100.0,
                3 | 4 if scheme.info().adaptive => 4.0 * problem.rate * problem.end,
                3 | 4 => 2.0 * problem.rate * problem.end,
                _ => problem.rate * problem.end,
            };
            let counts = if expected <= 4 { counts } else { few };
            let mut steps: Vec<f64> = counts.iter().map(|n| problem.end / (longest * n).round()).collect();
            for &h in &steps {
                let records = run(problem.system.as_ref(), &problem.start, row.make(), h, problem.end);
                let times: Vec<f64> = records.iter().map(|r| r.t).collect();
                let (eq, eu) = l1(&records, &(problem.reference)(&times));
                q.push(eq);
                u.push(eu);
            }
            // The reference itself is known to about 1e-13.
            let measurable = q.iter().zip(&u).take_while(|(q, u)| q.min(**u) > 2e-12).count();
            [&mut steps, &mut q, &mut u].into_iter().for_each(|list| list.truncate(measurable));
            assert!(measurable >= 3, "{}, {}: {q:?} {u:?}", problem.name, row.label);
            let (oq, ou) = (super::order(&steps, &q), super::order(&steps, &u));
            let (name, label) = (problem.name, row.label);
            let (worst_q, worst_u) = (q[q.len() - 1], u[u.len() - 1]);
            println!("{name:26} {label:28} {expected:6} {oq:8.3} {ou:6.3}   {worst_q:.1e} {worst_u:.1e}");
            for (what, found) in [("q", oq), ("u", ou)] {
                // ±0.2: the next term of the error expansion at the largest step, a hundredth of the run, shifts a
                // fitted order by some per cent; a lost order shifts it by one.
                // Longer steps of schemes of order 6 shift it by more, and a lost order still by one.
                let within = if expected <= 4 { 0.2 } else { 0.45 };
                if !((found - f64::from(expected)).abs() <= within) {
                    failures.push(format!("{name}, {label}: order {found:.3} in {what}, expected {expected}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Near an equilibrium the terms of a step are much smaller than the momentum itself, M Δu = dt h ≪ M u, and their
/// relative residual cannot be smaller than the rounding of M u over them. That is no reason to give the step up.
#[test]
fn a_pendulum_passes_its_lowest_point_with_small_steps() {
    let swing = system(Swing::default());
    let start = State::new(0.0, vec![-1e-4], vec![5.0]);
    for h in [1e-4, 1e-5, 1e-6, 1e-7] {
        let mut options = SimulationOptions::new(h, 50.0 * h);
        options.observe = Observe::NONE;
        let scheme = scheme::make("moreau-jean", &Settings::new()).unwrap();
        let summary = Simulation::new(swing.as_ref(), start.clone(), scheme, options).unwrap().run();
        assert_eq!(summary.status, Status::Done, "h = {h}: {:?}", summary.stop);
        assert_eq!(summary.work.rejected, 0, "h = {h}");
    }
}
