//! Input that cannot be simulated: every fault is a typed error that names the offender, and nothing panics.

use complementarity::{FullProblem, Polygon};
use nonsmooth::law::{ContactLaw, ElementLaw, ElementSets, Friction, LawError, Normal};
use nonsmooth::scheme::{SCHEMES, Settings, SettingsError};
use nonsmooth::simulation::{Observe, Status};
use nonsmooth::{
    Differentiated, Error, Layout, Model, ModelError, Scalar, Simulation, SimulationOptions, State, Summary, System,
    scheme,
};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::sync::Arc;

/// A planar point over the ground with a rod, and one thing wrong with it.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    NoCoordinates,
    NegativeMass,
    ZeroMass,
    SingularMass,
    UnsymmetricMass,
    NotFiniteMass,
    Friction(f64),
    Restitution(f64),
    TangentialRestitution(f64),
    Bound(f64),
    Poisson,
    SlipDimension(usize),
    ElementBox,
    ElementDimension,
    DuplicateCoordinate,
    DuplicateForce,
    DuplicateInteraction,
    EmptyName,
    CoordinateOutOfRange,
    CoordinateTwice,
    MassOutOfRange,
    TooWide,
    JointDimension(usize),
    NoKinematicBlocks,
    TwoKinematicBlocks,
    KinematicIndex,
    BlocksWithoutVelocities,
    Break,
    NoGap,
    NoSlip,
    NoForce,
    NoPotential,
    NoJoint,
    NoKinematics,
    NotAffine,
    NotLinear,
    NotConstantMass,
    OpenJoint,
}

struct Flawed(Flaw);

impl Model for Flawed {
    fn layout(&self) -> Layout {
        let smooth = || ContactLaw::newton(0.5);
        let rough = || smooth().coulomb(1, 0.3);
        let point = || Layout::new(["x", "y"]);
        let with = |law: ContactLaw| point().contact("ground", law);
        match self.0 {
            Flaw::NoCoordinates => Layout::new([""; 0]),
            Flaw::Friction(mu) => with(smooth().coulomb(1, mu)),
            Flaw::Restitution(e) => with(ContactLaw::newton(e).coulomb(1, 0.3)),
            Flaw::TangentialRestitution(e) => with(rough().tangential_restitution(e)),
            Flaw::Bound(b) => with(smooth().tresca(1, b)),
            Flaw::Poisson => with(ContactLaw::poisson(0.5)),
            Flaw::SlipDimension(d) => with(smooth().coulomb(d, 0.3)),
            Flaw::ElementBox => point().element("clutch", 1, ElementLaw::boxed(vec![(1.0, -1.0)], vec![(0.0, 0.0)])),
            Flaw::ElementDimension => point().element("clutch", 4, ElementLaw::bound(1.0)),
            Flaw::DuplicateCoordinate => Layout::new(["x", "x"]),
            Flaw::DuplicateForce => point().force("wind").force("wind"),
            Flaw::DuplicateInteraction => point().joint("ground", 1).contact("ground", smooth()),
            Flaw::EmptyName => with(smooth()).contact("", smooth()),
            Flaw::CoordinateOutOfRange => point().force("wind").on([0, 2]),
            Flaw::CoordinateTwice => with(smooth()).on([1, 1]),
            Flaw::MassOutOfRange => point().mass_block("body").on([5]),
            Flaw::TooWide => Layout::new((0..100).map(|i| format!("x{i}"))).mass_block("body").on([0]).force("wind"),
            Flaw::JointDimension(d) => point().joint("rod", d),
            Flaw::NoKinematicBlocks => point().velocities(["u", "v"]),
            Flaw::TwoKinematicBlocks => {
                point().velocities(["u", "v"]).kinematic_block([0, 1], [0, 1]).kinematic_block([1], [])
            }
            Flaw::KinematicIndex => point().velocities(["u", "v"]).kinematic_block([0, 1], [0, 9]),
            Flaw::BlocksWithoutVelocities => point().kinematic_block([0, 1], [0, 1]),
            Flaw::NoKinematics => point().velocities(["u", "v"]).kinematic_block([0, 1], [0, 1]),
            Flaw::Break => with(smooth()).breaks([0.5, f64::NAN]),
            Flaw::NoForce => point().force("wind"),
            Flaw::NotLinear => point().potential("hills").linear(),
            Flaw::NotConstantMass => with(smooth()).constant_mass(),
            Flaw::OpenJoint | Flaw::NoJoint => point().joint("other", 1).joint("rod", 1),
            _ => with(rough()).potential("hills"),
        }
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, q: &[T], m: &mut [T]) {
        let n = m.len().isqrt();
        for k in 0..n {
            m[k * n + k] = T::from(2.0);
        }
        match self.0 {
            Flaw::NegativeMass => m[3] = T::from(-2.0),
            Flaw::ZeroMass => m[3] = T::from(0.0),
            Flaw::SingularMass => m[..4].fill(T::from(2.0)),
            Flaw::UnsymmetricMass => m[1] = T::from(0.5),
            Flaw::NotFiniteMass => m[3] = T::from(f64::NAN),
            Flaw::NotConstantMass => m[0] = q[0] * q[0] + 2.0,
            _ => {}
        }
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        if self.0 == Flaw::NoPotential { T::from(f64::NAN) } else { q[1].cos() + q[0] * q[0] }
    }
    fn gap<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        if self.0 == Flaw::NoGap { T::from(f64::NAN) } else { q[1] }
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma.fill(u[0]);
        match self.0 {
            Flaw::NoSlip => gamma.fill(T::from(f64::NAN)),
            Flaw::NotAffine => gamma[0] = u[0] * u[0],
            _ => {}
        }
    }
    fn joint<T: Scalar>(&self, i: usize, _t: T, q: &[T], g: &mut [T]) {
        g.fill(T::from(0.0));
        if i == 1 {
            g[0] = if self.0 == Flaw::NoJoint { T::from(f64::NAN) } else { q[0] - 3.0 };
        }
    }
    fn element<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        gamma.fill(u[0]);
    }
}

