//! Beside the paper's examples: other restitutions, ends and breaks, positions that velocities do not show, contacts that move or turn, modes that rounding decides.

use super::{run, try_prepare};
use nonsmooth::simulation::{Status, Summary};

const LENGTHS: [&str; 2] = ["scheme.dt_min=1e-5", "scheme.dt_max=0.05"];
const G: f64 = 9.81;
/// First impact of `falling_mass`, s.
const FIRST: f64 = 0.119_461_926_543;

/// A run that reaches its end. Its books are relative to what moves: at rest, and where friction of rattle turns round, they say nothing about this scheme.
fn reaches(scene: &str, end: f64, set: &[&str]) -> Summary {
    let summary = try_prepare(scene, end, set).unwrap().simulation().unwrap().run();
    assert_eq!(summary.status, Status::Done, "{:?}", summary.stop.as_ref().map(ToString::to_string));
    summary
}

/// Height and velocity of `falling_mass` in closed form.
fn bounces(t: f64, e: f64) -> [f64; 2] {
    let first = (0.14f64 / G).sqrt();
    if t < first {
        return [0.07 - 0.5 * G * t * t, -G * t];
    }
    let (mut begin, mut speed) = (first, e * G * first);
    while speed > 1e-9 {
        let (s, flight) = (t - begin, 2.0 * speed / G);
        if s < flight {
            return [speed * s - 0.5 * G * s * s, speed - G * s];
        }
        (begin, speed) = (begin + flight, e * speed);
    }
    [0.0, 0.0]
}

/// More than 64 switches fall within dt_max before it rests.
#[test]
fn a_mass_comes_to_rest_with_restitutions_near_one() {
    for e in [0.8, 0.9, 0.95, 0.99] {
        let first = (0.14f64 / G).sqrt();
        let rest = first + 2.0 * e * first / (1.0 - e);
        let (summary, steps) =
            run("falling_mass", rest + 1.0, &[LENGTHS[0], LENGTHS[1], &format!("parameters.e_N={e}")]);
        let moves = steps.iter().rev().find(|s| s.q[0].abs() > 1e-9 || s.u[0].abs() > 1e-9).unwrap().t;
        let deepest = steps.iter().fold(0.0f64, |m, s| m.min(s.q[0]));
        let calls = summary.work.scheme_calls;
        println!(
            "e = {e}: rests {:.1e} s after the closed form, down to {deepest:.1e} m, {calls} base calls",
            moves - rest
        );
        // Flights of about dt_min = 1e-5 s are cut; all that would have followed take dt_min/(1 − e), 1e-3 s for e = 0.99.
        assert!((moves - rest).abs() <= 1.1 * 1e-5 / (1.0 - e) + 2e-4, "e = {e}: {moves} {rest}");
        // The first impact has 1.2 m/s, over dt_min.
        assert!(deepest >= -1.2e-5 && calls <= 200_000 && summary.work.coarse == 0, "e = {e}: {deepest:e} {calls}");
        assert!(steps.last().unwrap().q[0].abs() <= 1e-12 && steps.last().unwrap().u[0].abs() <= 1e-12);
    }
}

/// Nothing follows the last step: a trial beyond the end confirms it.
#[test]
fn a_run_that_ends_anywhere_ends_in_the_right_state() {
    let mut ends: Vec<f64> = (0..40).map(|k| 0.1 + 0.55 * (0.618_034 * f64::from(k)).fract()).collect();
    ends.extend([0.12, FIRST + 3e-5, FIRST + 1e-3]);
    for end in ends {
        let (_, steps) = run("falling_mass", end, &LENGTHS);
        let (last, [q, u]) = (steps.last().unwrap(), bounces(end, 0.7));
        // Impacts are met within dt_min, at 1.2 m/s at most: 1.7 × 1.2e-5 m. Later impacts are as much later as all before them together.
        assert!((last.q[0] - q).abs() <= 3e-5, "end {end}: {} {q}", last.q[0]);
        assert!((last.u[0] - u).abs() <= 3e-3, "end {end}: {} {u}", last.u[0]);
    }
}

