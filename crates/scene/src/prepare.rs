//! From a scene and what was asked on the command line to a run that can start.

use crate::bundled;
use crate::file::format::{Scene, Setting};
use crate::file::{Decode, Document, Fault, Formula, Formulas, Key, Origin, SceneError};
use crate::formula::FormulaError;
use crate::model::bodies::{self, Drawn, DrawnBar, DrawnSpring};
use crate::model::{FormulaModel, Numbers, Picture, Units};
use complementarity::Options as SolverOptions;
use nonsmooth::contract::{Combined, Structure};
use nonsmooth::names::nearest;
use nonsmooth::scheme::stabilise::Stabilise;
use nonsmooth::scheme::{self, OptionKind, SchemeInfo, Settings, SettingsError};
use nonsmooth::{Differentiated, Error, ModelError, Simulation, SimulationOptions, State, System};
use nonsmooth_multibody::{Geometry, Layout, Multibody};
use std::collections::BTreeMap;
use std::path::Path;

/// What is asked of a scene besides what it says itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Another scheme; it drops the options that the file gives for its own.
    pub scheme: Option<String>,
    /// Another step, s.
    pub step: Option<f64>,
    /// Another end, s.
    pub end: Option<f64>,
    /// Overrides, `key=value`.
    pub set: Vec<String>,
    /// Another limit on the coordinates of bodies and bars.
    pub max_coordinates: Option<usize>,
}

/// A scene that is ready to run.
pub struct Prepared {
    /// The file, overrides applied.
    pub document: Document,
    /// Its records.
    pub scene: Scene,
    /// Its parameters.
    pub numbers: Numbers,
    /// The system.
    pub system: Box<dyn System>,
    /// What is drawn of its bodies.
    pub drawn: Vec<Drawn>,
    /// What is drawn of its springs.
    pub springs: Vec<DrawnSpring>,
    /// What is drawn of its bars.
    pub bars: Vec<DrawnBar>,
    /// Where its bodies and their contacts are.
    pub geometry: Option<Geometry>,
    /// What else is drawn.
    pub picture: Option<Picture>,
    /// Units of coordinates and velocities.
    pub units: Units,
    /// The state at t = 0.
    pub start: State,
    /// The scheme.
    pub scheme: &'static SchemeInfo,
    /// Its options.
    pub settings: Settings,
    /// Options of the run.
    pub options: SimulationOptions,
    /// Every k-th step is recorded.
    pub every: usize,
    /// Whether the mass matrix was derived from a kinetic energy.
    pub lagrangian: bool,
    /// Definitions that nothing refers to.
    pub unused: Vec<String>,
    /// Things to know about its bodies.
    pub warnings: Vec<String>,
    places: BTreeMap<String, Origin>,
}

/// Reads a scene: a file, or a bundled example by name.
pub fn read(name: &str) -> Result<Document, SceneError> {
    let bad = |message: String| SceneError { message, place: Some(name.into()), position: None, line: None };
    let path = Path::new(name);
    if path.is_file() {
        let bytes = std::fs::read(path).map_err(|e| bad(format!("the file cannot be read: {e}")))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| bad(format!("not a text file (byte {} is not UTF-8)", e.utf8_error().valid_up_to())))?;
        return Document::parse(name, &text);
    }
    // A folder of that name may be where an example was written to before.
    if path.is_dir() && bundled::find(name).is_none() {
        return Err(bad("a folder; a scene is a file, or the name of a bundled example".into()));
    }
    match bundled::find(name) {
        Some(example) => Document::parse(name, example.text),
        None => {
            let hint = match nearest(name, bundled::EXAMPLES.iter().map(|e| e.name)) {
                Some(n) => format!(": did you mean `{n}`?"),
                None => " (`nonsmooth list examples` shows the examples)".into(),
            };
            Err(bad(format!("neither a file nor a bundled example{hint}")))
        }
    }
}

impl Prepared {
    /// Reads and prepares a scene.
    pub fn load(name: &str, request: &Request) -> Result<Self, SceneError> {
        Self::new(read(name)?, request)
    }

    /// Prepares a scene.
    pub fn new(mut document: Document, request: &Request) -> Result<Self, SceneError> {
        apply(&mut document, request)?;
        match Self::build(&document, request) {
            Ok(this) => Ok(Self { document, ..this }),
            Err(fault) => Err(document.explain(&fault)),
        }
    }

