//! The format of a scene file, key by key. `docs/scene.md` explains it by example.

use super::decode::{Decode, Formula, Formulas, Key, Named, expected};
use super::tree::{Fault, Node, Origin, Value};
use crate::record;
use serde_json::{Value as Json, json};

record! {
    "a scene"
    /// A scene: what moves, how it starts, and how it is stepped by default.
    pub struct Scene {
        /// What the scene is, in a line of free text.
        pub title: Option<String>,
        /// Coordinates, mass and the forces without a name of their own.
        pub model: Option<Model>,
        /// Numbers by name; each may be a formula of others.
        pub parameters: Named<Formula>,
        /// Intermediate expressions by name, of anything.
        pub define: Named<Formula>,
        /// Rates of the coordinates, where `model.velocities` are not the rates themselves.
        pub kinematics: Named<Formula>,
        /// Named forces.
        pub force: Vec<Force>,
        /// Unilateral contacts.
        pub contact: Vec<Contact>,
        /// Bilateral constraints.
        pub joint: Vec<Joint>,
        /// Set-valued elements without a gap.
        pub element: Vec<Element>,
        /// State at t = 0.
        pub initial: Option<Initial>,
        /// Step and end.
        pub time: Time,
        /// The scheme and its options.
        pub scheme: Option<Options>,
        /// The solver of the one-step problems.
        pub solver: Option<Solver>,
        /// What is written with `--out`.
        pub output: Option<Output>,
        /// The exact solution, where there is one: the reference of `compare`.
        pub exact: Option<Exact>,
    }
}

record! {
    "[exact]"
    /// The exact solution as formulas of t and the parameters.
    pub struct Exact {
        /// Intermediate expressions by name, for the formulas here.
        pub define: Named<Formula>,
        /// Coordinates, in order or by name.
        pub q: Formulas,
        /// Velocities (right limits at jumps), in order or by name.
        pub u: Formulas,
        /// Condition on the parameters under which the formulas hold.
        pub when: Option<Formula>,
        /// Time (s) up to which they hold.
        pub until: Option<Formula>,
    }
}

record! {
    "[model]"
    /// Coordinates, mass and the forces without a name of their own.
    pub struct Model {
        /// Names of the coordinates q. In formulas, q' is the rate of q.
        pub coordinates: Vec<Key>,
        /// Names of the velocities u. Without `kinematics` they are the rates of the coordinates, in order.
        pub velocities: Option<Vec<Key>>,
        /// Mass matrix (kg and derived units): one formula, a list for a diagonal one, or a list of rows.
        pub mass: Option<Mass>,
        /// Kinetic energy (J) as a function of t, q and the rates, instead of `mass`: M and the gyroscopic terms are derived.
        pub kinetic: Option<Formula>,
        /// Potential energy (J) of a force without a name of its own.
        pub potential: Option<Formula>,
        /// Force on the velocities (N and derived units), without a potential: one formula, a list, or a table by velocity.
        pub force: Option<Formulas>,
        /// Groups of coordinates that form a vector of length 1 (quaternions); it is restored after every step.
        pub unit: Vec<Vec<Key>>,
        /// Known times (s) at which forces or motions jump: a step ends there.
        pub breaks: Vec<Formula>,
    }
}

record! {
    "[[force]]"
    /// A named force: by its potential, or by its value.
    pub struct Force {
        /// Its name, in the energy ledger and in messages.
        pub name: Key,
        /// Potential energy (J): the force is minus its gradient.
        pub potential: Option<Formula>,
        /// Force on the velocities (N and derived units): one formula, a list, or a table by velocity.
        pub value: Option<Formulas>,
    }
}

record! {
    "[[contact]]"
    /// A unilateral contact: a gap that stays non-negative.
    pub struct Contact {
        /// Its name, in events, percussions and messages.
        pub name: Key,
        /// Gap (m), positive when open: a formula of t and the coordinates.
        pub gap: Formula,
        /// Slip velocity (m/s), 1 to 3 components, affine in the velocities; without it the contact is frictionless.
        pub slip: Option<Formulas>,
        /// Coefficient of restitution e_N in [0, 1], Newton's law; or { poisson = e }. Default 0.
        pub restitution: Option<Restitution>,
        /// Coefficient of tangential restitution e_F in [0, 1]. Default 0.
        pub tangential_restitution: Option<Formula>,
        /// Coulomb's coefficient; or { coulomb = mu }, { polyhedral = mu, facets = n }, { bound = N }.
        pub friction: Option<Friction>,
    }
}

