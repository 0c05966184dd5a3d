//! The mass matrix of a model by formula: given entry by entry, or derived from a kinetic energy.

use super::parts::{Kinematics, Variation};
use super::scope::{Allowed, Variables};
use crate::file::format::Mass;
use crate::file::{Fault, Formula};
use crate::formula::{Graph, Id, Slot, Tape};

/// M as nodes, row by row.
pub(super) struct MassMatrix {
    /// Number of its first velocity in the system: those before it belong to bodies.
    pub(super) first: usize,
    pub(super) n: usize,
    pub(super) entries: Vec<Id>,
}

/// A block of M: its velocities and its tape over the coordinates it may depend on.
pub(super) struct MassBlock {
    pub(super) dofs: Vec<usize>,
    pub(super) tape: Tape,
}

/// Numbers of the coordinates, and the velocities.
struct Rates {
    q: Vec<u32>,
    u: Vec<Id>,
}

impl Rates {
    /// Component i of ∂T/∂q − (∂²T/∂u∂q) u − ∂²T/∂u∂t, by M, b and c: terms that cancel are not even computed.
    ///
    /// ```text
    /// h_i = Σ_{j≤k} Γ_{i,jk} u_j u_k + Σ_j (∂b_j/∂q_i − ∂b_i/∂q_j − ∂M_ij/∂t) u_j + ∂c/∂q_i − ∂b_i/∂t
    /// Γ_{i,jk} = ∂M_jk/∂q_i − ∂M_ij/∂q_k − ∂M_ik/∂q_j for j < k,   Γ_{i,jj} = ½ ∂M_jj/∂q_i − ∂M_ij/∂q_j
    /// ```
    fn gyroscopic(&self, graph: &mut Graph, mass: &[Id], b: &[Id], c: Id, i: usize) -> Id {
        let n = self.u.len();
        let slope = |graph: &mut Graph, j: usize, k: usize, by: usize| graph.derivative(mass[j * n + k], self.q[by]);
        let time = graph.derivative(b[i], 0);
        let mut h = graph.derivative(c, self.q[i]);
        h = graph.subtract(h, time);
        for j in 0..n {
            let half = graph.constant(0.5);
            // The factor of u_j.
            let mut factor = graph.derivative(b[j], self.q[i]);
            let other = graph.derivative(b[i], self.q[j]);
            factor = graph.subtract(factor, other);
            let explicit = graph.derivative(mass[i * n + j], 0);
            factor = graph.subtract(factor, explicit);
            for k in j..n {
                let gamma = if j == k {
                    let own = slope(graph, j, j, i);
                    let own = graph.multiply(half, own);
                    let other = slope(graph, i, j, j);
                    if i == j { graph.negate(own) } else { graph.subtract(own, other) }
                } else if i == j || i == k {
                    // ∂M_jk/∂q_i stands there twice.
                    let rest = slope(graph, i, i, if i == j { k } else { j });
                    graph.negate(rest)
                } else {
                    let (own, x, y) = (slope(graph, j, k, i), slope(graph, i, j, k), slope(graph, i, k, j));
                    let rest = graph.subtract(own, x);
                    graph.subtract(rest, y)
                };
                let part = graph.multiply(gamma, self.u[k]);
                factor = graph.add(factor, part);
            }
            let part = graph.multiply(factor, self.u[j]);
            h = graph.add(h, part);
        }
        h
    }
}

impl MassMatrix {
    /// From the key `mass`.
    pub(super) fn given(
        mass: &Mass,
        first: usize,
        n: usize,
        graph: &mut Graph,
        variables: &mut Variables,
    ) -> Result<Self, Fault> {
        let zero = graph.constant(0.0);
        let mut entries = vec![zero; n * n];
        let what = Allowed::Position("a mass");
        let others = 1..variables.coordinate(first);
        let own = |graph: &Graph, id: Id, f: &Formula| {
            if graph.variables(&[id]).iter().any(|v| others.contains(v)) {
                let message =
                    "a mass names a coordinate of a body or bar: it may depend on coordinates of [model] alone";
                return Err(Fault::new(&f.origin, message));
            }
            Ok(id)
        };
        let wrong = |origin, found: usize, of: &str| {
            Err(Fault::new(origin, format!("the mass matrix has {found} {of}, the model has {n} velocities")))
        };
        match mass {
            Mass::One(f) => {
                if n != 1 {
                    return wrong(&f.origin, 1, "entry");
                }
                let id = variables.node(graph, f, what)?;
                entries[0] = own(graph, id, f)?;
            }
            Mass::Diagonal(list, origin) => {
                if list.len() != n {
                    return wrong(origin, list.len(), "diagonal entries");
                }
                for (i, f) in list.iter().enumerate() {
                    let id = variables.node(graph, f, what)?;
                    entries[i * n + i] = own(graph, id, f)?;
                }
            }
            Mass::Rows(rows, origin) => {
                if rows.len() != n {
                    return wrong(origin, rows.len(), "rows");
                }
                for (i, row) in rows.iter().enumerate() {
                    if row.len() != n {
                        let place = row.first().map_or(origin, |f| &f.origin);
                        return wrong(place, row.len(), &format!("entries in row {}", i + 1));
                    }
                    for (j, f) in row.iter().enumerate() {
                        let id = variables.node(graph, f, what)?;
                        entries[i * n + j] = own(graph, id, f)?;
                    }
                }
            }
        }
        Ok(Self { first, n, entries })
    }