    fn build(document: &Document, request: &Request) -> Result<Self, Fault> {
        if ["model", "body", "bar"].iter().all(|key| document.get(&[key]).is_none()) {
            return Err(Fault::new(
                &Origin::Whole,
                "the scene has no [model], no [[body]] and no [[bar]]: what moves stands there",
            ));
        }
        let scene = Scene::decode(&document.root)?;
        let mut numbers = Numbers::new(document, &scene)?;
        let parts = Parts::new(document, &scene, &mut numbers, request)?;
        let Parts { system, drawn, springs, bars, geometry, layout, at_start, places, lagrangian, .. } = parts;
        let (mut unused, warnings) = (parts.unused, parts.warnings);
        let names = &system.structure().coordinates;
        let units = Units::build(&scene, layout)?;
        let picture = Picture::build(document, &scene, &mut numbers, names.iter().take(at_start.0.len()))?;
        if let Some(p) = &picture {
            unused.retain(|name| !p.used.contains(name));
        }
        let mut number = |f: &Formula| numbers.evaluate(document, f);

        let step = match request.step {
            Some(h) => h,
            None => number(&scene.time.step)?,
        };
        let end = match request.end {
            Some(t) => t,
            None => number(&scene.time.end)?,
        };
        let mut options = SimulationOptions::new(step, end);
        if let Some(s) = &scene.solver {
            options.solver = s.name.clone().unwrap_or_else(|| "auto".into());
            let mut o = SolverOptions::default();
            if let Some(tol) = &s.tol {
                o.tolerance = number(tol)?;
            }
            if let Some(n) = s.max_iterations {
                o.max_iterations = usize::try_from(n).unwrap_or(usize::MAX);
            }
            options.solver_options = o;
        }
        if let Some(tolerance) = scene.initial.as_ref().and_then(|i| i.tolerance.as_ref()) {
            options.initial_tolerance = number(tolerance)?;
            if !(options.initial_tolerance >= 0.0) {
                return Err(Fault::new(&tolerance.origin, "`tolerance` must not be negative"));
            }
        }
        numbers.offer("step", step);
        let (info, settings) = scheme_settings(document, &scene, &mut numbers, &mut options)?;
        numbers.withdraw("step");
        let start = start(document, &scene, &mut numbers, system.structure(), at_start)?;
        let every = match scene.output.as_ref().and_then(|o| o.every) {
            Some(0) => {
                let origin = document.get(&["output", "every"]).map(|n| n.origin.clone()).unwrap_or_default();
                return Err(Fault::new(&origin, "`output.every` must be at least 1"));
            }
            Some(k) => usize::try_from(k).unwrap_or(usize::MAX),
            None => 1,
        };
        Ok(Self {
            document: document.clone(),
            scene,
            numbers,
            system,
            drawn,
            springs,
            bars,
            geometry,
            picture,
            units,
            start,
            scheme: info,
            settings,
            options,
            every,
            lagrangian,
            unused,
            warnings,
            places,
        })
    }

    /// Whether the scheme chooses the length of its steps.
    pub fn adaptive(&self) -> bool {
        self.scheme.adaptive
    }

    /// Name and title.
    pub fn heading(&self) -> String {
        match &self.scene.title {
            // A title is free text; what would steer a terminal is not shown.
            Some(title) => {
                let shown: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
                format!("{}: {shown}", self.document.name)
            }
            None => self.document.name.clone(),
        }
    }

