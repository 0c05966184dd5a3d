//! Bodies that fly at each other, over pairs of shapes, schemes, speeds and phases of a step: how many runs held them on their sides, how
//! many stopped, and how many let them pass without a word.
//!
//! ```sh
//! passing PHASES [SCHEME]
//! ```

#[path = "../tests/passing/cases.rs"]
mod cases;

use cases::{Outcome, cases};
use nonsmooth::scheme::SCHEMES;

/// Motion in a step over the depth of the middle.
const RATIOS: [f64; 9] = [0.1, 0.3, 0.55, 0.8, 0.99, 1.3, 2.2, 5.0, 10.0];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let phases: u32 = arguments.next().and_then(|p| p.parse().ok()).unwrap_or(10);
    let chosen = arguments.next();
    println!("motion in a step over the depth of the middle: {RATIOS:?}");
    println!("of each, over {phases} phases: held / stopped / passed");
    let mut all = 0;
    for info in SCHEMES.iter().filter(|s| chosen.as_ref().is_none_or(|c| c == s.name)) {
        for case in cases() {
            print!("{:<18} {:<50}", info.name, case.name);
            let mut why = None;
            for ratio in RATIOS {
                let (mut held, mut stopped, mut passed) = (0, 0, 0);
                for k in 0..phases {
                    match case.run(info.name, ratio, (f64::from(k) + 0.5) / f64::from(phases)) {
                        Outcome::Held(_) => held += 1,
                        Outcome::Stopped(reason) => {
                            stopped += 1;
                            why.get_or_insert(reason);
                        }
                        Outcome::Passed(_) => passed += 1,
                    }
                }
                all += passed;
                print!(" {held}/{stopped}/{passed}");
            }
            println!();
            if let Some(why) = why {
                println!("    {why}");
            }
        }
    }
    println!("{all} passed");
    std::process::exit(i32::from(all > 0));
}