fn model_error(flaw: Flaw) -> ModelError {
    match Differentiated::new(Flawed(flaw)) {
        Ok(_) => panic!("the model was taken in"),
        Err(e) => e,
    }
}

/// Start of a point at rest one metre above the ground.
fn start() -> State {
    State::new(0.0, vec![0.0, 1.0], vec![0.0, 0.0])
}

fn simulate(flaw: Flaw, name: &str, state: State, options: SimulationOptions) -> Result<Summary, Error> {
    let system = Differentiated::new(Flawed(flaw))?;
    let scheme = scheme::make(name, &Settings::new())?;
    Ok(Simulation::new(&system, state, scheme, options)?.run())
}

fn options() -> SimulationOptions {
    SimulationOptions::new(0.01, 0.1)
}

/// The error of a run that must not start, with every scheme the same.
fn run_error(flaw: Flaw, state: State, options: SimulationOptions) -> Error {
    let errors: Vec<Error> = SCHEMES
        .iter()
        .map(|s| simulate(flaw, s.name, state.clone(), options.clone()).expect_err("the run started"))
        .collect();
    assert!(errors.iter().all(|e| e.to_string() == errors[0].to_string()), "{errors:?}");
    errors[0].clone()
}

/// Asserts the variant and that the message contains all words.
macro_rules! names {
    ($error:expr, $pattern:pat, $($word:expr),+) => {{
        let error = $error;
        let message = error.to_string();
        assert!(matches!(&error, $pattern), "{error:?}");
        $(assert!(message.contains($word), "`{message}` does not name `{}`", $word);)+
    }};
}

#[test]
fn the_model_without_a_flaw_runs() {
    for s in SCHEMES {
        let summary = simulate(Flaw::None, s.name, start(), options()).unwrap();
        assert_eq!(summary.status, Status::Done);
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    }
}

