//! Walks from a seed.

use crate::catalogue::{Entry, SCENES};
use crate::random::Random;
use crate::walk::{self, Change, Question, Walk};
use nonsmooth_scene::file::{Document, Value};

/// Which walks are drawn.
#[derive(Debug, Clone)]
pub struct Domain {
    /// Seed.
    pub seed: u64,
    /// Schemes.
    pub schemes: Vec<String>,
    /// Scenes by name; empty for all.
    pub scenes: Vec<String>,
    /// Questions.
    pub questions: Vec<Question>,
    /// Most steps of a walk.
    pub steps: usize,
}

/// Schemes with their shares, and options that are tried. `position-theta` has no law of impacts: it is a contrast, not a scheme to judge.
pub const SCHEMES: [&str; 9] = [
    "moreau-jean",
    "moreau-midpoint",
    "schatzman-paoli",
    "projected-direct",
    "projected-combined",
    "rattle",
    "trapezoidal-lcp",
    "tdg-minus",
    "tdg-plus",
];

const OPTIONS: &[(&str, &str, &[&str])] = &[
    ("moreau-jean", "theta", &["0.5", "0.6", "1"]),
    ("moreau-jean", "forecast", &["explicit", "free"]),
    ("moreau-jean", "stabilise", &["none", "projection"]),
    ("moreau-midpoint", "stabilise", &["none", "projection"]),
    ("schatzman-paoli", "theta", &["0", "0.5", "1"]),
    ("projected-direct", "theta", &["0.5", "1"]),
    ("projected-direct", "forecast", &["explicit", "free"]),
    ("projected-combined", "theta", &["0.5", "1"]),
    ("projected-combined", "coupling", &["decoupled", "coupled"]),
    ("rattle", "friction_direction", &["end", "mean"]),
    ("trapezoidal-lcp", "variant", &["I", "II"]),
    ("trapezoidal-lcp", "detection", &["all", "collisions"]),
    ("trapezoidal-lcp", "stabilise", &["none", "projection"]),
    ("tdg-minus", "degree", &["1", "2", "3"]),
    ("tdg-plus", "degree", &["1", "2", "3"]),
    ("augmented", "base", &["auto", "rattle", "moreau-jean"]),
    ("augmented", "control", &["step", "tolerance"]),
];

/// Walk `number` of a domain.
pub fn walk(domain: &Domain, number: u64) -> Walk {
    let mut random = Random::new(domain.seed, number);
    let question = *random.one(&domain.questions);
    let scheme = random.one(&domain.schemes).clone();
    let fits = |e: &&Entry| {
        let named = domain.scenes.is_empty() || domain.scenes.iter().any(|s| s == e.name);
        named && suits(e, question)
    };
    let mut scenes: Vec<&'static Entry> = SCENES.iter().filter(fits).collect();
    if scenes.is_empty() {
        scenes = SCENES.iter().filter(|e| suits(e, question)).collect();
    }
    let entry = scenes[random.below(scenes.len())];
    let mut walk = Walk {
        label: format!("{}/{number}", domain.seed),
        question,
        entry: entry.name,
        scheme,
        options: Vec::new(),
        changes: Vec::new(),
        other: Vec::new(),
        step: 1e-3,
        steps: 100,
    };
    for (scheme, key, values) in OPTIONS {
        if *scheme == walk.scheme && random.chance(0.35) {
            walk.options.push(((*key).into(), (*random.one(values)).into()));
        }
    }
    let Ok(document) = entry.document() else { return walk };
    changes(&mut walk, &document, entry, &mut random);
    time(&mut walk, &document, entry, &mut random, domain.steps);
    other(&mut walk, &document, &mut random);
    walk
}

/// Whether a scene can answer a question.
fn suits(e: &Entry, question: Question) -> bool {
    let Ok(d) = e.document() else { return false };
    match question {
        Question::Alone => true,
        Question::Units => !e.is_bundled(),
        Question::Turned => walk::has_parameter(&d, "frame"),
        Question::Shifted => walk::has_parameter(&d, "right") || walk::has_parameter(&d, "up"),
        Question::Doubled => walk::parts(&d, "contact") > 0 && d.get(&["body"]).is_none(),
        Question::Coordinates => e.name == "particle_polar",
        Question::Agreement => e.facts.regular,
    }
}