/// A mass falls on a table; the force has a break that changes nothing.
fn with_break(t: f64) -> String {
    format!(
        "[model]\ncoordinates = [\"z\"]\nmass = 1\npotential = \"9.81*z\"\nbreaks = [{t}]\n[[contact]]\nname = \"table\"\ngap = \"z\"\n\
         restitution = 0.7\n[initial]\nq = [0.07]\n[time]\nstep = 0.01\nend = 0.45\n"
    )
}

/// Of a break less than 3 dt_min after a step that ends below the table, the short step does not resolve an impact that lies in the long one.
#[test]
fn a_break_hides_no_impact() {
    let (mut tried, delta) = (0, 1e-5);
    for k in 0..60 {
        // The steps up to the impact: dt_min, then 3 dt_min, doubled up to dt_max.
        let longest = 0.003 + 0.047 * f64::from(k) / 60.0;
        let (mut t, mut dt) = (delta, 3.0 * delta);
        while t + dt < FIRST {
            t += dt;
            dt = (2.0 * dt).min(longest);
        }
        // With the impact in its second half a step does not see it.
        if t + dt - FIRST >= 0.5 * dt {
            continue;
        }
        tried += 1;
        for offset in [0.6, 1.0, 2.0, 2.9] {
            let text = with_break(t + dt + offset * delta);
            let (_, steps) = run(&text, 0.45, &[LENGTHS[0], &format!("scheme.dt_max={longest}")]);
            let (last, [q, u]) = (steps.last().unwrap(), bounces(0.45, 0.7));
            assert!((last.q[0] - q).abs() <= 1e-5, "break {offset} dt_min after {}: {} {q}", t + dt, last.q[0]);
            assert!((last.u[0] - u).abs() <= 1e-3, "break {offset} dt_min after {}: {} {u}", t + dt, last.u[0]);
        }
    }
    assert!(tried >= 10, "{tried}");
}

const UNICYCLE: &str = "[model]\ncoordinates = [\"x\", \"y\", \"phi\"]\nvelocities = [\"v\", \"w\"]\nmass = [1, 1]\n[kinematics]\nx = \"v*cos(phi)\"\n\
                        y = \"v*sin(phi)\"\nphi = \"w\"\n[initial]\nu = [1, 2]\n[time]\nstep = 0.5\nend = 10\n";

const TOP: &str = "[model]\ncoordinates = [\"a\", \"b\", \"c\", \"d\"]\nvelocities = [\"p\", \"q\", \"r\"]\nmass = [1, 2, 3]\n[kinematics]\n\
                   a = \"(-b*p - c*q - d*r)/2\"\nb = \"(a*p - d*q + c*r)/2\"\nc = \"(d*p + a*q - b*r)/2\"\nd = \"(-c*p + b*q + a*r)/2\"\n\
                   [[force]]\nname = \"gyro\"\nvalue = [\"(2-3)*q*r\", \"(3-1)*r*p\", \"(1-2)*p*q\"]\n\
                   [initial]\nq = [1, 0, 0, 0]\nu = [0.3, 2, 0.2]\n[time]\nstep = 0.2\nend = 5\n";

/// The velocities of the unicycle are constant: its positions alone say how far a step is wrong. A free top has a unit quaternion.
#[test]
fn errors_of_positions_follow_the_tolerance() {
    let state = |text: &str, end: f64, atol: f64| {
        // The first step is one of dt_min, whatever the tolerance.
        run(text, end, &[&format!("scheme.atol={atol:e}"), "scheme.dt_min=1e-7"]).0.end
    };
    let top = state(TOP, 5.0, 1e-13).q;
    for (name, text, end, exact) in
        [("unicycle", UNICYCLE, 10.0, vec![0.5 * 20f64.sin(), 0.5 * (1.0 - 20f64.cos()), 20.0]), ("top", TOP, 5.0, top)]
    {
        let tolerances: Vec<f64> = (4..=10).map(|k| 0.1f64.powi(k)).collect();
        let off =
            |atol: &f64| state(text, end, *atol).q.iter().zip(&exact).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        let errors: Vec<f64> = tolerances.iter().map(off).collect();
        let slope = nonsmooth::measure::fit_order(&tolerances, &errors).unwrap().order;
        println!("{name}: slope {slope:.2}, {errors:.1?}");
        assert!((0.8..=1.2).contains(&slope), "{name}: {slope}");
        // Some tens of steps, each as wrong as is allowed.
        assert!(errors.iter().zip(&tolerances).all(|(e, tol)| *e <= tol * end), "{name}: {errors:?}");
    }
}

