//! debug
use complementarity::*;
use complementarity::linear::Dense;
fn d(n: usize, v: &[f64]) -> Dense { Dense::from_rows(n, n, v.to_vec()).unwrap() }
fn main() {
    let inf = f64::INFINITY;
    let list: Vec<(&str, Problem)> = vec![
        ("contradictory", Problem::dense(vec![Set::Free{dim:1};2], d(2,&[1.,1.,1.,1.]), vec![1.,2.]).unwrap()),
        ("contradictory one block", Problem::dense(vec![Set::Free{dim:2}], d(2,&[1.,1.,1.,1.]), vec![1.,2.]).unwrap()),
        ("contradictory + contact", Problem::dense(vec![Set::Free{dim:1},Set::Free{dim:1},Set::NonNegative], d(3,&[1.,1.,0.,1.,1.,0.,0.,0.,1.]), vec![1.,2.,-1.]).unwrap()),
        ("M=0 q<0", Problem::lcp(d(2,&[0.;4]), vec![-1.,1.]).unwrap()),
        ("fixed 2d", Problem::dense(vec![Set::Coulomb{dim:1,mu:0.5}], d(2,&[0.;4]), vec![-1.,0.5]).unwrap()),
        ("fixed 3d", Problem::dense(vec![Set::Coulomb{dim:2,mu:0.5}], d(3,&[0.;9]), vec![-1.,0.5,0.]).unwrap()),
        ("fixed 3d + ok", Problem::dense(vec![Set::Coulomb{dim:2,mu:0.5},Set::NonNegative], d(4,&[0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,1.]), vec![-1.,0.5,0.,-1.]).unwrap()),
        ("fixed poly", Problem::dense(vec![Set::Polyhedral{mu:0.5,polygon:std::sync::Arc::new(Polygon::regular(4).unwrap())}], d(3,&[0.;9]), vec![-1.,0.5,0.]).unwrap()),
        ("wedge", Problem::lcp(d(2,&[1.,-1.,-1.,1.]), vec![-1.,-1.]).unwrap()),
        ("box", Problem::dense(vec![Set::Interval{lower:-1.,upper:inf}], d(1,&[0.]), vec![-1.]).unwrap()),
        ("box free", Problem::dense(vec![Set::Interval{lower:-inf,upper:inf}], d(1,&[0.]), vec![-1.]).unwrap()),
        ("OK box", Problem::dense(vec![Set::Interval{lower:-1.,upper:2.}], d(1,&[0.]), vec![-1.]).unwrap()),
        ("OK ball A=0", Problem::dense(vec![Set::Ball{dim:2,radius:1.}], d(2,&[0.;4]), vec![3.,4.]).unwrap()),
        ("OK ball A=0, weak b", Problem::dense(vec![Set::Ball{dim:2,radius:1.}], d(2,&[0.;4]), vec![0.3,0.4]).unwrap()),
        ("OK ball rank1", Problem::dense(vec![Set::Ball{dim:2,radius:1.}], d(2,&[1.,0.,0.,0.]), vec![0.,1.]).unwrap()),
        ("OK coulomb rank 2", Problem::dense(vec![Set::Coulomb{dim:2,mu:0.5}], d(3,&[1.,0.,0.,0.,1.,0.,0.,0.,0.]), vec![-1.,0.,1.]).unwrap()),
        ("OK coulomb rank 2 b", Problem::dense(vec![Set::Coulomb{dim:2,mu:0.5}], d(3,&[1.,0.,0.,0.,1.,0.,0.,0.,0.]), vec![-1.,0.25,0.1]).unwrap()),
        ("OK coulomb rank 1", Problem::dense(vec![Set::Coulomb{dim:2,mu:0.5}], d(3,&[1.,0.5,0.,0.5,0.25,0.,0.,0.,0.]), vec![-1.,1.,1.]).unwrap()),
        ("OK poly rank 2", Problem::dense(vec![Set::Polyhedral{mu:0.5,polygon:std::sync::Arc::new(Polygon::regular(4).unwrap())}], d(3,&[1.,0.,0.,0.,1.,0.,0.,0.,0.]), vec![-1.,0.,1.]).unwrap()),
        ("OK planar no tangential", Problem::dense(vec![Set::Coulomb{dim:1,mu:0.5}], d(2,&[1.,0.,0.,0.]), vec![-1.,1.]).unwrap()),
        ("empty", Problem::dense(vec![], Dense::zeros(0,0), vec![]).unwrap()),
        ("b=0", Problem::lcp(d(2,&[1.,0.,0.,1.]), vec![0.,0.]).unwrap()),
    ];
    for (n, p) in &list {
        println!("== {n}");
        for s in solver::SOLVERS {
            let mut r = vec![0.0; p.size()];
            let t = std::time::Instant::now();
            let rep = (s.make)().solve(p, &mut r, &Default::default());
            println!("  {:14} {:?} res {:e} it {} by {} r {r:?} {:?}", s.name, rep.status, rep.residual, rep.iterations, rep.solver, t.elapsed());
        }
    }
}
