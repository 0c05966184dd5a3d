//! The command `nonsmooth`.
//!
//! Exit codes: 0 done; 1 the run stopped or the problem is unsolved; 2 bad input; 130 interrupted.

/// A line on standard output. A reader that goes away (`| head`) is no error.
macro_rules! say {
    ($($argument:tt)*) => { crate::print_text(&(format!($($argument)*) + "\n")) };
}

mod arguments;
mod check;
mod compare;
mod errors;
mod list;
mod new;
mod problem;
mod race;
mod run;
mod solve;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// Text on standard output; a reader that goes away (`| head`) ends the printing, a full disk the program.
fn print_text(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output cannot be written: {e}");
            std::process::exit(1);
        }
        _ => {}
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(a) => a,
        Err(e) => {
            // Help and version go to standard output with code 0; a mistake is code 2.
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let result = match &arguments.command {
        Command::Run(options) => run::run(options),
        Command::Compare(options) => compare::compare(options),
        Command::Solve(options) => solve::solve(options),
        Command::Race(options) => race::race(options),
        Command::Check { scene, request } => check::check(scene, request),
        Command::Show { name } => list::show(name),
        Command::New { file, force } => new::new(file, *force),
        Command::List { what, json } => list::list(*what, *json),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "nonsmooth", &mut script);
            print_text(&String::from_utf8_lossy(&script));
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|e| {
        eprintln!("{e}");
        ExitCode::from(2)
    })
}
