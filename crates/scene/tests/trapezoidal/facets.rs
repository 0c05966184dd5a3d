//! Friction in space: the polyhedral cone and its refinement, beside the exact cone.

use super::{run, run_by};

/// A point slides on a table and stops; started at an angle (degrees).
fn scene(angle: f64) -> String {
    format!(
        r#"
[model]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
[[force]]
name = "gravity"
potential = "9.81*z"
[[contact]]
name = "table"
gap = "z"
slip = ["x'", "y'"]
friction = 0.3
[initial]
u = ["2*cos({angle}*pi/180)", "2*sin({angle}*pi/180)", 0]
[time]
step = 1e-2
end = 1
[scheme]
name = "moreau-jean"
"#
    )
}

#[test]
fn the_direction_of_the_slide_gets_better_with_the_cone() {
    let angles = [3.0, 10.0, 17.0, 25.0, 33.0, 41.0];
    let exact = 2.0 * 2.0 / (2.0 * 0.3 * 9.81);
    // Largest error of the direction (degrees) and of the length of the slide.
    let worst = |way: &dyn Fn(f64) -> Vec<f64>| {
        angles.iter().fold((0.0f64, 0.0f64), |(turn, length), &a| {
            let q = way(a);
            let off = (q[1].atan2(q[0]).to_degrees() - a).abs();
            (turn.max(off), length.max((q[0].hypot(q[1]) / exact - 1.0).abs()))
        })
    };
    let cone = worst(&|a| run_by(&scene(a), "moreau-jean", 1e-2, 1.0, &[]).0.end.q);
    println!("exact cone (moreau-jean): off by {:.1e} degrees", cone.0);
    // Along a straight line the exact cone has no error of direction but the solver's.
    assert!(cone.0 <= 1e-6, "{cone:?}");
    let mut last = f64::INFINITY;
    for facets in [4, 8, 16, 32] {
        let set = format!("scheme.facets={facets}");
        let (turn, length) = worst(&|a| {
            let q = run(&scene(a), 1e-2, 1.0, &[&set]).0.end.q;
            let by_hand = slide(a, f64::from(facets));
            // The time at which the slip reaches the boundary of its sector is not located: a fraction of h in which friction is off by less than its own size.
            let off = (q[0] - by_hand[0]).hypot(q[1] - by_hand[1]);
            assert!(off <= 0.3 * 9.81 * 1e-2 * 1e-2, "{facets} facets, {a} degrees: {q:?} is not {by_hand:?}");
            q
        });
        println!("{facets:2} facets: off by {turn:.3} degrees, length by {:.2} %", 100.0 * length);
        // Never by more than half the angle between two generators; and at least halved with it.
        assert!(turn <= 180.0 / f64::from(facets) && turn <= 0.5 * last, "{facets} facets: {turn} after {last}");
        last = turn;
    }
}

/// Where the slide ends with a cone of so many generators: friction acts along the nearest one, which turns the slip away from it up to the middle between
/// two, where it stays and friction is that of the middle of the edge.
fn slide(angle: f64, facets: f64) -> [f64; 2] {
    let sector = std::f64::consts::TAU / facets;
    let nearest = (angle.to_radians() / sector).round() * sector;
    let from = angle.to_radians() - nearest;
    let (along, across) = (2.0 * from.cos(), 2.0 * from.sin().abs());
    let (half, mu_g) = (0.5 * sector, 0.3 * 9.81);
    let turned = (along - across / half.tan()) / mu_g;
    let then = along - mu_g * turned;
    // Along the middle from here, with the speed that is left.
    let speed = then.hypot(across);
    let rest = speed * speed / (2.0 * mu_g * half.cos());
    let x = along * turned - 0.5 * mu_g * turned * turned + rest * half.cos();
    let y = (across * turned + rest * half.sin()) * from.signum();
    [x * nearest.cos() - y * nearest.sin(), x * nearest.sin() + y * nearest.cos()]
}

/// A block that a turning force pushes about: its slip turns all the time.
#[test]
fn the_cone_itself_is_the_default_and_of_second_order() {
    let turning = scene(0.0)
        .replace("[[contact]]", "[[force]]\nname = \"push\"\nvalue = [\"6*cos(3*t)\", \"6*sin(3*t)\", 0]\n[[contact]]");
    let set = ["initial.u=[1,0,0]"];
    let steps = [2e-2, 1e-2, 5e-3, 2.5e-3];
    let ends = [2e-2, 1e-2, 5e-3, 2.5e-3, 1.25e-3, 6.25e-4].map(|h| run(&turning, h, 3.0, &set).0.end.q);
    let exact: Vec<f64> = ends[5].iter().zip(&ends[4]).map(|(a, b)| a + (a - b) / 3.0).collect();
    let errors: Vec<f64> = ends[..4].iter().map(|q| super::distance(q, &exact)).collect();
    let fit = nonsmooth::measure::fit_order(&steps, &errors).unwrap();
    let eight = super::distance(&run(&turning, 1e-2, 3.0, &[set[0], "scheme.facets=8"]).0.end.q, &exact);
    println!(
        "turning slip: errors {}, order {:.2}; with 8 facets off by {eight:.3} m",
        super::scientific(&errors),
        fit.order
    );
    assert!(fit.order >= 1.9, "{errors:?}");
    // The cone of moreau-jean, which is of first order.
    let jean = run_by(&turning, "moreau-jean", 1e-4, 3.0, &set).0.end.q;
    assert!(super::distance(&jean, &exact) <= 2e-4, "{jean:?} {exact:?}");
    assert!(eight > 0.05, "{eight}");
}

#[test]
fn facets_must_be_even() {
    use nonsmooth::scheme::{Settings, make};
    for (facets, good) in
        [(4.0, true), (16.0, true), (5.0, false), (6.5, false), (2.0, false), (66.0, false), (0.0, true)]
    {
        let made = make("trapezoidal-lcp", &Settings::new().number("facets", facets));
        assert_eq!(made.is_ok(), good, "{facets}");
    }
}
