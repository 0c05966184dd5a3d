//! Runs of all reference models, for tests of every model with every scheme.

use super::{
    Ball, Bead, Belt, Block, Chain, ChartedBody, DoublePendulum, DrivenSpring, Flight, Incline, Oscillator, Pendulum,
    PointOnTable, PulledMass, RigidBody, Ring, Swing, Top,
};
use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::scheme::{OptionKind, SCHEMES, Settings};
use nonsmooth::{Differentiated, Model, ModelError, SimulationOptions, State, System};

/// A model, a start, and a run that covers all phenomena of the model: impacts, stick, slip, rest.
pub struct Case {
    /// Unique name.
    pub name: &'static str,
    /// The system.
    pub system: Box<dyn System>,
    /// Where it starts.
    pub start: State,
    /// Step, s: no divisor of the times of events.
    pub step: f64,
    /// End, s.
    pub end: f64,
    /// Whether joints are projected.
    pub stabilise: Stabilise,
    /// Whether W and χ are constant and no obstacle moves.
    pub constant_directions: bool,
}

impl Case {
    /// Options of the run.
    pub fn options(&self) -> SimulationOptions {
        let mut o = SimulationOptions::new(self.step, self.end);
        o.stabilise = self.stabilise;
        o
    }

    /// Options of the run with a scheme, or `None` if the scheme refuses it. A scheme that takes steps of one length only ends on the
    /// last whole step.
    pub fn options_for(&self, scheme: &str) -> Option<SimulationOptions> {
        let info = SCHEMES.iter().find(|s| s.name == scheme)?;
        let refused = info.supports.missing(&self.system.structure().needs).is_some()
            || (info.position_level && self.stabilise != Stabilise::None);
        let mut o = self.options();
        if !info.variable_step {
            o.end = self.step * (self.end / self.step).floor();
        }
        (!refused).then_some(o)
    }
}

fn make<M: Model + 'static>(model: M) -> Result<Box<dyn System>, ModelError> {
    Ok(Box::new(Differentiated::new(model)?))
}

fn run(name: &'static str, system: Box<dyn System>, q: &[f64], u: &[f64], step: f64, end: f64) -> Case {
    let start = State::new(0.0, q.to_vec(), u.to_vec());
    Case { name, system, start, step, end, stabilise: Stabilise::None, constant_directions: true }
}

/// Every reference model, with friction and without, with joints and without.
pub fn cases() -> Result<Vec<Case>, ModelError> {
    let mut all = smooth()?;
    all.extend(points()?);
    all.extend(blocks()?);
    all.extend(pendula()?);
    all.extend(bodies()?);
    all.extend(many()?);
    Ok(all)
}

/// One coordinate or a rotation; impacts without friction.
fn smooth() -> Result<Vec<Case>, ModelError> {
    let elastic = Ball { e: 1.0, ..Ball::default() };
    let plastic = Ball { e: 0.0, ..Ball::default() };
    let free = Oscillator { stop: f64::NEG_INFINITY, ..Oscillator::default() };
    let damped = Swing { damping: 0.4, ..Swing::default() };
    let stopped = Bead { stop: -0.4, ..Bead::default() };
    let heavy = Top { moment: 3.0, ..Top::default() };
    Ok(vec![
        run("ball", make(Ball::default())?, &[1.0], &[0.0], 7e-3, 3.5),
        run("ball-elastic", make(elastic)?, &[1.0], &[0.0], 7e-3, 3.5),
        run("ball-plastic", make(plastic)?, &[1.0], &[0.0], 7e-3, 2.0),
        run("oscillator", make(Oscillator::default())?, &[1.0], &[0.0], 1.3e-2, 8.0),
        run("oscillator-free", make(free)?, &[1.0], &[0.3], 1.3e-2, 4.0),
        run("flight", make(Flight::default())?, &[0.0], &[1.0], 7e-3, 1.0),
        run("swing", make(Swing::default())?, &[2.0], &[0.0], 7e-3, 2.0),
        run("swing-damped", make(damped)?, &[2.0], &[0.0], 7e-3, 2.0),
        run("bead", make(Bead::default())?, &[1.2], &[0.5], 3e-3, 2.0),
        run("bead-stop", make(stopped)?, &[1.2], &[0.5], 3e-3, 2.0),
        run("driven-spring", make(DrivenSpring::default())?, &[0.2], &[0.0], 7e-3, 3.0),
        run("top", make(heavy)?, &[1.0, 0.0, 0.0, 0.0], &[1.5, 0.0, 4.0], 3e-3, 1.0),
    ])
}

