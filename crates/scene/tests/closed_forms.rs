//! The closed forms of the bundled scenes, checked against the differential equation and the laws that they claim to solve,
//! and against a fine run; and closed forms that do not fit are refused.

use nonsmooth::contract::{Candidates, Kind, Reach};
use nonsmooth::law::Law;
use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::compare::{CompareRequest, ReferenceChoice, SchemeChoice, compare};
use nonsmooth_scene::model::ExactSolution;
use nonsmooth_scene::prepare::{Prepared, Request, read};

/// Scene and overrides.
const CASES: &[(&str, &[&str])] = &[
    ("bouncing_ball", &[]),
    ("bouncing_ball", &["parameters.e_N=0.8", "parameters.weight=5"]),
    ("bouncing_ball", &["parameters.e_N=0"]),
    ("ball_flight", &[]),
    ("ball_rest", &[]),
    ("linear_oscillator", &[]),
    ("linear_oscillator", &["parameters.c=0.4", "parameters.k=3", "parameters.m=2", "parameters.e_N=0.9"]),
    ("falling_mass", &[]),
    ("falling_mass", &["parameters.z_0=0.2", "parameters.e_N=0.3"]),
    ("impact_oscillator", &[]),
    ("sliding_block", &[]),
    ("rotating_ball", &[]),
    ("rotating_ball", &["parameters.omega=10"]),
    ("rotating_ball", &["parameters.omega=0", "parameters.e_N=0.5"]),
];

fn load(name: &str, set: &[&str]) -> (Prepared, ExactSolution) {
    let request = Request { set: set.iter().map(|s| (*s).to_string()).collect(), ..Request::default() };
    let p = Prepared::load(name, &request).unwrap();
    let exact = ExactSolution::build(&p.document, &p.scene, &mut p.numbers.clone()).unwrap().unwrap();
    (p, exact)
}

/// What the contacts do at a state: name, gap, (W, χ) and law.
struct Touch {
    gap: f64,
    w: Vec<Vec<f64>>,
    e: f64,
    mu: f64,
}

