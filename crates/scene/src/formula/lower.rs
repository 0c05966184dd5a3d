//! Lowers trees to graph nodes: looks up names, and checks kinds and counts of arguments.

use super::FormulaError;
use super::graph::{Comparison, Function, Graph, Id};
use super::parser::{NodeKind, Tree};
use nonsmooth::names::{did_you_mean, hint};

/// Meaning of a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup {
    /// A node.
    Found(Id),
    /// Unknown, with the nearest name, if one is near.
    Unknown(Option<String>),
    /// Known but not allowed here, with the reason.
    Refused(String),
}

/// What the names of a formula mean.
pub trait Scope {
    /// The node of a name with a number of primes.
    fn lookup(&mut self, graph: &mut Graph, name: &str, primes: usize) -> Lookup;
}

#[derive(Clone, Copy)]
struct Value {
    id: Id,
    condition: bool,
}

/// Functions of one argument by name.
const FUNCTIONS: [(&str, Function); 15] = [
    ("sqrt", Function::Sqrt),
    ("exp", Function::Exp),
    ("log", Function::Log),
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("tan", Function::Tan),
    ("asin", Function::Asin),
    ("acos", Function::Acos),
    ("atan", Function::Atan),
    ("sinh", Function::Sinh),
    ("cosh", Function::Cosh),
    ("tanh", Function::Tanh),
    ("abs", Function::Abs),
    ("sign", Function::Sign),
    ("floor", Function::Floor),
];
/// Functions of several arguments.
const OTHER_FUNCTIONS: [&str; 4] = ["atan2", "min", "max", "if"];

/// Words that cannot be names of parameters, coordinates or definitions.
pub(crate) fn is_reserved(name: &str) -> bool {
    matches!(name, "pi" | "t" | "and" | "or" | "not")
        || OTHER_FUNCTIONS.contains(&name)
        || FUNCTIONS.iter().any(|(f, _)| *f == name)
}

/// The node of a formula that is a number.
pub fn lower(tree: &Tree, graph: &mut Graph, scope: &mut dyn Scope) -> Result<Id, FormulaError> {
    let (value, at) = lower_any(tree, graph, scope)?;
    if value.condition {
        return Err(FormulaError::new(at, "a condition stands where a number is expected: use `if(condition, a, b)`"));
    }
    Ok(value.id)
}

/// The node of a formula that is a condition.
pub fn lower_condition(tree: &Tree, graph: &mut Graph, scope: &mut dyn Scope) -> Result<Id, FormulaError> {
    let (value, at) = lower_any(tree, graph, scope)?;
    if !value.condition {
        return Err(FormulaError::new(at, "a number stands where a condition is expected: compare it with something"));
    }
    Ok(value.id)
}

