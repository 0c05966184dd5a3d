//! The command `nonsmooth`.
//!
//! Exit codes: 0 done; 1 the run stopped or the problem is unsolved; 2 bad input; 130 interrupted.

mod arguments;
mod check;
mod errors;
mod list;
mod new;
mod run;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

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
        Command::Check { scene, request } => check::check(scene, request),
        Command::Show { name } => list::show(name),
        Command::New { file, force } => new::new(file, *force),
        Command::List { what, json } => list::list(*what, *json),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Arguments::command(), "nonsmooth", &mut std::io::stdout());
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|e| {
        eprintln!("{e}");
        ExitCode::from(2)
    })
}
