//! debug
#[path = "../tests/random/mod.rs"]
mod random;
use complementarity::*;
use random::verify::judge;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let s = random::named(&a[1]).problem(a[2].parse().unwrap());
    let p = &s.problem;
    for name in ["auto", "jacobi", "gauss-seidel", "nsgs", "newton", "lemke"] {
        let mut sol = solver::make(name).unwrap();
        let mut r = vec![0.0; p.size()];
        let rep = sol.solve(p, &mut r, &Default::default());
        let v = judge(p, &r);
        println!("{name}: {:?} {:e} it {} {} nonunique {} verdict {:e} {:e} |r| {:e}", rep.status, rep.residual, rep.iterations, rep.solver, rep.non_unique, v.violation, v.rounding, random::norm(&r));
        if a.len() > 3 {
            let mut u = vec![0.0; p.size()];
            p.velocity(&r, &mut u);
            for b in p.blocks() { let (s, d) = (b.start, b.set.dim()); println!("   {:?} r {:?} u {:?}", b.set, &r[s..s+d], &u[s..s+d]); }
        }
    }
    if a.len() > 4 { println!("{}", p.to_json()); println!("{:?}", s.planted); }
}
