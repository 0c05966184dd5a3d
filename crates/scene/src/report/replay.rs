//! The replay: poses at chosen rows, and percussions since the row before.
//!
//! Percussions are summed over all recorded steps between two frames, so that no impact is lost. Contacts of the scene are listed in
//! every frame if `[picture]` gives their position; contacts found by detection, in frames in which they carried a percussion.

use super::arrays::{Arrays, Data};
use super::scenery::Scenery;
use crate::model::{ContactMark, ContactPose};
use crate::output::{Column, HIT, Recorded};
use crate::prepare::Prepared;
use nonsmooth::contract::{Candidates, Interaction};
use nonsmooth::simulation::{Event, EventKind};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Most frames.
const MAX_FRAMES: usize = 2000;
/// Fewest frames, if there are as many rows.
const MIN_FRAMES: usize = 50;
/// Bytes of all arrays of the replay, of which base64 makes 20 MB.
const MAX_BYTES: usize = 15_000_000;
/// Smallest limit on the contacts that a frame shows.
const MIN_CONTACTS: usize = 1000;

/// States of a contact.
const OPEN: u8 = 0;
const STICKS: u8 = 1;
const SLIPS: u8 = 2;
const CLOSED: u8 = 3;

/// A contact of the scene that is drawn.
struct Marked<'a> {
    mark: &'a ContactMark,
    /// Its place in the columns of the trajectory.
    place: usize,
    column: &'a Column,
    interaction: &'a Interaction,
    sum: Vec<f64>,
    impact: bool,
}

/// A contact that was found, since the last frame.
#[derive(Clone, Copy, Default)]
struct Sum {
    percussion: [f64; 2],
    touched: bool,
    impact: bool,
    /// The last row with a percussion, and the discrete state there.
    row: usize,
    sigma: u32,
    /// Its place in the list of names.
    name: Option<u32>,
}

/// Contacts of all frames, one after another.
#[derive(Default)]
struct Listed {
    start: Vec<u32>,
    which: Vec<u32>,
    point: Vec<f32>,
    arrow: Vec<f32>,
    state: Vec<u8>,
    gap: Vec<f32>,
    impact: Vec<u8>,
    largest: f64,
}

/// A replay in the making.
pub(super) struct Replay<'a> {
    prepared: &'a Prepared,
    recorded: &'a Recorded,
    scenery: Scenery<'a>,
    marked: Vec<Marked<'a>>,
    found: Vec<Sum>,
    /// Contacts found that carried a percussion since the last frame.
    touched: Vec<u32>,
    place_of: HashMap<u64, u32>,
    events: &'a [Event],
    names: Vec<String>,
    t: Vec<f64>,
    /// Frames that lie between rows.
    between: usize,
    listed: Listed,
    /// Contacts of a frame that are shown, and how many were not.
    most: usize,
    hidden: usize,
}

impl<'a> Replay<'a> {
    /// The replay of a run with `rows` rows and `carried` entries of contacts found by detection, and its largest number of frames. `None` if
    /// there is nothing to draw.
    pub(super) fn new(
        prepared: &'a Prepared,
        recorded: &'a Recorded,
        list: &'a Candidates,
        events: &'a [Event],
        rows: usize,
        carried: usize,
    ) -> Option<(Self, usize)> {
        let scenery = Scenery::new(prepared);
        if scenery.is_empty() {
            return None;
        }
        let mut marked = Vec::new();
        for mark in prepared.picture.iter().flat_map(|p| &p.contacts) {
            let columns = recorded.columns.iter().zip(list.items()).enumerate();
            let found = columns.into_iter().find(|(_, (c, _))| c.name == mark.contact && c.kind == "contact");
            if let Some((place, (column, interaction))) = found {
                let sum = vec![0.0; column.dim];
                marked.push(Marked { mark, place, column, interaction, sum, impact: false });
            }
        }
        // A contact: which, point, arrow, state, gap, impact.
        let contact = 4 + 8 * scenery.dimension() + 1 + 4 + 1;
        // Contacts that carried something between two frames are more than those of a step.
        let mean = 1.3 * carried as f64 / rows.max(1) as f64;
        let frame = 12 + scenery.frame_bytes() + contact * (marked.len() + mean.ceil() as usize);
        let frames = (MAX_BYTES / frame).clamp(MIN_FRAMES, MAX_FRAMES);
        let budget =
            (MAX_BYTES / frames.min(rows).max(1)).saturating_sub(12 + scenery.frame_bytes() + contact * marked.len());
        let this = Self {
            prepared,
            recorded,
            scenery,
            names: marked.iter().map(|m| m.column.name.clone()).collect(),
            marked,
            found: vec![Sum::default(); recorded.found.len()],
            touched: Vec::new(),
            place_of: recorded.found.iter().zip(0..).map(|(f, i)| (f.id, i)).collect(),
            events,
            t: Vec::new(),
            between: 0,
            listed: Listed { start: vec![0], ..Listed::default() },
            most: (budget / contact).max(MIN_CONTACTS),
            hidden: 0,
        };
        Some((this, frames))
    }

