//! debug
#[path = "../tests/random/mod.rs"]
mod random;
use complementarity::*;
fn main() {
    let count: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let opt = Options::default();
    for f in random::FAMILIES {
        let (mut un, mut sing, mut gs, mut jac, mut none) = (0, 0, 0, 0, vec![]);
        let (mut infeasible, mut ray) = (0, 0);
        for i in 0..count {
            let s = f.problem(i);
            let p = &s.problem;
            let run = |n: &str, opt: &Options| { let mut r = vec![0.0; p.size()]; solver::make(n).unwrap().solve(p, &mut r, opt) };
            if i % 10 == 0 { let x = run("nsgs", &opt); if x.status == Status::Infeasible { infeasible += 1; } let x = run("lemke", &opt); if x.status == Status::Ray { ray += 1; } }
            if run("auto", &opt).solved() { continue; }
            un += 1;
            let mut singular = false;
            for (k, b) in p.blocks().iter().enumerate() {
                let d = b.set.dim();
                let mut a = [0.0; 36];
                p.diagonal_block(k, &mut a);
                let mut x = [0.0; 6];
                let (rank, _) = linear::dense::LeastNorm::default().solve(&a[..d * d], d, &[0.0; 6][..d], &mut x[..d], 1e-12);
                singular |= rank < d;
            }
            sing += singular as usize;
            let big = Options { max_iterations: 100000, ..opt };
            let g = run("gauss-seidel", &opt).solved();
            let j = run("jacobi", &opt).solved();
            gs += g as usize; jac += j as usize;
            if !g && !j { none.push((i, singular, run("gauss-seidel", &big).status, run("jacobi", &big).status)); }
        }
        println!("{}: unsolved {un} of {count}, singular diagonal block {sing}, gauss-seidel solves {gs}, jacobi {jac}, neither {none:?}; nsgs infeasible {infeasible}, lemke ray {ray} (of {})", f.name, count/10);
    }
}
