//! The bouncing ball: infinitely many impacts in finite time, and none of its energy lost where e = 1.
//!
//! **Timing.** With θ = 1/2 the flight of the ball is exact at grid points, and everything that is wrong comes from the
//! one step in which an impact happens. Let the ball arrive with speed v at the time t*, and let the step that takes
//! the percussion start at t* − d. The forecast ḡ = g + γ h ġ ≤ 0 chooses that step: d ∈ [(γ−1)h, γh); the free forecast
//! is γ = 1, `moreau-midpoint` is γ = 1/2. The step turns the velocity without weight and leaves (e = 1/2, weight 2,
//! terms in h² dropped):
//!
//! - the impact is logged at t*, or at the end of the step if that is earlier (d > h, with γ = 2);
//! - the next impact comes h/2 late, whatever d is;
//! - it comes faster by w = 3d − h, which lengthens the arc after it by w/2 and all that is left by w.
//!
//! So the impacts at 1, 2, 5/2 are logged late by 0, 1/2, 1 + w₁/2 steps, w₁ ∈ [3γ − 4, 3γ − 1): all three are within one
//! step with γ = 0, the default, and only there. Of n bounces each shifts the rest by ½ + w, in the mean by
//! 3γ − 2 steps: the contact closes early or late by some steps times log₂(1/h), with the least bias for γ = 2/3. The
//! limit of the impacts is predicted by the first two of them, 2 t₂ − t₁, one step late whatever γ is (`accumulation-end`).

use nonsmooth::scheme::{self, Scheme, Settings};
use nonsmooth::simulation::{EventKind, Observe, Observer, Status, StepView};
use nonsmooth::{Differentiated, Simulation, SimulationOptions, State, Summary};
use nonsmooth_reference::{Ball, cases, variants};

struct Row {
    label: &'static str,
    /// γ of the forecast; the free forecast is that of γ = 1 to first order.
    gamma: f64,
    name: &'static str,
    settings: Settings,
}

impl Row {
    fn make(&self) -> Box<dyn Scheme> {
        scheme::make(self.name, &self.settings).unwrap()
    }
}

fn rows() -> Vec<Row> {
    let jean = |label, gamma: f64, settings: Settings| Row { label, gamma, name: "moreau-jean", settings };
    let explicit = |gamma| Settings::new().number("gamma", gamma);
    let free = || Settings::new().word("forecast", "free");
    vec![
        jean("moreau-jean (defaults)", 0.0, Settings::new()),
        jean("gamma=1/2", 0.5, explicit(0.5)),
        jean("gamma=2/3", 2.0 / 3.0, explicit(2.0 / 3.0)),
        jean("gamma=1", 1.0, explicit(1.0)),
        jean("free", 1.0, free()),
        jean("gamma=2", 2.0, explicit(2.0)),
        jean("trapezoid free", 1.0, free().word("force", "trapezoid")),
        Row { label: "moreau-midpoint", gamma: 0.5, name: "moreau-midpoint", settings: Settings::new() },
    ]
}

/// Steps that do not divide 1.
const STEPS: [f64; 3] = [3e-3, 7e-4, 1.3e-4];

fn bounce(row: &Row, h: f64) -> Summary {
    let ball = Differentiated::new(Ball::default()).unwrap();
    // Whole steps up to 5 s: a shortened last step would let a ball that the free forecast holds at a height of
    // O(h²) fall for that step, rightly.
    let end = (5.0 / h).ceil() * h;
    let start = State::new(0.0, vec![1.0], vec![0.0]);
    let summary = Simulation::new(&ball, start, row.make(), SimulationOptions::new(h, end)).unwrap().run();
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);
    summary
}

/// Times of the events of one kind, s.
fn times(summary: &Summary, kind: EventKind) -> Vec<f64> {
    summary.events.iter().filter(|e| e.kind == kind).map(|e| e.t).collect()
}

/// Terms in h² that the head drops, in steps: a few times h/v ≤ 3e-3.
const CURVATURE: f64 = 0.05;

