//! Models that are not what they say: refused with the place, or stopped with a reason.

use nonsmooth::simulation::Status;
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::RunOptions;

fn scene(model: &str, rest: &str) -> String {
    format!(
        "[model]\ncoordinates = [\"x\", \"y\"]\n{model}\n{rest}\n[initial]\nq = [0.5, 0.2]\nu = [0.3, -0.4]\n[time]\nstep = 1e-2\nend = 1\n"
    )
}

fn own(kinematics: &str) -> String {
    format!(
        "[model]\ncoordinates = [\"x\"]\nvelocities = [\"v\"]\nmass = 1\n[kinematics]\nx = \"{kinematics}\"\n[time]\nstep = 1e-2\nend = 1\n"
    )
}

/// The message and line of the error before the first step.
fn refused(text: &str) -> (String, usize) {
    let prepared = Prepared::new(Document::parse("claim", text).unwrap(), &Request::default());
    let error = match prepared {
        Err(e) => e,
        Ok(p) => p.simulation().err().unwrap_or_else(|| panic!("accepted: {text}")),
    };
    (error.to_string(), error.position.unwrap_or_else(|| panic!("no place: {error}")).0)
}

#[test]
fn what_a_model_cannot_be_is_refused_with_its_place() {
    let contact = |gap: &str, slip: &str| {
        format!("[[contact]]\nname = \"c\"\ngap = \"{gap}\"\nslip = \"{slip}\"\nfriction = 0.3")
    };
    let unit = "mass = [1, 1]";
    let kinetic = |t: &str| scene(&format!("kinetic = \"{t}\""), "");
    for (text, message, line) in [
        (kinetic("0.5*abs(x')*x' + 0.5*y'^2"), "quadratic in the rates", 3),
        (kinetic("if(x' < 0, 2, 1)*x'^2 + y'^2"), "quadratic in the rates", 3),
        (kinetic("x'^2*exp(y') + y'^2"), "quadratic in the rates", 3),
        (kinetic("x' + y'"), "not positive definite", 3),
        (scene("mass = [[1, 0.5], [0.2, 1]]", ""), "not symmetric", 3),
        (scene("mass = [[1, 2], [2, 1]]", ""), "not positive definite", 3),
        (scene("mass = [\"1 + x'^2\", 1]", ""), "cannot depend on velocities", 3),
        (scene("mass = [\"sqrt(x - 1)\", 1]", ""), "not finite", 3),
        (scene("mass = [1, 1]\npotential = \"x*x'\"", ""), "cannot depend on velocities", 4),
        (scene("mass = [1, 1]\npotential = \"log(x - 0.5)\"", ""), "not finite", 4),
        (scene("mass = [1, 1]\nforce = [\"1/(x - 0.5)\", 0]", ""), "not finite", 4),
        (scene(unit, &contact("x + 0.1*x'", "y'")), "cannot depend on velocities", 6),
        (scene(unit, &contact("sign(x)", "y'")), "has no direction", 6),
        (scene(unit, &contact("floor(10*x) + t", "y'")), "has no direction", 6),
        (scene(unit, &contact("y", "x'^2")), "not affine", 7),
        (scene(unit, &contact("y", "max(x', 0)")), "not affine", 7),
        (scene(unit, &contact("y", "x' + floor(x')")), "not affine", 7),
        (scene(unit, &contact("y", "x' + sign(y')")), "not affine", 7),
        (own("abs(v)"), "not affine", 6),
        (own("v + floor(v)"), "not affine", 6),
        (own("v + if(v > 0, 1, 0)"), "not affine", 6),
    ] {
        let (found, at) = refused(&text);
        assert!(found.contains(message) && at == line, "{text}\n{found}");
    }
}

/// Linear terms of T in the rates are forces: with b = (0, 3 x) the velocity turns at 3 rad/s.
#[test]
fn a_kinetic_energy_with_linear_terms_turns_the_velocity() {
    let text = scene("kinetic = \"0.5*x'^2 + 0.5*y'^2 + 3*x*y'\"", "");
    let mut p = Prepared::new(Document::parse("turning", &text).unwrap(), &Request::default()).unwrap();
    let end = p.run(&RunOptions::default(), &mut |_, _| {}).unwrap().summary.end;
    let (s, c) = 3f64.sin_cos();
    for (found, exact) in end.u.iter().zip([0.3 * c - 0.4 * s, -0.4 * c - 0.3 * s]) {
        // Of order 2: 0.5 (3 h)² 3 / 12 at h = 1e-2 is 1e-4.
        assert!((found - exact).abs() < 2e-4, "{found} {exact}");
    }
}

#[test]
fn a_mass_that_is_none_on_the_way_stops_the_run() {
    for (mass, t, message) in [
        ("[\"1 - 2*t\", 1]", 0.5, "not positive definite"),
        ("[[1, \"2*t\"], [\"2*t\", 1]]", 0.5, "not positive definite"),
        ("[[2, \"x - 0.5\"], [0, 2]]", 0.0, "not symmetric"),
    ] {
        for scheme in ["moreau-jean", "moreau-midpoint", "tdg-minus", "rattle", "augmented"] {
            let request = Request { scheme: Some(scheme.into()), ..Request::default() };
            let document = Document::parse("claim", &scene(&format!("mass = {mass}"), "")).unwrap();
            let mut p = Prepared::new(document, &request).unwrap();
            let summary = p.run(&RunOptions::default(), &mut |_, _| {}).unwrap().summary;
            let stop = summary.stop.unwrap_or_else(|| panic!("{scheme} accepts {mass}"));
            assert_eq!(summary.status, Status::Stopped);
            // At the end of the step, in which the scheme itself may have found a singular matrix.
            let known = stop.to_string().contains(message) || stop.to_string().contains("singular");
            assert!(known && (stop.t - t).abs() <= 0.011, "{scheme} {mass}: {stop}");
        }
    }
}
