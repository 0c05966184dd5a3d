//! Percussions that are not unique: reported, of least norm, and the motion is the same.

use super::dense;
use complementarity::linear::Dense;
use complementarity::linear::dense::{LeastNorm, norm};
use complementarity::solver::make;
use complementarity::{Options, Problem, Report, Set, Solver};

/// A = WᵀM⁻¹W of a plate of mass 2 kg and inertia 0.3 and 0.5 kg m² on legs at `places`; each leg has `dim` tangential directions.
fn table(places: &[[f64; 2]], dim: usize) -> (Dense, Vec<Vec<f64>>) {
    // Velocities of the plate (0.4 m above the feet): x, y, z, and its rotations about x, y, z.
    let inverse_mass = [0.5, 0.5, 0.5, 1.0 / 0.3, 1.0 / 0.5, 1.0 / 0.8];
    let height = 0.4;
    let mut w = Vec::new();
    for [x, y] in places {
        w.push(vec![0.0, 0.0, 1.0, *y, -*x, 0.0]);
        if dim > 0 {
            w.push(vec![1.0, 0.0, 0.0, 0.0, -height, -*y]);
            w.push(vec![0.0, 1.0, 0.0, height, 0.0, *x]);
        }
    }
    let n = w.len();
    let mut a = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            a[(i, j)] = (0..6).map(|k| w[i][k] * inverse_mass[k] * w[j][k]).sum();
        }
    }
    (a, w)
}

fn velocities(w: &[Vec<f64>], plate: [f64; 6]) -> Vec<f64> {
    w.iter().map(|w| (0..6).map(|k| w[k] * plate[k]).sum()).collect()
}

const LEGS: [[f64; 2]; 4] = [[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3], [0.5, -0.3]];

fn from(problem: &Problem, guess: &[f64]) -> (Report, Vec<f64>, Vec<f64>) {
    let mut r = guess.to_vec();
    let report = make("auto").unwrap().solve(problem, &mut r, &Options::default());
    assert!(report.solved(), "{report:?}");
    let mut u = vec![0.0; problem.size()];
    problem.velocity(&r, &mut u);
    (report, r, u)
}

fn close(a: &[f64], b: &[f64], limit: f64, what: &str) {
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= limit, "{what}: {a:?} and {b:?} differ by {worst:e}");
}

/// Starts that lead Newton and Gauss-Seidel to different loads: none, all of it on one diagonal, on three legs, too much.
const STARTS: [[f64; 4]; 4] = [[0.0; 4], [1.0, 0.0, 1.0, 0.0], [0.5, 1.0, 0.5, 0.0], [3.0, 1.0, 0.2, 5.0]];

#[test]
fn a_table_on_four_legs_shares_its_weight_equally_from_any_start() {
    let (a, w) = table(&LEGS, 0);
    let problem =
        Problem::dense(vec![Set::NonNegative; 4], a, velocities(&w, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])).unwrap();
    for start in STARTS {
        let (report, r, u) = from(&problem, &start);
        assert!(report.non_unique);
        // The momentum 2 kg · 1 m/s, a quarter each; rounding of the reduction, amplified by 1/0.3.
        close(&r, &[0.5; 4], 1e-12, "load");
        close(&u, &[0.0; 4], 1e-12, "velocity");
    }
}

#[test]
fn an_uneven_load_is_linear_in_the_place_of_the_legs() {
    let (a, w) = table(&LEGS, 0);
    let problem =
        Problem::dense(vec![Set::NonNegative; 4], a, velocities(&w, [0.0, 0.0, -1.0, 0.2, -0.5, 0.0])).unwrap();
    // Least norm: in the row space of W, r_i = p + q y_i − s x_i, with Wᵀ r the momentum to be stopped.
    let (p, q, s) = (2.0 / 4.0, -0.3 * 0.2 / (4.0 * 0.09), 0.5 * 0.5 / (4.0 * 0.25));
    let exact: Vec<f64> = LEGS.iter().map(|[x, y]| p + q * y - s * x).collect();
    assert!(exact.iter().all(|v| *v > 0.0));
    for start in STARTS {
        let (report, r, _) = from(&problem, &start);
        assert!(report.non_unique);
        close(&r, &exact, 1e-12, "load");
    }
}

