//! The format of a scene file, key by key. `docs/scene.md` explains it by example.

use super::decode::{Decode, Formula, Formulas, Key, Named, expected};
use super::picture::Picture;
use super::tree::{Fault, Node, Origin, Value};
use super::watch::WatchList;
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
        /// What holds for all bodies: gravity, random numbers, threads.
        pub world: Option<World>,
        /// Planar rigid bodies.
        pub body: Vec<Body>,
        /// Springs and dampers between bodies.
        pub spring: Vec<Spring>,
        /// Linear elastic bars by finite elements.
        pub bar: Vec<Bar>,
        /// Unilateral contacts.
        pub contact: Vec<Contact>,
        /// Bilateral constraints.
        pub joint: Vec<Joint>,
        /// Set-valued elements without a gap.
        pub element: Vec<Element>,
        /// State at the start.
        pub initial: Option<Initial>,
        /// Step and end.
        pub time: Time,
        /// The scheme and its options.
        pub scheme: Option<Options>,
        /// The solver of the one-step problems.
        pub solver: Option<Solver>,
        /// What is recorded.
        pub output: Option<Output>,
        /// What is drawn besides bodies.
        pub picture: Option<Picture>,
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
        /// Normal percussions of contacts by name, summed up from the start (N s).
        pub percussion: Named<Formula>,
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
        /// Units of coordinates by name, for plots; that of a velocity is per second, unless it is named itself.
        pub units: Named<String>,
    }
}

record! {
    "[[force]]"
    /// A named force: by its potential, by its value, or a spring and damper by their deflection.
    pub struct Force {
        /// Its name, in the energy ledger and in messages.
        pub name: Key,
        /// Potential energy (J): the force is minus its gradient.
        pub potential: Option<Formula>,
        /// Force on the velocities (N and derived units): one formula, a list, or a table by velocity.
        pub value: Option<Formulas>,
        /// Deflection (m or rad) of a spring and damper, zero without force: a formula of t and the coordinates.
        pub deflection: Option<Formula>,
        /// Stiffness of the spring (N/m or N m/rad), with `deflection`.
        pub stiffness: Option<Formula>,
        /// Damping (N s/m or N m s/rad), with `deflection`.
        pub damping: Option<Formula>,
    }
}

