//! Block-diagonal LU: one small dense factor per connected component (a body, usually).

use super::{Singular, dense};

/// A matrix whose coupling graph has small components. Unknowns of a component need not be adjacent.
#[derive(Debug, Clone)]
pub(crate) struct BlockDiagonal {
    /// Component and position within it, of every unknown.
    place: Vec<(u32, u32)>,
    /// First unknown of each component in `members`.
    start: Vec<usize>,
    members: Vec<usize>,
    /// First entry of each component in `values`.
    offset: Vec<usize>,
    values: Vec<f64>,
    lu: Vec<f64>,
    pivots: Vec<usize>,
}

impl BlockDiagonal {
    pub(crate) fn new(component: Vec<usize>, count: usize) -> Self {
        let mut size = vec![0; count];
        let mut place = Vec::with_capacity(component.len());
        for &c in &component {
            place.push((c as u32, size[c] as u32));
            size[c] += 1;
        }
        let mut start = vec![0];
        let mut offset = vec![0];
        for c in 0..count {
            start.push(start[c] + size[c]);
            offset.push(offset[c] + size[c] * size[c]);
        }
        let mut members = vec![0; component.len()];
        for (i, &(c, k)) in place.iter().enumerate() {
            members[start[c as usize] + k as usize] = i;
        }
        let total = offset[count];
        Self {
            pivots: vec![0; component.len()],
            place,
            start,
            members,
            offset,
            values: vec![0.0; total],
            lu: vec![0.0; total],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let ((c, a), (d, b)) = (self.place[i], self.place[j]);
        let c = c as usize;
        (c == d as usize).then(|| self.offset[c] + a as usize * self.size(c) + b as usize)
    }

    #[inline]
    pub(crate) fn add(&mut self, i: usize, j: usize, v: f64) {
        if let Some(s) = self.slot(i, j) {
            self.values[s] += v;
        }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.slot(i, j).map_or(0.0, |s| self.values[s])
    }

    pub(crate) fn for_each_entry(&self, mut f: impl FnMut(usize, usize, f64)) {
        for c in 0..self.count() {
            for &i in self.members(c) {
                for &j in self.members(c) {
                    f(i, j, self.get(i, j));
                }
            }
        }
    }

    /// Component of unknown `i`.
    pub(crate) fn component(&self, i: usize) -> usize {
        self.place[i].0 as usize
    }

    /// Unknowns of the largest component.
    pub(crate) fn largest(&self) -> usize {
        (0..self.count()).map(|c| self.size(c)).max().unwrap_or(0)
    }

    /// Number of components.
    pub(crate) fn count(&self) -> usize {
        self.start.len() - 1
    }

    /// Size of component `c`.
    pub(crate) fn size(&self, c: usize) -> usize {
        self.start[c + 1] - self.start[c]
    }

    /// Unknowns of component `c`.
    pub(crate) fn members(&self, c: usize) -> &[usize] {
        &self.members[self.start[c]..self.start[c + 1]]
    }

    /// Position of unknown `i` within its component.
    pub(crate) fn position(&self, i: usize) -> usize {
        self.place[i].1 as usize
    }

    pub(crate) fn multiply(&self, x: &[f64], y: &mut [f64]) {
        for c in 0..self.count() {
            let members = self.members(c);
            let n = members.len();
            for (a, &i) in members.iter().enumerate() {
                let row = &self.values[self.offset[c] + a * n..][..n];
                y[i] = row.iter().zip(members).map(|(v, &j)| v * x[j]).sum();
            }
        }
    }

    pub(crate) fn factor(&mut self) -> Result<(), Singular> {
        self.lu.copy_from_slice(&self.values);
        for c in 0..self.count() {
            let n = self.size(c);
            let lu = &mut self.lu[self.offset[c]..self.offset[c + 1]];
            dense::lu_factor(lu, n, &mut self.pivots[self.start[c]..self.start[c + 1]])
                .map_err(|e| Singular { row: self.members[self.start[c] + e.row] })?;
        }
        Ok(())
    }

    /// Solves one component in place; `x` holds its unknowns in member order.
    #[inline]
    pub(crate) fn solve_component(&self, c: usize, x: &mut [f64]) {
        let lu = &self.lu[self.offset[c]..self.offset[c + 1]];
        dense::lu_solve(lu, self.size(c), &self.pivots[self.start[c]..self.start[c + 1]], x);
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        let mut local = [0.0; super::MAX_COMPONENT];
        for c in 0..self.count() {
            let members = self.members(c);
            for (a, &i) in members.iter().enumerate() {
                local[a] = x[i];
            }
            self.solve_component(c, &mut local[..members.len()]);
            for (a, &i) in members.iter().enumerate() {
                x[i] = local[a];
            }
        }
    }
}
