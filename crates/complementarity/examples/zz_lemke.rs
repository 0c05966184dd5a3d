//! debug
#[path = "../tests/random/mod.rs"]
mod random;
use complementarity::*;
use complementarity::linear::Dense;
fn det(a: &[f64], n: usize, s: &[usize]) -> f64 {
    let k = s.len(); let mut m = vec![0.0; k*k];
    for i in 0..k { for j in 0..k { m[i*k+j] = a[s[i]*n+s[j]]; } }
    let mut d = 1.0;
    for c in 0..k {
        let p = (c..k).max_by(|&x,&y| m[x*k+c].abs().total_cmp(&m[y*k+c].abs())).unwrap();
        if m[p*k+c] == 0.0 { return 0.0; }
        if p != c { for j in 0..k { m.swap(p*k+j, c*k+j); } d = -d; }
        d *= m[c*k+c];
        for i in c+1..k { let f = m[i*k+c]/m[c*k+c]; for j in c..k { m[i*k+j] -= f*m[c*k+j]; } }
    }
    d
}
fn main() {
    let k = Problem::lcp(Dense::from_rows(3,3,vec![1.,2.,0.,0.,1.,2.,2.,0.,1.]).unwrap(), vec![-1.;3]).unwrap();
    let mut r = vec![0.0;3];
    println!("kostreva {:?} {r:?}", solver::make("lemke").unwrap().solve(&k, &mut r, &Default::default()));
    for n in 2..=10 {
        let mut a = Dense::zeros(n,n);
        for i in 0..n { for j in 0..=i { a[(i,j)] = if i==j {1.} else {2.}; } }
        let q: Vec<f64> = (0..n).map(|i| -(0..=i).map(|k| 2f64.powi((n-k) as i32)).sum::<f64>()).collect();
        let p = Problem::lcp(a, q).unwrap();
        let mut r = vec![0.0;n];
        let rep = solver::make("lemke").unwrap().solve(&p, &mut r, &Default::default());
        println!("murty {n} {:?} pivots {} r {r:?}", rep.status, rep.pivots);
    }
    let mut g = random::Random::new(3);
    let mut bad = 0; let mut tried = 0;
    for _ in 0..2_000_000u64 {
        let n = g.count(3, 5);
        let a: Vec<f64> = (0..n*n).map(|k| if k % (n+1) == 0 { g.count(1,2) as f64 } else { g.count(0,4) as f64 - 2.0 }).collect();
        let p_matrix = (1u32..1<<n).all(|s| det(&a, n, &(0..n).filter(|i| s>>i&1==1).collect::<Vec<_>>()) > 0.5);
        if !p_matrix { continue; }
        tried += 1;
        let q: Vec<f64> = (0..n).map(|_| g.count(0, 2) as f64 - 1.0).collect();
        let p = Problem::lcp(Dense::from_rows(n,n,a.clone()).unwrap(), q.clone()).unwrap();
        let mut r = vec![0.0;n];
        let rep = solver::make("lemke").unwrap().solve(&p, &mut r, &Default::default());
        if !rep.solved() { bad += 1; if bad < 10 { println!("{:?} pivots {} {a:?} {q:?} {r:?}", rep.status, rep.pivots); } }
    }
    println!("{bad} of {tried}");
}