#[test]
fn mass_matrices_that_are_none_are_refused() {
    names!(run_error(Flaw::NegativeMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::ZeroMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::SingularMass, start(), options()), Error::Mass { .. }, "y'");
    names!(run_error(Flaw::NotFiniteMass, start(), options()), Error::Mass { .. }, "y'");
    names!(
        run_error(Flaw::UnsymmetricMass, start(), options()),
        Error::MassNotSymmetric { .. },
        "x'",
        "y'",
        "5.000e-1"
    );
}

#[test]
fn law_parameters_out_of_range_are_refused() {
    use LawError as L;
    for mu in [-0.1, f64::NAN, f64::INFINITY] {
        let number = mu.to_string();
        names!(
            model_error(Flaw::Friction(mu)),
            ModelError::Law { kind: "contact", source: L::Friction(_), .. },
            "ground",
            "friction coefficient",
            &number
        );
    }
    for e in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let number = e.to_string();
        names!(
            model_error(Flaw::Restitution(e)),
            ModelError::Law { source: L::Restitution { which: "normal", .. }, .. },
            "ground",
            "normal restitution",
            &number
        );
        names!(
            model_error(Flaw::TangentialRestitution(e)),
            ModelError::Law { source: L::Restitution { which: "tangential", .. }, .. },
            "ground",
            "tangential restitution",
            &number
        );
    }
    for b in [-1.0, f64::NAN, f64::INFINITY] {
        names!(model_error(Flaw::Bound(b)), ModelError::Law { source: L::Bound { .. }, .. }, "ground", "bound");
    }
    for d in [0, 4, 63] {
        names!(
            model_error(Flaw::SlipDimension(d)),
            ModelError::Law { source: L::Dimension { .. }, .. },
            "ground",
            &d.to_string()
        );
    }
    for d in [64, 1000, usize::MAX] {
        names!(model_error(Flaw::SlipDimension(d)), ModelError::Dimension { .. } | ModelError::Law { .. }, "ground");
    }
    names!(
        model_error(Flaw::ElementBox),
        ModelError::Law { kind: "element", source: L::Box { which: "force", .. }, .. },
        "clutch",
        "[1, -1]"
    );
    names!(
        model_error(Flaw::ElementDimension),
        ModelError::Law { kind: "element", source: L::Dimension { found: 4, .. }, .. },
        "clutch",
        "4"
    );
}

#[test]
fn layouts_that_do_not_fit_are_refused() {
    names!(model_error(Flaw::NoCoordinates), ModelError::Empty, "no coordinates");
    names!(model_error(Flaw::DuplicateCoordinate), ModelError::Name { kind: "coordinate", .. }, "`x`");
    names!(model_error(Flaw::DuplicateForce), ModelError::Name { kind: "force", .. }, "`wind`");
    names!(model_error(Flaw::DuplicateInteraction), ModelError::Name { .. }, "`ground`", "contact");
    names!(model_error(Flaw::EmptyName), ModelError::Name { .. }, "empty");
    names!(
        model_error(Flaw::CoordinateOutOfRange),
        ModelError::Coordinate { kind: "force", index: 2, size: 2, .. },
        "`wind`",
        "2"
    );
    names!(
        model_error(Flaw::CoordinateTwice),
        ModelError::Coordinate { kind: "contact", index: 1, .. },
        "`ground`",
        "twice"
    );
    names!(model_error(Flaw::MassOutOfRange), ModelError::Coordinate { index: 5, .. }, "`body`", "5");
    names!(model_error(Flaw::TooWide), ModelError::TooWide { kind: "force", count: 100, .. }, "`wind`", "100", "`on`");
    for d in [0, 65, usize::MAX] {
        names!(model_error(Flaw::JointDimension(d)), ModelError::Dimension { .. }, "`rod`", &d.to_string());
    }
    names!(model_error(Flaw::Break), ModelError::Break(_), "break", "NaN");
}

#[test]
fn kinematic_blocks_must_cover_everything_once() {
    names!(
        model_error(Flaw::NoKinematicBlocks),
        ModelError::Kinematics { what: "coordinate", index: 0, count: 0 },
        "coordinate 0"
    );
    names!(
        model_error(Flaw::TwoKinematicBlocks),
        ModelError::Kinematics { what: "coordinate", index: 1, count: 2 },
        "coordinate 1"
    );
    names!(model_error(Flaw::KinematicIndex), ModelError::Kinematics { what: "velocity", index: 9, .. }, "velocity 9");
}

