//! Closed contacts by coupled group: those that act on the same velocities, or on velocities that M̃ or a joint couples. What happens in one group is no concern of the others.

use super::{ContactState, Start};
use crate::contract::{Candidates, Interaction};
use complementarity::linear::Matrix;

/// Largest number of closed contacts in a group whose events are located one by one.
const CROWD: u32 = 12;
/// Largest number of consecutive steps that end at events. After them the shortest step grows.
const MAX_EVENT_STEPS: u32 = 20;
/// The same where more than [`CROWD`] contacts are closed in total.
const MAX_EVENT_STEPS_IN_CROWD: u32 = 2;
/// Largest total number of closed contacts with laws at the ends of the step, projected gaps, and groups that do not affect each other.
const MAX_CONTACTS_FOR_END_LAWS: usize = 48;
/// Largest total number of closed contacts that are divided into groups.
const MAX_GROUPED_CONTACTS: usize = 100;

/// The groups of a step.
#[derive(Default)]
pub(in super::super) struct Groups {
    /// Closed contacts in all.
    count: usize,
    /// By velocity: one of its group. Empty where all closed contacts together are no crowd, or too many.
    root: Vec<usize>,
    /// Closed contacts by such a velocity.
    closed: Vec<u32>,
    crowds: bool,
}

fn find(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}

fn join(root: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(root, a), find(root, b));
    root[a.max(b)] = a.min(b);
}

impl Groups {
    /// Whether there are so many closed contacts that there may be a crowd: then the groups depend on M̃.
    pub(in super::super) fn may_crowd(starts: &[Start]) -> bool {
        starts.iter().filter(|s| s.state == ContactState::Closed).count() > CROWD as usize
    }

    /// The groups of the interactions that take part, with M̃ as it is assembled.
    pub(in super::super) fn make(&mut self, list: &Candidates, starts: &[Start], active: &[bool], tilde: &Matrix) {
        self.root.clear();
        self.crowds = false;
        self.count = starts.iter().filter(|s| s.state == ContactState::Closed).count();
        if self.count <= CROWD as usize {
            return;
        }
        if self.count > MAX_GROUPED_CONTACTS {
            self.crowds = true;
            return;
        }
        let closed = |i: usize| starts[i].state == ContactState::Closed;
        let root = &mut self.root;
        root.extend(0..tilde.size());
        tilde.for_each_entry(|i, j, v| {
            if v != 0.0 {
                join(root, i, j);
            }
        });
        for (k, _) in list.items().iter().zip(active).filter(|(_, active)| **active) {
            k.dofs.windows(2).for_each(|d| join(root, d[0] as usize, d[1] as usize));
        }
        self.closed.clear();
        self.closed.resize(tilde.size(), 0);
        for (_, k) in list.items().iter().enumerate().filter(|(i, _)| closed(*i)) {
            if let Some(&d) = k.dofs.first() {
                self.closed[find(root, d as usize)] += 1;
            }
        }
        self.crowds = self.closed.iter().any(|n| *n > CROWD);
        // Flat, so that asking changes nothing.
        for i in 0..self.root.len() {
            self.root[i] = find(&mut self.root, i);
        }
    }

    /// Whether the group of an interaction is a crowd, or there is one among many contacts.
    pub(in super::super) fn is_crowded(&self, k: &Interaction) -> bool {
        let group = |d: u32| self.root.get(d as usize).is_none_or(|&root| self.closed[root] > CROWD);
        self.crowds && (self.count > MAX_CONTACTS_FOR_END_LAWS || k.dofs.first().is_some_and(|&d| group(d)))
    }

    /// Whether any group is, or contacts are too many for more than the laws themselves.
    pub(in super::super) fn crowds(&self) -> bool {
        self.crowds || self.count > MAX_CONTACTS_FOR_END_LAWS
    }

    /// Largest number of consecutive steps that end at events.
    pub(in super::super) fn max_event_steps(&self) -> u32 {
        if self.count > CROWD as usize { MAX_EVENT_STEPS_IN_CROWD } else { MAX_EVENT_STEPS }
    }
}