fn contacts(p: &Prepared, t: f64, q: &[f64]) -> Vec<Touch> {
    let mut list = Candidates::default();
    p.evaluator().candidates(t, q, &p.start.u, Reach::ALL, &mut list);
    let n = p.system.structure().nu();
    let mut out = Vec::new();
    for k in list.items().iter().filter(|k| k.kind == Kind::Contact) {
        let mut g = [0.0];
        p.evaluator().position(k, t, q, &mut g);
        let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
        p.evaluator().velocity(k, t, q, &mut w, &mut chi);
        assert!(chi.iter().all(|x| *x == 0.0), "the obstacles of these scenes rest");
        let rows = w.chunks(k.dofs.len()).map(|row| {
            let mut full = vec![0.0; n];
            k.dofs.iter().zip(row).for_each(|(&j, v)| full[j as usize] = *v);
            full
        });
        let (e, mu) = match &*k.law {
            Law::Contact(law) => (
                law.normal.restitution(),
                match law.friction {
                    Some(nonsmooth::law::Friction::Coulomb { mu }) => mu,
                    _ => 0.0,
                },
            ),
            _ => (0.0, 0.0),
        };
        out.push(Touch { gap: g[0], w: rows.collect(), e, mu });
    }
    out
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// M x.
fn times_mass(p: &Prepared, t: f64, q: &[f64], x: &[f64]) -> Vec<f64> {
    let mut m = complementarity::linear::Matrix::new(&p.system.structure().pattern);
    p.evaluator().mass(t, q, &mut m);
    let mut out = vec![0.0; x.len()];
    m.multiply(x, &mut out);
    out
}

/// What is left of `load` after the contacts that touch have taken their part: r with load ≈ Σ W r, for one contact by
/// least squares over its rows (orthogonal in M⁻¹ here or single). Returns (rest, r).
fn resolve(load: &[f64], touch: &Touch) -> (f64, Vec<f64>) {
    // Normal equations of at most two rows.
    let w = &touch.w;
    let r = if w.len() == 1 {
        vec![dot(&w[0], load) / dot(&w[0], &w[0])]
    } else {
        let (a, b, c) = (dot(&w[0], &w[0]), dot(&w[0], &w[1]), dot(&w[1], &w[1]));
        let (f, g) = (dot(&w[0], load), dot(&w[1], load));
        let d = a * c - b * b;
        vec![(c * f - b * g) / d, (a * g - b * f) / d]
    };
    let rest = (0..load.len())
        .map(|j| (load[j] - w.iter().zip(&r).map(|(row, r)| row[j] * r).sum::<f64>()).abs())
        .fold(0.0, f64::max);
    (rest, r)
}

#[test]
fn closed_forms_satisfy_their_equations_and_laws() {
    for (name, set) in CASES {
        let (p, exact) = load(name, set);
        let end = p.options.end;
        assert!(end <= exact.until, "{name} {set:?}: it holds to the end");
        let (q0, u0) = exact.at(0.0);
        // Rounding of some products and roots.
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-13 * (1.0 + y.abs()));
        assert!(near(&q0, &p.start.q) && near(&u0, &p.start.u), "{name} {set:?}: starts at {q0:?}, {u0:?}");

        // Smooth motion: M u̇ − h is nothing, or a force that the contact law allows.
        let d = 1e-6 * end;
        let samples: u32 = 4000;
        let (mut smooth, mut jumps) = (0, Vec::new());
        let mut force = vec![0.0; p.system.structure().nu()];
        for i in 0..samples {
            let t = d + (end - 2.0 * d) * ((f64::from(i) + 0.5) * 0.618_033_988_749_895).fract();
            let ((qa, ua), (q, u), (qb, ub)) = (exact.at(t - d), exact.at(t), exact.at(t + d));
            let what = format!("{name} {set:?} at t = {t}");
            let touches = contacts(&p, t, &q);
            for touch in &touches {
                assert!(touch.gap >= -1e-12, "{what}: gap {:e}", touch.gap);
            }
            let slope: Vec<f64> = ua.iter().zip(&ub).map(|(a, b)| (b - a) / (2.0 * d)).collect();
            let speed = u.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            // Differences across an event are no derivatives: those samples are left out (a few in a thousand).
            let curved = (0..u.len()).any(|j| (ua[j] - 2.0 * u[j] + ub[j]).abs() > 1e-7 * speed);
            if curved {
                continue;
            }
            smooth += 1;
            for j in 0..q.len() {
                let rate = (qb[j] - qa[j]) / (2.0 * d);
                // d² q'''/6 and rounding ε|q|/d.
                assert!((rate - u[j]).abs() <= 1e-6 * speed, "{what}: q' = {rate}, u = {}", u[j]);
            }
            force.fill(0.0);
            for f in 0..p.system.structure().forces.len() {
                p.evaluator().force(f, t, &q, &u, &mut force);
            }
            let inertia = times_mass(&p, t, &q, &slope);
            let size = inertia.iter().chain(&force).fold(1.0f64, |m, v| m.max(v.abs()));
            let load: Vec<f64> = inertia.iter().zip(&force).map(|(a, b)| a - b).collect();
            let closed = touches.iter().find(|x| x.gap.abs() <= 1e-12);
            match closed {
                None => {
                    let worst = load.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    // Rounding ε u/d ~ 1e-10 and truncation.
                    assert!(worst <= 1e-6 * size, "{what}: M u' - h = {load:?}");
                }
                Some(touch) => {
                    let (rest, r) = resolve(&load, touch);
                    assert!(rest <= 1e-6 * size && r[0] >= -1e-6 * size, "{what}: contact force {r:?}, rest {rest:e}");
                    if r.len() == 2 {
                        let slip = dot(&touch.w[1], &u);
                        if slip.abs() > 1e-9 {
                            assert!(
                                (r[1] + touch.mu * r[0] * slip.signum()).abs() <= 1e-5 * size,
                                "{what}: slides, {r:?}"
                            );
                        } else {
                            assert!(r[1].abs() <= touch.mu * r[0] + 1e-6 * size, "{what}: sticks, {r:?}");
                        }
                    }
                }
            }
        }
        assert!(smooth > samples * 9 / 10, "{name} {set:?}: only {smooth} of {samples} samples are smooth");

        // Jumps: located by bisection on a grid; the percussion is one that the impact law allows.
        let n: u32 = 2000;
        for k in 0..n {
            let (mut a, mut b) = (end * f64::from(k) / f64::from(n), end * f64::from(k + 1) / f64::from(n));
            let jump = |a: f64, b: f64| {
                let (ua, ub) = (exact.at(a).1, exact.at(b).1);
                ua.iter().zip(&ub).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
            };
            if jump(a, b) < 0.05 {
                continue;
            }
            for _ in 0..60 {
                let m = 0.5 * (a + b);
                if jump(a, m) > jump(m, b) { b = m } else { a = m }
            }
            if jump(a, b) < 1e-3 || b <= a {
                continue; // steep, not a jump
            }
            let ((q, before), (_, after)) = (exact.at(a), exact.at(b));
            let what = format!("{name} {set:?}: jump at t = {a}");
            let change: Vec<f64> = after.iter().zip(&before).map(|(x, y)| x - y).collect();
            let percussion = times_mass(&p, a, &q, &change);
            let touches = contacts(&p, a, &q);
            let touch =
                touches.iter().find(|x| x.gap.abs() <= 1e-9).unwrap_or_else(|| panic!("{what}: no contact touches"));
            let (rest, r) = resolve(&percussion, touch);
            assert!(rest <= 1e-9 && r[0] > 0.0, "{what}: percussion {r:?}, rest {rest:e}");
            // Newton: ġ⁺ = −e ġ⁻.
            let (minus, plus) = (dot(&touch.w[0], &before), dot(&touch.w[0], &after));
            assert!((plus + touch.e * minus).abs() <= 1e-8 * minus.abs(), "{what}: {minus} -> {plus}");
            if r.len() == 2 {
                let slip = dot(&touch.w[1], &after);
                assert!(r[1].abs() <= touch.mu * r[0] * (1.0 + 1e-9), "{what}: cone {r:?}");
                let slides = (r[1] + touch.mu * r[0] * slip.signum()).abs() <= 1e-9;
                assert!(slip.abs() <= 1e-9 || slides, "{what}: slip {slip}, {r:?}");
            }
            jumps.push(a);
        }
        println!("{name} {set:?}: {smooth} smooth samples, jumps at {jumps:.4?}");
    }
    // Every scene that states a closed form is in the list.
    for e in EXAMPLES.iter().filter(|e| e.text.contains("[exact]")) {
        assert!(CASES.iter().any(|(name, _)| *name == e.name), "{} is not checked here", e.name);
    }
    let wanted = [
        "bouncing_ball",
        "ball_flight",
        "ball_rest",
        "linear_oscillator",
        "falling_mass",
        "impact_oscillator",
        "sliding_block",
        "rotating_ball",
    ];
    for name in wanted {
        assert!(nonsmooth_scene::bundled::find(name).unwrap().text.contains("[exact]"), "{name}");
    }
}

