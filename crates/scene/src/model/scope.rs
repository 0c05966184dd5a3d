//! Meaning of the names in the formulas of a scene.

use crate::file::format::{Model, Scene};
use crate::file::{Document, Fault, Formula, Key, Named, Origin};
use crate::formula::{Graph, Id, Lookup, Scope, Tree, lower, lower_condition, parse};
use nonsmooth::names::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// Longest chain of definitions that refer to each other.
const MAX_CHAIN: usize = 100;

/// The parameters of a scene as numbers.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    values: BTreeMap<String, f64>,
    used: BTreeMap<String, bool>,
    /// Names of coordinates, velocities and definitions, and what each is: they are no numbers.
    variables: BTreeMap<String, &'static str>,
    /// Names that are numbers for a while.
    offered: BTreeSet<&'static str>,
}

/// A formula error at its place in the document.
pub(super) fn located(document: &Document, formula: &Formula, e: &crate::formula::FormulaError) -> Fault {
    let origin = document.inside(&formula.origin, &formula.text, e.at);
    let formula_shown = matches!(origin, Origin::Override(_));
    let message = if formula_shown { format!("{} (at character {})", e.message, e.at + 1) } else { e.message.clone() };
    Fault::new(&origin, message)
}

impl Numbers {
    /// Evaluates all parameters, in whatever order they refer to each other.
    pub fn new(document: &Document, scene: &Scene) -> Result<Self, Fault> {
        let parameters = &scene.parameters;
        let mut this = Self::default();
        if let Some(model) = &scene.model {
            this.note_variables(model, &scene.define);
        }
        for (key, _) in &parameters.0 {
            this.used.insert(key.name.clone(), false);
        }
        let mut trees: BTreeMap<&str, (&Formula, Tree)> = BTreeMap::new();
        for (key, formula) in &parameters.0 {
            let tree = parse(&formula.text).map_err(|e| located(document, formula, &e))?;
            if trees.insert(&key.name, (formula, tree)).is_some() {
                return Err(Fault::new(&key.origin, format!("parameter `{}` is given twice", key.name)));
            }
        }
        // Rounds: a parameter is evaluated once all that it refers to are.
        let mut open: Vec<&Key> = parameters.0.iter().map(|(k, _)| k).collect();
        while !open.is_empty() {
            let before = open.len();
            let mut still = Vec::new();
            for key in open {
                let (formula, tree) = &trees[key.name.as_str()];
                let mut scope = Evaluated { numbers: &mut this, all: &trees, waiting: None };
                match lower(tree, &mut Graph::default(), &mut scope) {
                    Ok(_) => {
                        let v = this.evaluate(document, formula)?;
                        this.values.insert(key.name.clone(), v);
                    }
                    Err(_) if scope.waiting.is_some() => still.push(key),
                    Err(e) => return Err(located(document, formula, &e)),
                }
            }
            if still.len() == before {
                let names: Vec<String> = still.iter().map(|k| format!("`{}`", k.name)).collect();
                let message = format!("the parameters {} refer to each other in a circle", names.join(", "));
                return Err(Fault::new(&still[0].origin, message));
            }
            open = still;
        }
        for (name, used) in &mut this.used {
            *used = parameters.0.iter().any(|(k, f)| k.name != *name && mentions(&f.text, name));
        }
        Ok(this)
    }

    /// Takes note of the names that are not numbers, for messages.
    fn note_variables(&mut self, model: &Model, define: &Named<Formula>) {
        let lists = [
            ("a coordinate", model.coordinates.iter().collect::<Vec<_>>()),
            ("a velocity", model.velocities.iter().flatten().collect()),
            ("a definition", define.0.iter().map(|(k, _)| k).collect()),
        ];
        for (what, keys) in lists {
            self.variables.extend(keys.into_iter().map(|k| (k.name.clone(), what)));
        }
    }

    /// Defines a number that is not a parameter of the scene, unless a parameter has that name.
    pub(crate) fn offer(&mut self, name: &'static str, value: f64) {
        if !self.values.contains_key(name) {
            self.values.insert(name.into(), value);
            self.offered.insert(name);
        }
    }

    /// Removes such a number.
    pub(crate) fn withdraw(&mut self, name: &'static str) {
        if self.offered.remove(name) {
            self.values.remove(name);
            self.used.remove(name);
        }
    }

    /// Whether a formula of parameters that is a condition holds.
    pub fn holds(&mut self, document: &Document, formula: &Formula) -> Result<bool, Fault> {
        let tree = parse(&formula.text).map_err(|e| located(document, formula, &e))?;
        let mut graph = Graph::default();
        let id =
            lower_condition(&tree, &mut graph, &mut Constants(self)).map_err(|e| located(document, formula, &e))?;
        Ok(graph.value(id).is_some_and(|v| v != 0.0))
    }