record! {
    "[[joint]]"
    /// A bilateral constraint, on position or on velocity level.
    pub struct Joint {
        /// Its name.
        pub name: Key,
        /// Functions of t and the coordinates that are kept at zero (m or rad).
        pub position: Option<Formulas>,
        /// Functions of t, coordinates and velocities, affine in the velocities, that are kept at zero.
        pub velocity: Option<Formulas>,
    }
}

record! {
    "[[element]]"
    /// A set-valued element without a gap: its force lies in a set, and opposes its velocity on the boundary of the set.
    pub struct Element {
        /// Its name.
        pub name: Key,
        /// Velocity (m/s or rad/s), affine in the velocities.
        pub velocity: Formulas,
        /// Bound on the length of the force (N): a ball in 1 to 3 dimensions.
        pub bound: Option<Formula>,
        /// Bound on the length of the impulse at an impact (N s). Default 0.
        pub impulse_bound: Option<Formula>,
        /// Instead of `bound`: lower and upper bound of each force component (N).
        pub range: Option<Vec<Vec<Formula>>>,
        /// With `range`: lower and upper bound of each impulse component (N s). Default 0.
        pub impulse_range: Option<Vec<Vec<Formula>>>,
        /// Coefficient of restitution in [0, 1]. Default 0.
        pub restitution: Option<Formula>,
    }
}

record! {
    "[initial]"
    /// The state at t = 0.
    pub struct Initial {
        /// Coordinates: numbers or formulas of parameters, in order or by name. Default 0.
        pub q: Option<Formulas>,
        /// Velocities: numbers or formulas of parameters, in order or by name. Default 0.
        pub u: Option<Formulas>,
        /// Penetration or joint defect (m) up to which a start is accepted. Default 1e-5.
        pub tolerance: Option<Formula>,
    }
}

record! {
    "[time]"
    /// Default step and end.
    pub struct Time {
        /// Step (s).
        pub step: Formula,
        /// End (s); the start is 0.
        pub end: Formula,
    }
}

record! {
    "[solver]"
    /// The solver of the one-step problems.
    pub struct Solver {
        /// Its name. Default auto.
        pub name: Option<String>,
        /// Residual at which a problem counts as solved. Default 1e-10.
        pub tol: Option<Formula>,
        /// Most iterations.
        pub max_iterations: Option<u64>,
    }
}

record! {
    "[output]"
    /// What is written with `--out`.
    pub struct Output {
        /// Every k-th step is recorded, and the last. Default 1.
        pub every: Option<u64>,
    }
}

/// A mass matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Mass {
    /// One velocity.
    One(Formula),
    /// Its diagonal.
    Diagonal(Vec<Formula>, Origin),
    /// Its rows.
    Rows(Vec<Vec<Formula>>, Origin),
}

impl Decode for Mass {
    fn decode(node: &Node) -> Result<Self, Fault> {
        match &node.value {
            Value::Array(items) if items.iter().any(|n| matches!(n.value, Value::Array(_))) => {
                Ok(Mass::Rows(Vec::decode(node)?, node.origin.clone()))
            }
            Value::Array(_) => Ok(Mass::Diagonal(Vec::decode(node)?, node.origin.clone())),
            _ => match Formula::decode(node) {
                Ok(f) => Ok(Mass::One(f)),
                Err(_) => Err(expected(node, "a formula, a list (the diagonal) or a list of rows")),
            },
        }
    }
    fn schema() -> Json {
        let list = json!({ "type": "array", "items": Formula::schema() });
        json!({ "anyOf": [Formula::schema(), list, { "type": "array", "items": list }] })
    }
}

/// Restitution of a contact.
#[derive(Debug, Clone, PartialEq)]
pub enum Restitution {
    /// Newton's law.
    Newton(Formula),
    /// Poisson's law.
    Poisson(Formula),
}

