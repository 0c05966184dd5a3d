//! The trajectory of a run, row by row into an archive.

use super::npz::Npz;
use nonsmooth::accounting::Ledger;
use nonsmooth::contract::Evaluator;
use nonsmooth::contract::{Candidates, Interaction, Kind, Reach};
use nonsmooth::simulation::{Observe, Observer, StepView};
use nonsmooth::{Hit, State};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// An interaction in the columns of `percussion` and `sigma`.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// joint, velocity_joint, contact or element.
    pub kind: &'static str,
    /// First column in `percussion`.
    pub first: usize,
    /// Number of columns.
    pub dim: usize,
    #[serde(skip)]
    pub(crate) id: u64,
}

/// A contact that detection found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundContact {
    /// Its identity.
    pub id: u64,
    /// Components of its percussion.
    pub dim: usize,
}

/// Meaning of the arrays of a trajectory.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Columns of `percussion` and `sigma`.
    pub columns: Vec<Column>,
    /// Contacts of `found_contact`.
    pub found: Vec<FoundContact>,
    /// Columns of `ledger`; none if it was not kept.
    pub ledger: Vec<String>,
}

/// Records every k-th step and the last.
pub struct Recorder {
    npz: Npz,
    every: usize,
    seen: usize,
    columns: Vec<Column>,
    percussion: Vec<f64>,
    /// Lines of the ledger that are recorded: name, and its place among all.
    lines: Vec<(String, usize)>,
    ledger: Vec<f64>,
    /// Energy at the start, J; zero if it is not watched.
    energy: f64,
    sigma: Vec<u32>,
    hit: Vec<u32>,
    arrays: Arrays,
    found: Option<FoundArrays>,
    rows: u32,
    /// Order of the scheme, of steps that do not have their own.
    order: u32,
    /// First error; the run goes on without the file.
    error: Option<io::Error>,
}

/// Contacts found by collision detection: one entry for each that carries a percussion in a recorded step.
struct FoundArrays {
    /// Row of `t`.
    row: usize,
    /// Which contact: its place in the list of names.
    contact: usize,
    percussion: usize,
    sigma: usize,
    places: HashMap<u64, u32>,
    list: Vec<FoundContact>,
}

/// Values of `hit`.
pub(crate) const NOT_HIT: u32 = 0;
pub(crate) const HIT: u32 = 1;
pub(crate) const REMAINDER: u32 = 2;

/// Components of the percussion of a contact between planar bodies.
const FOUND_CONTACT_DIM: usize = 2;

/// Arrays of the archive; `None` for what is not watched.
struct Arrays {
    t: usize,
    dt: usize,
    q: usize,
    u: usize,
    energy: Option<usize>,
    residual: Option<usize>,
    penetration: Option<usize>,
    percussion: usize,
    sigma: usize,
    impact: usize,
    hit: usize,
    order: usize,
    ledger: Option<usize>,
    closure: Option<usize>,
}

/// What the columns of `percussion` and `sigma` are for a system.
pub fn columns(system: &Evaluator, start: &State) -> Vec<Column> {
    let mut list = Candidates::default();
    system.candidates(start.t, &start.q, &start.u, Reach::ALL, &mut list);
    let mut first = 0;
    let column = |k: &Interaction| {
        first += k.dim();
        let kind = match k.kind {
            Kind::Joint => "joint",
            Kind::VelocityJoint => "velocity_joint",
            Kind::Contact => "contact",
            Kind::Element => "element",
        };
        Column { name: system.name(k.id), kind, first: first - k.dim(), dim: k.dim(), id: k.id }
    };
    list.items().iter().map(column).collect()
}

/// Name and index of the ledger lines that can hold work. A force with a potential has no line of its own.
fn lines(system: &Evaluator) -> Vec<(String, usize)> {
    let forces = &system.structure().forces;
    let all = Ledger::new(system).lines().into_iter().enumerate();
    all.filter(|(i, _)| forces.get(*i).is_none_or(|f| !f.potential)).map(|(i, (name, _))| (name, i)).collect()
}

