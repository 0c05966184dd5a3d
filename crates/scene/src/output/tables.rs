//! Events as CSV and everything needed to run again as JSON.

use super::recorder::Recorded;
use crate::file::WatchList;
use crate::model::bodies::Drawn;
use crate::prepare::Prepared;
use nonsmooth::scheme::{OptionKind, Setting};
use nonsmooth::simulation::Event;
use nonsmooth_multibody::Shape;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The events, one per line; with the laws that switched where a scheme tells of them, and the numbers of impacts.
pub fn events_csv(events: &[Event]) -> String {
    let switches = events.iter().any(|e| e.change.is_some());
    let mut out = String::from(if switches { "t,kind,contact,law,from,to" } else { "t,kind,contact" });
    out.push_str(",percussion,approach,separation,energy_lost\n");
    for e in events {
        // Names are identifiers: nothing needs quotes.
        let _ = write!(out, "{:?},{},{}", e.t, e.kind.name(), e.contact.as_deref().unwrap_or(""));
        let (law, from, to) = e.change.map_or(("", "", ""), |c| (c.law, c.from, c.to));
        if switches {
            let _ = write!(out, ",{law},{from},{to}");
        }
        let _ = match e.impact {
            Some(i) => writeln!(out, ",{:?},{:?},{:?},{:?}", i.percussion, i.approach, i.separation, i.energy_lost),
            None => writeln!(out, ",,,,"),
        };
    }
    out
}

/// FNV-1a of a text, 64 bits.
pub fn scene_hash(text: &str) -> String {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("fnv1a64:{hash:016x}")
}

/// Every option of the scheme with the value that it has.
pub(crate) fn resolved(prepared: &Prepared) -> Map<String, Value> {
    let mut out = Map::new();
    for o in nonsmooth::scheme::options(prepared.scheme, &prepared.settings) {
        let value = match (prepared.settings.get(o.key), o.kind) {
            (Some(Setting::Number(v)), _) => json!(v),
            (Some(Setting::Word(w)), _) => json!(w),
            (None, OptionKind::Number { default, .. }) => json!(default),
            (None, OptionKind::Automatic { .. }) => json!("auto"),
            (None, OptionKind::Choice { default, .. }) => json!(default),
        };
        out.insert(o.key.into(), value);
    }
    out.insert("stabilise".into(), json!(prepared.options.stabilise));
    out
}

/// What is drawn of a body.
fn body_json(body: &Drawn) -> Value {
    let shapes: Vec<Value> = body.shapes.iter().map(shape_json).collect();
    json!({ "name": body.name, "shapes": shapes, "colour": body.colour, "first_coordinate": body.first,
        "pose": [body.pose.centre[0], body.pose.centre[1], body.pose.angle] })
}

fn shape_json(shape: &Shape) -> Value {
    match shape {
        Shape::Disc { centre, radius } => json!({ "disc": { "centre": centre, "radius": radius } }),
        Shape::InnerCircle { centre, radius } => json!({ "inner_circle": { "centre": centre, "radius": radius } }),
        Shape::HalfPlane { point, normal } => json!({ "half_plane": { "point": point, "normal": normal } }),
        Shape::Segment { from, to, radius } => {
            json!({ "segment": { "from": from, "to": to, "thickness": 2.0 * radius } })
        }
        Shape::Box { centre, half, angle } => {
            json!({ "rectangle": { "centre": centre, "width": 2.0 * half[0], "height": 2.0 * half[1], "angle": angle } })
        }
    }
}

/// What was run and how.
pub fn meta_json(prepared: &Prepared, recorded: &Recorded, status: &str) -> String {
    let s = prepared.system.structure();
    let o = &prepared.options;
    let world = prepared.scene.world.as_ref();
    let seed = world.and_then(|w| w.seed.as_ref());
    let seed = seed.and_then(|f| prepared.numbers.clone().evaluate(&prepared.document, f).ok());
    let mut value = json!({
        "format": "nonsmooth run 1",
        "version": env!("CARGO_PKG_VERSION"),
        "scene": prepared.document.name,
        "scene_text": prepared.document.text,
        "scene_hash": scene_hash(&prepared.document.text),
        "overrides": prepared.document.overrides.iter().map(|o| &o.text).collect::<Vec<_>>(),
        "status": status,
        "scheme": prepared.scheme.name,
        "scheme_options": resolved(prepared),
        "solver": { "name": o.solver, "tol": o.solver_options.tolerance, "max_iterations": o.solver_options.max_iterations },
        "time": { "step": o.step, "end": o.end },
        "initial": { "q": prepared.start.q, "u": prepared.start.u, "tolerance": o.initial_tolerance },
        "parameters": prepared.numbers.iter().map(|(k, v)| (k.to_string(), json!(v))).collect::<Map<_, _>>(),
        "record_every": prepared.every,
        "watched": WatchList(o.observe).names().0,
        "seed": seed,
        "threads": world.and_then(|w| w.threads).unwrap_or(1),
        "coordinates": s.coordinates,
        "velocities": s.velocities,
        "interactions": recorded.columns,
        "arrays": {
            "t": "time, s",
            "dt": "length of the step that ended here, s",
            "q": "coordinates (see `coordinates`)",
            "u": "velocities, right limit (see `velocities`)",
            "percussion": "percussions of the step, N s (see `interactions`)",
            "impact": "1 where something was hit in the step, else 0",
            "hit": "1 where the interaction was hit in the step, 2 where it carries the remainder of an impact that the scheme spreads over steps, else 0",
            "order": "order of the step; 0 at the start",
            "sigma": "discrete state: bit 0 normal law, bit 1 friction; 1 = impressed (open, slipping), 0 = constraint",
        },
    });
    let mut explain = |arrays: &[(&str, &str)]| {
        arrays.iter().for_each(|(name, text)| value["arrays"][name] = json!(text));
    };
    if o.observe.energy {
        explain(&[
            ("energy", "kinetic plus potential energy, J"),
            ("ledger", "work since the start, J (see `ledger`)"),
            ("closure", "energy minus that at the start minus all lines of the ledger, J"),
        ]);
    }
    if o.observe.certificate {
        explain(&[
            ("residual", "largest residual of the certificate of the step"),
            ("penetration", "largest penetration, m"),
        ]);
    }
    if !prepared.drawn.is_empty() {
        explain(&[
            ("found_row", "row of t in which a contact found by detection carried a percussion"),
            ("found_contact", "which contact: place in the list `found`"),
            ("found_percussion", "its percussion, normal and tangential, N s"),
            ("found_sigma", "its discrete state, as in sigma"),
        ]);
        value["bodies"] = prepared.drawn.iter().map(body_json).collect();
        value["found"] = recorded.found.iter().map(|f| json!(prepared.system.name(f.id))).collect();
    }
    if o.observe.energy {
        value["ledger"] = json!(recorded.ledger);
    }
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}