#[test]
fn kinematic_blocks_without_velocities_are_not_ignored() {
    // q' = u is used without `velocities`: a block would never be called.
    names!(model_error(Flaw::BlocksWithoutVelocities), ModelError::Kinematics { .. }, "kinematic");
}

#[test]
fn functions_that_are_missing_are_named() {
    for (flaw, name) in [
        (Flaw::NoGap, "contact `ground`"),
        (Flaw::NoSlip, "contact `ground`"),
        (Flaw::NoForce, "force `wind`"),
        (Flaw::NoPotential, "force `hills`"),
        (Flaw::NoJoint, "joint `rod`"),
        (Flaw::NoKinematics, "kinematics"),
    ] {
        names!(run_error(flaw, start(), options()), Error::Contract(_), name, "not finite");
        // The adapter itself gives the typed reason.
        let found = Differentiated::new(Flawed(flaw)).unwrap().probe(0.0, &[0.0, 1.0], &[0.0, 0.0]).unwrap_err();
        names!(found, ModelError::NotFinite { .. }, name);
    }
}

#[test]
fn statements_that_are_false_are_named() {
    names!(run_error(Flaw::NotAffine, start(), options()), Error::Contract(_), "contact `ground`", "not affine");
    let found = Differentiated::new(Flawed(Flaw::NotAffine)).unwrap().probe(0.0, &[0.0, 1.0], &[0.0; 2]).unwrap_err();
    names!(found, ModelError::NotAffine { kind: "contact", .. }, "`ground`");
    names!(run_error(Flaw::NotLinear, start(), options()), Error::Contract(_), "force `hills`", "linear");
    names!(run_error(Flaw::NotConstantMass, start(), options()), Error::Contract(_), "mass", "constant");
}

#[test]
fn initial_values_must_be_finite_and_fit() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let number = bad.to_string();
        let state = State::new(0.0, vec![0.0, bad], vec![0.0; 2]);
        names!(run_error(Flaw::None, state, options()), Error::InitialValue { .. }, "`y`", &number);
        let state = State::new(0.0, vec![0.0, 1.0], vec![bad, 0.0]);
        names!(run_error(Flaw::None, state, options()), Error::InitialValue { .. }, "`x'`", &number);
    }
    for (q, u, what, found) in [(1, 2, "q", 1), (3, 2, "q", 3), (2, 0, "u", 0), (2, 5, "u", 5)] {
        let error = run_error(Flaw::None, State::new(0.0, vec![1.0; q], vec![0.0; u]), options());
        assert_eq!(error, Error::Size { what, found, expected: 2 });
        names!(error, Error::Size { .. }, what, &found.to_string(), "2");
    }
}

#[test]
fn steps_and_times_that_lead_nowhere_are_refused() {
    for step in [0.0, -0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        let error = run_error(Flaw::None, start(), SimulationOptions::new(step, 1.0));
        names!(error, Error::Step { .. }, &step.to_string());
    }
    // t + step == t: at t = 1e6 the spacing of numbers is 1e-10.
    let late = State { t: 1e6, ..start() };
    let error = run_error(Flaw::None, late.clone(), SimulationOptions::new(1e-11, 1e6 + 1e-3));
    names!(error, Error::Step { t: 1e6, .. }, "0.00000000001", "t + step == t");
    // At the start it goes, but not at the end.
    let error = run_error(
        Flaw::None,
        start(),
        SimulationOptions { max_steps: usize::MAX, ..SimulationOptions::new(1e-11, 1e6) },
    );
    names!(error, Error::Step { .. }, "0.00000000001");
    for end in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        names!(
            run_error(Flaw::None, start(), SimulationOptions::new(0.1, end)),
            Error::End { .. },
            "end time",
            &end.to_string()
        );
    }
    let nowhere = State { t: f64::NAN, ..start() };
    names!(run_error(Flaw::None, nowhere, options()), Error::End { .. }, "NaN");
    let mut many = SimulationOptions::new(1e-6, 1.0);
    many.max_steps = 1000;
    names!(
        run_error(Flaw::None, start(), many),
        Error::TooManySteps { limit: 1000, .. },
        "1000000",
        "1000",
        "max_steps"
    );
}

