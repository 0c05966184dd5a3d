//! Forces of joints and contacts from percussions: P/h against the force in the middle of the step, and what closed contacts keep of their gap.

use super::{prepare, run, scientific, watch};
use nonsmooth::measure::fit_order;
use nonsmooth::simulation::{EventKind, Observer, Status, StepView};

const PENDULUM: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[parameters]
w = 0
[[joint]]
name = "rod"
position = "x^2 + y^2 - 1"
[initial]
q = ["sin(1)", "-cos(1)"]
u = ["w*cos(1)", "w*sin(1)"]
[time]
step = 1e-2
end = 2
[scheme]
name = "moreau-jean"
"#;

/// Angle and rate of the pendulum at ascending times.
fn swing(times: impl Iterator<Item = f64>, rate: f64) -> Vec<[f64; 2]> {
    let slope = |y: [f64; 2]| [y[1], -9.81 * y[0].sin()];
    let add = |y: [f64; 2], h: f64, k: [f64; 2]| [y[0] + h * k[0], y[1] + h * k[1]];
    let (mut t, mut y, mut out) = (0.0, [1.0, rate], Vec::new());
    for end in times {
        let n = ((end - t) / 1e-3f64).ceil().max(1.0);
        let h = (end - t) / n;
        for _ in 0..n as usize {
            let a = slope(y);
            let b = slope(add(y, 0.5 * h, a));
            let c = slope(add(y, 0.5 * h, b));
            let d = slope(add(y, h, c));
            y = add(y, h / 6.0, [0, 1].map(|i| a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        t = end;
        out.push(y);
    }
    out
}

/// Middle, length and percussion of the first interaction, step by step.
#[derive(Default)]
struct Percussions(Vec<(f64, f64, f64)>);

impl Observer for Percussions {
    fn step(&mut self, view: &StepView) {
        let dt = view.step.dt;
        self.0.push((view.end.t - 0.5 * dt, dt, view.end.percussions.values()[0]));
    }
}

#[test]
fn the_force_of_a_joint_is_of_second_order() {
    let steps = [0.02, 0.01, 0.005, 0.0025];
    for rate in [0.0, 3.0] {
        for variant in ["I", "II"] {
            for stabilise in ["none", "projection"] {
                let set = [
                    format!("parameters.w={rate}"),
                    format!("scheme.variant={variant}"),
                    format!("scheme.stabilise={stabilise}"),
                ];
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                let errors = steps.map(|h| {
                    let mut found = Percussions::default();
                    let prepared = prepare(PENDULUM, "trapezoidal-lcp", h, 2.0, &set);
                    assert_eq!(prepared.simulation().unwrap().run_with(&mut found).status, Status::Done);
                    let exact = swing(found.0.iter().map(|p| p.0), rate);
                    // 2 λ (x, y) carries weight and the turning: 2 λ = −(θ'² + g cos θ).
                    let off = found.0.iter().zip(&exact);
                    off.map(|((_, dt, p), [a, w])| (p / dt + 0.5 * (w * w + 9.81 * a.cos())).abs()).fold(0.0, f64::max)
                });
                let fit = fit_order(&steps, &errors).unwrap();
                let text = scientific(&errors);
                println!("rod force, start {rate} rad/s, {variant}, {stabilise}: {text}, order {:.2}", fit.order);
                // The largest error of all steps, the first among them.
                assert!(fit.order >= 1.9, "{set:?}: {errors:?}");
                assert!(errors[3] <= 2e-3, "{set:?}: {errors:?}");
            }
        }
    }
}

const BOWL: &str = r#"
[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[[contact]]
name = "bowl"
gap = "1 - sqrt(x^2 + y^2)"
[initial]
q = ["sin(1)", "-cos(1)"]
[time]
step = 1e-2
end = 100
[scheme]
name = "moreau-jean"
"#;

#[test]
fn a_bead_stays_in_its_bowl() {
    for variant in ["scheme.variant=I", "scheme.variant=II"] {
        for stabilise in ["scheme.stabilise=none", "scheme.stabilise=projection"] {
            let (summary, points) = run(BOWL, 1e-2, 100.0, &[variant, stabilise]);
            let gap = points.iter().map(|p| (1.0 - p.q[0].hypot(p.q[1])).abs()).fold(0.0, f64::max);
            println!(
                "bowl, {variant}, {stabilise}: gap within {gap:.1e} m, E - E0 {:.1e} J",
                summary.energy.last - summary.energy.initial
            );
            assert!(gap <= 1e-5, "{variant}: {gap:e}");
            // 4 J in motion over 48 swings, O(h²).
            assert!((summary.energy.last - summary.energy.initial).abs() <= 0.02, "{:?}", summary.energy);
            assert!(summary.events.is_empty(), "{:?}", summary.events);
        }
    }
}

/// Leaves the dome at cos θ = 2/3 + v²/(3 g R).
#[test]
fn a_mass_leaves_its_dome_where_it_should() {
    let scene = BOWL.replace("1 - sqrt(x^2 + y^2)", "sqrt(x^2 + y^2) - 1");
    let set = ["initial.q=[0,1]", "initial.u=[1,0]"];
    let exact: f64 = 2.0 / 3.0 + 1.0 / (3.0 * 9.81);
    let errors = [1e-2, 5e-3, 2.5e-3].map(|h| {
        let (summary, points) = watch(&prepare(&scene, "trapezoidal-lcp", h, 0.8, &set));
        let open: Vec<f64> = summary.events.iter().filter(|e| e.kind == EventKind::Open).map(|e| e.t).collect();
        assert_eq!(open.len(), 1, "{:?}", summary.events);
        let left = points.iter().min_by(|a, b| (a.t - open[0]).abs().total_cmp(&(b.t - open[0]).abs())).unwrap();
        (left.q[1] / left.q[0].hypot(left.q[1]) - exact).abs()
    });
    println!("dome: cos of the angle of take-off off by {}", scientific(&errors));
    assert!(errors[0] <= 1e-3 && errors.windows(2).all(|e| e[0] / e[1] >= 3.0), "{errors:?}");
}

/// A hinged rod whose ends drag on the floor: projection of the joint leaves the closed contacts where they are.
#[test]
fn projected_joints_do_not_push_closed_contacts_in() {
    let scene = r#"
[model]
coordinates = ["x1", "y1", "x2", "y2"]
mass = [1, 1, 1, 1]
potential = "9.81*(y1+y2)"
[[joint]]
name = "rod"
position = "(x2-x1)^2 + (y2-y1)^2 - 1"
[[contact]]
name = "f1"
gap = "y1"
slip = "x1'"
friction = 0.3
[[contact]]
name = "f2"
gap = "y2"
slip = "x2'"
friction = 0.3
[initial]
q = [0, 0, "cos(1)", "sin(1)"]
[time]
step = 1e-2
end = 0.5
[scheme]
name = "moreau-jean"
"#;
    let (summary, _) = run(scene, 1e-2, 0.5, &["scheme.stabilise=projection"]);
    println!("hinged rod: penetration {:.1e} m, {:?}", summary.worst.penetration, summary.events);
    assert!(summary.worst.penetration <= 1e-12, "{:e}", summary.worst.penetration);
    assert!(summary.worst.joint_violation <= 1e-12, "{:e}", summary.worst.joint_violation);
    assert!(!summary.events.iter().any(|e| e.kind == EventKind::Impact), "{:?}", summary.events);
}
