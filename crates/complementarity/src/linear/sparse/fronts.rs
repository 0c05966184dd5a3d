//! Symbolic analysis of sparse elimination, once per pattern: the order, the elimination tree, and the fronts.
//!
//! The pattern is symmetric and ordered by approximately minimum degree. Without exchanges, eliminating column j couples
//!
//! ```text
//! struct(j) = { i > j : A_ij ≠ 0 }  ∪  ⋃ struct(c) \ {j}  over its children c,     parent(j) = min struct(j)
//! ```
//!
//! [Liu1992, §2]. Consecutive columns of equal struct form one **front**: a small dense matrix of its own columns and
//! the rows below them, in which all arithmetic happens. A front absorbs its last child where that adds few zeros: long rows are cheap.

/// A front: columns `start..end` of the order are its own.
#[derive(Debug, Clone)]
pub(super) struct Front {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Rows below its own, ascending.
    pub(super) below: Vec<u32>,
    /// Entries of the matrix that it absorbs: slot in the values, row and column in the front.
    pub(super) entries: Vec<(usize, u32, u32)>,
    /// Place of every row of `below` in the parent's front; empty at a root.
    pub(super) into_parent: Vec<u32>,
    /// Number of fronts whose remainders it absorbs.
    pub(super) children: usize,
}

impl Front {
    /// Number of own columns.
    pub(super) fn own(&self) -> usize {
        self.end - self.start
    }

    /// Place in the front of a row or column of the order.
    fn place(&self, i: usize) -> u32 {
        if i < self.end {
            return (i - self.start) as u32;
        }
        let below = self.below.binary_search(&(i as u32)).unwrap_or_else(|k| k);
        (self.own() + below) as u32
    }

    /// Whether it absorbs the front before it.
    fn takes_in(&self, last: &Front) -> bool {
        let is_child = last.below.first().is_some_and(|&i| (i as usize) < self.end);
        if !is_child {
            return false;
        }
        let own = self.own() + last.own();
        let zeros = last.own() * (self.own() + self.below.len() - last.below.len());
        let share = zeros as f64 / (own * (own + self.below.len())) as f64;
        MAX_ZERO_SHARE.iter().any(|&(most, allowed)| own <= most && share <= allowed)
    }
}

/// The order and the fronts, each after its children.
#[derive(Debug, Clone)]
pub(super) struct Fronts {
    /// Unknown that is eliminated at each step.
    pub(super) order: Vec<u32>,
    pub(super) list: Vec<Front>,
}

/// An order of approximately minimum degree for a symmetric pattern of `n` columns (`row[start[j]..start[j + 1]]` are the entries of
/// column j).
pub(crate) fn minimum_degree(n: usize, start: &[usize], row: &[usize]) -> Vec<usize> {
    let signed = |list: &[usize]| list.iter().map(|&i| i as isize).collect::<Vec<_>>();
    match amd::order(n as isize, &signed(start), &signed(row), &amd::Control::default()) {
        Ok((order, _, _)) => order.into_iter().map(|i| i as usize).collect(),
        Err(_) => (0..n).collect(),
    }
}

const NONE: u32 = u32::MAX;

/// A child is absorbed if both fronts together have at most so many columns, and at most this share of their entries is zero.
const MAX_ZERO_SHARE: [(usize, f64); 3] = [(4, 1.0), (16, 0.3), (64, 0.1)];

impl Fronts {
    /// Of a symmetric pattern by columns, rows ascending.
    pub(super) fn new(n: usize, start: &[usize], row: &[usize]) -> Self {
        let neighbours = |j: u32| &row[start[j as usize]..start[j as usize + 1]];
        let first: Vec<u32> = minimum_degree(n, start, row).into_iter().map(|j| j as u32).collect();
        let order: Vec<u32> = postorder(&parents(&first, neighbours)).into_iter().map(|i| first[i as usize]).collect();
        let mut step = vec![0u32; n];
        order.iter().zip(0..).for_each(|(&j, i)| step[j as usize] = i);

        let mut list = join_last_children(fundamental(&order, &step, neighbours));
        let mut front_of = vec![0u32; n];
        for (f, front) in list.iter().enumerate() {
            front_of[front.start..front.end].fill(f as u32);
        }
        for f in 0..list.len() {
            if let Some(&first) = list[f].below.first() {
                let parent = front_of[first as usize] as usize;
                let into = list[f].below.iter().map(|&i| list[parent].place(i as usize)).collect();
                list[f].into_parent = into;
                list[parent].children += 1;
            }
        }
        for j in 0..n {
            for slot in start[j]..start[j + 1] {
                let (i, k) = (step[row[slot]] as usize, step[j] as usize);
                let front = &mut list[front_of[i.min(k)] as usize];
                let entry = (slot, front.place(i), front.place(k));
                front.entries.push(entry);
            }
        }
        Self { order, list }
    }
}