fn changes(walk: &mut Walk, d: &Document, entry: &Entry, random: &mut Random) {
    let number = |key: &str, value: f64, walk: &mut Walk| {
        if let Some(base) = walk::number(d, key) {
            walk.changes.push(Change::Number { key: format!("parameters.{key}"), value, base });
        }
    };
    for key in ["e", "e_N", "e_floor"] {
        if random.chance(0.6) {
            number(key, *random.one(&[0.0, 0.2, 0.5, 0.8, 0.95, 1.0]), walk);
        }
    }
    if random.chance(0.5) {
        // What rests on friction rests with enough of it.
        let values: &[f64] = if entry.facts.rest { &[0.3, 1.0] } else { &[0.0, 0.1, 0.3, 1.0] };
        number("mu", *random.one(values), walk);
    }
    if random.chance(0.3) {
        number("bend", *random.one(&[0.05, 0.15, 0.3]), walk);
        number("slope", *random.one(&[0.05, 0.2]), walk);
    }
    // Other schemes may see a fast table hit at another time.
    if random.chance(0.2) && walk.question != Question::Agreement {
        number("sway", *random.one(&[0.01, 0.03]), walk);
        if walk::has_parameter(d, "omega") && entry.name == "drum" {
            walk.changes.push(Change::Set("parameters.omega".into(), "\"3*1/second\"".into()));
        }
    }
    for name in entry.facts.free {
        if random.chance(0.3) {
            walk.changes.push(Change::Factor((*name).into(), *random.one(&[0.5, 0.8, 1.25, 2.0])));
        }
    }
    if random.chance(0.1) && walk.question != Question::Doubled && d.get(&["body"]).is_none() {
        walk.changes.push(Change::Double);
    }
    if random.chance(0.1) && entry.is_bundled() && walk.question == Question::Alone {
        bend(walk, d, random);
    }
}

/// Bends or moves the gap of a bundled scene: g + c (x_j)², where x_j is a coordinate that the gap does not name.
fn bend(walk: &mut Walk, d: &Document, random: &mut Random) {
    let names = |key: &str| match d.get(&["model"]).and_then(|m| walk::member(m, key)).map(|n| &n.value) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|n| match &n.value {
                Value::String(s) => Some(s.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::<String>::new(),
    };
    let Some(Value::Array(contacts)) = d.get(&["contact"]).map(|n| &n.value) else { return };
    let contact = random.one(contacts);
    let (Some(name), Some(gap)) = (walk::member(contact, "name"), walk::member(contact, "gap")) else { return };
    let (Value::String(name), Value::String(gap)) = (&name.value, &gap.value) else { return };
    let coordinates = names("coordinates");
    let size = walk.entry().facts.size;
    let text = if random.chance(0.5) || coordinates.len() < 2 {
        format!(
            "\"({gap}) - {}*sin({}*t)\"",
            walk::toml_number(0.02 * size),
            walk::toml_number(1.0 / walk.entry().facts.tau)
        )
    } else {
        let x = random.one(&coordinates);
        format!("\"({gap}) + {}*{x}^2\"", walk::toml_number(0.1 / size))
    };
    walk.changes.push(Change::Set(format!("contact.{name}.gap"), text));
}

fn time(walk: &mut Walk, d: &Document, entry: &Entry, random: &mut Random, most: usize) {
    let tau = entry.facts.tau;
    let end = walk::seconds(d, "end").unwrap_or(10.0 * tau) * random.between(0.3, 1.2);
    let end = if walk.question == Question::Agreement { end.min(8.0 * tau) } else { end.min(40.0 * tau) };
    // Three decades: from a thousandth of the time in which velocities change to all of it.
    let high = if walk.question == Question::Agreement { -1.0 } else { 0.0 };
    let step = tau * 10f64.powf(random.between(-3.0, high));
    let digits = 10f64.powf(2.0 - step.log10().floor());
    walk.step = (step * digits).round() / digits;
    walk.steps = ((end / walk.step).round() as usize).clamp(4, most);
    // A break anywhere: nothing jumps there, and nothing may change.
    if random.chance(0.15) && d.get(&["model"]).is_some() && d.get(&["model", "breaks"]).is_none() {
        let at = walk.step * walk.steps as f64 * random.unit();
        let second = if walk::has_parameter(d, "second") { "*second" } else { "" };
        walk.changes.push(Change::Set("model.breaks".into(), format!("[\"{}{second}\"]", walk::toml_number(at))));
    }
}

fn other(walk: &mut Walk, d: &Document, random: &mut Random) {
    let mut set = |name: &str, value: f64| {
        if walk::has_parameter(d, name) {
            walk.other.push((name.into(), value));
        }
    };
    let power = |random: &mut Random, base: f64| base.powi(random.below(9) as i32 - 4);
    match walk.question {
        Question::Units => {
            set("metre", power(random, 4.0));
            set("kilogram", power(random, 4.0));
            set("second", power(random, 2.0));
        }
        Question::Turned => set("frame", *random.one(&[0.37, 1.1, 2.9, -0.8])),
        Question::Shifted => {
            set("right", *random.one(&[0.77, -31.3, 1234.5, 1e5]));
            set("up", *random.one(&[0.0, 0.77, -31.3, 1234.5]));
        }
        _ => {}
    }
}