    /// The number that a formula of parameters is.
    pub fn evaluate(&mut self, document: &Document, formula: &Formula) -> Result<f64, Fault> {
        let tree = parse(&formula.text).map_err(|e| located(document, formula, &e))?;
        let mut graph = Graph::default();
        let id = lower(&tree, &mut graph, &mut Constants(self)).map_err(|e| located(document, formula, &e))?;
        match graph.value(id) {
            Some(v) if v.is_finite() => Ok(v),
            Some(v) => Err(Fault::new(&formula.origin, format!("`{}` is {v}: not a finite number", formula.text))),
            None => Err(Fault::new(&formula.origin, format!("`{}` is not a number", formula.text))),
        }
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// All parameters with their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(k, v)| (k.as_str(), *v))
    }

    /// Parameters that nothing refers to.
    pub fn unused(&self) -> Vec<&str> {
        self.used.iter().filter(|(_, used)| !**used).map(|(k, _)| k.as_str()).collect()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<f64> {
        let v = self.values.get(name).copied()?;
        self.used.insert(name.into(), true);
        Some(v)
    }
}

/// Whether a name stands as a word in a text.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(i, _)| {
        !text[..i].chars().next_back().is_some_and(word) && !text[i + name.len()..].chars().next().is_some_and(word)
    })
}

/// Parameters while some are still to come.
struct Evaluated<'a, 'b> {
    numbers: &'a mut Numbers,
    all: &'a BTreeMap<&'b str, (&'b Formula, Tree)>,
    waiting: Option<String>,
}

impl Scope for Evaluated<'_, '_> {
    fn lookup(&mut self, graph: &mut Graph, name: &str, primes: usize) -> Lookup {
        if primes == 0 {
            if let Some(v) = self.numbers.get(name) {
                return Lookup::Found(graph.constant(v));
            }
            if self.all.contains_key(name) {
                self.waiting = Some(name.into());
                return Lookup::Refused(String::new());
            }
        }
        if let Some(what) = self.numbers.variables.get(name) {
            return Lookup::Refused(format!("`{name}` is {what}: a parameter is a number"));
        }
        refuse_variable(name)
            .unwrap_or_else(|| Lookup::Unknown(nearest(name, self.all.keys().copied()).map(str::to_string)))
    }
}

fn refuse_variable(name: &str) -> Option<Lookup> {
    (name == "t").then(|| Lookup::Refused("a number is expected here: it cannot depend on the time `t`".into()))
}

/// Parameters only.
struct Constants<'a>(&'a mut Numbers);

impl Scope for Constants<'_> {
    fn lookup(&mut self, graph: &mut Graph, name: &str, primes: usize) -> Lookup {
        if primes == 0
            && let Some(v) = self.0.take(name)
        {
            return Lookup::Found(graph.constant(v));
        }
        if let Some(what) = self.0.variables.get(name) {
            return Lookup::Refused(format!("`{name}` is {what}: only parameters can stand here"));
        }
        refuse_variable(name).unwrap_or_else(|| {
            let near = nearest(name, self.0.values.keys().map(String::as_str)).map(str::to_string);
            match near {
                Some(n) => Lookup::Unknown(Some(n)),
                None => Lookup::Refused(format!("`{name}` is not a parameter: only parameters can stand here")),
            }
        })
    }
}

/// Which variables a formula may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Time and coordinates.
    Position(&'static str),
    /// Time, coordinates and velocities.
    All,
}