record! {
    "[[contact]]"
    /// A unilateral contact: a gap that stays non-negative; or the law of pairs of bodies, whose contacts are found by detection.
    pub struct Contact {
        /// Its name, in events, percussions and messages; contacts of bodies go by the names of both.
        pub name: Key,
        /// Gap (m), positive when open: a formula of t and the coordinates.
        pub gap: Option<Formula>,
        /// Instead of `gap`: two names of bodies or materials that touch by this law; without `gap` and `between` it is for all pairs.
        pub between: Option<Vec<Key>>,
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
    "[world]"
    /// What holds for all bodies.
    pub struct World {
        /// Acceleration of gravity (m/s^2), two components. Default none.
        pub gravity: Option<Vec<Formula>>,
        /// Seed of the random numbers that formulas of bodies may use. Default 1.
        pub seed: Option<Formula>,
        /// Threads of the search for contacts; results are the same for any number. Default 1.
        pub threads: Option<u64>,
    }
}

record! {
    "[[body]]"
    /// A planar rigid body, or many of a kind. With `count`, formulas may use i (from 0) and random, random2, random3 (in [0, 1), for every body its own).
    pub struct Body {
        /// Its name; its coordinates are NAME_x, NAME_y (centre of mass, m) and NAME_phi (rad).
        pub name: Key,
        /// How many of them: NAME_0, NAME_1, and so on.
        pub count: Option<Formula>,
        /// Its shape, in the frame of the body: the origin is the centre of mass.
        pub shape: Option<Shape>,
        /// Several shapes instead of one.
        pub shapes: Vec<Shape>,
        /// Mass per area (kg/m^2): mass and inertia follow from the shapes.
        pub density: Option<Formula>,
        /// Mass (kg), with `inertia` instead of `density`.
        pub mass: Option<Formula>,
        /// Moment of inertia about the centre of mass (kg m^2).
        pub inertia: Option<Formula>,
        /// Position of the centre of mass at the start (m).
        pub position: Option<Vec<Formula>>,
        /// Angle at the start (rad).
        pub angle: Option<Formula>,
        /// Velocity at the start (m/s).
        pub velocity: Option<Vec<Formula>>,
        /// Angular velocity at the start (rad/s).
        pub spin: Option<Formula>,
        /// Instead of `position`: a region that is filled row by row from its bottom.
        pub fill: Option<Fill>,
        /// Whether it does not move.
        pub fixed: Option<bool>,
        /// A prescribed motion: x, y, phi as formulas of t.
        pub motion: Named<Formula>,
        /// Name of its material. Default "default".
        pub material: Option<Key>,
        /// Number of its colour in pictures. Default 0.
        pub colour: Option<Formula>,
    }
}

record! {
    "a shape"
    /// A shape: one of its keys.
    pub struct Shape {
        /// A disc.
        pub disc: Option<Disc>,
        /// Everything outside a circle: a drum from within.
        pub inner_circle: Option<Disc>,
        /// Everything behind a line.
        pub half_plane: Option<HalfPlane>,
        /// A wall.
        pub segment: Option<Segment>,
        /// A rectangle.
        pub rectangle: Option<Rectangle>,
    }
}

record! {
    "a disc"
    /// A circle.
    pub struct Disc {
        /// Its radius (m).
        pub radius: Formula,
        /// Its centre in the body (m). Default [0, 0].
        pub centre: Option<Vec<Formula>>,
    }
}

record! {
    "a half-plane"
    /// Everything behind a line.
    pub struct HalfPlane {
        /// The direction to the free side.
        pub normal: Vec<Formula>,
        /// A point of the line (m). Default [0, 0].
        pub point: Option<Vec<Formula>>,
    }
}

record! {
    "a segment"
    /// A wall with round ends.
    pub struct Segment {
        /// One end (m).
        pub from: Vec<Formula>,
        /// The other end (m).
        pub to: Vec<Formula>,
        /// Its thickness (m). Default 0.
        pub thickness: Option<Formula>,
    }
}

record! {
    "a rectangle"
    /// A rectangle.
    pub struct Rectangle {
        /// Its width (m).
        pub width: Formula,
        /// Its height (m).
        pub height: Formula,
        /// Its centre in the body (m). Default [0, 0].
        pub centre: Option<Vec<Formula>>,
        /// Its angle in the body (rad). Default 0.
        pub angle: Option<Formula>,
    }
}

record! {
    "a fill"
    /// A region that bodies fill on a hexagonal lattice, row by row from its bottom: a circle, or a box.
    pub struct Fill {
        /// Distance of neighbours (m): at least the largest diameter.
        pub spacing: Formula,
        /// Radius of a circle (m) that holds all cells.
        pub radius: Option<Formula>,
        /// Centre of the circle (m). Default [0, 0].
        pub centre: Option<Vec<Formula>>,
        /// Lower left corner of a box (m), with `to` instead of `radius`.
        pub from: Option<Vec<Formula>>,
        /// Upper right corner of a box (m).
        pub to: Option<Vec<Formula>>,
    }
}

record! {
    "[[spring]]"
    /// A spring with a damper between two bodies.
    pub struct Spring {
        /// Its name.
        pub name: Key,
        /// Names of the two bodies.
        pub bodies: Vec<Key>,
        /// Its ends in the frames of the bodies (m). Default [[0, 0], [0, 0]].
        pub points: Option<Vec<Vec<Formula>>>,
        /// Stiffness (N/m; torsion: N m/rad).
        pub stiffness: Formula,
        /// Damping (N s/m; torsion: N m s/rad). Default 0.
        pub damping: Option<Formula>,
        /// Length (torsion: angle) without force. Default: that of the start.
        pub rest: Option<Formula>,
        /// Whether it acts between the angles of the bodies. Default false.
        pub torsion: Option<bool>,
    }
}

record! {
    "[[bar]]"
    /// A linear elastic bar by finite elements, consistent mass. Its coordinates are the node displacements NAME_0 .. NAME_N (m).
    pub struct Bar {
        /// Its name.
        pub name: Key,
        /// Number of elements N.
        pub elements: Formula,
        /// Length (m).
        pub length: Formula,
        /// Area of the cross section (m^2).
        pub area: Formula,
        /// Density (kg/m^3).
        pub density: Formula,
        /// Young's modulus (Pa).
        pub modulus: Formula,
        /// Displacement of all nodes at the start (m). Default 0.
        pub displacement: Option<Formula>,
        /// Velocity of all nodes at the start (m/s). Default 0.
        pub velocity: Option<Formula>,
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
    /// The state at the start.
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
    /// Default step, end and start.
    pub struct Time {
        /// Step (s).
        pub step: Formula,
        /// End (s).
        pub end: Formula,
        /// Start (s). Default 0.
        pub start: Option<Formula>,
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
        /// Relaxation factor of jacobi, gauss-seidel and nsgs, between 0 and 2. Default 1; jacobi: what converges.
        pub relaxation: Option<Formula>,
        /// The same of friction laws, jacobi and gauss-seidel. Default: relaxation.
        pub friction_relaxation: Option<Formula>,
        /// Factor r of the projections of jacobi and gauss-seidel, instead of the relaxation over the diagonal.
        pub r: Option<Formula>,
        /// The same of friction laws.
        pub friction_r: Option<Formula>,
    }
}

record! {
    "[output]"
    /// What is recorded.
    pub struct Output {
        /// Every k-th step is recorded with `--out`, and the last. Default 1.
        pub every: Option<u64>,
        /// What is recorded besides the motion: events, certificate, energy, percussions; or ["all"], ["none"]. Default ["all"].
        pub watch: Option<WatchList>,
    }
}

impl Model {
    /// A model without coordinates of its own: that of a scene of bodies.
    pub fn none() -> Self {
        Self {
            coordinates: Vec::new(),
            velocities: None,
            mass: None,
            kinetic: None,
            potential: None,
            force: None,
            unit: Vec::new(),
            breaks: Vec::new(),
            units: Named::default(),
            origin: Origin::Scene,
        }
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
