//! A race as one self-contained page.

use super::profile::Profile;
use super::results::Race;
use nonsmooth_scene::page::{STYLE, escape};
use std::fmt::Write;

/// The page with the picture of the profiles. `command` is how to make it again.
pub(super) fn html(race: &Race, profiles: &[Profile], picture: &str, command: &str) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let o = &mut out;
    let _ = write!(
        o,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>race</title>\
         <style>{STYLE}svg{{max-width:900px;display:block}}.best{{font-weight:600}}.no{{color:#999}}\
         td.file{{text-align:left;overflow-wrap:anywhere}}</style></head><body><h1>Solvers of one-step problems</h1>\
         <p class=\"note\">Residual below {:e}, at most {} s for each solver and problem. Made by <code>{}</code>, nonsmooth {}.</p>{picture}\
         <h2>Solvers</h2><table><tr><th>solver</th><th>solved</th><th>fastest</th><th>times the best</th></tr>",
        race.tolerance,
        race.time_limit,
        escape(command),
        env!("CARGO_PKG_VERSION")
    );
    for p in profiles {
        let mean = p.mean.map_or("-".into(), |m| format!("{m:.2}"));
        let _ = write!(
            o,
            "<tr><td>{}</td><td>{} of {}</td><td>{}</td><td>{mean}</td></tr>",
            escape(p.solver),
            p.solved,
            p.problems,
            (p.share[0] * p.problems as f64).round()
        );
    }
    let _ = write!(
        o,
        "</table><p class=\"note\">Times the best: geometric mean over the problems that a solver solved. In profiles and \
         ratios times below 1 µs, the resolution of the clock, count as 1 µs; the tables show them as measured.</p><h2>Problems</h2>\
         <p class=\"note\">Milliseconds, the fastest in bold; otherwise how a solver ended.</p>\
         <table><tr><th>file</th><th>kind</th><th>contacts</th><th>rows</th><th>rank</th>"
    );
    for s in &race.solvers {
        let _ = write!(o, "<th>{}</th>", escape(s));
    }
    let _ = write!(o, "</tr>");
    for e in &race.entries {
        let _ = write!(o, "<tr><td class=\"file\">{}</td>", escape(&e.file));
        match &e.found {
            Err(error) => {
                let first = error.lines().next().unwrap_or_default();
                let _ =
                    write!(o, "<td class=\"file no\" colspan=\"{}\">{}</td>", 4 + race.solvers.len(), escape(first));
            }
            Ok(p) => {
                let rank = p.rank.map_or("-".into(), |k| k.to_string());
                let _ = write!(o, "<td>{}</td><td>{}</td><td>{}</td><td>{rank}</td>", p.kind, p.contacts, p.rows);
                let fastest = p.fastest().map(|r| r.solver);
                for r in &p.runs {
                    let title = format!("{} iterations, residual {:.2e}", r.iterations, r.residual);
                    let (class, text) = if !r.status.solved() {
                        ("no", r.status.name().replace('_', " "))
                    } else {
                        let class = if Some(r.solver) == fastest { "best" } else { "" };
                        (class, milliseconds(r.seconds))
                    };
                    let _ = write!(o, "<td class=\"{class}\" title=\"{title}\">{text}</td>");
                }
            }
        }
        let _ = write!(o, "</tr>");
    }
    let _ = write!(o, "</table></body></html>");
    out
}

/// Three digits.
fn milliseconds(seconds: f64) -> String {
    let value = 1e3 * seconds;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        4
    };
    format!("{value:.digits$}")
}