/// The solution of least norm of a frictionless problem with symmetric A, by trying all sets of closed contacts.
fn least_of_all(problem: &Problem, a: &Dense) -> Option<Vec<f64>> {
    let n = problem.size();
    let mut best: Option<Vec<f64>> = None;
    for closed in 0..1u32 << n {
        // r_i = 0 where open, u_i = 0 where closed: the least norm of that.
        let (mut m, mut rhs, mut r) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            if closed >> i & 1 == 1 {
                m[i * n..(i + 1) * n].copy_from_slice(a.row(i));
                rhs[i] = -problem.b()[i];
            } else {
                m[i * n + i] = 1.0;
            }
        }
        LeastNorm::default().solve(&m, n, &rhs, &mut r, 1e-10);
        let fits = problem.residual(&r, &mut vec![0.0; n]) < 1e-9;
        if fits && best.as_ref().is_none_or(|b| norm(&r) < norm(b)) {
            best = Some(r);
        }
    }
    best
}

#[test]
fn without_friction_it_is_the_least_of_all_solutions() {
    let mut state = 7u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    };
    let (mut deficient, mut cut_off) = (0, 0);
    for case in 0..3000 {
        // Up to seven contacts on a body of three unknowns; the velocities b in the range of Wᵀ, as they are without restitution.
        let n = 4 + case % 4;
        let w: Vec<Vec<f64>> = (0..n).map(|_| vec![1.0, random(), random()]).collect();
        let start = [-1.0 + 0.5 * random(), 1.5 * random(), 1.5 * random()];
        let mut a = Dense::zeros(n, n);
        for i in 0..n {
            for j in 0..n {
                a[(i, j)] = (0..3).map(|k| w[i][k] * w[j][k]).sum();
            }
        }
        let b: Vec<f64> = w.iter().map(|w| (0..3).map(|k| w[k] * start[k]).sum()).collect();
        let problem = Problem::dense(vec![Set::NonNegative; n], a.clone(), b).unwrap();
        let Some(least) = least_of_all(&problem, &a) else { continue };
        let guess: Vec<f64> = (0..n).map(|_| random().max(0.0)).collect();
        let (report, r, _) = from(&problem, &guess);
        if report.non_unique {
            deficient += 1;
            // Where a contact that could share the load does not: the projection alone would pull at it.
            cut_off += usize::from(least.contains(&0.0));
            // Rounding, amplified by the condition of the loads that are left: below 1e3 in these.
            close(&r, &least, 1e-11, "least");
        }
    }
    assert!(deficient > 300 && cut_off > 20, "{deficient} {cut_off}");
}

#[test]
fn with_friction_it_is_the_least_within_the_mode_and_the_motion_stays() {
    // Legs that stick: 12 percussions for 6 unknowns.
    let (a, w) = table(&LEGS, 2);
    let problem = Problem::dense(
        vec![Set::Coulomb { dim: 2, mu: 0.6 }; 4],
        a.clone(),
        velocities(&w, [0.15, -0.1, -1.0, 0.0, 0.0, 0.05]),
    )
    .unwrap();
    let (report, r, u) = from(&problem, &[0.0; 12]);
    assert!(report.non_unique);
    close(&u, &[0.0; 12], 1e-12, "sticks");
    // The same from percussions with self-stress: legs 1 and 2 pressed apart.
    let mut pushed = r.clone();
    (pushed[1], pushed[4]) = (pushed[1] + 0.05, pushed[4] - 0.05);
    assert!(problem.residual(&pushed, &mut [0.0; 12]) < 1e-12, "a self-stress: the same motion");
    let (again, other, _) = from(&problem, &pushed);
    assert!(again.non_unique);
    close(&other, &r, 1e-12, "the same least norm");
    // It is in the row space of A: A⁺A r = r.
    let mut image = vec![0.0; 12];
    let ar: Vec<f64> = u.iter().zip(problem.b()).map(|(u, b)| u - b).collect();
    LeastNorm::default().solve(a.data(), 12, &ar, &mut image, 1e-10);
    close(&image, &r, 1e-11, "row space");
}