/// Parent of every step in the elimination tree, by paths that are compressed.
fn parents<'a>(order: &[u32], neighbours: impl Fn(u32) -> &'a [usize]) -> Vec<u32> {
    let n = order.len();
    let (mut step, mut parent, mut ancestor) = (vec![0u32; n], vec![NONE; n], vec![NONE; n]);
    order.iter().zip(0..).for_each(|(&j, i)| step[j as usize] = i);
    for k in 0..n {
        for &i in neighbours(order[k]) {
            let mut i = step[i];
            while (i as usize) < k {
                let next = std::mem::replace(&mut ancestor[i as usize], k as u32);
                if next == NONE {
                    parent[i as usize] = k as u32;
                    break;
                }
                i = next;
            }
        }
    }
    parent
}

/// Steps of a forest, each after its children.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    // Children as linked lists, the first one first.
    let (mut child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    for i in (0..n).rev() {
        if parent[i] != NONE {
            sibling[i] = std::mem::replace(&mut child[parent[i] as usize], i as u32);
        }
    }
    let mut out = Vec::with_capacity(n);
    let mut path = Vec::new();
    for root in (0..n).filter(|&i| parent[i] == NONE) {
        path.push(root as u32);
        while let Some(&i) = path.last() {
            match std::mem::replace(&mut child[i as usize], NONE) {
                NONE => {
                    out.push(i);
                    path.pop();
                    // The next child of the parent is what comes beside this one.
                    if let Some(&p) = path.last() {
                        child[p as usize] = sibling[i as usize];
                    }
                }
                first => path.push(first),
            }
        }
    }
    out
}

/// Fronts of columns whose structs are the same.
fn fundamental<'a>(order: &[u32], step: &[u32], neighbours: impl Fn(u32) -> &'a [usize]) -> Vec<Front> {
    let n = order.len();
    let mut list: Vec<Front> = Vec::new();
    // Fronts whose first row below is a given column, as linked lists.
    let (mut waiting, mut next) = (vec![NONE; n], Vec::<u32>::new());
    let mut seen = vec![NONE; n];
    for j in 0..n {
        let mut rows: Vec<u32> = Vec::new();
        let mut include = |i: u32| {
            if i as usize > j && seen[i as usize] != j as u32 {
                seen[i as usize] = j as u32;
                rows.push(i);
            }
        };
        neighbours(order[j]).iter().for_each(|&i| include(step[i]));
        let mut child = waiting[j];
        while child != NONE {
            list[child as usize].below.iter().for_each(|&i| include(i));
            child = next[child as usize];
        }
        rows.sort_unstable();
        // The column before, if its only row more is this column, and nothing else is folded in here.
        let last = list.len().wrapping_sub(1);
        let same = list
            .last()
            .is_some_and(|f| f.end == j && f.below.first() == Some(&(j as u32)) && f.below.len() == rows.len() + 1)
            && waiting[j] == last as u32
            && next[last] == NONE;
        let front = if same {
            let front = &mut list[last];
            front.end = j + 1;
            front.below = rows;
            last
        } else {
            list.push(Front {
                start: j,
                end: j + 1,
                below: rows,
                entries: Vec::new(),
                into_parent: Vec::new(),
                children: 0,
            });
            next.push(NONE);
            last.wrapping_add(1)
        };
        if let Some(&first) = list[front].below.first() {
            next[front] = std::mem::replace(&mut waiting[first as usize], front as u32);
        }
    }
    list
}

/// Fronts that take in their last child where that adds few zeros.
fn join_last_children(list: Vec<Front>) -> Vec<Front> {
    let mut out: Vec<Front> = Vec::new();
    for mut front in list {
        while let Some(child) = out.pop_if(|child| front.takes_in(child)) {
            front.start = child.start;
        }
        out.push(front);
    }
    out
}