#[test]
fn a_start_inside_an_obstacle_or_off_a_joint_is_refused() {
    let inside = State::new(0.0, vec![0.0, -0.02], vec![0.0; 2]);
    let error = run_error(Flaw::None, inside.clone(), options());
    names!(error, Error::Penetration { .. }, "`ground`", "2.000000e-2", "1.0e-5");
    names!(run_error(Flaw::OpenJoint, start(), options()), Error::Joint { .. }, "`rod`", "3.000000e0");
    // Up to the tolerance, which may be changed, it is a warning that names the contact, and the contact starts closed.
    let mut tolerant = options();
    tolerant.initial_tolerance = 0.1;
    for s in SCHEMES {
        let summary = simulate(Flaw::None, s.name, inside.clone(), tolerant.clone()).unwrap();
        assert_eq!(summary.warnings.len(), 1, "{:?}", summary.warnings);
        assert!(
            summary.warnings[0].contains("`ground`") && summary.warnings[0].contains("2.000e-2"),
            "{:?}",
            summary.warnings
        );
        let slight = State::new(0.0, vec![0.0, -8.8e-7], vec![0.0, -1.0]);
        let mut one = options();
        one.end = one.step;
        let summary = simulate(Flaw::None, s.name, slight, one).unwrap();
        assert!(summary.warnings[0].contains("`ground`"), "{:?}", summary.warnings);
        assert!(summary.percussions["ground"][0] > 0.0, "{}: starts closed", s.name);
    }
}

#[test]
fn features_that_a_scheme_lacks_are_refused_by_name() {
    for s in SCHEMES.iter().filter(|s| s.name.starts_with("moreau")) {
        let error = simulate(Flaw::Poisson, s.name, start(), options()).unwrap_err();
        assert_eq!(error, Error::Unsupported { scheme: s.name, feature: "Poisson restitution".into() });
        names!(error, Error::Unsupported { .. }, s.name, "Poisson restitution");
    }
}

#[test]
fn unknown_names_and_options_suggest_the_nearest() {
    let scheme = |name: &str, settings: Settings| scheme::make(name, &settings).err().expect("made a scheme");
    names!(scheme("moreau-jaen", Settings::new()), SettingsError::Scheme { .. }, "`moreau-jaen`", "`moreau-jean`");
    names!(
        scheme("moreau-jean", Settings::new().number("thteta", 0.5)),
        SettingsError::Unknown { .. },
        "`thteta`",
        "`theta`",
        "`moreau-jean`"
    );
    names!(
        scheme("moreau-midpoint", Settings::new().number("theta", 0.5)),
        SettingsError::Unknown { .. },
        "`moreau-midpoint`",
        "`theta`"
    );
    for (key, value) in [("theta", 1.5), ("theta", -0.1), ("theta", f64::NAN), ("gamma", 3.0), ("newton_tol", 0.0)] {
        let number = value.to_string();
        names!(
            scheme("moreau-jean", Settings::new().number(key, value)),
            SettingsError::Value { .. },
            key,
            &number,
            "["
        );
    }
    names!(
        scheme("moreau-jean", Settings::new().word("forecast", "fre")),
        SettingsError::Value { key: "forecast", .. },
        "fre",
        "explicit, free"
    );
    names!(scheme("moreau-jean", Settings::new().word("theta", "half")), SettingsError::Value { .. }, "theta", "half");
    names!(
        scheme("moreau-jean", Settings::new().number("force", 1.0)),
        SettingsError::Value { .. },
        "force",
        "trapezoid"
    );

    let mut o = options();
    o.solver = "nsgz".into();
    names!(run_error(Flaw::None, start(), o), Error::Solver { .. }, "`nsgz`", "`nsgs`");
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut o = options();
        o.solver_options.tolerance = tolerance;
        names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "tolerance", &tolerance.to_string());
    }
    let mut o = options();
    o.solver_options.max_iterations = 0;
    names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "max_iterations");
    for relaxation in [0.0, 2.0, f64::NAN] {
        let mut o = options();
        o.solver_options.relaxation = Some(relaxation);
        names!(run_error(Flaw::None, start(), o), Error::SolverOptions(_), "relaxation", &relaxation.to_string());
    }
}