/// Points with friction.
fn points() -> Result<Vec<Case>, ModelError> {
    let incline = |slope, mu| make(Incline { slope, mu, mass: 2.0, g: 9.81 });
    let pulled = |force| make(PulledMass { mass: 1.0, force, bound: 2.0, e: 0.0 });
    let table = |law: &ContactLaw, table| make(PointOnTable { mass: 1.5, g: 9.81, law: law.clone(), table });
    let coulomb = ContactLaw::newton(0.4).coulomb(2, 0.3);
    let tresca = ContactLaw::newton(0.4).tresca(2, 2.0);
    let springy = coulomb.clone().tangential_restitution(0.3);
    let (q, u) = ([0.0, 0.0, 0.05], [1.0, -0.7, 0.0]);
    let moving = |case| Case { constant_directions: false, ..case };
    Ok(vec![
        run("incline-slides", incline(0.5, 0.3)?, &[0.0, 0.1], &[0.0; 2], 3e-3, 1.0),
        run("incline-sticks", incline(0.3, 0.8)?, &[0.0, 0.0], &[2.0, 0.0], 3e-3, 1.0),
        run("pulled-slides", pulled(3.0)?, &[0.0], &[0.0], 7e-3, 1.0),
        run("pulled-sticks", pulled(1.0)?, &[0.0], &[0.5], 7e-3, 1.0),
        run("belt", make(Belt::default())?, &[0.0, 0.0], &[0.0, 0.0], 7e-3, 6.0),
        run("table", table(&coulomb, [0.0; 3])?, &q, &u, 3e-3, 1.0),
        run("table-tresca", table(&tresca, [0.0; 3])?, &q, &u, 3e-3, 1.0),
        run("table-springy", table(&springy, [0.0; 3])?, &q, &u, 3e-3, 1.0),
        moving(run("table-moves-along", table(&coulomb, [0.5, -0.2, 0.0])?, &q, &[0.0; 3], 3e-3, 1.0)),
        moving(run("table-rises", table(&coulomb, [0.3, 0.4, 0.2])?, &q, &u, 3e-3, 1.0)),
    ])
}

/// Blocks: dropped flat with linearised corners, dropped tilted with exact ones.
fn blocks() -> Result<Vec<Case>, ModelError> {
    let flat = Block { linearised: true, ..Block::default() };
    let flat_rough = Block { mu: Some(0.5), ..flat.clone() };
    let smooth = Block { e: 0.3, ..Block::default() };
    let rough = Block { mu: Some(0.5), ..smooth.clone() };
    let slope = Block { slope: 0.3, ..rough.clone() };
    let (q, tilted) = ([0.0, 0.26, 0.0], [0.0, 0.7, 0.4]);
    let turning = |case| Case { constant_directions: false, ..case };
    Ok(vec![
        run("block-flat", make(flat)?, &q, &[0.0; 3], 1.1e-3, 0.2),
        run("block-flat-rough", make(flat_rough)?, &q, &[6.0, 0.0, 0.0], 1.1e-3, 0.5),
        turning(run("block", make(smooth)?, &tilted, &[0.0; 3], 1.1e-3, 1.0)),
        turning(run("block-rough", make(rough)?, &tilted, &[2.0, 0.0, 0.0], 1.1e-3, 1.0)),
        turning(run("block-slope", make(slope)?, &tilted, &[0.0; 3], 1.1e-3, 1.0)),
    ])
}

/// Joints, drifting and projected.
fn pendula() -> Result<Vec<Case>, ModelError> {
    let pendulum = |copies| make(Pendulum { g: 9.81, copies });
    let double = DoublePendulum { length: 1.0, mass: 1.0, g: 9.81 };
    let folded = double.configuration(1.2, 2.0);
    let (q, u) = ([0.6, -0.8], [0.8, 0.6]);
    let turning = |case| Case { constant_directions: false, ..case };
    let projected = |case| Case { stabilise: Stabilise::Projection, ..turning(case) };
    Ok(vec![
        turning(run("pendulum", pendulum(1)?, &[1.0, 0.0], &[0.0; 2], 3e-3, 1.5)),
        turning(run("pendulum-redundant", pendulum(2)?, &q, &u, 3e-3, 1.5)),
        projected(run("pendulum-redundant-projected", pendulum(2)?, &q, &u, 3e-3, 1.0)),
        turning(run("double-pendulum", make(double.clone())?, &folded, &[0.0; 6], 3e-3, 1.0)),
        projected(run("double-pendulum-projected", make(double)?, &folded, &[0.0; 6], 3e-3, 1.0)),
    ])
}

