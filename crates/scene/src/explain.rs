//! A scene explained: the model as the engine understands it, at its start.

use crate::file::{Fault, Origin, SceneError};
use crate::formula::Unlocated;
use crate::model::{Break, MAX_BREAKS};
use crate::prepare::Prepared;
use complementarity::linear::Matrix;
use complementarity::linear::dense::LeastNorm;
use nonsmooth::accounting::{Meter, potential_energy};
use nonsmooth::contract::{Candidates, Kind, Reach};
use nonsmooth::law::{ElementSets, Friction, Law, Normal};
use nonsmooth::names::Names;
use std::fmt::Write;

/// Most velocities of a system whose mass matrix is shown.
const MAX_SHOWN_VELOCITIES: usize = 12;

/// Explains a scene; errors are those that a run would end with before its first step.
pub fn explain(p: &Prepared) -> Result<String, SceneError> {
    let simulation = p.simulation()?;
    let mut warnings = simulation.warnings().to_vec();
    drop(simulation);
    let mut out = String::new();
    let system = &p.evaluator();
    let s = system.structure();
    let (q, u) = (&p.start.q, &p.start.u);
    // Writing to a string cannot fail.
    let o = &mut out;
    let _ = writeln!(o, "{}", p.heading());
    let _ = writeln!(o, "scheme        {}, step {} s, end {} s", p.scheme.name, p.options.step, p.options.end);
    let _ = writeln!(o, "\ncoordinates and their start");
    list_values(o, &s.coordinates, q);
    let kinematics = if s.identity_kinematics() { "the rates of the coordinates" } else { "own, by [kinematics]" };
    let _ = writeln!(o, "velocities ({kinematics})");
    list_values(o, &s.velocities, u);
    bodies(o, p);

    mass(o, p);
    let _ = writeln!(o, "\nforces");
    for (i, f) in s.forces.iter().enumerate() {
        let kind = if f.potential {
            format!("potential, {:.6e} J at the start", system.potential(i, p.start.t, q))
        } else {
            "by value".into()
        };
        let _ = writeln!(o, "  {:<14} {kind}{}", f.name, if f.constant_jacobian { ", linear" } else { "" });
    }
    let kinetic = Meter::default().kinetic(system, p.start.t, q, u);
    let potential = potential_energy(system, p.start.t, q);
    let _ = writeln!(o, "energy        kinetic {kinetic:.6e} J, potential {potential:.6e} J");

    let mut list = Candidates::default();
    system.candidates(p.start.t, q, u, Reach::ALL, &mut list);
    joints(o, p, &list, &mut warnings);
    interactions(o, p, &list);
    breaks(o, p, &mut warnings);
    warnings.extend(p.warnings.iter().cloned());
    for name in p.numbers.unused() {
        warnings.push(format!("parameter `{name}` is not used"));
    }
    for name in &p.unused {
        warnings.push(format!("definition `{name}` is not used"));
    }
    if warnings.is_empty() {
        let _ = writeln!(o, "\nno warnings");
    }
    for w in &warnings {
        let _ = writeln!(o, "\nwarning: {w}");
    }
    Ok(out)
}

/// Names and values; the first and last of many.
fn list_values(o: &mut String, names: &Names, values: &[f64]) {
    let n = names.len();
    for (i, (name, v)) in names.iter().zip(values).enumerate() {
        if n > MAX_LISTED_VALUES && i == MAX_LISTED_VALUES / 2 {
            let _ = writeln!(o, "  ... {} more", n - MAX_LISTED_VALUES);
        }
        if n <= MAX_LISTED_VALUES || i < MAX_LISTED_VALUES / 2 || i + MAX_LISTED_VALUES / 2 >= n {
            let _ = writeln!(o, "  {name:<14} {v:>16.8e}");
        }
    }
}

/// Most values of a list that are shown.
const MAX_LISTED_VALUES: usize = 24;

