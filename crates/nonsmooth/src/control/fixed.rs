//! A grid of equal steps.

use super::{Controller, Proposal, Uneven, Verdict};
use crate::state::{Bytes, Reader, Step, Unreadable, Writer, bytes};

/// A fixed grid t_k = t₀ + k h. If (T − t₀)/h is within 1e-6 of an integer N there are N steps, else
/// the last is shortened to end at T. Known breaks end a step too.
#[derive(Debug, Clone)]
pub struct FixedStep {
    start: f64,
    h: f64,
    end: f64,
    count: usize,
    breaks: Vec<f64>,
    /// All of them, for an end that moves.
    all_breaks: Vec<f64>,
    /// Grid points passed.
    k: usize,
    /// Breaks passed.
    b: usize,
}

impl FixedStep {
    /// A grid of step `h` from `start` to `end`, with breaks in ascending order.
    pub fn new(start: f64, h: f64, end: f64, breaks: &[f64]) -> Self {
        let (breaks, all_breaks) = (Vec::new(), breaks.to_vec());
        let mut grid = Self { start, h, end, count: 0, breaks, all_breaks, k: 0, b: 0 };
        grid.end_at(end);
        grid
    }

    fn end_at(&mut self, end: f64) {
        let (start, h) = (self.start, self.h);
        let ratio = (end - start) / h;
        let nearest = ratio.round();
        let count = if (ratio - nearest).abs() <= 1e-6 { nearest } else { ratio.ceil() } as usize;
        let near = 1e-9 * h;
        self.breaks = self.all_breaks.iter().copied().filter(|b| *b > start + near && *b < end - near).collect();
        (self.end, self.count) = (end, count);
    }

    /// Number of grid steps.
    pub fn count(&self) -> usize {
        self.count
    }

    fn grid(&self, k: usize) -> f64 {
        if k >= self.count { self.end } else { self.start + k as f64 * self.h }
    }
}

impl Controller for FixedStep {
    fn propose(&mut self, t: f64) -> Option<Proposal> {
        if self.k >= self.count {
            return None;
        }
        let target = self.grid(self.k + 1);
        let near = 1e-9 * self.h;
        if let Some(&b) = self.breaks.get(self.b)
            && b < target - near
        {
            return Some(Proposal { dt: b - t, t_end: b });
        }
        // From grid point to grid point the step is h itself, free of the rounding of t.
        let full_step =
            t == self.grid(self.k) && (self.k + 1 < self.count || (target - t - self.h).abs() <= 1e-6 * self.h);
        Some(Proposal { dt: if full_step { self.h } else { target - t }, t_end: target })
    }

    fn judge(&mut self, _step: &Step) -> Verdict {
        Verdict::Accept
    }

    fn arrived(&mut self, t: f64) {
        // From grid point to grid point, the usual case.
        if self.b == self.breaks.len() && t == self.grid(self.k + 1) && self.k < self.count {
            self.k += 1;
            return;
        }
        let near = 1e-9 * self.h;
        // Backwards after a roll-back, then forwards.
        while self.k > 0 && t < self.grid(self.k) - near {
            self.k -= 1;
        }
        while self.b > 0 && t < self.breaks[self.b - 1] - near {
            self.b -= 1;
        }
        while self.k < self.count && t >= self.grid(self.k + 1) - near {
            self.k += 1;
        }
        while self.b < self.breaks.len() && t >= self.breaks[self.b] - near {
            self.b += 1;
        }
    }

    fn remaining(&self) -> Option<usize> {
        Some(self.count - self.k)
    }

    fn extend(&mut self, end: f64) -> bool {
        // Where a last step was shortened, the next one goes on to the grid.
        let t = self.grid(self.k);
        self.end_at(end);
        self.k = ((t - self.start) / self.h * (1.0 + f64::EPSILON)).floor() as usize;
        let near = 1e-9 * self.h;
        if t > self.grid(self.k + 1) - near {
            self.k += 1;
        }
        self.b = self.breaks.partition_point(|b| *b <= t + near);
        true
    }

    fn write(&self, out: &mut Writer) {
        Bytes::write(self, out);
    }

    fn read(&mut self, from: &mut Reader) -> Result<(), Unreadable> {
        Bytes::read(self, from)?;
        self.end_at(self.end);
        Ok(())
    }

    fn one_length(&self) -> Result<(), Uneven> {
        let (start, step) = (self.start, self.h);
        // As the last step is proposed.
        let last = self.grid(self.count.saturating_sub(1));
        if !((self.end - last - step).abs() <= 1e-6 * step) {
            return Err(Uneven::End { start, end: self.end, step });
        }
        let near = |b: f64| (b - self.grid(((b - start) / step).round() as usize)).abs() <= 1e-9 * step;
        match self.breaks.iter().find(|b| !near(**b)) {
            Some(&t) => Err(Uneven::Break { t, start, step }),
            None => Ok(()),
        }
    }
}

// Breaks are those of the model: one with a later end may have more.
bytes!(FixedStep { start, h, end, count, k, b });

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(mut c: FixedStep, start: f64) -> Vec<f64> {
        let mut t = start;
        let mut out = Vec::new();
        while let Some(p) = c.propose(t) {
            assert!((t + p.dt - p.t_end).abs() < 1e-12);
            t = p.t_end;
            c.arrived(t);
            out.push(t);
        }
        out
    }

    #[test]
    fn a_whole_number_of_steps_is_recognised_through_rounding() {
        let times = ends(FixedStep::new(0.0, 0.1, 0.3, &[]), 0.0);
        assert_eq!(times.len(), 3);
        assert_eq!(*times.last().unwrap(), 0.3);
    }

    #[test]
    fn the_last_step_is_shortened() {
        assert_eq!(ends(FixedStep::new(0.0, 0.4, 1.0, &[]), 0.0), [0.4, 0.8, 1.0]);
    }

    #[test]
    fn breaks_end_a_step_and_the_grid_stays() {
        let times = ends(FixedStep::new(0.0, 0.25, 1.0, &[0.3, 0.5, 2.0]), 0.0);
        assert_eq!(times, [0.25, 0.3, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn a_grid_of_one_length_is_told_from_others() {
        let grid = |h, end, breaks: &[f64]| FixedStep::new(0.0, h, end, breaks).one_length();
        assert_eq!([grid(0.1, 0.3, &[]), grid(0.25, 1.0, &[0.5, 0.75, 2.0]), grid(0.1, 1.0, &[0.3])], [Ok(()); 3]);
        assert!(matches!(grid(0.4, 1.0, &[]), Err(Uneven::End { .. })));
        assert!(matches!(grid(5.0, 2.0, &[]), Err(Uneven::End { .. })));
        assert_eq!(grid(0.25, 1.0, &[0.5, 0.6]), Err(Uneven::Break { t: 0.6, start: 0.0, step: 0.25 }));
        let text = grid(0.3, 1.0, &[]).unwrap_err().to_string();
        assert!(text.contains("0.25 or 0.3333"), "{text}");
    }

    #[test]
    fn a_step_longer_than_the_span_is_one_step() {
        assert_eq!(ends(FixedStep::new(1.0, 5.0, 2.0, &[]), 1.0), [2.0]);
    }
}