// Arbitrary models.

type On = Option<Vec<usize>>;

#[derive(Debug, Clone)]
struct Part<L> {
    name: String,
    on: On,
    flag: bool,
    what: L,
}

/// A model of arbitrary parts with arbitrary numbers.
#[derive(Debug, Clone)]
struct Arbitrary {
    coordinates: Vec<String>,
    velocities: Option<Vec<String>>,
    blocks: Vec<(Vec<usize>, Vec<usize>)>,
    masses: Vec<Part<()>>,
    forces: Vec<Part<bool>>,
    contacts: Vec<Part<ContactLaw>>,
    joints: Vec<Part<usize>>,
    velocity_joints: Vec<Part<usize>>,
    elements: Vec<Part<(usize, ElementLaw)>>,
    breaks: Vec<f64>,
    constant_mass: bool,
    mass: f64,
    coefficient: f64,
    height: f64,
}

impl Model for Arbitrary {
    fn layout(&self) -> Layout {
        fn place<L>(layout: Layout, part: &Part<L>) -> Layout {
            let layout = if part.flag { layout.linear() } else { layout };
            match &part.on {
                Some(on) => layout.on(on.iter().copied()),
                None => layout,
            }
        }
        let mut l = Layout::new(self.coordinates.clone()).breaks(self.breaks.clone());
        if let Some(v) = &self.velocities {
            l = l.velocities(v.clone());
        }
        for (q, u) in &self.blocks {
            l = l.kinematic_block(q.iter().copied(), u.iter().copied());
        }
        if self.constant_mass {
            l = l.constant_mass();
        }
        for p in &self.masses {
            l = place(l.mass_block(p.name.clone()), p);
        }
        for p in &self.forces {
            l = place(if p.what { l.potential(p.name.clone()) } else { l.force(p.name.clone()) }, p);
        }
        for p in &self.joints {
            l = place(l.joint(p.name.clone(), p.what), p);
        }
        for p in &self.velocity_joints {
            l = place(l.velocity_joint(p.name.clone(), p.what), p);
        }
        for p in &self.contacts {
            l = place(l.contact(p.name.clone(), p.what.clone()), p);
        }
        for p in &self.elements {
            l = place(l.element(p.name.clone(), p.what.0, p.what.1.clone()), p);
        }
        l
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        let n = m.len().isqrt();
        for k in 0..n {
            m[k * n + k] = T::from(self.mass);
        }
    }
    fn potential<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        q.iter().fold(T::from(0.0), |s, x| s + *x * *x * self.coefficient + *x * (1.0 + i as f64))
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, q: &[T], u: &[T], h: &mut [T]) {
        for (k, h) in h.iter_mut().enumerate() {
            *h = t - u.get(k).copied().unwrap_or(t) * self.coefficient + q.first().copied().unwrap_or(t);
        }
    }
    fn gap<T: Scalar>(&self, i: usize, _t: T, q: &[T]) -> T {
        q.iter().fold(T::from(self.height), |s, x| s + *x * (1.0 + i as f64))
    }
    fn slip<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], gamma: &mut [T]) {
        for (k, g) in gamma.iter_mut().enumerate() {
            *g = u.get(k).copied().unwrap_or(T::from(self.coefficient));
        }
    }
    fn joint<T: Scalar>(&self, i: usize, _t: T, q: &[T], g: &mut [T]) {
        for (k, g) in g.iter_mut().enumerate() {
            *g = q.get(k).copied().unwrap_or(T::from(0.0)) * (i as f64);
        }
    }
    fn velocity_joint<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.slip(i, t, q, u, gamma);
    }
    fn element<T: Scalar>(&self, i: usize, t: T, q: &[T], u: &[T], gamma: &mut [T]) {
        self.slip(i, t, q, u, gamma);
    }
    fn kinematics<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], u: &[T], qdot: &mut [T]) {
        for (k, r) in qdot.iter_mut().enumerate() {
            *r = u.get(k).copied().unwrap_or(T::from(0.0));
        }
    }
}

