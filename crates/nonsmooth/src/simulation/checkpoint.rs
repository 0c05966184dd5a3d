//! Checkpoints: a run as bytes, and back. A resumed run has the same bits as one without a break.
//!
//! ```text
//! format · times · scheme · names of coordinates and velocities · state · controller · reach · ledger · judgment of impacts · event log · energies and work · sums
//! of percussions · steps that are accepted and not final
//! ```
//!
//! Numbers are written as their bits. The system, the scheme's options and those of the run are not written: the caller of
//! [`Simulation::resume`](super::Simulation::resume) gives the same ones. Lists of interactions are rebuilt, since identities are stable.

use super::run::{Frame, Run};
use crate::contract::{Candidates, Evaluator, Reach};
use crate::state::{Bytes, Misfit, Reader, Unreadable, Writer};

/// Version of the format: bytes of another one are refused.
const FORMAT: &str = "nonsmooth checkpoint 3";

/// A run at the end of a step as bytes. A run resumed from it has the same bits as one without a break.
///
/// It does not contain the system, the scheme's options and those of the run: the caller of
/// [`Simulation::resume`](super::Simulation::resume) gives the same ones. Bytes of another version of the format, of another scheme or of
/// a system with other names are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    bytes: Vec<u8>,
}

impl Checkpoint {
    /// From bytes that [`Checkpoint::bytes`] gave. They are checked when a run resumes.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Start, end and step that the controller of the run was made for, s.
    pub(super) fn span(&self) -> Result<[f64; 3], Unreadable> {
        let from = &mut Reader::new(&self.bytes, &[]);
        from.expect(FORMAT)?;
        Ok([from.value()?, from.value()?, from.value()?])
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Bytes for Frame {
    fn write(&self, out: &mut Writer) {
        self.start.write(out);
        self.step.write(out);
        self.is_corrected.write(out);
        if self.is_corrected {
            self.corrected.write(out);
        }
        self.free.write(out);
    }
    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        self.start.read(from)?;
        self.step.read(from)?;
        self.is_corrected.read(from)?;
        if self.is_corrected {
            self.corrected.read(from)?;
        }
        self.free.read(from)
    }
}

fn misfit((what, misfit): (&'static str, Misfit)) -> Unreadable {
    let (found, expected) = match misfit {
        Misfit::Size(found, expected) => (format!("{found} values of {what}"), expected.to_string()),
        Misfit::Value(value, name) => (format!("{what}: {value} at `{name}`"), "finite values".into()),
    };
    Unreadable::Other { found, expected }
}

impl Run {
    /// What must be the same in the run that reads: the scheme, and the names of coordinates and velocities.
    fn signature(&self, system: &Evaluator) -> [String; 3] {
        let s = system.structure();
        let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(" ");
        let scheme = format!("{} over {}", self.scheme.info().name, self.scheme.base().name);
        [scheme, list(&mut s.coordinates.iter()), list(&mut s.velocities.iter())]
    }

    pub(super) fn write(&self, system: &Evaluator) -> Checkpoint {
        let mut out = Writer::default();
        out.text(FORMAT);
        self.span.write(&mut out);
        self.signature(system).write(&mut out);
        self.options.end.write(&mut out);
        self.state.write(&mut out);
        self.controller.write(&mut out);
        self.reach.write(&mut out);
        self.ledger.write(&mut out);
        self.judge.write(&mut out);
        self.log.write(&mut out);
        self.energy_monitor.write(&mut out);
        self.joints.write(&mut out);
        self.sums.write(&mut out);
        let s = &self.summary;
        s.work.write(&mut out);
        s.worst.write(&mut out);
        s.worst_at.write(&mut out);
        s.energy.write(&mut out);
        s.events.write(&mut out);
        s.events_unlisted.write(&mut out);
        s.warnings.write(&mut out);
        (system.structure().breaks.len() - self.breaks.len()).write(&mut out);
        out.value(self.pending.len());
        self.pending.iter().for_each(|frame| frame.write(&mut out));
        Checkpoint { bytes: out.finish() }
    }

    /// Restores a run with the same system, scheme and options.
    pub(super) fn read(&mut self, system: &Evaluator, checkpoint: &Checkpoint) -> Result<(), Unreadable> {
        let known = self.scheme.records();
        let from = &mut Reader::new(&checkpoint.bytes, &known);
        from.expect(FORMAT)?;
        self.span.read(from)?;
        for expected in self.signature(system) {
            from.expect(&expected)?;
        }
        self.options.end.read(from)?;
        self.state.read(from)?;
        let structure = system.structure();
        self.state.check(structure).map_err(misfit)?;
        self.controller.read(from)?;
        self.reach.read(from)?;
        let forces = self.ledger.forces();
        self.ledger.read(from)?;
        if self.ledger.forces() != forces {
            let found = format!("{} forces", self.ledger.forces());
            return Err(Unreadable::Other { found, expected: forces.to_string() });
        }
        self.judge.read(from)?;
        self.log.read(from)?;
        self.energy_monitor.read(from)?;
        self.joints.read(from)?;
        self.sums.read(from)?;
        let s = &mut self.summary;
        s.work.read(from)?;
        s.worst.read(from)?;
        s.worst_at.read(from)?;
        s.energy.read(from)?;
        s.events.read(from)?;
        s.events_unlisted.read(from)?;
        s.warnings.read(from)?;
        let mut passed = 0usize;
        passed.read(from)?;
        self.breaks = structure.breaks.iter().skip(passed).copied().collect();
        self.pending.clear();
        for _ in 0..from.count(1)? {
            let mut frame = Box::<Frame>::default();
            frame.read(from)?;
            frame.start.check(structure).map_err(misfit)?;
            frame.step.check(structure).map_err(misfit)?;
            if frame.is_corrected {
                frame.corrected.check(structure).map_err(misfit)?;
            }
            // The interactions within the step, from its start.
            let (start, end) = (&frame.start, &frame.step.end);
            let travel = system.travel(start.t, &start.q, &start.u, end.t, &end.q);
            let reach = Reach { time: frame.step.dt, distance: travel.max(self.reach) };
            let mut list = Candidates::default();
            system.candidates(start.t, &start.q, &start.u, reach, &mut list);
            frame.step.lay_out(&list);
            self.pending.push(frame);
        }
        if from.is_at_end() {
            return Ok(());
        }
        Err(Unreadable::Other { found: "more bytes".into(), expected: "the end".into() })
    }
}
