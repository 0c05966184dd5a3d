//! Walks beside every scene and prints what breaks an invariant.
//!
//! ```text
//! nonsmooth-neighbours [--count N] [--seed S] [--from K] [--schemes A,B] [--scenes A,B] [--questions A,B] [--steps N] [--shrink DIR] [--bits] [--list] [--verbose] [-j N]
//! ```

use nonsmooth_neighbours::campaign;
use nonsmooth_neighbours::draw::{self, Domain, SCHEMES};
use nonsmooth_neighbours::judge::{Limits, Verdict};
use nonsmooth_neighbours::motion::Budget;
use nonsmooth_neighbours::shrink;
use nonsmooth_neighbours::walk::Question;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line says.
struct Arguments {
    domain: Domain,
    limits: Limits,
    from: u64,
    count: u64,
    threads: usize,
    shrink: Option<PathBuf>,
    /// The walks are printed, not run.
    list: bool,
    /// Stops and what could not be judged are printed one by one.
    verbose: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut this = Arguments {
        domain: Domain {
            seed: 1,
            schemes: SCHEMES.iter().map(|s| (*s).to_string()).chain(["augmented".into()]).collect(),
            scenes: Vec::new(),
            questions: Vec::new(),
            steps: 2000,
        },
        limits: Limits { budget: Budget { calls: 60_000, iterations: 600_000 }, bits: false, coarsest: 0.0 },
        from: 0,
        count: 1000,
        threads: 1,
        shrink: None,
        list: false,
        verbose: false,
    };
    let mut list = std::env::args().skip(1);
    while let Some(key) = list.next() {
        match key.as_str() {
            "--bits" => this.limits.bits = true,
            "--list" => this.list = true,
            "--verbose" => this.verbose = true,
            _ => {}
        }
        if ["--bits", "--list", "--verbose"].contains(&key.as_str()) {
            continue;
        }
        let value = list.next().ok_or_else(|| format!("{key} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{key} {value}: not a whole number"));
        let names = || value.split(',').map(|s| s.trim().to_string()).collect::<Vec<String>>();
        match key.as_str() {
            "--count" => this.count = number()?,
            "--seed" => this.domain.seed = number()?,
            "--from" => this.from = number()?,
            "--steps" => this.domain.steps = number()? as usize,
            "-j" => this.threads = number()? as usize,
            "--schemes" => this.domain.schemes = names(),
            "--scenes" => this.domain.scenes = names(),
            "--shrink" => this.shrink = Some(value.into()),
            "--questions" => {
                for name in names() {
                    let found = Question::ALL.iter().find(|q| q.name() == name);
                    this.domain.questions.push(*found.ok_or_else(|| format!("--questions {name}: unknown"))?);
                }
            }
            _ => return Err(format!("{key}: unknown; see the head of crates/neighbours/src/main.rs")),
        }
    }
    for name in &this.domain.schemes {
        if !nonsmooth::scheme::SCHEMES.iter().any(|s| s.name == name) {
            return Err(format!("--schemes {name}: unknown"));
        }
    }
    for name in &this.domain.scenes {
        if nonsmooth_neighbours::catalogue::find(name).is_none() {
            return Err(format!("--scenes {name}: unknown"));
        }
    }
    if this.domain.questions.is_empty() {
        // Half of the walks stand for themselves.
        this.domain.questions = Question::ALL.to_vec();
        this.domain.questions.extend([Question::Alone; 5]);
    }
    Ok(this)
}

fn main() -> ExitCode {
    let a = match arguments() {
        Ok(a) => a,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    if a.list {
        for number in a.from..a.from + a.count {
            let walk = draw::walk(&a.domain, number);
            println!("{} {}", walk.label, campaign::describe(&walk));
        }
        return ExitCode::SUCCESS;
    }
    // Panics are caught and counted; their messages would tear the table.
    std::panic::set_hook(Box::new(|_| {}));
    let verdicts = campaign::run(&a.domain, &a.limits, a.from, a.count, a.threads);
    let mut classes: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (walk, verdict) in &verdicts {
        match verdict {
            Verdict::Stopped(why) if a.verbose => {
                println!("STOPPED {} {}\n        {why}", walk.label, campaign::describe(walk));
            }
            Verdict::Open if a.verbose => println!("OPEN {} {}", walk.label, campaign::describe(walk)),
            _ => {}
        }
        let Verdict::Failed(failures) = verdict else { continue };
        for failure in failures {
            println!("FAILED {} {}\n       {failure}", walk.label, campaign::describe(walk));
        }
        let Some(worst) = failures.first() else { continue };
        let seen = classes.entry((format!("{} {}", walk.scheme, walk.entry), worst.name)).or_default();
        *seen += 1;
        if let Some(folder) = a.shrink.as_ref().filter(|_| *seen == 1) {
            let (small, failure) = shrink::shrink(walk, worst, &a.limits);
            let name = format!("{}-{}-{}.toml", small.scheme, small.entry, failure.name.replace([' ', ','], "_"));
            let path = folder.join(&name);
            if let Err(e) = std::fs::create_dir_all(folder) {
                println!("       {}: {e}", folder.display());
            }
            for (path, text) in shrink::files(&small, &failure, &path.display().to_string()) {
                match std::fs::write(&path, text) {
                    Ok(()) => println!("       smallest: {path} ({failure})"),
                    Err(e) => println!("       {path}: {e}"),
                }
            }
        }
    }
    println!();
    for (title, stops) in [("refused", false), ("stopped", true)] {
        for (n, why) in campaign::reasons(&verdicts, stops).iter().take(12) {
            println!("{title:<8} {n:>5}  {why}");
        }
    }
    if !classes.is_empty() {
        println!();
    }
    for ((what, name), n) in &classes {
        println!("class    {n:>5}  {what}: {name}");
    }
    print!("\n{}", campaign::table(&verdicts));
    ExitCode::from(u8::from(!classes.is_empty()))
}
