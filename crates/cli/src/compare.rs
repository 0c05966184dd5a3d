//! `nonsmooth compare`.

use crate::arguments::CompareArguments;
use crate::errors::Failed;
use nonsmooth_scene::compare::{
    CompareRequest, Comparison, ReferenceChoice, SchemeChoice, compare as run_comparison, compare_json, compare_page,
};
use nonsmooth_scene::output::{Folder, FolderError};
use nonsmooth_scene::page::shell_word;
use nonsmooth_scene::prepare::read;
use std::process::ExitCode;

pub(crate) fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failed> {
    let document = read(&arguments.scene)?;
    let reference = match &arguments.reference {
        Some(text) => ReferenceChoice::parse(text).map_err(|e| Failed(format!("--reference: {e}")))?,
        None => ReferenceChoice::Default,
    };
    let request = CompareRequest {
        schemes: SchemeChoice::parse_list(&arguments.schemes).map_err(|e| Failed(format!("--schemes: {e}")))?,
        steps: arguments.steps.clone(),
        reference,
        set: arguments.set.clone(),
        end: arguments.end,
        at: arguments.at.clone(),
        dense: arguments.dense,
        threads: arguments.threads,
    };
    if let Some(path) = &arguments.out {
        Folder::check(path, arguments.force).map_err(|e| Failed(e.to_string()))?;
    }
    let comparison = run_comparison(&document, &request).map_err(Failed)?;
    if let Some(path) = &arguments.out {
        let folder = Folder::open(path, arguments.force).map_err(|e| Failed(e.to_string()))?;
        let failed = |e: FolderError| Failed(e.to_string());
        let json = compare_json(&comparison) + "\n";
        folder.write("compare.json", json.as_bytes()).map_err(failed)?;
        let page = |out: &mut _| compare_page(out, &comparison, &document, &command(arguments));
        folder.write_with("compare.html", page).map_err(failed)?;
    }
    if arguments.json {
        say!("{}", compare_json(&comparison));
    } else {
        print_table(&comparison);
        if let Some(path) = &arguments.out {
            say!("files      {}: look at {}", path.display(), path.join("compare.html").display());
        }
    }
    // A scheme that fails is a row of the table; the command fails if no scheme succeeds.
    let any = comparison.rows.iter().any(|r| r.errors.is_some());
    Ok(if any { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The command that reproduces the page.
fn command(a: &CompareArguments) -> String {
    let list = |v: &[f64]| v.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (scene, schemes) = (shell_word(&a.scene), shell_word(&a.schemes));
    let mut out = format!("nonsmooth compare {scene} --schemes {schemes} --steps {}", list(&a.steps));
    if let Some(r) = &a.reference {
        out += &format!(" --reference {}", shell_word(r));
    }
    if let Some(t) = a.end {
        out += &format!(" --end {t}");
    }
    if !a.at.is_empty() {
        out += &format!(" --at {}", list(&a.at));
    }
    if a.dense {
        out += " --dense";
    }
    for s in &a.set {
        out += &format!(" --set {}", shell_word(s));
    }
    out
}

fn print_table(c: &Comparison) {
    say!("{}: errors against {}", c.scene, c.reference);
    let width = c.rows.iter().map(|r| r.label().len()).max().unwrap_or(6).max(6);
    let percussions = c.rows.iter().any(|r| r.errors.is_some_and(|e| e.p.is_some()));
    let more = if percussions { format!("   {:>9} {:>9}", "p L1", "p sup") } else { String::new() };
    say!(
        "{:width$}  {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}   {:>9} {:>9} {:>9}{more}",
        "scheme",
        "step",
        "calls",
        "seconds",
        "q L1",
        "q sup",
        "q graph",
        "u L1",
        "u sup",
        "u graph"
    );
    for r in &c.rows {
        let start = format!("{:width$}  {:>9.3e} {:>9} {:>9.4}", r.label(), r.step, r.calls, r.seconds);
        match (&r.errors, &r.reason) {
            (Some(e), _) => {
                let more = e.p.map_or(String::new(), |p| format!("   {:>9.3e} {:>9.3e}", p.l1, p.sup));
                say!(
                    "{start}   {:>9.3e} {:>9.3e} {:>9.3e}   {:>9.3e} {:>9.3e} {:>9.3e}{more}",
                    e.q.l1,
                    e.q.sup,
                    e.q.graph,
                    e.u.l1,
                    e.u.sup,
                    e.u.graph
                );
            }
            (None, reason) => say!("{start}   {}", reason.as_deref().unwrap_or("")),
        }
    }
    let more = if percussions { format!(" {:>16}", "p L1") } else { String::new() };
    say!("\n{:width$}  {:>16} {:>16} {:>16}{more}", "order", "q L1", "u L1", "u graph");
    let with = |v: Option<f64>, d: Option<f64>| match (v, d) {
        (Some(v), Some(d)) => format!("{v:.3} +- {d:.3}"),
        (Some(v), None) => format!("{v:.3}"),
        _ => "-".into(),
    };
    for o in &c.orders {
        let more = if percussions { format!(" {:>16}", with(o.p, o.p_uncertainty)) } else { String::new() };
        say!(
            "{:width$}  {:>16} {:>16} {:>16}{more}",
            o.scheme,
            with(o.q, o.q_uncertainty),
            with(o.u, o.u_uncertainty),
            with(o.u_graph, o.u_graph_uncertainty)
        );
    }
    for o in &c.orders {
        for (what, why) in o.missing() {
            say!("{}: no order of {what}: {why}", o.scheme);
        }
    }
}