/// Bytes of a recorded row.
pub fn row_bytes(system: &Evaluator, columns: &[Column], observe: Observe) -> usize {
    let s = system.structure();
    let components: usize = columns.iter().map(|c| c.dim).sum();
    let energy = if observe.energy { 2 + lines(system).len() } else { 0 };
    let certificate = if observe.certificate { 2 } else { 0 };
    8 * (3 + s.nq() + s.nu() + components + energy + certificate) + 4 * (1 + 2 * columns.len())
}

impl Recorder {
    /// A recorder for a system, into `path`.
    pub fn new(
        path: &Path,
        system: &Evaluator,
        columns: Vec<Column>,
        every: usize,
        order: u32,
        detection: bool,
        observe: Observe,
    ) -> io::Result<Self> {
        let first = columns.iter().map(|c| c.dim).sum();
        let s = system.structure();
        let lines = if observe.energy { lines(system) } else { Vec::new() };
        let mut npz = Npz::new(path);
        let watched = |npz: &mut Npz, on: bool, name: &str, width: Option<usize>| {
            if on { npz.array(name, width, "<f8").map(Some) } else { Ok(None) }
        };
        let arrays = Arrays {
            t: npz.array("t", None, "<f8")?,
            dt: npz.array("dt", None, "<f8")?,
            q: npz.array("q", Some(s.nq()), "<f8")?,
            u: npz.array("u", Some(s.nu()), "<f8")?,
            energy: watched(&mut npz, observe.energy, "energy", None)?,
            residual: watched(&mut npz, observe.certificate, "residual", None)?,
            penetration: watched(&mut npz, observe.certificate, "penetration", None)?,
            percussion: npz.array("percussion", Some(first), "<f8")?,
            sigma: npz.array("sigma", Some(columns.len()), "<u4")?,
            impact: npz.array("impact", None, "<f8")?,
            hit: npz.array("hit", Some(columns.len()), "<u4")?,
            order: npz.array("order", None, "<u4")?,
            ledger: watched(&mut npz, observe.energy, "ledger", Some(lines.len()))?,
            closure: watched(&mut npz, observe.energy, "closure", None)?,
        };
        let found = if detection {
            Some(FoundArrays {
                row: npz.array("found_row", None, "<u4")?,
                contact: npz.array("found_contact", None, "<u4")?,
                percussion: npz.array("found_percussion", Some(FOUND_CONTACT_DIM), "<f8")?,
                sigma: npz.array("found_sigma", None, "<u4")?,
                places: HashMap::new(),
                list: Vec::new(),
            })
        } else {
            None
        };
        let (sigma, hit) = (vec![0; columns.len()], vec![0; columns.len()]);
        let percussion = vec![0.0; first];
        let ledger = vec![0.0; lines.len()];
        Ok(Self {
            npz,
            every,
            seen: 0,
            columns,
            percussion,
            lines,
            ledger,
            energy: 0.0,
            sigma,
            hit,
            arrays,
            found,
            rows: 0,
            order,
            error: None,
        })
    }

    fn record_found(&mut self, step: &nonsmooth::Step) -> io::Result<()> {
        let Some(f) = &mut self.found else { return Ok(()) };
        for (i, k) in step.candidates.items().iter().enumerate().filter(|(_, k)| k.detected()) {
            let p = step.percussion(i);
            if p.iter().all(|v| *v == 0.0) {
                continue;
            }
            let next = f.list.len() as u32;
            let place = *f.places.entry(k.id).or_insert(next);
            if place == next {
                f.list.push(FoundContact { id: k.id, dim: k.dim() });
            }
            let mut both = [0.0; FOUND_CONTACT_DIM];
            both.iter_mut().zip(p).for_each(|(b, p)| *b = *p);
            self.npz.push_u32(f.row, &[self.rows])?;
            self.npz.push_u32(f.contact, &[place])?;
            self.npz.push(f.percussion, &both)?;
            self.npz.push_u32(f.sigma, &[step.sigma[i].0])?;
        }
        Ok(())
    }