/// Mostly sensible, sometimes anything.
fn number() -> impl Strategy<Value = f64> {
    let special = prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
        Just(1e300),
        Just(1e-300),
        Just(-1.0),
        any::<f64>()
    ];
    prop_oneof![60 => 0.0..1.0, 1 => special]
}

fn dimension() -> impl Strategy<Value = usize> {
    prop_oneof![30 => 1usize..4, 3 => 0usize..80, 1 => Just(usize::MAX)]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![40 => "[a-z]{6}", 1 => Just(String::new()), 1 => Just("same".to_string())]
}

fn on() -> impl Strategy<Value = On> {
    let index = prop_oneof![40 => 0usize..3, 1 => 0usize..9, 1 => Just(usize::MAX)];
    proptest::option::of(proptest::collection::vec(index, 0..3))
}

fn part<L: Clone + std::fmt::Debug>(what: impl Strategy<Value = L>) -> impl Strategy<Value = Part<L>> {
    let flag = prop_oneof![5 => Just(false), 1 => Just(true)];
    (name(), on(), flag, what).prop_map(|(name, on, flag, what)| Part { name, on, flag, what })
}

fn parts<L: Clone + std::fmt::Debug>(
    what: impl Strategy<Value = L>,
    most: usize,
) -> impl Strategy<Value = Vec<Part<L>>> {
    proptest::collection::vec(part(what), 0..=most)
}

fn contact_law() -> impl Strategy<Value = ContactLaw> {
    let normal = prop_oneof![20 => number().prop_map(|e| Normal::Newton { e }), 1 => number().prop_map(|e| Normal::Poisson { e })];
    let friction = prop_oneof![
        4 => number().prop_map(|mu| Some((Friction::Coulomb { mu }, 0))),
        1 => number().prop_map(|bound| Some((Friction::Tresca { bound }, 0))),
        1 => (number(), 3usize..9).prop_map(|(mu, n)| {
            let polygon = Arc::new(Polygon::regular(n).expect("a polygon"));
            Some((Friction::Polyhedral { mu, polygon }, 2))
        }),
        2 => Just(None)
    ];
    let off = prop_oneof![20 => Just(false), 1 => Just(true)];
    (normal, friction, dimension(), number(), off).prop_map(|(normal, friction, dim, e, off)| {
        let fitting = match &friction {
            None => 0,
            Some((_, 2)) => 2,
            Some(_) => dim,
        };
        let slip_dim = if off { dim } else { fitting };
        ContactLaw { normal, friction: friction.map(|f| f.0), slip_dim, e_tangential: e }
    })
}

fn element() -> impl Strategy<Value = (usize, ElementLaw)> {
    let bounds = |n: usize| {
        let pair =
            (number(), number(), any::<bool>()).prop_map(|(a, b, open)| (-a, if open { f64::INFINITY } else { b }));
        proptest::collection::vec(pair, n)
    };
    let ball =
        (dimension(), number(), number()).prop_map(|(dim, force, impulse)| (dim, ElementSets::Ball { force, impulse }));
    let boxed = (1usize..5)
        .prop_flat_map(move |n| (Just(n), bounds(n), bounds(n)))
        .prop_map(|(n, force, impulse)| (n, ElementSets::Box { force, impulse }));
    (prop_oneof![ball, boxed], number()).prop_map(|((dim, sets), e)| (dim, ElementLaw { sets, e }))
}

