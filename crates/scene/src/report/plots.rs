//! Plots: groups of curves over time at chosen rows, phase portraits, and the energy ledger.

use super::arrays::{Arrays, Data};
use super::thinning::Kept;
use crate::output::{Archive, Column, NOT_HIT, Recorded, Rows};
use crate::prepare::Prepared;
use nonsmooth::accounting::{Meter, potential_energy};
use nonsmooth::contract::{Candidates, Interaction};
use serde_json::{Value, json};
use std::io;

/// Most curves of a group.
const MAX_CURVES: usize = 64;
/// Most phase portraits.
const MAX_PORTRAITS: usize = 12;

/// A table of an array on the page.
struct Table {
    name: &'static str,
    width: usize,
    data: Vec<f32>,
}

impl Table {
    fn new(name: &'static str, width: usize) -> Self {
        Self { name, width, data: Vec::new() }
    }

    fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        self.data.extend(row.into_iter().map(|v| v as f32));
    }

    fn curve(&self, name: &str, unit: &str, column: usize) -> Value {
        json!({ "name": name, "unit": unit, "array": self.name, "column": column })
    }

    /// Removes columns that are zero everywhere; returns the others.
    fn compact(&mut self) -> Vec<usize> {
        let rows = || self.data.chunks_exact(self.width.max(1));
        let kept: Vec<usize> = (0..self.width).filter(|&c| rows().any(|row| row[c] != 0.0)).collect();
        self.data = rows().flat_map(|row| kept.iter().map(|&c| row[c])).collect();
        self.width = kept.len();
        kept
    }

    fn store(self, arrays: &mut Arrays) {
        arrays.add(self.name, self.width, Data::F4(self.data));
    }
}

/// A component of a percussion that is plotted.
struct Component {
    name: String,
    column: usize,
    /// Place of its interaction.
    place: usize,
}

/// Plots, the ledger, and the number of rows.
pub(super) struct Plots {
    pub(super) plots: Value,
    pub(super) ledger: Value,
}

fn group(title: &str, id: &str, series: Vec<Value>, all: usize, log: bool) -> Option<Value> {
    let note = (series.len() < all).then(|| format!("shown: {} of {all}", series.len()));
    (!series.is_empty()).then(|| json!({ "title": title, "id": id, "series": series, "note": note, "log": log }))
}

