//! Which coordinates and velocities a part touches, and its tape over these.

use crate::formula::{Affinity, Graph, Id, Role, Slot, Tape, TapeError};

/// How q̇ and u are related.
#[derive(Debug, Clone)]
pub(super) enum Kinematics {
    /// q̇ = u.
    Identity,
    /// Blocks of coordinates and the velocities that move them.
    Blocks(Vec<(Vec<usize>, Vec<usize>)>),
}

/// Numbers of the variables: 0 the time, then coordinates, then velocities.
#[derive(Debug, Clone)]
pub(super) struct Variation {
    pub(super) nq: usize,
    pub(super) nu: usize,
    pub(super) kinematics: Kinematics,
}

/// The tape of a part and the coordinates it touches.
pub(super) struct Local {
    pub(super) on: Vec<usize>,
    pub(super) tape: Tape,
}

impl Variation {
    pub(super) fn slot(&self, v: u32) -> Slot {
        let v = v as usize;
        if v == 0 {
            Slot::Time
        } else if v <= self.nq {
            Slot::Coordinate(v - 1)
        } else {
            Slot::Velocity(v - 1 - self.nq)
        }
    }

    pub(super) fn uses_time(&self, graph: &Graph, roots: &[Id]) -> bool {
        graph.variables(roots).contains(&0)
    }

    /// Coordinates and velocities of a part with these functions that also acts on the velocities `acted`.
    pub(super) fn touched(&self, graph: &Graph, roots: &[Id], acted: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut on: Vec<usize> = Vec::new();
        let mut velocities: Vec<usize> = acted.to_vec();
        for v in graph.variables(roots) {
            match self.slot(v) {
                Slot::Time => {}
                Slot::Coordinate(i) => on.push(i),
                Slot::Velocity(i) => velocities.push(i),
            }
        }
        match &self.kinematics {
            Kinematics::Identity => {
                on.extend(velocities);
                on.sort_unstable();
                on.dedup();
                (on.clone(), on)
            }
            Kinematics::Blocks(blocks) => {
                for (coordinates, moved) in blocks {
                    let wanted = velocities.iter().any(|v| moved.contains(v));
                    if wanted && !coordinates.iter().any(|c| on.contains(c)) {
                        on.push(coordinates[0]);
                    }
                }
                on.sort_unstable();
                // A part receives the velocities of the blocks touched, block after block.
                let touched = blocks.iter().filter(|(c, _)| c.iter().any(|c| on.contains(c)));
                let all = touched.flat_map(|(_, u)| u.iter().copied()).collect();
                (on, all)
            }
        }
    }

    /// The tape of functions over the coordinates `on` and velocities `velocities` of a part.
    pub(super) fn tape(
        &self,
        graph: &Graph,
        roots: &[Id],
        on: &[usize],
        velocities: &[usize],
    ) -> Result<Tape, TapeError> {
        let place = |list: &[usize], i: usize| list.iter().position(|&x| x == i).unwrap_or(usize::MAX);
        Tape::new(graph, roots, |v| match self.slot(v) {
            Slot::Time => Slot::Time,
            Slot::Coordinate(i) => Slot::Coordinate(place(on, i)),
            Slot::Velocity(i) => Slot::Velocity(place(velocities, i)),
        })
    }

    /// Tape of the functions of a part, with the coordinates and velocities that it touches.
    pub(super) fn local(&self, graph: &Graph, roots: &[Id]) -> Result<Local, TapeError> {
        let (on, velocities) = self.touched(graph, roots, &[]);
        let tape = self.tape(graph, roots, &on, &velocities)?;
        Ok(Local { on, tape })
    }

    /// Whether a function of position has constant rates: a·(t, q) + c, where q̇ = u.
    pub(super) fn linear_position(&self, graph: &Graph, roots: &[Id]) -> bool {
        matches!(self.kinematics, Kinematics::Identity)
            && roots.iter().all(|&r| graph.affinity(r, |_| Role::Varying) <= Affinity::Affine)
    }

    /// Whether a velocity is a·u + c.
    pub(super) fn linear_velocity(&self, graph: &Graph, roots: &[Id]) -> bool {
        graph.variables(roots).iter().all(|&v| matches!(self.slot(v), Slot::Velocity(_)))
            && roots.iter().all(|&r| graph.affinity(r, |_| Role::Varying) <= Affinity::Affine)
    }

    /// Whether a force is A (q, u) + f(t).
    pub(super) fn linear_force(&self, graph: &Graph, roots: &[Id]) -> bool {
        let role = |v: u32| if v == 0 { Role::Offset } else { Role::Varying };
        matches!(self.kinematics, Kinematics::Identity)
            && roots.iter().all(|&r| graph.affinity(r, role) <= Affinity::Affine)
    }

    /// The first velocity in which a function is not affine, if there is one.
    pub(super) fn curved_velocity(&self, graph: &mut Graph, root: Id) -> Option<usize> {
        let used: Vec<usize> = graph
            .variables(&[root])
            .into_iter()
            .filter_map(|v| match self.slot(v) {
                Slot::Velocity(i) => Some(i),
                Slot::Time | Slot::Coordinate(_) => None,
            })
            .collect();
        used.into_iter().find(|&i| {
            // A jump or a kink has the slope of an affine function on both sides.
            if graph.kink(root, |v| v as usize == 1 + self.nq + i).is_some() {
                return true;
            }
            let slope = graph.derivative(root, (1 + self.nq + i) as u32);
            graph.variables(&[slope]).iter().any(|&v| matches!(self.slot(v), Slot::Velocity(_)))
        })
    }
}