fn model() -> impl Strategy<Value = Arbitrary> {
    let coordinates = prop_oneof![20 => 1usize..4, 1 => Just(0usize), 1 => Just(70usize)]
        .prop_map(|n| (0..n).map(|i| format!("q{i}")).collect::<Vec<_>>());
    let kinematics = prop_oneof![3 => Just(0), 2 => Just(1), 1 => Just(2)];
    let structure =
        (coordinates, kinematics, parts(Just(()), 2), any::<bool>(), proptest::collection::vec(number(), 0..2));
    let interactions = (
        parts(any::<bool>(), 2),
        parts(contact_law(), 2),
        parts(dimension(), 1),
        parts(dimension(), 1),
        parts(element(), 1),
    );
    (structure, interactions, (number(), number(), number())).prop_map(|(s, i, n)| {
        let (coordinates, kinematics, masses, constant_mass, breaks) = s;
        let (forces, contacts, joints, velocity_joints, elements) = i;
        let nq = coordinates.len();
        // Own velocities: fitting blocks, or a block that leaves something out.
        let (velocities, blocks) = match kinematics {
            0 => (None, Vec::new()),
            1 => (Some((0..nq).map(|i| format!("u{i}")).collect()), vec![((0..nq).collect(), (0..nq).collect())]),
            _ => (Some(vec!["u".to_string()]), vec![((0..nq.min(2)).collect(), vec![0])]),
        };
        Arbitrary {
            coordinates,
            velocities,
            blocks,
            masses,
            forces,
            contacts,
            joints,
            velocity_joints,
            elements,
            breaks,
            constant_mass,
            mass: n.0 + 0.5,
            coefficient: n.1,
            height: n.2,
        }
    })
}

#[test]
fn arbitrary_models_are_taken_or_refused_and_never_panic() {
    let config = ProptestConfig {
        cases: 6000,
        rng_seed: RngSeed::Fixed(20_260_727),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let numbers = || proptest::collection::vec(number(), 4);
    let wrong_size = prop_oneof![30 => Just(false), 1 => Just(true)];
    let inputs = (model(), numbers(), numbers(), wrong_size, number(), 0..SCHEMES.len(), any::<bool>());
    let (mut taken, mut started, mut done) = (0, 0, 0);
    let counts = std::cell::RefCell::new((&mut taken, &mut started, &mut done));
    let outcome = TestRunner::new(config).run(&inputs, |(model, q, u, wrong_size, step, which, observed)| {
        let Ok(system) = Differentiated::new(model) else { return Ok(()) };
        *counts.borrow_mut().0 += 1;
        let s = system.structure();
        let (nq, nu) = if wrong_size { (s.nq() + 1, s.nu()) } else { (s.nq(), s.nu()) };
        let fill = |v: &[f64], n: usize| v.iter().copied().cycle().take(n).collect::<Vec<_>>();
        let state = State::new(0.0, fill(&q, nq), fill(&u, nu));
        let scheme = scheme::make(SCHEMES[which].name, &Settings::new()).unwrap();
        let step = 0.01 * step;
        let mut options = SimulationOptions::new(step, 5.0 * step);
        options.solver_options.max_iterations = 200;
        options.observe = if observed { Observe::ALL } else { Observe::NONE };
        let Ok(mut simulation) = Simulation::new(&system, state, scheme, options) else { return Ok(()) };
        *counts.borrow_mut().1 += 1;
        let summary = simulation.run();
        *counts.borrow_mut().2 += usize::from(summary.status == Status::Done);
        prop_assert!(summary.status != Status::Interrupted);
        prop_assert!(summary.end.q.iter().chain(&summary.end.u).all(|x| x.is_finite()), "{:?}", summary.end);
        // A problem that was saved can be loaded.
        if let Some(json) = summary.stop.and_then(|s| s.problem) {
            prop_assert!(FullProblem::from_json(&json).is_ok(), "{}", json);
        }
        Ok(())
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
    println!("of 6000 models {taken} were taken, {started} started, {done} ran to the end");
    // The test is worth something only if models of all kinds get through.
    assert!(taken >= 1000 && started >= 500 && done >= 300, "{taken} {started} {done}");
}