/// Makes the plots of the rows `kept`, whose values are the sums of the normal percussions of all contacts found in a row.
pub(super) fn plots(
    prepared: &Prepared,
    recorded: &Recorded,
    list: &Candidates,
    archive: &Archive,
    kept: &[Kept],
    arrays: &mut Arrays,
) -> io::Result<Plots> {
    let system = &prepared.evaluator();
    let s = system.structure();
    let (nq, nu) = (s.nq(), s.nu());
    let components = components(&recorded.columns);
    let shown = &components[..components.len().min(MAX_CURVES)];
    let contacts: Vec<(&Column, &Interaction)> =
        recorded.columns.iter().zip(list.items()).filter(|(c, _)| c.kind == "contact").collect();
    let gaps = &contacts[..contacts.len().min(MAX_CURVES)];
    let found = usize::from(!recorded.found.is_empty());
    let lines = lines(&recorded.ledger);

    let mut time = Vec::with_capacity(kept.len());
    let mut q_table = Table::new("plot_q", nq.min(MAX_CURVES));
    let mut u_table = Table::new("plot_u", nu.min(MAX_CURVES));
    let mut gap_table = Table::new("plot_gap", gaps.len());
    let mut force_table = Table::new("plot_force", shown.len() + found);
    let mut percussion_table = Table::new("plot_percussion", shown.len() + found);
    let mut step_table = Table::new("plot_step", 2);
    let mut energy_table = Table::new("plot_energy", 3);
    let mut certificate_table = Table::new("plot_certificate", 2);
    let mut ledger_table = Table::new("ledger", lines.len());
    let mut closure_table = Table::new("plot_closure", 1);

    let open = |name: &str| archive.rows(name);
    let (mut ts, mut dts, mut qs, mut us) = (open("t")?, open("dt")?, open("q")?, open("u")?);
    let (mut ps, mut impacts, mut orders) = (open("percussion")?, open("impact")?, open("order")?);
    let mut hits = open("hit")?;
    let (mut energies, mut closures, mut ledgers) =
        (archive.some("energy")?, archive.some("closure")?, archive.some("ledger")?);
    let mut certificate = archive.some("residual")?.zip(archive.some("penetration")?);
    let (mut q, mut u) = (vec![0.0; nq], vec![0.0; nu]);
    let mut hit = vec![0.0; hits.width()];
    let (mut p, mut work) = (vec![0.0; ps.width()], vec![0.0; ledgers.as_ref().map_or(0, Rows::width)]);
    let mut meter = Meter::default();
    let optional =
        |rows: &mut Rows, row: usize, out: &mut [f64]| if out.is_empty() { Ok(()) } else { rows.read(row, out) };
    for &Kept { row, value } in kept {
        let (t, dt) = (ts.one(row)?, dts.one(row)?);
        qs.read(row, &mut q)?;
        us.read(row, &mut u)?;
        optional(&mut ps, row, &mut p)?;
        optional(&mut hits, row, &mut hit)?;
        time.push(t);
        q_table.push(q.iter().take(MAX_CURVES).copied());
        u_table.push(u.iter().take(MAX_CURVES).copied());
        gap_table.push(gaps.iter().map(|(_, k)| {
            let mut gap = [0.0];
            system.position(k, t, &q, &mut gap);
            gap[0]
        }));
        let of_row = || shown.iter().map(|c| p[c.column]).chain((found > 0).then_some(value));
        percussion_table.push(of_row());
        // What is hit has no mean force, and the start no step. Contacts found are shown together.
        let smooth = |hit: bool| row > 0 && !hit;
        let of_shown = shown.iter().map(|c| smooth(hit[c.place] as u32 != NOT_HIT));
        let of_found = (found > 0).then_some(smooth(impacts.one(row)? != 0.0));
        let forces = of_row().zip(of_shown.chain(of_found));
        force_table.push(forces.map(|(p, smooth)| if smooth { p / dt } else { f64::NAN }));
        let in_step = |v: f64| if row > 0 { v } else { f64::NAN };
        step_table.push([in_step(dt), in_step(orders.one(row)?)]);
        if let Some((residuals, penetrations)) = &mut certificate {
            certificate_table.push([in_step(residuals.one(row)?), in_step(penetrations.one(row)?)]);
        }
        if let (Some(energies), Some(closures), Some(ledgers)) = (&mut energies, &mut closures, &mut ledgers) {
            let kinetic = meter.kinetic(system, t, &q, &u);
            energy_table.push([energies.one(row)?, kinetic, potential_energy(system, t, &q)]);
            optional(ledgers, row, &mut work)?;
            ledger_table.push(lines.iter().map(|&i| work[i]));
            closure_table.push([closures.one(row)?]);
        }
    }

    let units = &prepared.units;
    let q_curves = s.coordinates.iter().take(MAX_CURVES).enumerate();
    let q_curves = q_curves.map(|(i, name)| q_table.curve(name, units.coordinate(i), i)).collect();
    let u_curves = s.velocities.iter().take(MAX_CURVES).enumerate();
    let u_curves = u_curves.map(|(i, name)| u_table.curve(name, &units.velocity(i), i)).collect();
    let gap_curves = gaps.iter().enumerate().map(|(i, (c, _))| gap_table.curve(&c.name, "m", i)).collect();
    let named = || shown.iter().map(|c| c.name.as_str()).chain((found > 0).then_some("all contacts found, normal"));
    let of_components = |table: &Table, unit: &str| -> Vec<Value> {
        named().enumerate().map(|(i, name)| table.curve(name, unit, i)).collect()
    };
    let energy = |name: &str, column: usize| energy_table.curve(name, "J", column);
    let energy_curves = vec![energy("kinetic + potential", 0), energy("kinetic", 1), energy("potential", 2)];
    let certificate_curves =
        vec![certificate_table.curve("residual", "", 0), certificate_table.curve("penetration", "m", 1)];
    let order = if prepared.adaptive() { vec![step_table.curve("order", "", 1)] } else { Vec::new() };
    let all = components.len() + found;
    let groups: Vec<Value> = [
        group("Coordinates", "coordinates", q_curves, nq, false),
        group("Velocities", "velocities", u_curves, nu, false),
        group("Gaps", "gaps", gap_curves, contacts.len(), false),
        group("Mean forces of steps without impact", "forces", of_components(&force_table, "N"), all, false),
        group("Percussions", "percussions", of_components(&percussion_table, "N s"), all, false),
        group("Step size", "step", vec![step_table.curve("step", "s", 0)], 1, true),
        group("Order", "order", order, 0, false),
        energies.as_ref().and_then(|_| group("Energy", "energy", energy_curves, 3, false)),
        certificate.as_ref().and_then(|_| group("Certificate", "certificate", certificate_curves, 2, true)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let portraits = if s.identity_kinematics() { nq.min(MAX_PORTRAITS) } else { 0 };
    let axis = |table: &Table, i: usize, unit: &str| json!({ "array": table.name, "column": i, "unit": unit });
    let phase: Vec<Value> = (0..portraits)
        .map(|i| {
            let (x, y) = (axis(&q_table, i, units.coordinate(i)), axis(&u_table, i, &units.velocity(i)));
            json!({ "name": &s.coordinates[i], "x": x, "y": y })
        })
        .collect();
    let kept_lines = ledger_table.compact();
    let line = |(i, &k): (usize, &usize)| json!({ "name": recorded.ledger[lines[k]], "array": "ledger", "column": i });
    let ledger = energies.is_some().then(|| {
        json!({
            "time": "plot_t",
            "series": kept_lines.iter().enumerate().map(line).collect::<Vec<_>>(),
            "energy": { "array": energy_table.name, "column": 0 },
            "closure": { "array": closure_table.name, "column": 0 },
        })
    });
    arrays.add("plot_t", 1, Data::F8(time));
    let tables = [q_table, u_table, gap_table, force_table, percussion_table, step_table, energy_table];
    for table in tables.into_iter().chain([certificate_table, ledger_table, closure_table]) {
        if !table.data.is_empty() {
            table.store(arrays);
        }
    }
    Ok(Plots { plots: json!({ "time": "plot_t", "groups": groups, "phase": phase }), ledger: json!(ledger) })
}

/// Components of all percussions with names: of a contact its normal and friction, of others the parts.
fn components(columns: &[Column]) -> Vec<Component> {
    let mut out = Vec::new();
    for (place, c) in columns.iter().enumerate() {
        for k in 0..c.dim {
            let part = match (c.kind, k, c.dim) {
                ("contact", 0, _) => " normal".into(),
                ("contact", 1, 2) => " friction".into(),
                ("contact", ..) => format!(" friction {k}"),
                (_, _, 1) => String::new(),
                _ => format!(" {}", k + 1),
            };
            out.push(Component { name: format!("{}{part}", c.name), column: c.first + k, place });
        }
    }
    out
}

/// Lines of the ledger that are shown: of very many the first forces, and all that are not forces.
fn lines(names: &[String]) -> Vec<usize> {
    let others = names.iter().filter(|n| !n.starts_with("force.")).count();
    let forces = (names.len() - others).min(MAX_CURVES.saturating_sub(others));
    (0..forces).chain(names.len() - others..names.len()).collect()
}
