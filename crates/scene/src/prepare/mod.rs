//! Prepares a run from a scene and a request.
//!
//! - `request`: the file and the changes of the command line. `parts`: the system.
//! - `scheme`: the scheme and its options. `start`: the state at the start.
//! - `locate`: locates errors of the engine in the file.

mod locate;
mod parts;
mod request;
mod scheme;
mod start;

pub use request::{Request, read};

use crate::file::format::Scene;
use crate::file::{Decode, Document, Fault, Formula, Origin, SceneError};
use crate::model::bodies::{Drawn, DrawnBar, DrawnSpring};
use crate::model::{Breaks, Numbers, Picture, Places, Units};
use complementarity::Options as SolverOptions;
use nonsmooth::contract::{Evaluator, Workspace};
use nonsmooth::scheme::{SchemeInfo, Settings};
use nonsmooth::{Error, Simulation, SimulationOptions, State, System};
use nonsmooth_multibody::Geometry;
use parts::SystemParts;
use request::apply;
use scheme::scheme_settings;
use start::start;
use std::sync::Arc;

/// A scene that is ready to run.
pub struct Prepared {
    /// The file, overrides applied.
    pub document: Document,
    /// Its records.
    pub scene: Scene,
    /// Its parameters.
    pub numbers: Numbers,
    /// The system.
    pub system: Arc<dyn System>,
    /// What is drawn of its bodies.
    pub drawn: Vec<Drawn>,
    /// What is drawn of its springs.
    pub springs: Vec<DrawnSpring>,
    /// What is drawn of its bars.
    pub bars: Vec<DrawnBar>,
    /// Poses of its bodies and positions of their contacts.
    pub geometry: Option<Geometry>,
    /// Figures of `[picture]`.
    pub picture: Option<Picture>,
    /// Units of coordinates and velocities.
    pub units: Units,
    /// The state at the start.
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
    /// Warnings about its bodies.
    pub warnings: Vec<String>,
    /// Known times at which the model jumps or has a kink.
    pub breaks: Breaks,
    places: Places,
    work: Workspace,
}

impl Prepared {
    /// The system, with memory to evaluate it.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&*self.system, &self.work)
    }

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
                &Origin::Scene,
                "the scene has no [model], no [[body]] and no [[bar]]: what moves stands there",
            ));
        }
        let scene = Scene::decode(&document.root)?;
        let mut numbers = Numbers::new(document, &scene)?;
        let step = match request.step {
            Some(h) => h,
            None => numbers.evaluate(document, &scene.time.step)?,
        };
        let end = match request.end {
            Some(t) => t,
            None => numbers.evaluate(document, &scene.time.end)?,
        };
        let t0 = scene.time.start.as_ref().map_or(Ok(0.0), |f| numbers.evaluate(document, f))?;
        let parts = SystemParts::new(document, &scene, &mut numbers, request, Breaks::new(t0, end))?;
        let SystemParts { system, drawn, springs, bars, geometry, layout, at_start, places, lagrangian, .. } = parts;
        let (mut unused, warnings, breaks) = (parts.unused, parts.warnings, parts.breaks);
        let names = &system.structure().coordinates;
        let units = Units::build(&scene, layout)?;
        let picture = Picture::build(document, &scene, &mut numbers, names.iter().take(at_start.0.len()))?;
        if let Some(p) = &picture {
            unused.retain(|name| !p.used.contains(name));
        }
        let mut number = |f: &Formula| numbers.evaluate(document, f);

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
            o.relaxation = s.relaxation.as_ref().map(&mut number).transpose()?;
            o.friction_relaxation = s.friction_relaxation.as_ref().map(&mut number).transpose()?;
            o.r = [s.r.as_ref().map(&mut number).transpose()?, s.friction_r.as_ref().map(&mut number).transpose()?];
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
        let start = start(document, &scene, &mut numbers, system.structure(), t0, at_start)?;
        if let Some(watch) = scene.output.as_ref().and_then(|o| o.watch) {
            options.observe = watch.0;
        }
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
            work: Workspace::default(),
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
            breaks,
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
    pub fn simulation(&self) -> Result<Simulation<'static>, SceneError> {
        let scheme = (self.scheme.make)(&self.settings).map_err(|e| self.locate(&Error::from(e)))?;
        Simulation::new(Arc::clone(&self.system), self.start.clone(), scheme, self.options.clone())
            .map_err(|e| self.locate(&e))
    }
}