fn bodies(o: &mut String, p: &Prepared) {
    if p.drawn.is_empty() {
        return;
    }
    let free = p.drawn.iter().filter(|b| b.first.is_some()).count();
    let _ = writeln!(o, "\nbodies        {} ({free} move by forces)", p.drawn.len());
    let mut counts: std::collections::BTreeMap<&str, usize> = Default::default();
    p.drawn.iter().flat_map(|b| &b.shapes).for_each(|s| *counts.entry(s.kind()).or_default() += 1);
    let shapes: Vec<String> = counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let _ = writeln!(o, "shapes        {}", shapes.join(", "));
    let (reach, mut list) = (Reach { time: p.options.step, distance: 0.0 }, Candidates::default());
    p.evaluator().candidates(p.start.t, &p.start.q, &p.start.u, reach, &mut list);
    let (mut near, mut least) = (0, f64::INFINITY);
    for k in list.items().iter().filter(|k| k.detected()) {
        let mut g = [0.0];
        p.evaluator().position(k, p.start.t, &p.start.q, &mut g);
        (near, least) = (near + 1, least.min(g[0]));
    }
    let _ = match near {
        0 => writeln!(o, "near contacts none at the start"),
        _ => writeln!(o, "near contacts {near} at the start, smallest gap {least:.3e} m"),
    };
}

/// Known times, by where they come from, and conditions on the time whose times are not known.
fn breaks(o: &mut String, p: &Prepared, warnings: &mut Vec<String>) {
    let place = |origin: &Origin| p.document.explain(&Fault::new(origin, "")).place.unwrap_or_default();
    let mut groups: Vec<(&Break, Vec<f64>)> = Vec::new();
    for b in &p.breaks.list {
        match groups
            .iter_mut()
            .find(|(first, _)| first.operation == b.operation && (b.operation.is_none() || first.origin == b.origin))
        {
            Some((_, times)) => times.push(b.t),
            None => groups.push((b, vec![b.t])),
        }
    }
    if !groups.is_empty() {
        let _ = writeln!(o, "\nbreaks");
    }
    for (first, times) in groups {
        let shown: Vec<String> = times.iter().take(MAX_LISTED_BREAKS).map(|t| format!("{t}")).collect();
        let more = match times.len().saturating_sub(MAX_LISTED_BREAKS) {
            0 => String::new(),
            n => format!(" and {n} more up to {}", times[times.len() - 1]),
        };
        let from = first.operation.map_or("`model.breaks`".into(), |name| format!("`{name}`"));
        let _ = writeln!(o, "  {} s{more}: {from} at {}", shown.join(", "), place(&first.origin));
    }
    for open in &p.breaks.open {
        let (name, place) = (open.operation, place(&open.origin));
        match open.why {
            Unlocated::State => {
                let _ = writeln!(o, "  not located: `{name}` at {place} depends on the motion too");
            }
            Unlocated::Many => warnings.push(format!(
                "`{name}` at {place} depends on the time and is not located: it switches more than {MAX_BREAKS} times, or its times \
                 cannot be told apart. A step does not end there"
            )),
        }
    }
}

/// Most times that are listed for one formula.
const MAX_LISTED_BREAKS: usize = 8;

fn mass(o: &mut String, p: &Prepared) {
    let s = p.system.structure();
    let n = s.nu();
    let from = if p.lagrangian { "from the kinetic energy" } else { "as given" };
    let _ =
        writeln!(o, "\nmass matrix at the start ({from}, {})", if s.constant_mass { "constant" } else { "changing" });
    if n > MAX_SHOWN_VELOCITIES {
        let _ = writeln!(o, "  {n} x {n}, not shown");
        return;
    }
    let mut m = Matrix::new(&s.mass_pattern);
    p.evaluator().mass(p.start.t, &p.start.q, &mut m);
    for i in 0..n {
        let row: Vec<String> = (0..n).map(|j| format!("{:>14.6e}", m.get(i, j))).collect();
        let _ = writeln!(o, "  {:<8} {}", &s.velocities[i], row.join(" "));
    }
}