/// Rigid bodies with a quaternion: tumbling, and a ball that is thrown on a table and begins to roll, without and with local coordinates.
fn bodies() -> Result<Vec<Case>, ModelError> {
    let ball = RigidBody::ball(0.1, ContactLaw::newton(0.3).coulomb(2, 0.3));
    let charted = run(
        "charted-ball",
        Box::new(ChartedBody::new(ball.clone())?),
        &[0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0],
        &[1.0, 0.3, 0.0, 5.0, 0.0, 2.0],
        3e-3,
        1.0,
    );
    let tumbling = run(
        "rigid-body",
        make(RigidBody::free())?,
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        &[0.3, 0.0, -0.2, 0.1, 2.0, 0.2],
        3e-3,
        1.0,
    );
    let thrown = run(
        "rolling-ball",
        make(ball)?,
        &[0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0],
        &[1.0, 0.3, 0.0, 5.0, 0.0, 2.0],
        3e-3,
        1.0,
    );
    Ok(vec![tumbling, Case { constant_directions: false, ..thrown }, Case { constant_directions: false, ..charted }])
}

/// Several masses: block-diagonal, banded and cyclic matrices.
fn many() -> Result<Vec<Case>, ModelError> {
    let chain = Chain { count: 6, group: 3, k: 30.0, c: 10.0, stop: 0.1, e: 0.4 };
    let ring = Ring { count: 9, far: 4, k: 20.0, c: 5.0 };
    let wave = |n: usize| -> Vec<f64> { (0..n).map(|i| 0.3 * (1.0 + 2.0 * i as f64).sin()).collect() };
    let still: Vec<f64> = vec![0.05, 0.0, 0.1, -0.05, 0.02, 0.0];
    Ok(vec![
        run("chain", make(chain)?, &still, &wave(6), 3e-3, 1.0),
        run("ring", make(ring)?, &wave(9), &[0.0; 9], 3e-3, 1.0),
    ])
}

/// A scheme of the registry with some of its options.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Scheme and options, for messages.
    pub label: String,
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Its options.
    pub settings: Settings,
}

/// Options of which [`variants`] has all words.
const WORDS: [&str; 8] =
    ["force", "guess", "friction_direction", "coupling", "metric", "base", "directions", "velocity_joints"];

/// Every scheme of the registry, where it has them with θ ∈ {0, ½, 1}, every rule for the forces, start guess, direction of friction,
/// coupling and metric of a projection, base of an extrapolation.
pub fn variants() -> Vec<Variant> {
    let mut out = Vec::new();
    for info in SCHEMES {
        let has = |key: &str| info.options.iter().find(|o| o.key == key);
        let plain = Variant { label: info.name.to_string(), scheme: info.name, settings: Settings::new() };
        let mut all = vec![plain];
        if let Some(OptionKind::Number { min, max, .. }) = has("theta").map(|o| o.kind) {
            let values: Vec<f64> = [0.0, 0.5, 1.0].into_iter().filter(|t| (min..=max).contains(t)).collect();
            all = cross(&all, "theta", &values, |settings, theta| settings.number("theta", *theta));
        }
        for key in WORDS {
            if let Some(OptionKind::Choice { words, .. }) = has(key).map(|o| o.kind) {
                all = cross(&all, key, words, |settings, word| settings.word(key, word));
            }
        }
        out.extend(all);
    }
    out
}

/// Every variant with every value of an option.
fn cross<T: std::fmt::Display>(
    variants: &[Variant],
    key: &str,
    values: &[T],
    set: impl Fn(Settings, &T) -> Settings,
) -> Vec<Variant> {
    let with = |v: &Variant, value: &T| Variant {
        label: format!("{} {key}={value}", v.label),
        scheme: v.scheme,
        settings: set(v.settings.clone(), value),
    };
    variants.iter().flat_map(|v| values.iter().map(|value| with(v, value)).collect::<Vec<_>>()).collect()
}
