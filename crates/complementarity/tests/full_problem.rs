//! The full problem: the same physics through every kernel of M̂, the way back to v, and what the reduction keeps.

use crate::random::verify::{judge, violation};
use crate::random::{FAMILIES, Random, coulomb, named, norm};
use complementarity::linear::Pattern;
use complementarity::solver::{SOLVERS, make};
use complementarity::{FullProblem, Options, Problem, Set, Status, verify};

/// A mechanical system in triplets, kept by the test to check what comes back.
#[derive(Clone)]
struct Physics {
    n: usize,
    /// Groups of unknowns that M̂ couples.
    cliques: Vec<Vec<usize>>,
    matrix: Vec<(usize, usize, f64)>,
    f: Vec<f64>,
    blocks: Vec<Block>,
}

/// Set, unknowns, rows of Wᵀ, c.
type Block = (Set, Vec<usize>, Vec<f64>, Vec<f64>);

fn indices(dofs: &[usize]) -> Vec<u32> {
    dofs.iter().map(|&i| i as u32).collect()
}

impl Physics {
    /// Four bodies with three unknowns each, an unsymmetric M̂ (gyroscopic and damping terms), and blocks between
    /// pairs of bodies.
    fn new(g: &mut Random, sets: Vec<Set>) -> Self {
        let (bodies, d) = (4, 3);
        let n = bodies * d;
        let cliques: Vec<Vec<usize>> = (0..bodies).map(|b| (b * d..(b + 1) * d).collect()).collect();
        let mut matrix = Vec::new();
        for clique in &cliques {
            for &i in clique {
                for &j in clique {
                    let diagonal = if i == j { g.between(1.0, 3.0) } else { 0.0 };
                    matrix.push((i, j, diagonal + g.between(-0.2, 0.2)));
                }
            }
        }
        let blocks = sets
            .into_iter()
            .map(|set| {
                let (a, b) = (g.count(0, bodies - 1), g.count(0, bodies - 1));
                let mut dofs = cliques[a].clone();
                if a != b {
                    dofs.extend(&cliques[b]);
                }
                let w = g.vector(set.dim() * dofs.len());
                // Small offsets (moving obstacles) that leave u_N > 0 within reach.
                let c = g.vector(set.dim()).iter().map(|v| 0.1 * v).collect();
                (set, dofs, w, c)
            })
            .collect();
        Self { n, cliques, matrix, f: g.vector(n).iter().map(|v| 3.0 * v).collect(), blocks }
    }

    /// Unknown i moved to place[i] of a larger system, whose other unknowns are bodies of their own coupled by `extra`.
    fn padded(&self, n: usize, place: &[usize], extra: &[Vec<usize>]) -> Self {
        let at = |v: &[usize]| v.iter().map(|&i| place[i]).collect::<Vec<_>>();
        let mut f = vec![0.5; n];
        let mut taken = vec![false; n];
        for i in 0..self.n {
            f[place[i]] = self.f[i];
            taken[place[i]] = true;
        }
        let mut cliques: Vec<Vec<usize>> = self.cliques.iter().map(|c| at(c)).collect();
        let mut matrix: Vec<_> = self.matrix.iter().map(|&(i, j, v)| (place[i], place[j], v)).collect();
        matrix.extend((0..n).filter(|&i| !taken[i]).map(|i| (i, i, 2.0)));
        for clique in extra {
            for &i in clique {
                matrix.extend(clique.iter().filter(|&&j| j != i).map(|&j| (i, j, 0.1)));
            }
            cliques.push(clique.clone());
        }
        let blocks = self.blocks.iter().map(|(s, d, w, c)| (s.clone(), at(d), w.clone(), c.clone())).collect();
        Self { n, cliques, matrix, f, blocks }
    }

