//! A model with one thing wrong with it, the error that it gives, and the same model with nothing wrong.

use nonsmooth::contract::Features;
use nonsmooth::law::{ContactLaw, ElementLaw};
use nonsmooth::scheme::{SCHEMES, SchemeInfo, Settings};
use nonsmooth::simulation::Status;
use nonsmooth::{
    Differentiated, Error, Layout, Model, ModelError, Scalar, Simulation, SimulationOptions, State, Summary, System,
    scheme,
};

/// A planar point over the ground with a rod, and one thing wrong with it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flaw {
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

pub(crate) struct Flawed(pub(crate) Flaw);

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

pub(crate) fn model_error(flaw: Flaw) -> ModelError {
    match Differentiated::new(Flawed(flaw)) {
        Ok(_) => panic!("the model was taken in"),
        Err(e) => e,
    }
}

/// Start of a point at rest one metre above the ground.
pub(crate) fn start() -> State {
    State::new(0.0, vec![0.0, 1.0], vec![0.0, 0.0])
}

pub(crate) fn simulate(flaw: Flaw, name: &str, state: State, options: SimulationOptions) -> Result<Summary, Error> {
    let system = Differentiated::new(Flawed(flaw))?;
    let scheme = scheme::make(name, &Settings::new())?;
    Ok(Simulation::new(&system, state, scheme, options)?.run())
}

pub(crate) fn options() -> SimulationOptions {
    SimulationOptions::new(0.01, 0.1)
}

/// Schemes that have what the model needs.
pub(crate) fn fitting(flaw: Flaw) -> Vec<&'static SchemeInfo> {
    let needs = Differentiated::new(Flawed(flaw)).map_or_else(|_| Features::NONE, |s| s.structure().needs);
    SCHEMES.iter().copied().filter(|s| s.supports.missing(&needs).is_none()).collect()
}

/// The error of a run that must not start, with every scheme that has what the model needs the same.
pub(crate) fn run_error(flaw: Flaw, state: State, options: SimulationOptions) -> Error {
    let errors: Vec<Error> = fitting(flaw)
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

pub(crate) use names;

#[test]
fn the_model_without_a_flaw_runs() {
    for s in fitting(Flaw::None) {
        let summary = simulate(Flaw::None, s.name, start(), options()).unwrap();
        assert_eq!(summary.status, Status::Done);
        assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    }
}