#[test]
fn fine_runs_come_near_the_closed_forms() {
    for (name, set) in CASES.iter().filter(|(n, _)| *n != "ball_rest") {
        let request = CompareRequest {
            schemes: vec![SchemeChoice::parse("moreau-jean").unwrap()],
            steps: vec![1e-3, 1e-4],
            reference: ReferenceChoice::ClosedForm,
            set: set.iter().map(|s| (*s).to_string()).collect(),
            end: None,
            dense: false,
            at: Vec::new(),
            threads: 0,
        };
        let c = compare(&read(name).unwrap(), &request).unwrap();
        let e: Vec<f64> = c.rows.iter().map(|r| r.errors.unwrap().q.l1).collect();
        println!("{name} {set:?}: {e:?}");
        // First order at least: a tenth of the step, at most half of the error even where an impact falls badly.
        assert!(e[1] <= 0.5 * e[0], "{name} {set:?}: {e:?}");
    }
}

#[test]
fn closed_forms_that_do_not_fit_are_refused() {
    let refused = |name: &str, set: &[&str], end: Option<f64>, part: &str| {
        let request = CompareRequest {
            schemes: Vec::new(),
            steps: vec![1e-2],
            reference: ReferenceChoice::ClosedForm,
            set: set.iter().map(|s| (*s).to_string()).collect(),
            end,
            dense: false,
            at: Vec::new(),
            threads: 1,
        };
        let error = compare(&read(name).unwrap(), &request).unwrap_err();
        assert!(error.contains(part), "{name} {set:?}: {error}");
    };
    refused("ball_flight", &["model.force=-10*exp(t)"], None, "does not satisfy the equations of motion");
    refused("bouncing_ball", &["initial.q=[2]"], None, "starts at");
    refused("bouncing_ball", &["model.mass=3"], None, "equations of motion");
    refused("bouncing_ball", &["parameters.e_N=1"], None, "holds only where");
    refused("impact_oscillator", &[], Some(5.0), "holds until");
    refused("rotating_ball", &["parameters.e_N=0.5"], None, "holds only where");
    refused("woodpecker", &[], None, "no [exact]");
}