    fn problem(&self) -> FullProblem {
        let mut pattern = Pattern::new(self.n);
        for clique in &self.cliques {
            pattern.couple(clique);
        }
        let mut p = FullProblem::new(&pattern);
        for &(i, j, v) in &self.matrix {
            p.matrix.add(i, j, v);
        }
        p.f.copy_from_slice(&self.f);
        for (set, dofs, w, c) in &self.blocks {
            p.push_block(set.clone(), &indices(dofs), c).copy_from_slice(w);
        }
        p
    }

    fn rows(&self) -> usize {
        self.blocks.iter().map(|b| b.0.dim()).sum()
    }

    /// ‖M̂ v − f − W r‖ and the rounding that its evaluation and a backward stable solution may leave: n·ε times the
    /// size of the terms, times 64 for the growth of pivots, the sum over columns, and the evaluation.
    fn balance(&self, v: &[f64], r: &[f64]) -> (f64, f64) {
        let mut rest: Vec<f64> = self.f.iter().map(|f| -f).collect();
        let mut size: Vec<f64> = self.f.iter().map(|f| f.abs()).collect();
        let mut add = |i: usize, x: f64| {
            rest[i] += x;
            size[i] += x.abs();
        };
        for &(i, j, m) in &self.matrix {
            add(i, m * v[j]);
        }
        let mut row = 0;
        for (set, dofs, w, _) in &self.blocks {
            for k in 0..set.dim() {
                for (l, &i) in dofs.iter().enumerate() {
                    add(i, -w[k * dofs.len() + l] * r[row]);
                }
                row += 1;
            }
        }
        (norm(&rest), 64.0 * self.n as f64 * f64::EPSILON * norm(&size))
    }

    /// u = Wᵀ v + c.
    fn velocities(&self, v: &[f64]) -> Vec<f64> {
        let mut u = Vec::new();
        for (set, dofs, w, c) in &self.blocks {
            for k in 0..set.dim() {
                u.push(c[k] + dofs.iter().enumerate().map(|(l, &i)| w[k * dofs.len() + l] * v[i]).sum::<f64>());
            }
        }
        u
    }

    /// Solves with `auto` and checks dynamics and laws; returns (r, v).
    fn solve_and_check(&self, what: &str) -> (Vec<f64>, Vec<f64>) {
        let options = Options::default();
        let mut p = self.problem();
        let (mut r, mut v) = (vec![0.0; self.rows()], vec![f64::NAN; self.n]);
        let report = p.solve(make("auto").unwrap().as_mut(), &options, &mut r, &mut v);
        assert!(report.solved(), "{what}: {report:?}");
        let (rest, rounding) = self.balance(&v, &r);
        assert!(rest <= rounding, "{what}: |M v - f - W r| = {rest:e}, rounding {rounding:e}");
        let sets: Vec<&Set> = self.blocks.iter().map(|b| &b.0).collect();
        let violation = violation(&sets, &r, &self.velocities(&v));
        // The residual is relative to ‖b‖; W has entries up to one and up to six per row.
        let allowed = options.tolerance * norm(p.reduced().b()) + 6.0 * rounding;
        assert!(violation <= allowed, "{what}: laws violated by {violation:e}, allowed {allowed:e}");
        // A second look, in the full form and after the reduction.
        let scale = norm(p.reduced().b()).max(f64::MIN_POSITIVE);
        for found in [verify::full(&p, &r), verify::reduced(p.reduced(), &r)] {
            let rounding = 6.0 * rounding / scale;
            assert!(
                (found.residual - report.residual).abs() <= rounding,
                "{what}: {report:?}, then {}",
                found.residual
            );
        }
        (r, v)
    }
}

