//! Several systems as one: parts that share the coordinates and add their masses, forces and interactions.
//!
//! Every part uses the coordinate and velocity numbers of the combined system. Each part owns a range of interaction identities: from its
//! first one up to that of the next part.

use super::candidates::{Candidates, Interaction, Reach};
use super::evaluator::Workspace;
use super::part::Violation;
use super::system::{Derivatives, Structure, System};
use crate::names::Names;
use complementarity::linear::{Matrix, Pattern};
use std::cell::{OnceCell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

/// Marks of lists begin high, so that they differ from those of the parts.
static NEXT_LIST_MARK: AtomicU64 = AtomicU64::new(1 << 40);

/// A part and where its identities and forces begin.
struct Member {
    system: Box<dyn System>,
    first_identity: u64,
    first_force: usize,
    /// Its first block of the kinematics.
    first_block: usize,
}

/// Workspaces of the parts, one after the other.
#[derive(Default)]
struct MemberWorkspaces {
    here: Workspace,
    next: OnceCell<Box<MemberWorkspaces>>,
}

impl MemberWorkspaces {
    #[inline]
    fn get(&self, i: usize) -> &Workspace {
        let mut part = self;
        for _ in 0..i {
            part = part.next.get_or_init(Box::default);
        }
        &part.here
    }
}

/// Scratch that is kept between calls.
#[derive(Default)]
struct Memory {
    parts: MemberWorkspaces,
    lists: RefCell<Lists>,
}

#[derive(Default)]
struct Lists {
    parts: Vec<Candidates>,
    versions: Vec<u64>,
    mark: u64,
}

/// Several systems as one: parts that share the coordinates and add their masses, forces and interactions. Every part uses the coordinate
/// and velocity numbers of the combined system.
pub struct Combined {
    structure: Structure,
    parts: Vec<Member>,
}

impl Combined {
    /// Joins parts, each with the first identity that it owns, in ascending order of these. Parts may state q̇ of coordinates of their own; if one does, all
    /// coordinates must be in a block of some part.
    pub fn new(coordinates: Names, velocities: Names, parts: Vec<(u64, Box<dyn System>)>) -> Self {
        let mut mass_pattern = Pattern::new(velocities.len());
        let mut forces = Vec::new();
        let mut breaks = Vec::new();
        let mut list: Vec<Member> = Vec::new();
        let mut needs = super::Features::NONE;
        let (mut kinematics, mut constant_mass) = (Vec::new(), true);
        for (first_identity, system) in parts {
            let s = system.structure();
            s.mass_pattern.for_each_clique(|dofs| mass_pattern.couple(dofs));
            let first_force = forces.len();
            forces.extend(s.forces.iter().cloned());
            breaks.extend_from_slice(&s.breaks);
            needs = needs.union(s.needs);
            let first_block = kinematics.len();
            kinematics.extend_from_slice(&s.kinematics);
            constant_mass &= s.constant_mass;
            debug_assert!(list.last().is_none_or(|p| p.first_identity < first_identity), "parts in ascending order");
            list.push(Member { system, first_identity, first_force, first_block });
        }
        // Iteration matrices couple what those of a part couple beyond its mass.
        let mut pattern = mass_pattern.clone();
        for part in &list {
            let s = part.system.structure();
            if s.pattern.id() != s.mass_pattern.id() {
                s.pattern.for_each_clique(|dofs| pattern.couple(dofs));
            }
        }
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
        let structure = Structure {
            coordinates,
            velocities,
            forces,
            mass_pattern,
            pattern,
            kinematics,
            constant_mass,
            needs,
            breaks,
        };
        Self { structure, parts: list }
    }

    #[inline]
    fn owner<'a>(&'a self, work: &'a Workspace, id: u64) -> (&'a dyn System, &'a Workspace) {
        let after = self.parts.partition_point(|p| p.first_identity <= id);
        let i = after.max(1) - 1;
        (&*self.parts[i].system, work.of::<Memory>().parts.get(i))
    }

    fn part_of(&self, id: u64) -> &dyn System {
        let after = self.parts.partition_point(|p| p.first_identity <= id);
        &*self.parts[after.max(1) - 1].system
    }

    /// Every part with its workspace.
    fn each<'a>(&'a self, work: &'a Workspace) -> impl Iterator<Item = (&'a dyn System, &'a Workspace)> {
        let memory = work.of::<Memory>();
        self.parts.iter().enumerate().map(|(i, p)| (&*p.system, memory.parts.get(i)))
    }

    /// The parts that state q̇.
    fn moving(&self) -> impl Iterator<Item = (usize, &Member)> {
        let states = |p: &Member| !p.system.structure().identity_kinematics();
        self.parts.iter().enumerate().filter(move |(_, p)| states(p))
    }

    /// The part that has a block of the kinematics, and its number there.
    fn of_block(&self, block: usize) -> (usize, &Member, usize) {
        let after = self.parts.partition_point(|p| p.first_block <= block);
        // Parts without blocks begin where the next one does: the last that begins there has it.
        let place = after.max(1) - 1;
        let part = &self.parts[place];
        (place, part, block - part.first_block)
    }

    #[inline]
    fn of_force<'a>(&'a self, work: &'a Workspace, i: usize) -> (&'a dyn System, &'a Workspace, usize) {
        let after = self.parts.partition_point(|p| p.first_force <= i);
        // A part without forces begins at the same index as the next one: the last that begins there owns the force.
        let place = after.max(1) - 1;
        let part = &self.parts[place];
        (&*part.system, work.of::<Memory>().parts.get(place), i - part.first_force)
    }
}