    /// The run, checked, before its first step.
    pub fn simulation(&self) -> Result<Simulation<'_>, SceneError> {
        let scheme = (self.scheme.make)(&self.settings).map_err(|e| self.blame(&Error::from(e)))?;
        Simulation::new(&*self.system, self.start.clone(), scheme, self.options.clone()).map_err(|e| self.blame(&e))
    }

    /// An error of the engine at its place in the file.
    fn blame(&self, error: &Error) -> SceneError {
        let place = |name: &str| self.places.get(name).cloned().unwrap_or_default();
        let time = |key: &str| self.document.get(&["time", key]).map(|n| n.origin.clone()).unwrap_or_default();
        let origin = match error {
            Error::Penetration { contact, .. } => {
                bodies::place_of_found(contact, &self.places).unwrap_or_else(|| place(contact))
            }
            Error::Joint { joint, .. } => place(joint),
            Error::Mass { .. } | Error::MassNotSymmetric { .. } => place("mass"),
            Error::InitialValue { name, .. } => place(name),
            Error::Step { .. } => time("step"),
            Error::End { .. } => time("end"),
            Error::Unsupported { .. } | Error::Stabilise { .. } | Error::Settings(_) => self.scheme_origin(),
            Error::Uneven { .. } => time("step"),
            Error::Solver { .. } => self.origin_of(&["solver", "name"]),
            Error::SolverOptions(e) if e.option == "max_iterations" => self.origin_of(&["solver", "max_iterations"]),
            Error::SolverOptions(_) => self.origin_of(&["solver", "tol"]),
            Error::Contract(message) => self.named_in(message),
            _ => Origin::Whole,
        };
        let message = match error {
            Error::TooManySteps { steps, limit } => {
                format!(
                    "the run needs {steps} steps, more than the limit of {limit}: raise it with --max-steps, or take a larger --step"
                )
            }
            Error::Penetration { .. } | Error::Joint { .. } => format!("{error} (`initial.tolerance`)"),
            other => other.to_string(),
        };
        self.document.explain(&Fault::new(&origin, message))
    }

    fn origin_of(&self, path: &[&str]) -> Origin {
        self.document.get(path).map(|n| n.origin.clone()).unwrap_or_default()
    }

    fn scheme_origin(&self) -> Origin {
        self.origin_of(&["scheme", "name"])
    }

    /// The place of the first part that a message names.
    fn named_in(&self, message: &str) -> Origin {
        let mut words = message.split('`').skip(1).step_by(2);
        let found = words.find_map(|w| self.places.get(w).or_else(|| self.places.get(&format!("force {w}"))));
        found.cloned().unwrap_or_default()
    }
}

/// The system of a scene and what is known of its parts.
struct Parts {
    system: Box<dyn System>,
    drawn: Vec<Drawn>,
    springs: Vec<DrawnSpring>,
    bars: Vec<DrawnBar>,
    geometry: Option<Geometry>,
    /// Coordinates and velocities of bodies and bars, by number.
    layout: Layout,
    /// Their values at the start.
    at_start: (Vec<f64>, Vec<f64>),
    places: BTreeMap<String, Origin>,
    lagrangian: bool,
    unused: Vec<String>,
    warnings: Vec<String>,
}

impl Parts {
    fn new(document: &Document, scene: &Scene, numbers: &mut Numbers, request: &Request) -> Result<Self, Fault> {
        if !bodies::any(scene) {
            let faults = [
                scene.spring.first().map(|s| (&s.origin, "a spring")),
                scene.world.as_ref().map(|w| (&w.origin, "[world]")),
                scene.contact.iter().find(|c| c.gap.is_none()).map(|c| (&c.origin, "a contact without a `gap`")),
            ];
            if let Some((origin, what)) = faults.into_iter().flatten().next() {
                return Err(Fault::new(origin, format!("{what} needs a [[body]], and the scene has none")));
            }
            let built = FormulaModel::build(document, scene, numbers, &[])?;
            let places = built.places;
            let system = Differentiated::new(built.model).map_err(|e| model_fault(&e, &places))?;
            return Ok(Self {
                system: Box::new(system),
                drawn: Vec::new(),
                springs: Vec::new(),
                bars: Vec::new(),
                geometry: None,
                layout: Layout::default(),
                at_start: (Vec::new(), Vec::new()),
                places,
                lagrangian: built.lagrangian,
                unused: built.unused,
                warnings: Vec::new(),
            });
        }
        let most = request.max_coordinates.unwrap_or(bodies::MAX_COORDINATES);
        let read = bodies::read(document, scene, numbers, most)?;
        let own = scene.model.as_ref();
        let (nq, nu) =
            own.map_or((0, 0), |m| (m.coordinates.len(), m.velocities.as_ref().map_or(m.coordinates.len(), Vec::len)));
        let (multibody, state) = read.builder.build_beside(nu).map_err(|e| bodies::blame(&e, &read.places))?;
        let (mut drawn, springs, mut bars) = (read.drawn, read.springs, read.bars);
        bodies::locate(&multibody, &mut drawn, &mut bars);
        let (geometry, layout) = (Some(multibody.geometry()), multibody.layout());
        let mut places = read.places;
        let mut warnings = Vec::new();
        for (a, b) in multibody.pairs_without_law() {
            warnings.push(format!("no [[contact]] is for `{a}` and `{b}`: they pass through each other"));
        }
        let at_start = (state.q, state.u);
        let by_formula = own.is_some()
            || !(scene.force.is_empty() && scene.joint.is_empty() && scene.element.is_empty())
            || scene.contact.iter().any(|c| c.gap.is_some())
            || !scene.define.0.is_empty();
        if !by_formula {
            if let Some((key, _)) =
                scene.parameters.0.iter().find(|(k, _)| multibody.structure().coordinates.iter().any(|n| n == k.name))
            {
                let message =
                    format!("the name `{}` of a parameter is already that of a coordinate of a body", key.name);
                return Err(Fault::new(&key.origin, message));
            }
            let (lagrangian, unused) = (false, Vec::new());
            let system = Box::new(multibody);
            return Ok(Self {
                system,
                drawn,
                springs,
                bars,
                geometry,
                layout,
                at_start,
                places,
                lagrangian,
                unused,
                warnings,
            });
        }
        let (names, velocities) = (&multibody.structure().coordinates, &multibody.structure().velocities);
        let others: Vec<Key> = names.iter().map(|n| Key { name: n.into(), origin: Origin::Whole }).collect();
        let built = FormulaModel::build(document, scene, numbers, &others)?;
        places.extend(built.places);
        let formulas = Differentiated::new(built.model).map_err(|e| model_fault(&e, &places))?;
        let s = formulas.structure();
        let names = names.and(s.coordinates.iter().skip(s.nq() - nq));
        let velocities = velocities.and(s.velocities.iter().skip(s.nu() - nu));
        let parts: Vec<(u64, Box<dyn System>)> =
            vec![(0, Box::new(formulas)), (Multibody::FIRST_IDENTITY, Box::new(multibody))];
        Ok(Self {
            system: Box::new(Combined::new(names, velocities, parts)),
            drawn,
            springs,
            bars,
            geometry,
            layout,
            at_start,
            places,
            lagrangian: built.lagrangian,
            unused: built.unused,
            warnings,
        })
    }
}