    /// Adds the percussions of the contacts of the scene in a step.
    pub(super) fn add(&mut self, percussion: &[f64], hit: &[f64]) {
        for m in &mut self.marked {
            let p = &percussion[m.column.first..m.column.first + m.column.dim];
            m.sum.iter_mut().zip(p).for_each(|(sum, p)| *sum += p);
            m.impact |= hit[m.place] as u32 == HIT;
        }
    }

    /// Adds the percussion of a contact found by detection in a step.
    pub(super) fn add_found(&mut self, row: usize, place: u32, percussion: [f64; 2], sigma: u32) {
        let Some(sum) = self.found.get_mut(place as usize) else { return };
        sum.percussion[0] += percussion[0];
        sum.percussion[1] += percussion[1];
        (sum.row, sum.sigma) = (row, sigma);
        if !std::mem::replace(&mut sum.touched, true) {
            self.touched.push(place);
        }
    }

    /// Makes a frame inside the step that ends with a row; its percussions are still to come.
    pub(super) fn frame_between(&mut self, row: usize, t: f64, q: &[f64], u: &[f64], sigma: &[f64]) {
        self.between += 1;
        self.frame(row, t, q, u, sigma);
    }

    /// Makes a frame of a row.
    pub(super) fn frame(&mut self, row: usize, t: f64, q: &[f64], u: &[f64], sigma: &[f64]) {
        self.t.push(t);
        self.scenery.add_frame(t, q, u);
        self.take_events(t);
        let system = &self.prepared.evaluator();
        for (i, m) in self.marked.iter_mut().enumerate() {
            let spot = m.mark.at(t, q, u);
            let mut gap = [0.0];
            system.position(m.interaction, t, q, &mut gap);
            let state = match row {
                0 => state_at_start(self.prepared, m.interaction, gap[0]),
                _ => state(sigma[m.place] as u32, m.column.dim),
            };
            let d = self.scenery.dimension();
            self.listed.add(i as u32, d, &spot, &m.sum, state, gap[0], m.impact);
            m.sum.fill(0.0);
            m.impact = false;
        }
        self.list_found(row, t, q);
        self.listed.start.push(self.listed.which.len() as u32);
    }

    /// Impacts of contacts found up to a time.
    fn take_events(&mut self, t: f64) {
        let now = self.events.partition_point(|e| e.t <= t);
        let (past, rest) = self.events.split_at(now);
        self.events = rest;
        for e in past.iter().filter(|e| e.kind == EventKind::Impact) {
            let place = e.id.and_then(|id| self.place_of.get(&id));
            if let Some(sum) = place.and_then(|p| self.found.get_mut(*p as usize)) {
                sum.impact = true;
            }
        }
    }

    fn list_found(&mut self, row: usize, t: f64, q: &[f64]) {
        let Some(geometry) = &self.prepared.geometry else { return };
        let length = |p: &u32| {
            let [n, s] = self.found[*p as usize].percussion;
            n.hypot(s)
        };
        if self.touched.len() > self.most {
            self.touched.sort_by(|a, b| length(b).total_cmp(&length(a)).then(a.cmp(b)));
            self.hidden += self.touched.len() - self.most;
        }
        for place in self.touched.iter().skip(self.most) {
            let sum = &mut self.found[*place as usize];
            *sum = Sum { name: sum.name, ..Sum::default() };
        }
        self.touched.truncate(self.most);
        self.touched.sort_unstable();
        for place in self.touched.drain(..) {
            let contact = self.recorded.found[place as usize];
            let sum = &mut self.found[place as usize];
            if let Some(at) = geometry.contact_place(contact.id, t, q) {
                let names = &mut self.names;
                let name = *sum.name.get_or_insert_with(|| {
                    names.push(self.prepared.system.name(contact.id));
                    names.len() as u32 - 1
                });
                let [x, y] = at.normal;
                let along = [[x, y, 0.0], [-y, x, 0.0], [0.0; 3]];
                let spot = ContactPose { point: [at.point[0], at.point[1], 0.0], along };
                let state = if sum.row == row { state(sum.sigma, contact.dim) } else { OPEN };
                self.listed.add(name, 2, &spot, &sum.percussion, state, at.gap, sum.impact);
            }
            *sum = Sum { name: sum.name, ..Sum::default() };
        }
    }