#[test]
fn impacts_are_logged_where_the_forecast_puts_them() {
    println!("delay of the logged impacts at 1, 2, 5/2, of close and of accumulation-end, in steps");
    let mut failures = Vec::new();
    for row in rows() {
        for h in STEPS {
            let summary = bounce(&row, h);
            let impacts = times(&summary, EventKind::Impact);
            let late: Vec<f64> = impacts.iter().zip([1.0, 2.0, 2.5]).map(|(t, exact)| (t - exact) / h).collect();
            let delay = |kind| times(&summary, kind).iter().map(|t| (t - 3.0) / h).collect::<Vec<f64>>();
            let (close, end) = (delay(EventKind::Close), delay(EventKind::AccumulationEnd));
            println!("{:24} h = {h:7}: {late:6.2?} {close:6.2?} {end:6.2?}  {} impacts", row.label, impacts.len());
            let early = (1.0 - row.gamma).min(0.0);
            let w = (3.0 * (row.gamma - 1.0) - 1.0, 3.0 * row.gamma - 1.0);
            let shift = [(0.0, 0.0), (0.5, 0.5), (1.0 + 0.5 * w.0, 1.0 + 0.5 * w.1)];
            for (i, (found, shift)) in late.iter().zip(shift).enumerate() {
                let (low, high) = (shift.0 + early - CURVATURE, shift.1 + CURVATURE);
                if !(*found >= low && *found <= high) {
                    failures.push(format!("{} h = {h}: impact {i} late by {found} not in [{low}, {high}]", row.label));
                }
            }
            // Impacts end when an arc is as long as a step or two: after 1 + log₂(1/h) bounces, give or take one.
            let bounces = (1.0 / h).log2().ceil() + 2.0;
            let (low, high) = (bounces * (0.5 + w.0).min(0.0) - 2.0, bounces * (0.5 + w.1).max(0.0) + 2.0);
            if !(close.len() == 1 && close[0] >= low && close[0] <= high) {
                failures.push(format!("{} h = {h}: closes late by {close:?}, not in [{low}, {high}]", row.label));
            }
            // No later than the contact closes, or where the impacts point to.
            if !(end.len() == 1 && end[0] <= close[0].max(1.0 + CURVATURE)) {
                failures.push(format!("{} h = {h}: accumulation-end late by {end:?}", row.label));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn by_default_the_first_three_impacts_are_logged_within_one_step_and_their_limit_within_two() {
    // Also at steps that fall elsewhere in the first impact.
    for h in STEPS.iter().copied().chain((1..20).map(|k| 1e-3 * (1.0 + 0.0371 * f64::from(k)))) {
        let summary = bounce(&rows()[0], h);
        let impacts = times(&summary, EventKind::Impact);
        for (found, exact) in impacts.iter().zip([1.0, 2.0, 2.5]) {
            assert!((found - exact).abs() <= (1.0 + CURVATURE) * h, "h = {h}: {exact} logged at {found}");
        }
        let end = times(&summary, EventKind::AccumulationEnd);
        assert!(end.len() == 1 && (end[0] - 3.0).abs() <= 2.0 * h, "h = {h}: accumulation-end {end:?}");
    }
}

#[test]
fn the_ball_passes_the_accumulation_and_rests() {
    for row in rows() {
        for h in STEPS {
            let (label, summary) = (row.label, bounce(&row, h));
            // At rest every step halves the velocity and turns it: 2/h steps leave less than rounding of anything.
            assert!(summary.end.u[0].abs() < 1e-12, "{label} h = {h}: u = {}", summary.end.u[0]);
            // Deepest where the first impact takes its percussion latest: d = (γ−1)h at v = 2, then the step itself goes
            // on by (1−e)vh/2. Held up by a forecast that looks ahead, the ball may rest as much above: γhv with v ≤ weight·h.
            let depth = (2.0 * (1.0 - row.gamma) + 0.5).max(0.0) * h + CURVATURE * h;
            let found = summary.worst.penetration;
            assert!(found <= depth, "{label} h = {h}: penetrates {} steps", found / h);
            let above = 2.0 * row.gamma.max(1.0) * h * h;
            assert!(summary.end.q[0] <= above, "{label} h = {h}: rests {} above", summary.end.q[0]);
            assert!(summary.end.q[0] >= -depth, "{label} h = {h}: rests {} below", -summary.end.q[0]);
        }
    }
}

#[test]
fn the_events_come_in_order_and_end_with_the_rest() {
    for row in rows() {
        for h in STEPS {
            let summary = bounce(&row, h);
            let kinds: Vec<EventKind> = summary.events.iter().map(|e| e.kind).collect();
            use EventKind::{AccumulationEnd, AccumulationStart, Close, Impact};
            let at = kinds.len() - 2;
            assert_eq!(kinds[..4], [Impact, Impact, Impact, AccumulationStart], "{} h = {h}", row.label);
            assert!(kinds[4..at].iter().all(|k| *k == Impact), "{} h = {h}: {kinds:?}", row.label);
            // The contact may close before the limit of its impacts.
            let ends = [[AccumulationEnd, Close], [Close, AccumulationEnd]];
            assert!(ends.iter().any(|e| kinds[at..] == *e), "{} h = {h}: {kinds:?}", row.label);
            assert!(summary.events.windows(2).all(|w| w[0].t <= w[1].t), "in order of time");
            assert_eq!(summary.events[2].t, summary.events[3].t, "the third impact starts the accumulation");
            assert!(summary.events.iter().all(|e| e.contact.as_deref() == Some("ground")));
        }
    }
}

#[test]
fn percussions_sum_to_the_change_of_momentum() {
    for row in rows() {
        for h in STEPS {
            let summary = bounce(&row, h);
            // m Δu = P − weight·T, and the ball starts at rest.
            let expected = 2.0 * summary.end.t + summary.end.u[0];
            let found = summary.percussions["ground"][0];
            // Rounding of as many additions as steps to a sum of about 10.
            let tolerance = summary.work.steps as f64 * f64::EPSILON * expected;
            assert!((found - expected).abs() <= tolerance, "{} h = {h}: {found} not {expected}", row.label);
        }
    }
}

/// Largest deviation of the energy and of the scheme's own invariant from their start.
struct Deviation {
    theta: f64,
    h: f64,
    /// Of E and of Ẽ.
    worst: [f64; 2],
}

const WEIGHT: f64 = 2.0;

impl Observer for Deviation {
    fn step(&mut self, view: &StepView) {
        let (q, u) = (view.end.q[0], view.end.u[0]);
        let energy = 0.5 * u * u + WEIGHT * q;
        let invariant = energy - (self.theta - 0.5) * WEIGHT * self.h * u;
        let start = WEIGHT;
        for (worst, value) in self.worst.iter_mut().zip([energy, invariant]) {
            *worst = worst.max((value - start).abs() / start);
        }
    }
}

/// Deviations over at least 1,000 bounces of the elastic ball from height 1.
fn elastic(name: &str, settings: &Settings, theta: f64) -> [f64; 2] {
    let ball = Differentiated::new(Ball { e: 1.0, weight: WEIGHT, ..Ball::default() }).unwrap();
    let h: f64 = 1.7e-2;
    // A bounce takes 2 s, give or take some steps.
    let steps = (2_100.0 / h).ceil();
    let mut options = SimulationOptions::new(h, steps * h);
    options.observe = Observe { events: true, ..Observe::NONE };
    let start = State::new(0.0, vec![1.0], vec![0.0]);
    let scheme = scheme::make(name, settings).unwrap();
    let mut deviation = Deviation { theta, h, worst: [0.0; 2] };
    let summary = Simulation::new(&ball, start, scheme, options).unwrap().run_with(&mut deviation);
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop);
    let bounces = times(&summary, EventKind::Impact).len();
    assert!(bounces >= 1_000, "{bounces} bounces");
    assert!(summary.events.iter().all(|e| e.kind == EventKind::Impact), "it never closes or accumulates");
    deviation.worst
}

/// With M, W and the weight constant a step has M(u₁ − u₀) = −weight·h + P. Times the mean velocity ū:
///
/// ```text
/// E₁ − E₀ = P ū + weight·h (u_θ − ū) = P ū + weight·h (θ − ½)(u₁ − u₀)
/// ```
///
/// because the position moves by h u_θ. An elastic percussion has u₁ = −u₀, so ū = 0 and P ū = 0, whenever it comes and however
/// deep the ball is. Hence Ẽ = E − (θ − ½) weight·h u never changes, for any θ and forecast; for θ = 1/2 that
/// is the energy itself, and `moreau-midpoint` with a constant force is the same rule.
#[test]
fn the_elastic_ball_keeps_its_energy_over_1000_bounces_where_theta_is_one_half() {
    let mut cases = vec![("moreau-midpoint", Settings::new(), 0.5)];
    for theta in [0.5, 0.0, 1.0] {
        let jean = || Settings::new().number("theta", theta);
        cases.push(("moreau-jean", jean(), theta));
        cases.push(("moreau-jean", jean().number("gamma", 1.0), theta));
        cases.push(("moreau-jean", jean().word("forecast", "free"), theta));
        cases.push(("moreau-jean", jean().word("forecast", "free").word("force", "trapezoid"), theta));
    }
    println!("elastic ball, 1000 bounces: largest relative deviation of E and of E - (theta - 1/2) weight h u");
    for (name, settings, theta) in cases {
        let [energy, invariant] = elastic(name, &settings, theta);
        println!("{name:16} {settings:?}: {energy:.2e} {invariant:.2e}");
        // Rounding: 1.2e5 steps with a few errors of 1e-16 each, even if all had the same sign.
        assert!(invariant < 1e-10, "{name} {settings:?}: invariant off by {invariant:e}");
        if theta == 0.5 {
            assert!(energy < 1e-10, "{name} {settings:?}: energy off by {energy:e}");
        } else {
            // |θ − ½| weight·h |u| relative to the start's `weight`, |u| ≤ 2 and a little: no drift, but no conservation.
            assert!(energy > 1e-3 && energy < 1.1 * 0.5 * 1.7e-2 * 2.0, "{name} {settings:?}: {energy:e}");
        }
    }
}

#[test]
fn the_events_of_every_reference_model_come_in_order_of_time() {
    let mut failures = Vec::new();
    for case in cases().unwrap() {
        for variant in variants() {
            let scheme = scheme::make(variant.scheme, &variant.settings).unwrap();
            let Some(mut options) = case.options_for(variant.scheme) else { continue };
            options.observe = Observe { events: true, ..Observe::NONE };
            let mut simulation = Simulation::new(case.system.as_ref(), case.start.clone(), scheme, options).unwrap();
            let summary = simulation.run();
            if let Some(w) = summary.events.windows(2).find(|w| !(w[0].t <= w[1].t)) {
                failures.push(format!("{}, {}: {:?} before {:?}", case.name, variant.label, w[0], w[1]));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
