//! What problem files hold, a row per file.
//!
//! ```text
//! cargo run --release -p complementarity --example inspect -- FILE...
//! ```
//!
//! Prints kind, form (`reduced`, or `full` with the kernel of M̂), contacts, rows, nonzero blocks and their share,
//! ‖b‖₂, smallest and largest μ, and the asymmetry max |A − Aᵀ| / max |A|; a full problem is reduced first. Exits 1 if
//! a file cannot be read.

use complementarity::Problem;
use complementarity::format::{self, Form, Loaded, ProblemSummary};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    println!(
        "{:44} {:10} {:20} {:>8} {:>6} {:>7} {:>6} {:>10} {:>15} {:>10} guess",
        "file", "kind", "form", "contacts", "rows", "blocks", "share", "‖b‖", "mu", "asymmetry"
    );
    let mut code = ExitCode::SUCCESS;
    for path in std::env::args().skip(1) {
        let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let loaded = std::fs::read(&path)
            .map_err(|e| e.to_string())
            .and_then(|bytes| format::read(&bytes, None).map_err(|e| e.to_string()));
        match loaded {
            Ok(loaded) => println!("{name:44} {}", row(loaded)),
            Err(error) => {
                println!("{name:44} {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn row(loaded: Loaded) -> String {
    let start = format!("{:10}", loaded.kind.name());
    let guess = if loaded.guess.is_some() { "yes" } else { "" };
    match loaded.form {
        Form::Reduced(problem) => {
            let form = if problem.as_dense().is_some() { "reduced, dense" } else { "reduced, blocks" };
            format!("{start} {form:20} {:>8} {} {guess}", loaded.contacts, figures(&problem))
        }
        Form::Full(mut problem) => {
            let form = format!("full, {}", problem.matrix.kernel_name());
            match problem.reduce() {
                Ok(problem) => format!("{start} {form:20} {:>8} {} {guess}", loaded.contacts, figures(problem)),
                Err(singular) => format!("{start} {form:20} {:>8} {singular}", loaded.contacts),
            }
        }
    }
}

fn figures(problem: &Problem) -> String {
    let s = ProblemSummary::of(problem);
    let share = s.filled as f64 / (s.blocks * s.blocks).max(1) as f64;
    let mu = s.mu.map_or(String::new(), |(low, high)| format!("{low:.6}..{high:.6}"));
    let (rows, filled, b, asymmetry) = (s.rows, s.filled, s.b_norm, s.asymmetry);
    format!("{rows:>6} {filled:>7} {share:>6.3} {b:>10.4e} {mu:>15} {asymmetry:>10.2e}")
}