impl Decode for Restitution {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else { return Formula::decode(node).map(Restitution::Newton) };
        match entries.as_slice() {
            [e] if e.key == "newton" => Formula::decode(&e.node).map(Restitution::Newton),
            [e] if e.key == "poisson" => Formula::decode(&e.node).map(Restitution::Poisson),
            _ => Err(Fault::new(&node.origin, "expected a number, { newton = e } or { poisson = e }")),
        }
    }
    fn schema() -> Json {
        let one = |key: &str| {
            json!({ "type": "object", "properties": { key: Formula::schema() }, "required": [key],
                "additionalProperties": false })
        };
        json!({ "anyOf": [Formula::schema(), one("newton"), one("poisson")] })
    }
}

/// Friction of a contact.
#[derive(Debug, Clone, PartialEq)]
pub enum Friction {
    /// Coulomb's law, isotropic.
    Coulomb(Formula),
    /// Coulomb's law on a regular polygon with so many corners.
    Polyhedral(Formula, u64),
    /// A constant bound on the friction force (N).
    Bound(Formula),
}

impl Friction {
    /// Where it was written.
    pub fn origin(&self) -> &Origin {
        match self {
            Friction::Coulomb(f) | Friction::Polyhedral(f, _) | Friction::Bound(f) => &f.origin,
        }
    }
}

impl Decode for Friction {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else { return Formula::decode(node).map(Friction::Coulomb) };
        let get = |key: &str| entries.iter().find(|e| e.key == key).map(|e| &e.node);
        let only = |n: usize| entries.len() == n;
        match (get("coulomb"), get("polyhedral"), get("bound"), get("facets")) {
            (Some(mu), None, None, None) if only(1) => Formula::decode(mu).map(Friction::Coulomb),
            (None, None, Some(a), None) if only(1) => Formula::decode(a).map(Friction::Bound),
            (None, Some(mu), None, Some(n)) if only(2) => {
                Ok(Friction::Polyhedral(Formula::decode(mu)?, u64::decode(n)?))
            }
            _ => {
                let message = "expected a number, { coulomb = mu }, { polyhedral = mu, facets = n } or { bound = a }";
                Err(Fault::new(&node.origin, message))
            }
        }
    }
    fn schema() -> Json {
        let table = |keys: &[&str]| {
            let properties: serde_json::Map<String, Json> =
                keys.iter().map(|k| ((*k).to_string(), Formula::schema())).collect();
            json!({ "type": "object", "properties": properties, "required": keys, "additionalProperties": false })
        };
        json!({ "anyOf": [Formula::schema(), table(&["coulomb"]), table(&["polyhedral", "facets"]), table(&["bound"])] })
    }
}

/// An option's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

/// `[scheme]`: a name and options, which the scheme itself checks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Name of the scheme.
    pub name: Option<(String, Origin)>,
    /// Its options in the order of the file.
    pub options: Vec<(String, Setting, Origin)>,
    /// Where it was written.
    pub origin: Origin,
}

impl Decode for Options {
    fn decode(node: &Node) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else { return Err(expected(node, "a table: [scheme]")) };
        let mut this = Self { origin: node.origin.clone(), ..Self::default() };
        for e in entries {
            if e.key == "name" {
                this.name = Some((String::decode(&e.node)?, e.node.origin.clone()));
                continue;
            }
            let value = match &e.node.value {
                Value::Integer(i) => Setting::Number(*i as f64),
                Value::Float(v) => Setting::Number(*v),
                Value::String(s) => Setting::Word(s.clone()),
                _ => return Err(expected(&e.node, "a number or a word")),
            };
            this.options.push((e.key.clone(), value, e.node.origin.clone()));
        }
        Ok(this)
    }
    fn schema() -> Json {
        let mut properties = serde_json::Map::new();
        let names: Vec<&str> = nonsmooth::scheme::SCHEMES.iter().map(|s| s.name).collect();
        properties.insert("name".into(), json!({ "enum": names, "description": "Name of the scheme." }));
        json!({
            "type": "object",
            "description": "The scheme and its options (nonsmooth list schemes).",
            "properties": properties,
            "additionalProperties": { "type": ["string", "number"] },
        })
    }
}

/// The JSON schema of scene files, for editors.
pub fn json_schema() -> Json {
    let mut schema = Scene::schema();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "nonsmooth scene".into();
    schema
}