#[test]
fn a_block_on_two_corners_has_no_thrust_between_them() {
    // Planar block 1 m wide, 1 m high, on its two lower corners: rows (N, T) of each; mass 1, inertia 1/6.
    let w = [[0.0, 1.0, 0.5], [1.0, 0.0, 0.5], [0.0, 1.0, -0.5], [1.0, 0.0, 0.5]];
    let rows: Vec<Vec<f64>> =
        w.iter().map(|p| w.iter().map(|q| p[0] * q[0] + p[1] * q[1] + 6.0 * p[2] * q[2]).collect()).collect();
    let a = dense(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let problem = Problem::dense(vec![Set::Coulomb { dim: 1, mu: 0.8 }; 2], a, vec![-1.0, 0.1, -1.0, 0.1]).unwrap();
    // Stopped momentum: 1 upwards, −0.1 along; no rotation: N₁ − N₂ = −(T₁ + T₂) = 0.1. Thrust T₁ − T₂ = 0.
    for start in [[0.0; 4], [0.55, 0.2, 0.45, -0.3]] {
        let (report, r, u) = from(&problem, &start);
        assert!(report.non_unique);
        close(&r, &[0.55, -0.05, 0.45, -0.05], 1e-13, "percussions");
        close(&u, &[0.0; 4], 1e-13, "at rest");
    }
}

#[test]
fn what_is_unique_is_not_called_otherwise() {
    let (a, w) = table(&LEGS[..3], 0);
    let problem =
        Problem::dense(vec![Set::NonNegative; 3], a, velocities(&w, [0.0, 0.0, -1.0, 0.1, 0.0, 0.0])).unwrap();
    for start in [[0.0; 3], [1.0, 2.0, 0.0], [5.0, 5.0, 5.0]] {
        assert!(!from(&problem, &start).0.non_unique);
    }
}

/// (r, non_unique) of `auto`, from a start.
fn auto(solver: &mut dyn Solver, problem: &Problem, start: &[f64]) -> (Vec<f64>, bool) {
    let mut r = start.to_vec();
    let report = solver.solve(problem, &mut r, &Options::default());
    assert!(report.solved(), "{report:?}");
    (r, report.non_unique)
}

#[test]
fn what_is_remembered_of_one_problem_says_nothing_of_another() {
    let lcp = |rows: &[&[f64]], b: &[f64]| Problem::lcp(dense(rows), b.to_vec()).unwrap();
    let unique = lcp(&[&[1.0, 0.0], &[0.0, 4.0]], &[-1.0, -1.0]);
    let shared = lcp(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.25, -1.25]);
    // r = (1, 1/4) solves both.
    for (first, second) in [(&unique, &shared), (&shared, &unique)] {
        let mut used = make("auto").unwrap();
        let start = [1.0, 0.25];
        auto(&mut *used, first, &start);
        auto(&mut *used, first, &start);
        assert_eq!(auto(&mut *used, second, &start), auto(&mut *make("auto").unwrap(), second, &start));
    }
    let (r, one_of_many) = auto(&mut *make("auto").unwrap(), &shared, &[1.0, 0.25]);
    close(&r, &[0.625, 0.625], 1e-15, "shared");
    assert!(one_of_many);
}

#[test]
fn bounds_edges_and_single_blocks_are_looked_at_too() {
    let ones = || dense(&[&[1.0, 1.0], &[1.0, 1.0]]);
    let half = Set::Interval { lower: 0.0, upper: f64::INFINITY };
    let intervals = Problem::dense(vec![half; 2], ones(), vec![-1.0, -1.0]).unwrap();
    for start in [[0.0, 0.0], [1.1, -5.0], [1.0, 0.0]] {
        let (report, r, _) = from(&intervals, &start);
        close(&r, &[0.5, 0.5], 1e-14, "intervals");
        assert!(report.non_unique);
    }
    // Friction that has nothing to act on: any r_T within the cone, the least is none.
    let single =
        Problem::dense(vec![Set::Coulomb { dim: 1, mu: 0.5 }], dense(&[&[1.0, 0.0], &[0.0, 0.0]]), vec![-1.0, 0.0]);
    for start in [[0.0, 0.0], [1.0, 0.3]] {
        let (report, r, _) = from(single.as_ref().unwrap(), &start);
        close(&r, &[1.0, 0.0], 1e-14, "single");
        assert!(report.non_unique);
    }
    // A mode on the way that is singular says nothing of the one at the end.
    let a = dense(&[&[5.0, 1.0, -1.0], &[1.0, 2.0, 1.0], &[-1.0, 1.0, 1.0]]);
    let (report, r, _) = from(&Problem::lcp(a, vec![0.0, -2.0, 0.0]).unwrap(), &[0.0; 3]);
    close(&r, &[0.0, 1.0, 0.0], 1e-14, "unique");
    assert!(!report.non_unique);
}
