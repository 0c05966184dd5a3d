//! Runs of scenes whose steps are watched: what tests of single schemes begin with.

use nonsmooth::simulation::{Observer, StepView, Summary};
use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request, read};

/// A final step.
#[allow(dead_code)] // each test looks at some of it
pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) dt: f64,
    pub(crate) order: u32,
    pub(crate) q: Vec<f64>,
    pub(crate) u: Vec<f64>,
    pub(crate) energy: f64,
}

#[derive(Default)]
struct Watch(Vec<Point>);

impl Observer for Watch {
    fn step(&mut self, view: &StepView) {
        let (end, dt, order) = (&view.end, view.step.dt, view.step.order());
        let (q, u, energy) = (end.q.clone(), end.u.clone(), view.energy.unwrap());
        self.0.push(Point { t: end.t, dt, order, q, u, energy });
    }
}

/// A scene, by the name of an example or as text, under a scheme; its own step where none is given.
pub(crate) fn try_prepare(
    scene: &str,
    scheme: &str,
    step: Option<f64>,
    end: f64,
    set: &[&str],
) -> Result<Prepared, String> {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    let request = Request { scheme: Some(scheme.into()), step, end: Some(end), set, ..Request::default() };
    let document = if scene.contains('\n') { Document::parse("test", scene) } else { read(scene) };
    Prepared::new(document.unwrap(), &request).map_err(|e| e.to_string())
}

/// The same of a scene that must do.
#[allow(dead_code)] // not every test looks at a system itself
pub(crate) fn prepare(scene: &str, scheme: &str, step: f64, end: f64, set: &[&str]) -> Prepared {
    try_prepare(scene, scheme, Some(step), end, set).unwrap_or_else(|e| panic!("{e}"))
}

/// A run and its steps, however it ends.
pub(crate) fn watch(prepared: &Prepared) -> (Summary, Vec<Point>) {
    let mut watch = Watch::default();
    let summary = prepared.simulation().unwrap_or_else(|e| panic!("{e}")).run_with(&mut watch);
    (summary, watch.0)
}