/// The systems of `physics` in every kernel: (kernel, system, where its unknowns went).
fn variants(physics: &Physics) -> Vec<(&'static str, Physics, Vec<usize>)> {
    let n = physics.n;
    let straight: Vec<usize> = (0..n).collect();
    // Spread over the larger system, bodies interleaved.
    let spread = |total: usize| -> Vec<usize> { (0..n).map(|i| (i * 7 + 3) % total).collect() };
    let chain = |from: usize, to: usize| (from..to - 1).map(|i| vec![i, i + 1]).collect::<Vec<_>>();
    let free = |total: usize, place: &[usize]| (0..total).filter(|i| !place.contains(i)).collect::<Vec<_>>();
    let long = |total: usize| {
        // A chain through all other unknowns, closed to a ring: one component of large bandwidth.
        let others = free(total, &spread(total));
        let mut links: Vec<Vec<usize>> = others.windows(2).map(<[usize]>::to_vec).collect();
        links.push(vec![others[0], others[others.len() / 2], others[others.len() - 1]]);
        links
    };
    vec![
        ("dense", physics.clone(), straight.clone()),
        ("block-diagonal", physics.padded(41, &spread(41), &[]), spread(41)),
        ("banded", physics.padded(60, &straight, &chain(n, 60)), straight),
        ("dense", physics.padded(80, &spread(80), &long(80)), spread(80)),
        ("sparse", physics.padded(131, &spread(131), &long(131)), spread(131)),
    ]
}

fn mixed_sets(g: &mut Random) -> Vec<Set> {
    // At most 9 rows on 12 unknowns: A is regular, r is unique up to friction.
    let mut sets = coulomb(g, 1, 2, 2, 0.0, 0.5);
    sets.push(Set::NonNegative);
    sets.push(Set::Free { dim: 1 });
    sets.push(Set::Interval { lower: -0.5, upper: 0.5 });
    sets
}

#[test]
fn every_kernel_gives_the_same_percussions_and_velocities() {
    let mut g = Random::new(42);
    let mut kernels = std::collections::BTreeSet::new();
    for round in 0..40 {
        let sets = mixed_sets(&mut g);
        let physics = Physics::new(&mut g, sets);
        let (r, v) = physics.solve_and_check("reference");
        for (kernel, system, place) in variants(&physics) {
            assert_eq!(system.problem().matrix.kernel_name(), kernel);
            kernels.insert((kernel, system.n));
            let (r2, v2) = system.solve_and_check(&format!("{kernel} {round}"));
            // Both meet the tolerance 1e-10; the smallest eigenvalue of A is above 1e-2 in these systems.
            for k in 0..r.len() {
                assert!((r[k] - r2[k]).abs() < 1e-8, "{kernel} {round}: {r:?} {r2:?}");
            }
            for i in 0..physics.n {
                assert!((v[i] - v2[place[i]]).abs() < 1e-8, "{kernel} {round}: {v:?} {v2:?}");
            }
        }
    }
    assert_eq!(kernels.len(), 5);
}

#[test]
fn every_kernel_reduces_to_the_same_problem() {
    let mut g = Random::new(43);
    for _ in 0..20 {
        let sets = mixed_sets(&mut g);
        let physics = Physics::new(&mut g, sets);
        let mut reference = physics.problem();
        let expected = reference.reduce().unwrap();
        let a = expected.as_dense().unwrap();
        let n = expected.size();
        for (kernel, system, _) in variants(&physics) {
            let mut full = system.problem();
            let reduced = full.reduce().unwrap();
            assert_eq!(reduced.as_dense().is_none(), kernel == "block-diagonal");
            reduced.validate().unwrap();
            for j in 0..n {
                // Column j of A from u(e_j) − u(0).
                let (mut unit, mut u, mut free) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
                unit[j] = 1.0;
                reduced.velocity(&unit, &mut u);
                reduced.velocity(&[0.0].repeat(n), &mut free);
                for i in 0..n {
                    // Entries of order one to ten; twelve unknowns, M̂ with a condition number below ten.
                    assert!((u[i] - free[i] - a[(i, j)]).abs() < 1e-13 * 10.0, "{kernel}");
                    assert!((free[i] - expected.b()[i]).abs() < 1e-13 * 10.0, "{kernel}");
                }
            }
        }
    }
}