fn joints(o: &mut String, p: &Prepared, list: &Candidates, warnings: &mut Vec<String>) {
    let s = p.system.structure();
    let n = s.nu();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut shown = false;
    for k in list.items() {
        if !matches!(k.kind, Kind::Joint | Kind::VelocityJoint) {
            continue;
        }
        if !shown {
            let _ = writeln!(o, "\njoints");
            shown = true;
        }
        let (mut w, mut chi) = (vec![0.0; k.dim() * k.dofs.len()], vec![0.0; k.dim()]);
        p.evaluator().velocity(k, p.start.t, &p.start.q, &mut w, &mut chi);
        let mut defect = 0.0f64;
        let mut rate = 0.0f64;
        for r in 0..k.dim() {
            let mut row = vec![0.0; n];
            for (c, &d) in k.dofs.iter().enumerate() {
                row[d as usize] = w[r * k.dofs.len() + c];
            }
            rate = rate.max((chi[r] + row.iter().zip(&p.start.u).map(|(a, b)| a * b).sum::<f64>()).abs());
            rows.push(row);
        }
        if k.kind == Kind::Joint {
            let mut g = vec![0.0; k.dim()];
            p.evaluator().position(k, p.start.t, &p.start.q, &mut g);
            defect = g.iter().fold(0.0, |m, v| m.max(v.abs()));
        }
        let level = if k.kind == Kind::Joint { "position" } else { "velocity" };
        let name = p.system.name(k.id);
        let _ = writeln!(o, "  {name:<14} {} on {level} level, defect {defect:.2e}, rate {rate:.2e}", count(k.dim()));
    }
    if rows.is_empty() || rows.len() > 400 {
        return;
    }
    // Rank of W_gᵀ by that of its Gram matrix.
    let m = rows.len();
    let gram: Vec<f64> = (0..m * m).map(|k| rows[k / m].iter().zip(&rows[k % m]).map(|(a, b)| a * b).sum()).collect();
    let (rank, _) = LeastNorm::default().solve(&gram, m, &vec![0.0; m], &mut vec![0.0; m], 1e-12);
    let _ = writeln!(o, "  {} of rank {rank}, {} left", count(m), plural(n - rank.min(n), "degree", " of freedom"));
    if rank < m {
        warnings.push(format!("{} of {m} joint constraints are redundant at the start", m - rank));
    }
}

fn count(n: usize) -> String {
    plural(n, "constraint", "")
}

fn plural(n: usize, word: &str, rest: &str) -> String {
    format!("{n} {word}{}{rest}", if n == 1 { "" } else { "s" })
}

fn interactions(o: &mut String, p: &Prepared, list: &Candidates) {
    for (kind, title) in [(Kind::Contact, "contacts"), (Kind::Element, "elements")] {
        let mut shown = false;
        for k in list.items().iter().filter(|k| k.kind == kind) {
            if !shown {
                let _ = writeln!(o, "\n{title}");
                shown = true;
            }
            let n = k.dofs.len();
            let (mut w, mut chi) = (vec![0.0; k.dim() * n], vec![0.0; k.dim()]);
            p.evaluator().velocity(k, p.start.t, &p.start.q, &mut w, &mut chi);
            let gamma: Vec<f64> =
                (0..k.dim()).map(|r| chi[r] + k.row_times(&w[r * n..(r + 1) * n], &p.start.u)).collect();
            let name = p.system.name(k.id);
            let law = law_text(&k.law);
            if kind == Kind::Contact {
                let mut g = [0.0];
                p.evaluator().position(k, p.start.t, &p.start.q, &mut g);
                let mode = match (g[0] <= 0.0, gamma[0]) {
                    (false, v) if v < 0.0 => "open, approaching",
                    (false, _) => "open",
                    (true, v) if v > 1e-12 => "touching, separating",
                    (true, v) if v < -1e-12 => "touching, approaching (impact in the first step)",
                    (true, _) => "closed",
                };
                let slip = if k.dim() > 1 { format!(", slip {:?} m/s", &gamma[1..]) } else { String::new() };
                let _ = writeln!(o, "  {name:<14} gap {:.6e} m, rate {:.4e} m/s, {mode}{slip}", g[0], gamma[0]);
                let _ = writeln!(o, "  {:<14} {law}", "");
            } else {
                let _ = writeln!(o, "  {name:<14} velocity {gamma:?}, {law}");
            }
        }
    }
}

fn law_text(law: &Law) -> String {
    match law {
        Law::Bilateral => "bilateral".into(),
        Law::Contact(c) => {
            let normal = match c.normal {
                Normal::Newton { e } => format!("Newton restitution {e}"),
                Normal::Poisson { e } => format!("Poisson restitution {e}"),
            };
            let friction = match &c.friction {
                None => "frictionless".into(),
                Some(Friction::Coulomb { mu }) => format!("Coulomb friction {mu} in {} dimension(s)", c.slip_dim),
                Some(Friction::Polyhedral { mu, .. }) => format!("polyhedral friction {mu}"),
                Some(Friction::Tresca { bound }) => format!("friction bound {bound} N"),
            };
            let tangential = if c.e_tangential > 0.0 {
                format!(", tangential restitution {}", c.e_tangential)
            } else {
                String::new()
            };
            format!("{normal}, {friction}{tangential}")
        }
        Law::Element(e) => match &e.sets {
            ElementSets::Ball { force, impulse } => format!("|force| <= {force} N, |impulse| <= {impulse} N s"),
            ElementSets::Box { force, .. } => format!("force in {force:?} N"),
        },
    }
}