    /// Writes the archive, and returns the meaning of its arrays.
    pub fn finish(self) -> io::Result<Recorded> {
        if let Some(e) = self.error {
            return Err(e);
        }
        self.npz.finish()?;
        let ledger = self.lines.into_iter().map(|(name, _)| name).collect();
        Ok(Recorded { columns: self.columns, found: self.found.map(|f| f.list).unwrap_or_default(), ledger })
    }

    fn row(&mut self, t: f64, dt: f64, q: &[f64], u: &[f64], numbers: [f64; 5], order: u32) -> io::Result<()> {
        let a = &self.arrays;
        self.npz.push(a.t, &[t])?;
        self.npz.push(a.dt, &[dt])?;
        self.npz.push(a.q, q)?;
        self.npz.push(a.u, u)?;
        for (array, v) in [a.energy, a.residual, a.penetration, Some(a.impact), a.closure].into_iter().zip(numbers) {
            if let Some(array) = array {
                self.npz.push(array, &[v])?;
            }
        }
        self.npz.push_u32(a.order, &[order])?;
        self.npz.push(a.percussion, &self.percussion)?;
        self.npz.push_u32(a.sigma, &self.sigma)?;
        self.npz.push_u32(a.hit, &self.hit)?;
        if let Some(array) = a.ledger {
            self.npz.push(array, &self.ledger)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(e) = result {
            self.error.get_or_insert(e);
        }
    }
}

impl Observer for Recorder {
    fn begin(&mut self, system: &Evaluator, start: &State) {
        if self.arrays.energy.is_some() {
            let kinetic = nonsmooth::accounting::Meter::default().kinetic(system, start.t, &start.q, &start.u);
            self.energy = kinetic + nonsmooth::accounting::potential_energy(system, start.t, &start.q);
        }
        let numbers = [self.energy, 0.0, 0.0, 0.0, 0.0];
        let result = self.row(start.t, 0.0, &start.q, &start.u, numbers, 0);
        self.keep(result);
    }

    fn step(&mut self, view: &StepView) {
        self.seen += 1;
        if self.error.is_some() || !(self.seen.is_multiple_of(self.every) || view.last) {
            return;
        }
        let step = view.step;
        self.percussion.fill(0.0);
        self.sigma.fill(nonsmooth::Sigma::OPEN.0);
        self.hit.fill(NOT_HIT);
        for (i, k) in step.candidates.items().iter().enumerate() {
            let Ok(c) = self.columns.binary_search_by_key(&k.id, |c| c.id) else { continue };
            let column = &self.columns[c];
            self.percussion[column.first..column.first + column.dim].copy_from_slice(step.percussion(i));
            self.sigma[c] = step.sigma[i].0;
            self.hit[c] = match step.hit(i) {
                Hit::None => NOT_HIT,
                Hit::Struck | Hit::Passed { .. } => HIT,
                Hit::Remainder => REMAINDER,
            };
        }
        let certificate = view.certificate;
        self.ledger.fill(f64::NAN);
        let mut closure = f64::NAN;
        if let (Some(ledger), Some(energy)) = (view.ledger, view.energy) {
            closure = energy - self.energy - ledger.total();
            let mut kept = self.ledger.iter_mut().zip(&self.lines).peekable();
            for (place, work) in ledger.work().enumerate() {
                if let Some((value, _)) = kept.next_if(|(_, line)| line.1 == place) {
                    *value = work;
                }
            }
        }
        let numbers = [
            view.energy.unwrap_or(f64::NAN),
            certificate.map_or(f64::NAN, |c| c.residual()),
            certificate.map_or(f64::NAN, |c| c.penetration),
            f64::from(u8::from(step.impact())),
            closure,
        ];
        let found = self.record_found(step);
        self.keep(found);
        let order = if step.order() > 0 { step.order() } else { self.order };
        // The percussions of an extrapolated step hold what its projection did: they lead to the state that goes on.
        let end = if step.is_extrapolated() { view.end } else { &*step.end };
        let result = self.row(end.t, step.dt, &end.q, &end.u, numbers, order);
        self.keep(result);
    }
}