#[test]
fn redundant_contacts_do_not_change_the_motion() {
    // 20 to 24 rows on 12 unknowns, frictionless: r is not unique, v is.
    let mut g = Random::new(44);
    for round in 0..20 {
        let mut sets = vec![Set::NonNegative; g.count(19, 22)];
        sets.push(Set::Free { dim: 2 });
        let mut physics = Physics::new(&mut g, sets);
        // No offsets: v = 0 is feasible.
        for block in &mut physics.blocks {
            block.3.fill(0.0);
        }
        let (_, v) = physics.solve_and_check("reference");
        for (kernel, system, place) in variants(&physics) {
            let (_, v2) = system.solve_and_check(&format!("{kernel} {round}"));
            for i in 0..physics.n {
                // The energy norm of the error is at most the square root of (violation · ‖r‖): 1e-5 each.
                assert!((v[i] - v2[place[i]]).abs() < 3e-5, "{kernel} {round}: {v:?} {v2:?}");
            }
        }
    }
}

#[test]
fn a_singular_matrix_is_a_status_in_every_kernel() {
    let mut g = Random::new(45);
    let physics = Physics::new(&mut g, vec![Set::NonNegative]);
    for (kernel, system, place) in variants(&physics) {
        let mut broken = system.clone();
        // Unknown 4 takes part in nothing.
        let gone = place[4];
        broken.matrix.retain(|&(i, j, _)| i != gone && j != gone);
        let mut p = broken.problem();
        let (mut r, mut v) = (vec![0.0], vec![0.0; broken.n]);
        let report = p.solve(make("auto").unwrap().as_mut(), &Options::default(), &mut r, &mut v);
        assert_eq!(report.status, Status::Singular, "{kernel}");
        assert!(report.row.is_some_and(|row| row < broken.n), "{kernel}: {report:?}");
        assert!(p.reduce().is_err());
    }
}

#[test]
fn without_blocks_the_velocity_is_free() {
    let mut g = Random::new(46);
    let physics = Physics::new(&mut g, vec![]);
    for (kernel, system, _) in variants(&physics) {
        let mut p = system.problem();
        let mut v = vec![f64::NAN; system.n];
        let report = p.solve(make("auto").unwrap().as_mut(), &Options::default(), &mut [], &mut v);
        assert!(report.solved() && report.iterations == 0, "{kernel}: {report:?}");
        let (rest, rounding) = system.balance(&v, &[]);
        assert!(rest <= rounding, "{kernel}: {rest:e}");
        assert_eq!(p.free_velocity(), v);
    }
}

#[test]
fn a_problem_that_is_used_again_forgets_the_old_one() {
    // One problem per kernel whose right-hand side, offsets, matrix, blocks and sets are changed in turn; after every
    // change it gives the same bits as a new problem.
    let mut g = Random::new(47);
    let sets = mixed_sets(&mut g);
    let physics = Physics::new(&mut g, sets.clone());
    for (kernel, system, _) in variants(&physics) {
        let mut now = system.clone();
        let mut used = now.problem();
        let compare = |used: &mut FullProblem, now: &Physics, what: &str| {
            let solve = |p: &mut FullProblem| {
                let (mut r, mut v) = (vec![0.0; now.rows()], vec![0.0; now.n]);
                let report = p.solve(make("auto").unwrap().as_mut(), &Options::default(), &mut r, &mut v);
                (report, r, v)
            };
            assert_eq!(solve(used), solve(&mut now.problem()), "{kernel} after {what}");
        };
        compare(&mut used, &now, "nothing");

        now.f.iter_mut().for_each(|f| *f *= -1.5);
        used.f.copy_from_slice(&now.f);
        compare(&mut used, &now, "a new right-hand side");

        now.blocks[0].3.fill(-0.7);
        let d = now.blocks[0].0.dim();
        used.c[..d].fill(-0.7);
        compare(&mut used, &now, "new offsets");

        now.matrix.iter_mut().for_each(|m| m.2 *= if m.0 == m.1 { 3.0 } else { 1.0 });
        used.matrix.clear();
        for &(i, j, v) in &now.matrix {
            used.matrix.add(i, j, v);
        }
        compare(&mut used, &now, "a new matrix");

        // Same number of rows, other directions.
        used.clear_blocks();
        now.blocks.reverse();
        for (set, dofs, w, c) in &mut now.blocks {
            w.iter_mut().for_each(|v| *v = -*v);
            used.push_block(set.clone(), &indices(dofs), c).copy_from_slice(w);
        }
        compare(&mut used, &now, "new blocks");

        let extra = (Set::NonNegative, now.blocks[0].1.clone(), vec![0.3; now.blocks[0].1.len()], vec![-1.0]);
        used.push_block(extra.0.clone(), &indices(&extra.1), &extra.3).copy_from_slice(&extra.2);
        now.blocks.push(extra);
        compare(&mut used, &now, "one more block");

        let wider = Set::Interval { lower: -0.01, upper: 0.01 };
        let k = now.blocks.iter().position(|b| matches!(b.0, Set::Interval { .. })).unwrap();
        now.blocks[k].0 = wider.clone();
        used.replace_set(k, wider);
        compare(&mut used, &now, "another set");
    }
}