/// Everything that formulas of the model may name.
pub(super) struct Variables<'a> {
    pub(super) document: &'a Document,
    pub(super) numbers: &'a mut Numbers,
    pub(super) coordinates: &'a [Key],
    /// Names of the velocities, where they have names of their own.
    pub(super) velocities: Option<&'a [Key]>,
    /// Whether q' is a velocity.
    pub(super) identity: bool,
    pub(super) define: &'a Named<Formula>,
    pub(super) known: BTreeMap<String, Id>,
    /// Definitions that something refers to.
    pub(super) used: BTreeSet<String>,
    /// All formulas that were read, with their places.
    pub(super) read: Vec<(Id, Origin)>,
    chain: Vec<String>,
    allowed: Allowed,
    /// A fault inside a definition, which has a better place than the formula that uses it.
    fault: Option<Fault>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(
        document: &'a Document,
        numbers: &'a mut Numbers,
        coordinates: &'a [Key],
        velocities: Option<&'a [Key]>,
        identity: bool,
        define: &'a Named<Formula>,
    ) -> Self {
        Self {
            document,
            numbers,
            coordinates,
            velocities,
            identity,
            define,
            known: BTreeMap::new(),
            used: BTreeSet::new(),
            read: Vec::new(),
            chain: Vec::new(),
            allowed: Allowed::All,
            fault: None,
        }
    }

    pub(super) fn nq(&self) -> usize {
        self.coordinates.len()
    }

    /// Variable of a coordinate.
    pub(super) fn coordinate(&self, i: usize) -> u32 {
        1 + i as u32
    }

    /// Variable of a velocity.
    pub(super) fn velocity(&self, i: usize) -> u32 {
        (1 + self.nq() + i) as u32
    }

    /// The node of a formula.
    pub(super) fn node(&mut self, graph: &mut Graph, formula: &Formula, allowed: Allowed) -> Result<Id, Fault> {
        let tree = parse(&formula.text).map_err(|e| located(self.document, formula, &e))?;
        self.allowed = allowed;
        match lower(&tree, graph, self) {
            Ok(id) => {
                self.read.push((id, formula.origin.clone()));
                Ok(id)
            }
            Err(e) => Err(self.fault.take().unwrap_or_else(|| located(self.document, formula, &e))),
        }
    }

    fn definition(&mut self, graph: &mut Graph, name: &str) -> Option<Lookup> {
        let (key, formula) = self.define.0.iter().find(|(k, _)| k.name == name)?;
        let id = match self.known.get(name) {
            Some(&id) => id,
            None => {
                if self.chain.iter().any(|n| n == name) || self.chain.len() >= MAX_CHAIN {
                    self.chain.push(name.into());
                    let message = if self.chain.len() > MAX_CHAIN {
                        format!("definitions refer to each other in a chain longer than {MAX_CHAIN}")
                    } else {
                        format!("the definitions {} refer to each other in a circle", self.chain.join(" -> "))
                    };
                    self.fault = Some(Fault::new(&key.origin, message));
                    return Some(Lookup::Refused(String::new()));
                }
                self.chain.push(name.into());
                // What a definition may use is decided where it is used.
                let outer = self.allowed;
                let result = self.node(graph, formula, Allowed::All);
                self.allowed = outer;
                self.chain.pop();
                match result {
                    Ok(id) => {
                        self.known.insert(name.into(), id);
                        id
                    }
                    Err(fault) => {
                        self.fault = Some(fault);
                        return Some(Lookup::Refused(String::new()));
                    }
                }
            }
        };
        self.used.insert(name.into());
        if let Allowed::Position(what) = self.allowed {
            let first = self.velocity(0);
            if graph.variables(&[id]).iter().any(|v| *v >= first) {
                return Some(Lookup::Refused(format!("{what} cannot depend on velocities, and `{name}` does")));
            }
        }
        Some(Lookup::Found(id))
    }
}

impl Scope for Variables<'_> {
    fn lookup(&mut self, graph: &mut Graph, name: &str, primes: usize) -> Lookup {
        if name == "t" && primes == 0 {
            return Lookup::Found(graph.variable(0));
        }
        if let Some(i) = self.coordinates.iter().position(|k| k.name == name) {
            return match primes {
                0 => Lookup::Found(graph.variable(self.coordinate(i))),
                1 if self.identity => match self.allowed {
                    Allowed::Position(what) => {
                        Lookup::Refused(format!("{what} cannot depend on velocities, and `{name}'` is one"))
                    }
                    Allowed::All => Lookup::Found(graph.variable(self.velocity(i))),
                },
                1 => Lookup::Refused(format!(
                    "`{name}'` is not a velocity of this model: it has its own, {}",
                    self.velocities.unwrap_or(&[]).iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ")
                )),
                _ => Lookup::Refused(format!("`{name}` has {primes} primes: accelerations cannot be used")),
            };
        }
        if primes == 0 {
            let velocity = self.velocities.and_then(|list| list.iter().position(|k| k.name == name));
            if let Some(i) = velocity {
                return match self.allowed {
                    Allowed::Position(what) => {
                        Lookup::Refused(format!("{what} cannot depend on velocities, and `{name}` is one"))
                    }
                    Allowed::All => Lookup::Found(graph.variable(self.velocity(i))),
                };
            }
            if let Some(v) = self.numbers.take(name) {
                return Lookup::Found(graph.constant(v));
            }
            if let Some(found) = self.definition(graph, name) {
                return found;
            }
        }
        let lists = self.coordinates.iter().chain(self.velocities.unwrap_or(&[])).map(|k| k.name.as_str());
        let names: Vec<&str> = lists
            .chain(self.define.0.iter().map(|(k, _)| k.name.as_str()))
            .chain(self.numbers.iter().map(|(n, _)| n))
            .collect();
        if primes > 0 && names.contains(&name) {
            return Lookup::Refused(format!("`{name}'`: only coordinates have rates, and `{name}` is none"));
        }
        let primes = "'".repeat(primes);
        Lookup::Unknown(nearest(name, names.into_iter()).map(|n| format!("{n}{primes}")))
    }
}
