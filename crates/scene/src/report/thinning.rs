//! Which rows of a trajectory are shown.

use crate::output::Rows;
use std::io;

/// Rows near to times that are evenly spread over a run, the first and the last among them; in order, none twice.
pub(super) fn frames(t: &mut Rows, wanted: usize) -> io::Result<Vec<usize>> {
    let n = t.len();
    if n <= wanted || n < 2 || wanted < 2 {
        return Ok((0..n).collect());
    }
    let (start, end) = (t.one(0)?, t.one(n - 1)?);
    let target = |k: usize| start + (end - start) * k as f64 / (wanted - 1) as f64;
    let mut out = vec![0];
    let mut k = 1;
    let mut before = start;
    for row in 0..n {
        let now = t.one(row)?;
        while k + 1 < wanted && target(k) <= now {
            let nearest = if row > 0 && target(k) - before < now - target(k) { row - 1 } else { row };
            if out.last().is_none_or(|last| *last < nearest) {
                out.push(nearest);
            }
            k += 1;
        }
        before = now;
    }
    if out.last().is_none_or(|last| *last < n - 1) {
        out.push(n - 1);
    }
    Ok(out)
}

/// A row that is shown, and a number that goes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    pub(super) row: usize,
    pub(super) value: f64,
}

/// Chooses rows of plots: the first of every short interval of time, and from every long one the row with the largest value of each signal.
pub(super) struct Thinning {
    start: f64,
    /// Lengths of both kinds of intervals, s; none where all rows are kept.
    intervals: Option<(f64, f64)>,
    /// Numbers of the present ones.
    short: Option<u64>,
    long: Option<u64>,
    /// Largest value of each signal in the present long interval, with its row.
    peaks: Vec<Option<(f64, Kept)>>,
    kept: Vec<Kept>,
    last: Option<Kept>,
}

impl Thinning {
    /// For `rows` rows from `start` to `end` with a number of signals. At most about `wanted` rows are kept, half of them peaks.
    pub(super) fn new(rows: usize, (start, end): (f64, f64), signals: usize, wanted: usize) -> Self {
        let length = |count: usize| (end - start) / count.max(1) as f64;
        let half = wanted / 2;
        let intervals = (rows > wanted && end > start).then(|| (length(half), length(half / signals.max(1))));
        let peaks = vec![None; signals];
        Self { start, intervals, short: None, long: None, peaks, kept: Vec::new(), last: None }
    }

    /// Considers the next row.
    pub(super) fn push(&mut self, row: usize, t: f64, value: f64, signals: &[f64]) {
        let this = Kept { row, value };
        self.last = Some(this);
        let Some((short, long)) = self.intervals else {
            self.kept.push(this);
            return;
        };
        let since = t - self.start;
        let number = |length: f64| Some((since / length) as u64);
        if self.long != number(long) {
            self.long = number(long);
            self.end_interval();
        }
        if self.short != number(short) {
            self.short = number(short);
            self.kept.push(this);
        }
        for (peak, &signal) in self.peaks.iter_mut().zip(signals) {
            // Also where a signal is not a number: that is worth seeing.
            if peak.is_none_or(|(most, _)| !(signal <= most) && !most.is_nan()) {
                *peak = Some((signal, this));
            }
        }
    }

    fn end_interval(&mut self) {
        self.kept.extend(self.peaks.iter_mut().filter_map(Option::take).map(|(_, kept)| kept));
    }

    /// The rows in order.
    pub(super) fn finish(mut self) -> Vec<Kept> {
        self.end_interval();
        self.kept.extend(self.last);
        self.kept.sort_by_key(|k| k.row);
        self.kept.dedup_by_key(|k| k.row);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_and_rows_stay_few() {
        let n = 1_000_000;
        // Two signals with single peaks, one of which is not a number.
        let signals =
            |i: usize| [if i == 123_457 { 9.0 } else { (i % 7) as f64 }, if i == 765_432 { f64::NAN } else { 0.0 }];
        let mut thinning = Thinning::new(n, (0.0, 1.0), 2, 4000);
        for i in 0..n {
            thinning.push(i, i as f64 / (n - 1) as f64, i as f64, &signals(i));
        }
        let kept = thinning.finish();
        assert!(kept.len() <= 4001, "{}", kept.len());
        assert!(kept.windows(2).all(|w| w[0].row < w[1].row));
        for row in [0, 123_457, 765_432, n - 1] {
            assert!(kept.contains(&Kept { row, value: row as f64 }), "{row}");
        }
    }

    #[test]
    fn few_rows_are_all_kept() {
        let mut thinning = Thinning::new(10, (0.0, 1.0), 1, 4000);
        (0..10).for_each(|i| thinning.push(i, i as f64 / 9.0, 0.0, &[0.0]));
        assert_eq!(thinning.finish().len(), 10);
    }
}
