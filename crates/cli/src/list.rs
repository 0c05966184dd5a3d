//! `nonsmooth list` and `nonsmooth show`.

use crate::arguments::What;
use crate::errors::Failed;
use crate::print_text;
use complementarity::solver::SOLVERS;
use nonsmooth::contract::{Feature, Features};
use nonsmooth::names::hint;
use nonsmooth::scheme::{OptionInfo, OptionKind, SCHEMES, SchemeInfo};
use nonsmooth_scene::bundled::{EXAMPLES, find};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn show(name: &str) -> Result<ExitCode, Failed> {
    match find(name) {
        Some(example) => {
            print_text(example.text);
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let hint = hint(name, EXAMPLES.iter().map(|e| e.name), || " (`nonsmooth list examples` shows them)".into());
            Err(Failed(format!("there is no bundled scene `{name}`{hint}")))
        }
    }
}

pub(crate) fn list(what: What, json: bool) -> Result<ExitCode, Failed> {
    let value = match what {
        What::Examples => {
            json!({ "examples": EXAMPLES.iter().map(|e| json!({ "name": e.name, "title": e.title() })).collect::<Vec<_>>() })
        }
        What::Schemes => json!({ "schemes": SCHEMES.iter().map(|s| scheme_json(s)).collect::<Vec<_>>() }),
        What::Solvers => {
            json!({ "solvers": SOLVERS.iter().map(|s| json!({ "name": s.name, "summary": s.summary, "reference": s.reference })).collect::<Vec<_>>() })
        }
        What::Laws => json!({ "laws": LAWS.iter().map(law_json).collect::<Vec<_>>() }),
    };
    if json {
        say!("{value}");
        return Ok(ExitCode::SUCCESS);
    }
    match what {
        What::Examples => {
            for e in EXAMPLES {
                say!("{:<22} {}", e.name, e.title());
            }
        }
        What::Schemes => SCHEMES.iter().for_each(|s| print_scheme(s)),
        What::Solvers => {
            for s in SOLVERS {
                say!("{:<14} {} [{}]", s.name, s.summary, s.reference);
            }
        }
        What::Laws => {
            for l in LAWS {
                say!("{:<24} {}", l.name, l.summary);
                say!("{:<24} in a scene: {}", "", l.scene);
                let schemes = l.schemes();
                say!("{:<24} schemes: {}", "", if schemes.is_empty() { "none yet".into() } else { schemes.join(", ") });
                for (parameter, range, unit) in l.parameters {
                    say!("{:<24} {parameter} in {range}{}", "", with_unit(unit));
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn with_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// `stabilise` belongs to the loop: every scheme that is not on position level has it.
const STABILISE: OptionInfo = OptionInfo {
    key: "stabilise",
    kind: OptionKind::Choice { default: "none", words: &["none", "projection"] },
    summary: "position projection of joints after every step",
};

fn options(s: &SchemeInfo) -> Vec<&OptionInfo> {
    let loop_option = (!s.position_level).then_some(&STABILISE);
    s.options.iter().chain(loop_option).collect()
}

fn unsupported(s: &SchemeInfo) -> Vec<&'static str> {
    let friction = [(1, "friction"), (2, "spatial friction")];
    let friction = friction.iter().filter(|(dim, _)| s.supports.friction_dim < *dim).map(|(_, name)| *name);
    let features = Feature::ALL.iter().filter(|f| !s.supports.has(**f)).map(|f| f.name());
    let steps = (!s.variable_step).then_some("steps of changing length");
    friction.chain(features).chain(steps).collect()
}

fn scheme_json(s: &SchemeInfo) -> Value {
    let options: Vec<Value> = options(s)
        .iter()
        .map(|o| match o.kind {
            OptionKind::Number { default, min, max, unit } => json!({
                "key": format!("scheme.{}", o.key), "type": "number", "default": default, "range": [min, max],
                "unit": unit, "summary": o.summary,
            }),
            OptionKind::Automatic { min, max, unit } => json!({
                "key": format!("scheme.{}", o.key), "type": "number", "default": "auto", "range": [min, max],
                "unit": unit, "summary": o.summary,
            }),
            OptionKind::Choice { default, words } => json!({
                "key": format!("scheme.{}", o.key), "type": "choice", "default": default, "range": words,
                "unit": "", "summary": o.summary,
            }),
        })
        .collect();
    json!({
        "name": s.name, "summary": s.summary, "reference": s.reference, "position_level": s.position_level,
        "options": options, "unsupported": unsupported(s),
    })
}

fn print_scheme(s: &SchemeInfo) {
    say!("{}", s.name);
    say!("    {} [{}]", s.summary, s.reference);
    for o in options(s) {
        let (kind, default) = match o.kind {
            OptionKind::Number { default, min, max, unit } => {
                (format!("number in [{min}, {max}]{}", with_unit(unit)), default.to_string())
            }
            OptionKind::Automatic { min, max, unit } => {
                (format!("number in [{min}, {max}]{}", with_unit(unit)), "auto".into())
            }
            OptionKind::Choice { default, words } => (words.join(" | "), default.into()),
        };
        say!("    scheme.{:<12} {kind}; default {default}", o.key);
        say!("    {:<19} {}", "", o.summary);
    }
    let missing = unsupported(s);
    say!("    not supported: {}", if missing.is_empty() { "-".into() } else { missing.join(", ") });
    say!("");
}

/// A force law as a user of scenes sees it.
struct LawInfo {
    name: &'static str,
    summary: &'static str,
    scene: &'static str,
    /// Name, range, unit.
    parameters: &'static [(&'static str, &'static str, &'static str)],
    /// Whether a scheme can take it.
    taken: fn(&Features) -> bool,
}

impl LawInfo {
    /// Names of the schemes that take it.
    fn schemes(&self) -> Vec<&'static str> {
        SCHEMES.iter().filter(|s| (self.taken)(&s.supports)).map(|s| s.name).collect()
    }
}

const LAWS: &[LawInfo] = &[
    LawInfo {
        name: "signorini-newton",
        summary: "unilateral contact; an impact multiplies the gap velocity by -e",
        scene: "[[contact]] restitution = e",
        parameters: &[("e", "[0, 1]", "")],
        taken: |_| true,
    },
    LawInfo {
        name: "signorini-poisson",
        summary: "unilateral contact; the expansion returns e times the percussion of the compression",
        scene: "[[contact]] restitution = { poisson = e }",
        parameters: &[("e", "[0, 1]", "")],
        taken: |s| s.has(Feature::Poisson),
    },
    LawInfo {
        name: "coulomb",
        summary: "friction force in mu times the normal force times a ball of dimension 1, 2 or 3",
        scene: "[[contact]] friction = mu",
        parameters: &[("mu", "[0, inf)", "")],
        taken: |s| s.friction_dim > 0,
    },
    LawInfo {
        name: "polyhedral",
        summary: "the same with a regular polygon instead of the disc",
        scene: "[[contact]] friction = { polyhedral = mu, facets = n }",
        parameters: &[("mu", "[0, inf)", ""), ("facets", "3..64", "")],
        taken: |s| s.friction_dim >= 2,
    },
    LawInfo {
        name: "bound (Tresca)",
        summary: "friction with a constant bound while the contact is closed",
        scene: "[[contact]] friction = { bound = a }",
        parameters: &[("a", "[0, inf)", "N")],
        taken: |s| s.has(Feature::Tresca),
    },
    LawInfo {
        name: "tangential restitution",
        summary: "the slip velocity returns at an impact, as far as friction allows",
        scene: "[[contact]] tangential_restitution = e",
        parameters: &[("e", "[0, 1]", "")],
        taken: |s| s.has(Feature::TangentialRestitution),
    },
    LawInfo {
        name: "element: ball",
        summary: "a force of bounded length that opposes a velocity; impulses bounded by themselves",
        scene: "[[element]] bound = a, impulse_bound = b",
        parameters: &[("a", "[0, inf)", "N"), ("b", "[0, inf)", "N s")],
        taken: |s| s.has(Feature::Elements),
    },
    LawInfo {
        name: "element: box",
        summary: "force components in ranges (pre-stressed springs, one-sided stops)",
        scene: "[[element]] range = [[lower, upper], ..], impulse_range = [[..], ..]",
        parameters: &[("lower, upper", "[-inf, inf]", "N")],
        taken: |s| s.has(Feature::Elements),
    },
    LawInfo {
        name: "bilateral",
        summary: "a joint: position or velocity functions that stay zero",
        scene: "[[joint]] position = [..] or velocity = [..]",
        parameters: &[],
        taken: |s| s.has(Feature::Joints),
    },
];

fn law_json(l: &LawInfo) -> Value {
    let parameters: Vec<Value> =
        l.parameters.iter().map(|(n, r, u)| json!({ "name": n, "range": r, "unit": u })).collect();
    json!({ "name": l.name, "summary": l.summary, "scene": l.scene, "parameters": parameters, "schemes": l.schemes() })
}