    /// From a kinetic energy T(t, q, q̇): M, and the gyroscopic force where it is not zero.
    pub(super) fn derived(
        kinetic: &Formula,
        own: usize,
        n: usize,
        graph: &mut Graph,
        variables: &mut Variables,
    ) -> Result<(Self, Option<Vec<Id>>), Fault> {
        let energy = variables.node(graph, kinetic, Allowed::All)?;
        let first = variables.velocity(0);
        let (coordinates, velocities) = (1..variables.coordinate(own), first..variables.velocity(own));
        if graph.variables(&[energy]).iter().any(|v| coordinates.contains(v) || velocities.contains(v)) {
            let message = "the kinetic energy names a coordinate of a body or bar, whose mass is known already";
            return Err(Fault::new(&kinetic.origin, message));
        }
        if let Some(name) = graph.kink(energy, |v| v >= first) {
            let message = format!(
                "the kinetic energy must be quadratic in the rates: `{name}` of a rate is not (write squares of rates out)"
            );
            return Err(Fault::new(&kinetic.origin, message));
        }
        let zero = graph.constant(0.0);
        let momenta: Vec<Id> = (own..own + n).map(|i| graph.derivative(energy, variables.velocity(i))).collect();
        let mut entries = vec![zero; n * n];
        for i in 0..n {
            for j in 0..=i {
                let m = graph.derivative(momenta[i], variables.velocity(own + j));
                if graph.variables(&[m]).iter().any(|v| *v >= first) {
                    let message = "the kinetic energy must be quadratic in the rates (write squares of rates out)";
                    return Err(Fault::new(&kinetic.origin, message));
                }
                entries[i * n + j] = m;
                entries[j * n + i] = m;
            }
        }
        // T = ½ uᵀMu + bᵀu + c.
        let b: Vec<Id> = momenta.iter().map(|&p| graph.without(p, |v| v >= first)).collect();
        let c = graph.without(energy, |v| v >= first);
        let rates = Rates {
            q: (own..own + n).map(|i| variables.coordinate(i)).collect(),
            u: (own..own + n).map(|i| graph.variable(variables.velocity(i))).collect(),
        };
        let gyroscopic: Vec<Id> = (0..n).map(|i| rates.gyroscopic(graph, &entries, &b, c, i)).collect();
        let any = gyroscopic.iter().any(|&h| h != zero);
        Ok((Self { first: own, n, entries }, any.then_some(gyroscopic)))
    }

    /// Whether no variable occurs.
    pub(super) fn is_constant(&self, graph: &Graph) -> bool {
        graph.variables(&self.entries).is_empty()
    }

    /// Splits M into blocks that touch different velocities and coordinates.
    pub(super) fn blocks(
        &self,
        graph: &Graph,
        variation: &Variation,
    ) -> Result<Vec<MassBlock>, crate::formula::TapeError> {
        let (n, first) = (self.n, self.first);
        let zero = |id: Id| graph.value(id) == Some(0.0);
        let mut group: Vec<usize> = (0..n).collect();
        fn find(group: &mut [usize], mut i: usize) -> usize {
            while group[i] != i {
                group[i] = group[group[i]];
                i = group[i];
            }
            i
        }
        let mut join = |a: usize, b: usize| {
            let (a, b) = (find(&mut group, a), find(&mut group, b));
            let (low, high) = (a.min(b), a.max(b));
            group[high] = low;
        };
        for i in 0..n {
            for j in 0..n {
                let id = self.entries[i * n + j];
                if zero(id) {
                    continue;
                }
                join(i, j);
                for v in graph.variables(&[id]) {
                    if let Slot::Coordinate(c) = variation.slot(v) {
                        match &variation.kinematics {
                            Kinematics::Identity if c >= first => join(i, c - first),
                            Kinematics::Identity => {}
                            // The block may depend on all coordinates that its velocities move.
                            Kinematics::Blocks(blocks) => {
                                for (_, moved) in blocks.iter().filter(|(qs, _)| qs.contains(&c)) {
                                    moved.iter().filter(|v| **v >= first).for_each(|&v| join(i, v - first));
                                }
                            }
                        }
                    }
                }
            }
        }
        let mut out = Vec::new();
        for root in 0..n {
            if find(&mut group, root) != root {
                continue;
            }
            let dofs: Vec<usize> = (0..n).filter(|&i| find(&mut group, i) == root).collect();
            let roots: Vec<Id> = dofs
                .iter()
                .flat_map(|&i| dofs.iter().map(move |&j| (i, j)))
                .map(|(i, j)| self.entries[i * n + j])
                .collect();
            let coordinates: Vec<usize> = match &variation.kinematics {
                Kinematics::Identity => dofs.iter().map(|d| d + first).collect(),
                Kinematics::Blocks(blocks) => blocks
                    .iter()
                    .filter(|(_, us)| us.iter().any(|u| *u >= first && dofs.contains(&(u - first))))
                    .flat_map(|(qs, _)| qs.iter().copied())
                    .collect(),
            };
            let tape = variation.tape(graph, &roots, &coordinates, &[])?;
            out.push(MassBlock { dofs: dofs.into_iter().map(|d| d + first).collect(), tape });
        }
        Ok(out)
    }
}