fn lower_any(tree: &Tree, g: &mut Graph, scope: &mut dyn Scope) -> Result<(Value, usize), FormulaError> {
    let mut values: Vec<Value> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let at = node.at;
        let number = |i: usize| -> Result<Id, FormulaError> {
            if values[i].condition {
                let message = "a condition stands where a number is expected: use `if(condition, a, b)`";
                return Err(FormulaError::new(tree.nodes[i].at, message));
            }
            Ok(values[i].id)
        };
        let condition = |i: usize| -> Result<Id, FormulaError> {
            if !values[i].condition {
                let message = "a number stands where a condition is expected: compare it with something";
                return Err(FormulaError::new(tree.nodes[i].at, message));
            }
            Ok(values[i].id)
        };
        let real = |id| Value { id, condition: false };
        let truth = |id| Value { id, condition: true };
        let value = match &node.kind {
            NodeKind::Number(v) => real(g.constant(*v)),
            NodeKind::Name(name, primes) => real(name_node(g, scope, name, *primes, at)?),
            NodeKind::Negate(a) => real(g.negate(number(*a)?)),
            NodeKind::Not(a) => truth(g.not(condition(*a)?)),
            NodeKind::Binary(operator, a, b) => {
                let (a, b) = (*a, *b);
                match *operator {
                    "and" => truth(g.and(condition(a)?, condition(b)?)),
                    "or" => {
                        let (a, b) = (condition(a)?, condition(b)?);
                        let (a, b) = (g.not(a), g.not(b));
                        let neither = g.and(a, b);
                        truth(g.not(neither))
                    }
                    "<" => truth(g.compare(Comparison::Less, number(a)?, number(b)?)),
                    ">" => truth(g.compare(Comparison::Less, number(b)?, number(a)?)),
                    "<=" => truth(g.compare(Comparison::LessEqual, number(a)?, number(b)?)),
                    ">=" => truth(g.compare(Comparison::LessEqual, number(b)?, number(a)?)),
                    "==" => truth(g.compare(Comparison::Equal, number(a)?, number(b)?)),
                    "!=" => {
                        let equal = g.compare(Comparison::Equal, number(a)?, number(b)?);
                        truth(g.not(equal))
                    }
                    "+" => real(g.add(number(a)?, number(b)?)),
                    "-" => real(g.subtract(number(a)?, number(b)?)),
                    "*" => real(g.multiply(number(a)?, number(b)?)),
                    "/" => real(g.divide(number(a)?, number(b)?)),
                    _ => real(g.power(number(a)?, number(b)?)),
                }
            }
            NodeKind::Call(name, arguments) => {
                let count = |expected: &str, ok: bool| {
                    if ok {
                        return Ok(());
                    }
                    let message = format!("`{name}` takes {expected}, found {}", arguments.len());
                    Err(FormulaError::new(at, message))
                };
                if let Some((_, f)) = FUNCTIONS.iter().find(|(f, _)| f == name) {
                    count("1 argument", arguments.len() == 1)?;
                    real(g.call(*f, number(arguments[0])?))
                } else {
                    match name.as_str() {
                        "atan2" => {
                            count("2 arguments", arguments.len() == 2)?;
                            real(g.atan2(number(arguments[0])?, number(arguments[1])?))
                        }
                        "min" | "max" => {
                            count("2 or more arguments", arguments.len() >= 2)?;
                            let mut id = number(arguments[0])?;
                            for &next in &arguments[1..] {
                                let next = number(next)?;
                                id = if name == "min" { g.min(id, next) } else { g.max(id, next) };
                            }
                            real(id)
                        }
                        "if" => {
                            count("3 arguments (condition, then, else)", arguments.len() == 3)?;
                            let c = condition(arguments[0])?;
                            real(g.select(c, number(arguments[1])?, number(arguments[2])?))
                        }
                        _ => return Err(FormulaError::new(at, unknown_function(name))),
                    }
                }
            }
        };
        values.push(value);
    }
    match (values.last(), tree.nodes.last()) {
        (Some(v), Some(n)) => Ok((*v, n.at)),
        _ => Err(FormulaError::new(0, "the formula is empty")),
    }
}

fn name_node(g: &mut Graph, scope: &mut dyn Scope, name: &str, primes: usize, at: usize) -> Result<Id, FormulaError> {
    if name == "pi" && primes == 0 {
        return Ok(g.constant(std::f64::consts::PI));
    }
    let shown = format!("{name}{}", "'".repeat(primes));
    match scope.lookup(g, name, primes) {
        Lookup::Found(id) => Ok(id),
        Lookup::Refused(why) => Err(FormulaError::new(at, why)),
        Lookup::Unknown(nearest) => {
            let hint = did_you_mean(&nearest.unwrap_or_default());
            if FUNCTIONS.iter().any(|(f, _)| *f == name) || OTHER_FUNCTIONS.contains(&name) {
                return Err(FormulaError::new(at, format!("`{name}` is a function: call it as `{name}(...)`")));
            }
            Err(FormulaError::new(at, format!("unknown name `{shown}`{hint}")))
        }
    }
}

fn unknown_function(name: &str) -> String {
    let names = FUNCTIONS.iter().map(|(f, _)| *f).chain(OTHER_FUNCTIONS);
    let hint = hint(name, names, || " (a product needs a `*`)".into());
    format!("unknown function `{name}`{hint}")
}