impl System for Combined {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn mass(&self, work: &Workspace, t: f64, q: &[f64], m: &mut Matrix) {
        self.each(work).for_each(|(part, work)| part.mass(work, t, q, m));
    }

    fn force(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], h: &mut [f64]) {
        let (part, work, i) = self.of_force(work, i);
        part.force(work, i, t, q, u, h);
    }

    fn candidates(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], reach: Reach, out: &mut Candidates) {
        let memory = work.of::<Memory>();
        let lists = &mut *memory.lists.borrow_mut();
        lists.parts.resize_with(self.parts.len(), Candidates::default);
        lists.versions.resize(self.parts.len(), 0);
        let mut same = lists.mark != 0;
        for (((part, work), list), version) in self.each(work).zip(&mut lists.parts).zip(&mut lists.versions) {
            part.candidates(work, t, q, u, reach, list);
            same &= list.version() == *version;
            *version = list.version();
        }
        if let Some(why) = lists.parts.iter().find_map(|l| l.fault()) {
            out.fail(why.clone());
            return;
        }
        if !same {
            lists.mark = NEXT_LIST_MARK.fetch_add(1, Ordering::Relaxed);
        }
        if out.source() != lists.mark {
            out.fill(lists.parts.iter().flat_map(|l| l.items().iter().cloned()));
            out.set_source(lists.mark);
        }
    }

    #[inline]
    fn position(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], g: &mut [f64]) {
        let (part, work) = self.owner(work, k.id);
        part.position(work, k, t, q, g);
    }

    #[inline]
    fn velocity(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], w: &mut [f64], chi: &mut [f64]) {
        let (part, work) = self.owner(work, k.id);
        part.velocity(work, k, t, q, w, chi);
    }

    fn kinematics(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        if self.structure.identity_kinematics() {
            qdot.copy_from_slice(u);
            return;
        }
        let memory = work.of::<Memory>();
        self.moving().for_each(|(i, part)| part.system.kinematics(memory.parts.get(i), t, q, u, qdot));
    }

    fn kinematics_jacobian(
        &self,
        work: &Workspace,
        block: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        by_q: &mut [f64],
        by_u: &mut [f64],
    ) {
        let (i, part, block) = self.of_block(block);
        part.system.kinematics_jacobian(work.of::<Memory>().parts.get(i), block, t, q, u, by_q, by_u);
    }

    fn retract(&self, q0: &[f64], y: &mut [f64]) {
        self.moving().for_each(|(_, part)| part.system.retract(q0, y));
    }

    fn localise(&self, q0: &[f64], q: &mut [f64]) {
        self.moving().for_each(|(_, part)| part.system.localise(q0, q));
    }

    fn local_rates(&self, y: &[f64], rates: &mut [f64]) {
        self.moving().for_each(|(_, part)| part.system.local_rates(y, rates));
    }

    fn tangent(&self, block: usize, y: &[f64], out: &mut [f64]) {
        let (_, part, block) = self.of_block(block);
        part.system.tangent(block, y, out);
    }

    fn potential(&self, work: &Workspace, i: usize, t: f64, q: &[f64]) -> f64 {
        let (part, work, i) = self.of_force(work, i);
        part.potential(work, i, t, q)
    }

    fn force_jacobian(&self, work: &Workspace, i: usize, t: f64, q: &[f64], u: &[f64], a: f64, b: f64, m: &mut Matrix) {
        let (part, work, i) = self.of_force(work, i);
        part.force_jacobian(work, i, t, q, u, a, b, m);
    }

    fn velocity_gradient(
        &self,
        work: &Workspace,
        k: &Interaction,
        skip: usize,
        t: f64,
        q: &[f64],
        u: &[f64],
        out: &mut [f64],
    ) {
        let (part, work) = self.owner(work, k.id);
        part.velocity_gradient(work, k, skip, t, q, u, out);
    }

    fn velocity_rate(&self, work: &Workspace, k: &Interaction, t: f64, q: &[f64], u: &[f64], out: &mut [f64]) {
        let (part, work) = self.owner(work, k.id);
        part.velocity_rate(work, k, t, q, u, out);
    }

    fn normalise(&self, q: &mut [f64]) {
        self.parts.iter().for_each(|p| p.system.normalise(q));
    }

    fn travel(&self, t0: f64, q0: &[f64], u0: &[f64], t1: f64, q1: &[f64]) -> f64 {
        self.parts.iter().fold(0.0, |worst: f64, p| {
            let excess = p.system.travel(t0, q0, u0, t1, q1);
            if excess > worst || excess.is_nan() { excess } else { worst }
        })
    }

    fn extent(&self, k: &Interaction) -> f64 {
        self.part_of(k.id).extent(k)
    }

    fn passed(
        &self,
        work: &Workspace,
        list: &Candidates,
        start: (f64, &[f64]),
        end: (f64, &[f64]),
        closely: bool,
    ) -> Option<u64> {
        self.each(work).find_map(|(part, work)| part.passed(work, list, start, end, closely))
    }

    fn derivatives(&self) -> Derivatives {
        let exact = self.parts.iter().all(|p| p.system.derivatives() == Derivatives::Exact);
        if exact { Derivatives::Exact } else { Derivatives::Differences }
    }

    fn name(&self, id: u64) -> String {
        self.part_of(id).name(id)
    }

    fn probe(&self, work: &Workspace, t: f64, q: &[f64], u: &[f64]) -> Result<(), Violation> {
        self.each(work).try_for_each(|(part, work)| part.probe(work, t, q, u))
    }
}
