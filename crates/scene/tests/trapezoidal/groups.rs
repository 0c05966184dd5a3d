//! Independent groups of contacts: many are as one.

use super::{distance, run, scientific};

/// Blocks on a floor that are pushed to and fro, each a little later than the one before.
fn blocks(n: usize, late: f64) -> String {
    let join = |part: &dyn Fn(usize) -> String| (0..n).map(part).collect::<Vec<_>>().join(",");
    let contacts: String = (0..n)
        .map(|i| format!("[[contact]]\nname = \"c{i}\"\ngap = \"y{i}\"\nslip = \"x{i}'\"\nfriction = 0.8\n"))
        .collect();
    format!(
        "[model]\ncoordinates = [{}]\nmass = [{}]\n[[force]]\nname = \"weight\"\npotential = \"9.81*({})\"\n[[force]]\nname = \"push\"\nvalue = [{}]\n{contacts}[initial]\nq = [{}]\n[time]\nstep = 1e-2\nend = 2\n[scheme]\nname = \"moreau-jean\"\n",
        join(&|i| format!("\"x{i}\",\"y{i}\"")),
        join(&|_| "1,1".into()),
        (0..n).map(|i| format!("y{i}")).collect::<Vec<_>>().join("+"),
        join(&|i| format!("\"8*cos(t + {late}*{i})\",0")),
        join(&|_| "3,0".into()),
    )
}

#[test]
fn fifty_blocks_behave_as_one() {
    let mut differences = Vec::new();
    for p in 5..=8 {
        let h = 0.5f64.powi(p);
        let one = run(&blocks(1, 0.0), h, 2.0, &[]).0.end;
        let many = run(&blocks(50, 0.0), h, 2.0, &[]).0.end;
        for (q, u) in many.q.chunks(2).zip(many.u.chunks(2)) {
            // The same arithmetic but for the order of sums.
            assert!(distance(q, &one.q) <= 1e-13 && distance(u, &one.u) <= 1e-13, "{q:?} {u:?} {one:?}");
            assert!(u[0].abs() <= 1e-12, "it sticks at last: {u:?}");
        }
        differences.push(one.q[0]);
    }
    let steps: Vec<f64> = differences.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    println!("blocks: differences {}", scientific(&steps));
    assert!(steps.windows(2).all(|w| w[0] / w[1] >= 3.7), "{steps:?}");
}

#[test]
fn blocks_that_stop_one_after_the_other_do_not_disturb_each_other() {
    let h = 0.5f64.powi(7);
    let many = run(&blocks(30, 0.01), h, 2.0, &[]).0.end;
    for (i, (q, u)) in many.q.chunks(2).zip(many.u.chunks(2)).enumerate() {
        let alone = blocks(1, 0.0).replace("cos(t + 0*0)", &format!("cos(t + {})", 0.01 * i as f64));
        let one = run(&alone, 1e-4, 2.0, &[]).0.end;
        // The error of one block alone at this step is 4.6e-6 m.
        assert!(distance(q, &one.q) <= 1e-5 && u[0].abs() <= 1e-12, "block {i}: {q:?} {u:?}, alone {one:?}");
    }
}