fn calls(summary: &Summary) -> usize {
    assert_eq!(summary.work.coarse, 0);
    summary.work.scheme_calls
}

/// A mass on a shaken table is thrown: the contact moves, so that the base is not the midpoint rule.
#[test]
fn a_shaken_mass_costs_what_its_switches_cost() {
    let text = "[model]\ncoordinates = [\"x\"]\nmass = 0.01\npotential = \"0.01*9.81*x\"\n[[contact]]\nname = \"table\"\n\
                gap = \"x - 0.02*sin(2*pi*4*t)\"\nrestitution = 0.5\n[initial]\nq = [0.1]\n[time]\nstep = 0.01\nend = 0.5\n";
    let (summary, _) = run(text, 0.5, &[]);
    let (rattle, _) = run(text, 0.5, &["scheme.base=rattle"]);
    println!("shaker: {} base calls, over rattle {}", calls(&summary), calls(&rattle));
    assert!(calls(&summary) <= 5000, "{}", calls(&summary));
    // Both have the same impacts, each within dt_min = 1e-6 s at 1 m/s.
    assert!((summary.end.q[0] - rattle.end.q[0]).abs() <= 1e-5);
}

/// After the impact all move together: contacts that carry nothing are in either mode.
#[test]
fn masses_that_stay_together_are_in_one_mode() {
    for n in [3, 5, 10] {
        let names: Vec<String> = (0..n).map(|i| format!("\"x{i}\"")).collect();
        let contacts: String =
            (1..n).map(|i| format!("[[contact]]\nname = \"c{i}\"\ngap = \"x{i} - x{} - 1\"\n", i - 1)).collect();
        let mut q: Vec<f64> = (0..n).map(f64::from).collect();
        (q[0], q[1]) = (-1.0, 1.0);
        let mut u = vec![0; n as usize];
        u[0] = 1;
        let mass = vec![1; n as usize];
        let text = format!(
            "[model]\ncoordinates = [{}]\nmass = {mass:?}\n{contacts}[initial]\nq = {q:?}\nu = {u:?}\n[time]\nstep = 0.05\nend = 2.03\n",
            names.join(", ")
        );
        let (summary, _) = run(&text, 2.03, &[]);
        println!("{n} masses: {} base calls", calls(&summary));
        assert!(calls(&summary) <= 2000, "{n}: {}", calls(&summary));
        for (q, u) in summary.end.q.iter().zip(&summary.end.u).skip(1).zip(1..).map(|((q, u), i)| (q - f64::from(i), u))
        {
            // One impact at t = 1, within dt_min = 5e-6 s at 1 m/s.
            let together = 1.0 / f64::from(n);
            assert!((q - 1.03 * together).abs() <= 1e-5 && (u - together).abs() <= 1e-9, "{n}: {q} {u}");
        }
    }
}

/// A block rests with two corners on an incline: how they share the friction is not unique, and one of them may sit on the boundary of its cone.
#[test]
fn a_block_at_rest_has_one_mode_over_every_base() {
    let text = "[world]\ngravity = [0, -9.81]\n[[body]]\nname = \"f\"\nfixed = true\nshape.half_plane.normal = [-0.28734788556634544, 0.9578262852211514]\n\
                [[body]]\nname = \"b\"\nshape.rectangle = { width = 0.2, height = 0.4 }\ndensity = 100\nposition = [-0.05746957711326909, 0.1915652570442303]\n\
                angle = 0.2914567944778671\n[[contact]]\nname = \"c\"\nfriction = 0.5\n[time]\nstep = 1e-3\nend = 0.1\n";
    for base in ["auto", "moreau-midpoint", "moreau-jean", "rattle"] {
        let summary = reaches(text, 0.1, &[&format!("scheme.base={base}")]);
        println!("{base}: {} base calls", calls(&summary));
        assert!(calls(&summary) <= 1000, "{base}: {}", calls(&summary));
        assert!(summary.end.u.iter().all(|u| u.abs() <= 1e-12), "{base}: {:?}", summary.end.u);
    }
}