/// Applies what was asked to the tree.
fn apply(document: &mut Document, request: &Request) -> Result<(), SceneError> {
    if let Some(name) = &request.scheme {
        let same = matches!(
            document.get(&["scheme", "name"]).map(|n| &n.value),
            Some(crate::file::Value::String(s)) if s == name
        );
        if !same {
            document.remove(&["scheme"]);
        }
        document.set_as(&format!("scheme.name={name:?}"), &format!("--scheme {name}"))?;
    }
    for text in &request.set {
        document.set(text)?;
    }
    for (key, value) in [("step", request.step), ("end", request.end)] {
        if let Some(v) = value {
            // A string, so that NaN and infinity come to the check of the run.
            document.set_as(&format!("time.{key}={v:?}"), &format!("--{key} {v}"))?;
        }
    }
    Ok(())
}

fn model_fault(error: &ModelError, places: &BTreeMap<String, Origin>) -> Fault {
    let message = match error {
        ModelError::TooWide { kind, name, count } => format!(
            "{kind} `{name}` depends on {count} coordinates, at most {} are possible: split it into several",
            nonsmooth::contract::MAX_LOCAL
        ),
        other => other.to_string(),
    };
    let found = message.split('`').skip(1).step_by(2);
    let origin = found.clone().find_map(|w| places.get(w).or_else(|| places.get(&format!("force {w}"))));
    Fault::new(&origin.cloned().unwrap_or_default(), message)
}

fn scheme_settings(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    options: &mut SimulationOptions,
) -> Result<(&'static SchemeInfo, Settings), Fault> {
    let given = scene.scheme.clone().unwrap_or_default();
    let (name, origin) = given.name.clone().unwrap_or(("moreau-jean".into(), given.origin.clone()));
    let Some(info) = scheme::SCHEMES.iter().find(|s| s.name == name) else {
        let names: Vec<&str> = scheme::SCHEMES.iter().map(|s| s.name).collect();
        let hint = match nearest(&name, names.iter().copied()) {
            Some(n) => format!(": did you mean `{n}`?"),
            None => format!(" (there are {})", names.join(", ")),
        };
        return Err(Fault::new(&origin, format!("unknown scheme `{name}`{hint}")));
    };
    let mut settings = Settings::new();
    // Which options there are may depend on a base.
    let chosen = given.options.iter().find_map(|(key, value, _)| match value {
        Setting::Word(w) if key == "base" => Some(w),
        _ => None,
    });
    let base = chosen.map_or_else(Settings::new, |w| Settings::new().word("base", w));
    let mut origins: BTreeMap<String, Origin> = BTreeMap::new();
    for (key, value, origin) in &given.options {
        origins.insert(key.clone(), origin.clone());
        if key == "stabilise" && !info.position_level {
            options.stabilise = match value {
                Setting::Word(w) if w == "none" => Stabilise::None,
                Setting::Word(w) if w == "projection" => Stabilise::Projection,
                _ => return Err(Fault::new(origin, "`stabilise` is \"none\" or \"projection\"")),
            };
            continue;
        }
        let wants_number = scheme::options(info, &base).any(|o| match (o.kind, value) {
            _ if o.key != key => false,
            (OptionKind::Number { .. }, _) => true,
            (OptionKind::Automatic { .. }, value) => *value != Setting::Word("auto".into()),
            (OptionKind::Choice { .. }, _) => false,
        });
        settings = match value {
            Setting::Number(v) => settings.number(key, *v),
            Setting::Word(w) if wants_number => {
                let formula = Formula { text: w.clone(), origin: origin.clone() };
                settings.number(key, numbers.evaluate(document, &formula)?)
            }
            Setting::Word(w) => settings.word(key, w),
        };
    }
    // Made once to check; every run makes its own.
    if let Err(e) = scheme::make(info.name, &settings) {
        let key = match &e {
            SettingsError::Unknown { key, .. } => key.clone(),
            SettingsError::Value { key, .. } | SettingsError::Useless { key, .. } => (*key).to_string(),
            SettingsError::Scheme { .. } => String::new(),
        };
        let origin = origins.get(&key).cloned().unwrap_or(given.origin);
        return Err(Fault::new(&origin, e.to_string()));
    }
    Ok((info, settings))
}

