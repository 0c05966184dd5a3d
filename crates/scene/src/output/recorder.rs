//! The trajectory of a run, row by row into an archive.

use super::npz::Npz;
use nonsmooth::contract::{Candidates, Interaction, Kind, Reach};
use nonsmooth::simulation::{Observer, StepView};
use nonsmooth::{State, System};
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
    id: u64,
}

/// Records every k-th step and the last.
pub struct Recorder {
    npz: Npz,
    every: usize,
    seen: usize,
    columns: Vec<Column>,
    percussion: Vec<f64>,
    sigma: Vec<u32>,
    arrays: Arrays,
    found: Option<Found>,
    rows: u32,
    /// Order of the scheme, of steps that do not have their own.
    order: u32,
    /// First error; the run goes on without the file.
    error: Option<io::Error>,
}

/// Contacts found by collision detection: one entry for each that carries a percussion in a recorded step.
struct Found {
    /// Row of `t`.
    row: usize,
    /// Which contact: its place in the list of names.
    contact: usize,
    percussion: usize,
    sigma: usize,
    places: HashMap<u64, u32>,
    identities: Vec<u64>,
}

/// Components of the percussion of a contact between planar bodies.
const FOUND_DIM: usize = 2;

struct Arrays {
    t: usize,
    dt: usize,
    q: usize,
    u: usize,
    energy: usize,
    residual: usize,
    penetration: usize,
    percussion: usize,
    sigma: usize,
    impact: usize,
    order: usize,
}

/// What the columns of `percussion` and `sigma` are for a system.
pub fn columns(system: &dyn System, start: &State) -> Vec<Column> {
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

/// Bytes of a recorded row.
pub fn row_bytes(system: &dyn System, columns: &[Column]) -> usize {
    let s = system.structure();
    let components: usize = columns.iter().map(|c| c.dim).sum();
    8 * (6 + s.nq() + s.nu() + components) + 4 * (1 + columns.len())
}

impl Recorder {
    /// A recorder for a system, into `path`.
    pub fn new(
        path: &Path,
        system: &dyn System,
        columns: Vec<Column>,
        every: usize,
        order: u32,
        detection: bool,
    ) -> io::Result<Self> {
        let first = columns.iter().map(|c| c.dim).sum();
        let s = system.structure();
        let mut npz = Npz::new(path);
        let arrays = Arrays {
            t: npz.array("t", None, "<f8")?,
            dt: npz.array("dt", None, "<f8")?,
            q: npz.array("q", Some(s.nq()), "<f8")?,
            u: npz.array("u", Some(s.nu()), "<f8")?,
            energy: npz.array("energy", None, "<f8")?,
            residual: npz.array("residual", None, "<f8")?,
            penetration: npz.array("penetration", None, "<f8")?,
            percussion: npz.array("percussion", Some(first), "<f8")?,
            sigma: npz.array("sigma", Some(columns.len()), "<u4")?,
            impact: npz.array("impact", None, "<f8")?,
            order: npz.array("order", None, "<u4")?,
        };
        let found = if detection {
            Some(Found {
                row: npz.array("found_row", None, "<u4")?,
                contact: npz.array("found_contact", None, "<u4")?,
                percussion: npz.array("found_percussion", Some(FOUND_DIM), "<f8")?,
                sigma: npz.array("found_sigma", None, "<u4")?,
                places: HashMap::new(),
                identities: Vec::new(),
            })
        } else {
            None
        };
        let sigma = vec![0; columns.len()];
        let percussion = vec![0.0; first];
        Ok(Self { npz, every, seen: 0, columns, percussion, sigma, arrays, found, rows: 0, order, error: None })
    }

    /// What the columns of `percussion` and `sigma` are.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Names of the contacts of `found_contact`.
    pub fn found(&self, system: &dyn System) -> Vec<String> {
        self.found.iter().flat_map(|f| f.identities.iter().map(|id| system.name(*id))).collect()
    }

    fn record_found(&mut self, step: &nonsmooth::Step) -> io::Result<()> {
        let Some(f) = &mut self.found else { return Ok(()) };
        for (i, k) in step.candidates.items().iter().enumerate().filter(|(_, k)| k.detected()) {
            let p = step.percussion(i);
            if p.iter().all(|v| *v == 0.0) {
                continue;
            }
            let next = f.identities.len() as u32;
            let place = *f.places.entry(k.id).or_insert(next);
            if place == next {
                f.identities.push(k.id);
            }
            let mut both = [0.0; FOUND_DIM];
            both.iter_mut().zip(p).for_each(|(b, p)| *b = *p);
            self.npz.push_u32(f.row, &[self.rows])?;
            self.npz.push_u32(f.contact, &[place])?;
            self.npz.push(f.percussion, &both)?;
            self.npz.push_u32(f.sigma, &[step.sigma[i].0])?;
        }
        Ok(())
    }

    /// Writes the archive.
    pub fn finish(self) -> io::Result<()> {
        match self.error {
            Some(e) => Err(e),
            None => self.npz.finish(),
        }
    }

    fn row(&mut self, t: f64, dt: f64, q: &[f64], u: &[f64], numbers: [f64; 4], order: u32) -> io::Result<()> {
        let a = &self.arrays;
        self.npz.push(a.t, &[t])?;
        self.npz.push(a.dt, &[dt])?;
        self.npz.push(a.q, q)?;
        self.npz.push(a.u, u)?;
        for (array, v) in [a.energy, a.residual, a.penetration, a.impact].into_iter().zip(numbers) {
            self.npz.push(array, &[v])?;
        }
        self.npz.push_u32(a.order, &[order])?;
        self.npz.push(a.percussion, &self.percussion)?;
        self.npz.push_u32(a.sigma, &self.sigma)?;
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
    fn begin(&mut self, system: &dyn System, start: &State) {
        let kinetic = nonsmooth::simulation::Meter::default().kinetic(system, start.t, &start.q, &start.u);
        let energy = kinetic + nonsmooth::simulation::potential_energy(system, start.t, &start.q);
        let result = self.row(start.t, 0.0, &start.q, &start.u, [energy, 0.0, 0.0, 0.0], 0);
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
        for (i, k) in step.candidates.items().iter().enumerate() {
            let Ok(c) = self.columns.binary_search_by_key(&k.id, |c| c.id) else { continue };
            let column = &self.columns[c];
            self.percussion[column.first..column.first + column.dim].copy_from_slice(step.percussion(i));
            self.sigma[c] = step.sigma[i].0;
        }
        let certificate = view.certificate;
        let numbers = [
            view.energy.unwrap_or(f64::NAN),
            certificate.map_or(f64::NAN, |c| c.residual()),
            certificate.map_or(f64::NAN, |c| c.penetration),
            f64::from(u8::from(step.impact)),
        ];
        let found = self.record_found(step);
        self.keep(found);
        let order = if step.extrapolation.order > 0 { step.extrapolation.order } else { self.order };
        let result = self.row(step.end.t, step.dt, &step.end.q, &step.end.u, numbers, order);
        self.keep(result);
    }
}