/// Play in joints and corners: every switch is resolved, and bases agree.
#[test]
fn a_few_contacts_are_no_crowd() {
    let set = ["scheme.dt_max=1e-4", "scheme.dt_min=1e-8", "scheme.atol=1e-6"];
    let angle = |base: &str| {
        let (summary, _) = run("slider_crank", 0.02, &[set[0], set[1], set[2], &format!("scheme.base={base}")]);
        println!("{base}: {} base calls, {} switches", calls(&summary), summary.work.resolved);
        summary.end.q[0]
    };
    let (auto, rattle) = (angle("auto"), angle("rattle"));
    // Thirty switches at 150 rad/s, each within dt_min = 1e-8 s.
    assert!((auto - rattle).abs() <= 1e-6, "{auto} {rattle}");
}

/// A force that depends on the velocity: errors of the midpoint rule have every power, which the first column shows.
#[test]
fn a_wrong_expansion_shows_in_the_tableau() {
    let text = "[model]\ncoordinates = [\"r\", \"phi\"]\nkinetic = \"0.25*(r'^2 + (r*phi')^2)\"\npotential = \"30*(r - 0.3)^2 - 4.905*r*cos(phi)\"\n\
                [[contact]]\nname = \"rope\"\ngap = \"0.4 - r\"\nrestitution = 0.6\n[initial]\nq = [0.3, 1.0471975511965976]\n[time]\nstep = 0.02\nend = 2\n";
    let (even, _) = run(text, 2.0, &["scheme.extrapolation=even"]);
    let (every, _) = run(text, 2.0, &["scheme.extrapolation=every"]);
    println!("even {} base calls, every power {}", calls(&even), calls(&every));
    assert!(calls(&even) <= 2 * calls(&every), "{} {}", calls(&even), calls(&every));
    // Twelve impacts at 3 m/s, each within dt_min = 2e-6 s, whose places differ.
    assert!((even.end.q[0] - every.end.q[0]).abs() <= 1e-5);
}

/// What Newton's method of the base leaves is less than the tolerance of a step, whatever that is.
#[test]
fn newtons_tolerance_follows_that_of_the_step() {
    let start = "initial.q=[0, -0.10344827586206896, -0.2788]";
    let end = |base: &str| {
        let summary = reaches("woodpecker", 0.15, &[&format!("scheme.base={base}"), "scheme.atol=1e-9", start]);
        println!("{base}: {} base calls, {} inaccurate", calls(&summary), summary.work.inaccurate);
        assert!(calls(&summary) <= 60_000, "{base}: {}", calls(&summary));
        summary.end.q[2]
    };
    let (midpoint, rattle) = (end("moreau-midpoint"), end("rattle"));
    // Twelve switches within dt_min = 1e-8 s at up to 24 rad/s.
    assert!((midpoint - rattle).abs() <= 1e-5, "{midpoint} {rattle}");
}

/// What the projection after extrapolation does to the velocity is a percussion of the contact.
#[test]
fn percussions_balance_the_momentum() {
    let text = "[model]\ncoordinates = [\"x\"]\nmass = 1\npotential = \"9.81*x\"\n[[contact]]\nname = \"table\"\ngap = \"x - 0.05*sin(10*t)\"\n\
                [initial]\nq = [0]\nu = [0.5]\n[time]\nstep = 0.05\nend = 0.7\n";
    for base in ["moreau-midpoint", "moreau-jean", "rattle"] {
        let set = [&format!("scheme.base={base}"), "scheme.atol=1e-4"];
        let (summary, _) = run(text, 0.7, &set);
        let expected = summary.end.u[0] - 0.5 + 9.81 * 0.7;
        let off = summary.percussions["table"][0] - expected;
        println!("{base}: off by {off:.1e} N s of {expected:.1}");
        // Rounding of up to 40,000 steps.
        assert!(off.abs() <= 1e-11, "{base}: {off:e}");
    }
}