/// Largest deviation from 1 of the length of a unit vector at the start.
const UNIT_TOLERANCE: f64 = 1e-6;

fn start(
    document: &Document,
    scene: &Scene,
    numbers: &mut Numbers,
    structure: &Structure,
    (mut q, mut u): (Vec<f64>, Vec<f64>),
) -> Result<State, Fault> {
    let initial = scene.initial.as_ref();
    q.resize(structure.nq(), 0.0);
    u.resize(structure.nu(), 0.0);
    // A velocity without a name of its own goes by that of its coordinate.
    let velocities: Vec<&str> = structure.velocities.iter().map(|v| v.trim_end_matches('\'')).collect();
    let coordinates: Vec<&str> = structure.coordinates.iter().collect();
    vector(document, numbers, initial.and_then(|i| i.q.as_ref()), &coordinates, "coordinates", &mut q)?;
    vector(document, numbers, initial.and_then(|i| i.u.as_ref()), &velocities, "velocities", &mut u)?;
    let mut state = State::new(0.0, q, u);
    let Some(model) = &scene.model else { return Ok(state) };
    for group in &model.unit {
        let list: Vec<usize> = group.iter().filter_map(|k| coordinates.iter().position(|c| *c == k.name)).collect();
        let norm = list.iter().map(|&i| state.q[i] * state.q[i]).sum::<f64>().sqrt();
        if !((norm - 1.0).abs() <= UNIT_TOLERANCE) {
            let names: Vec<&str> = group.iter().map(|k| k.name.as_str()).collect();
            let origin = initial.and_then(|i| i.q.as_ref()).map(|f| f.origin().clone()).unwrap_or_default();
            let message = format!("({}) must have length 1 at the start, it has {norm}", names.join(", "));
            return Err(Fault::new(&origin, message));
        }
        list.iter().for_each(|&i| state.q[i] /= norm);
    }
    Ok(state)
}

fn vector(
    document: &Document,
    numbers: &mut Numbers,
    given: Option<&Formulas>,
    names: &[&str],
    what: &str,
    out: &mut [f64],
) -> Result<(), Fault> {
    let n = names.len();
    match given {
        None => {}
        Some(Formulas::Named(list, _)) => {
            for (key, f) in list {
                let Some(i) = names.iter().position(|k| *k == key.name) else {
                    let near = nearest(&key.name, names.iter().copied());
                    let hint = near.map(|n| format!(": did you mean `{n}`?")).unwrap_or_default();
                    return Err(Fault::new(&key.origin, format!("`{}` is none of the {what}{hint}", key.name)));
                };
                out[i] = numbers.evaluate(document, f)?;
            }
        }
        Some(list) => {
            let formulas = list.in_order().unwrap_or(&[]);
            if formulas.len() != n {
                let message = format!("{} values for {n} {what}", formulas.len());
                return Err(Fault::new(list.origin(), message));
            }
            for (o, f) in out.iter_mut().zip(formulas) {
                *o = numbers.evaluate(document, f)?;
            }
        }
    }
    Ok(())
}

impl From<FormulaError> for Fault {
    fn from(e: FormulaError) -> Self {
        Fault::new(&Origin::Whole, e.message)
    }
}