/// The same problem with its matrix in block-sparse storage, through its file form.
fn block_sparse(problem: &Problem) -> Problem {
    let a = problem.as_dense().unwrap();
    let mut entries = Vec::new();
    for (i, p) in problem.blocks().iter().enumerate() {
        for (j, q) in problem.blocks().iter().enumerate() {
            let values: Vec<f64> =
                (0..p.set.dim()).flat_map(|k| a.row(p.start + k)[q.start..q.start + q.set.dim()].to_vec()).collect();
            entries.push(serde_json::json!({ "row": i, "column": j, "values": values }));
        }
    }
    let sets: Vec<&Set> = problem.blocks().iter().map(|b| &b.set).collect();
    let file = serde_json::json!({
        "format": "nonsmooth reduced problem 1", "sets": sets, "blocks": entries, "b": problem.b(),
    });
    Problem::from_json(&file.to_string()).unwrap()
}

#[test]
fn solvers_agree_on_dense_and_block_sparse_storage() {
    let options = Options { max_iterations: 2000, ..Options::default() };
    for family in FAMILIES {
        for index in 0..15 {
            let dense = family.problem(index).problem;
            let sparse = block_sparse(&dense);
            assert_eq!(sparse.b(), dense.b());
            for info in SOLVERS {
                let mut r = vec![0.0; dense.size()];
                let report = (info.make)().solve(&sparse, &mut r, &options);
                let what = format!("{} on {} {index}, block-sparse", info.name, family.name);
                if info.name == "lemke" {
                    // Stated: a tableau is dense.
                    assert_eq!(report.status, Status::Unsupported, "{what}");
                }
                if report.solved() {
                    let verdict = judge(&dense, &r);
                    assert!(verdict.confirms(options.tolerance), "{what}: {report:?} refuted: {verdict:?}");
                } else if report.status != Status::Unsupported {
                    assert!(report.residual > options.tolerance, "{what}: {report:?}");
                }
            }
        }
    }
}

#[test]
fn auto_solves_well_conditioned_problems_in_block_sparse_storage() {
    let families =
        ["lcp-pd", "mixed-lcp", "friction-2d", "friction-3d", "friction-4d", "friction-polyhedral", "everything"];
    let mut unsolved = Vec::new();
    for name in families {
        for index in 0..200 {
            let sparse = block_sparse(&named(name).problem(index).problem);
            let mut r = vec![0.0; sparse.size()];
            let report = make("auto").unwrap().solve(&sparse, &mut r, &Options::default());
            if !report.solved() {
                unsolved.push(format!("{name} {index}: {:?} at {:.1e}", report.status, report.residual));
            }
        }
    }
    assert!(unsolved.is_empty(), "{} unsolved:\n{}", unsolved.len(), unsolved.join("\n"));
}