    /// Adds the arrays and the notes; returns the description of the replay.
    pub(super) fn finish(self, arrays: &mut Arrays, rows: usize, notes: &mut Vec<String>) -> Value {
        let (d, width) = (self.scenery.dimension(), self.scenery.width());
        let frames = self.t.len() - self.between;
        let shown = if frames == rows { "all".into() } else { format!("{frames} of") };
        let between = match self.between {
            0 => String::new(),
            n => format!(", and {n} frames inside long ones, on cubics through their ends"),
        };
        notes.push(format!("Replay: {shown} {rows} recorded steps{between}."));
        if frames < rows && !self.names.is_empty() {
            notes.push("Arrows of contacts are percussions summed over the steps since the frame before.".into());
        }
        if self.hidden > 0 {
            let message = format!("Replay: the {} largest percussions of a frame are shown.", self.most);
            notes.push(message);
        }
        arrays.add("frame_t", 1, Data::F8(self.t));
        let (poses, items, bounds) = self.scenery.finish();
        arrays.add("poses", width, Data::F4(poses));
        let contacts = (!self.names.is_empty()).then(|| {
            let l = self.listed;
            arrays.add("contact_start", 1, Data::U4(l.start));
            arrays.add("contact_which", 1, Data::U4(l.which));
            arrays.add("contact_point", d, Data::F4(l.point));
            arrays.add("contact_arrow", d, Data::F4(l.arrow));
            arrays.add("contact_state", 1, Data::U1(l.state));
            arrays.add("contact_gap", 1, Data::F4(l.gap));
            // Impacts of contacts found are known by their events.
            let impact = self.recorded.found.is_empty() || self.prepared.options.observe.events;
            let impact = impact.then(|| {
                arrays.add("contact_impact", 1, Data::U1(l.impact));
                "contact_impact"
            });
            json!({
                "start": "contact_start", "which": "contact_which", "names": self.names, "point": "contact_point",
                "arrow": "contact_arrow", "state": "contact_state", "gap": "contact_gap", "impact": impact,
                "largest": l.largest,
            })
        });
        json!({ "dimension": d, "time": "frame_t", "poses": "poses", "box": bounds, "items": items, "contacts": contacts })
    }
}

impl Listed {
    fn add(&mut self, which: u32, d: usize, spot: &ContactPose, percussion: &[f64], state: u8, gap: f64, impact: bool) {
        let mut arrow = [0.0; 3];
        for (along, p) in spot.along.iter().zip(percussion) {
            arrow.iter_mut().zip(along).for_each(|(a, e)| *a += p * e);
        }
        let length = arrow.iter().map(|a| a * a).sum::<f64>().sqrt();
        if length > self.largest && length.is_finite() {
            self.largest = length;
        }
        self.which.push(which);
        self.point.extend(spot.point[..d].iter().map(|v| *v as f32));
        self.arrow.extend(arrow[..d].iter().map(|v| *v as f32));
        self.state.push(state);
        self.gap.push(gap as f32);
        self.impact.push(u8::from(impact));
    }
}

/// The state of a contact from its discrete state (bit 0 the normal law, bit 1 friction) and its number of components.
fn state(sigma: u32, dim: usize) -> u8 {
    match (sigma & 1, sigma & 2, dim) {
        (1, ..) => OPEN,
        (_, _, 1) => CLOSED,
        (_, 0, _) => STICKS,
        _ => SLIPS,
    }
}

/// The same before the first step, by gap and slip velocity.
fn state_at_start(prepared: &Prepared, k: &Interaction, gap: f64) -> u8 {
    if gap > 0.0 {
        return OPEN;
    }
    if k.dim() == 1 {
        return CLOSED;
    }
    let n = k.dofs.len();
    let (mut w, mut chi) = (vec![0.0; k.dim() * n], vec![0.0; k.dim()]);
    prepared.evaluator().velocity(k, prepared.start.t, &prepared.start.q, &mut w, &mut chi);
    let slip = |r: usize| chi[r] + k.row_times(&w[r * n..(r + 1) * n], &prepared.start.u);
    if (1..k.dim()).any(|r| slip(r) != 0.0) { SLIPS } else { STICKS }
}
