//! Bodies that fly at each other so fast that a step may take them through each other: pairs of shapes, each with the depth of its middle.
//!
//! The first body flies to the right, or what it meets comes at it from there. They pass each other where the middles of their shapes cross.

use nonsmooth::contract::Feature;
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::{Observer, Status, StepView};
use nonsmooth::{Simulation, SimulationOptions, scheme};
use nonsmooth_multibody::{Body, Builder, Motion, Multibody, Pose, Shape, Twist, Uniform, Vec2};

/// Length of all steps, s.
pub(crate) const STEP: f64 = 1e-2;

/// Which of the two bodies moves, and how.
#[derive(Clone, Copy, PartialEq)]
enum Approach {
    /// The first flies at the second, which is fixed.
    Fixed,
    /// The same, and it spins and is accelerated.
    Driven,
    /// The second is driven at the first.
    Wall,
    /// The second is driven at the first with a speed that grows from nothing.
    Sudden,
    /// Both are free and fly at each other.
    HeadOn,
    /// The same, and both spin.
    Spinning,
}

/// Two shapes that meet.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    flier: Shape,
    target: Shape,
    approach: Approach,
    /// What a step may go before the first touches the middle of the second, m: half its thickness and the radius of the first.
    depth: f64,
    /// Distance of the centres where they touch, m.
    contact: f64,
    restitution: f64,
}

/// A wall that starts from rest with an acceleration, m/s².
#[derive(Debug)]
struct Accelerated {
    from: f64,
    acceleration: f64,
}

impl Motion for Accelerated {
    fn at(&self, t: f64) -> (Pose, Twist, Twist) {
        let along = |v: f64| Twist { velocity: [v, 0.0], spin: 0.0 };
        let x = self.from + 0.5 * self.acceleration * t * t;
        (Pose { centre: [x, 0.0], angle: 0.0 }, along(self.acceleration * t), along(self.acceleration))
    }

    fn turns(&self) -> bool {
        false
    }
}

/// What became of a run.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It ended, after this number of refused steps.
    Held(usize),
    /// It stopped, and says why.
    Stopped(String),
    /// The bodies went through each other: how near their middles came, over the sum of the radii.
    Passed(f64),
}

/// The pairs.
pub(crate) fn cases() -> Vec<Case> {
    let disc = Shape::disc(0.1);
    let lying = Shape::segment([-0.2, 0.0], [0.2, 0.0], 0.1);
    let standing = Shape::segment([0.0, -0.2], [0.0, 0.2], 0.1);
    let brick = Shape::rectangle(0.2, 0.3);
    let wall = Shape::segment([0.0, -1.0], [0.0, 1.0], 0.2);
    let block = Shape::rectangle(0.2, 2.0);
    let round = Shape::disc(0.3);
    let mut list = Vec::new();
    let mut add = |name, flier: &Shape, target: &Shape, approach, depth, contact, restitution| {
        let (flier, target) = (*flier, *target);
        list.push(Case { name, flier, target, approach, depth, contact, restitution });
    };
    use Approach::{Driven, Fixed, HeadOn, Spinning, Sudden, Wall};
    add("disc, segment", &disc, &wall, Fixed, 0.2, 0.2, 0.0);
    add("disc, rectangle", &disc, &block, Fixed, 0.2, 0.2, 0.5);
    add("disc, disc", &disc, &round, Fixed, 0.4, 0.4, 0.0);
    add("disc, thin segment", &disc, &Shape::segment([0.0, -1.0], [0.0, 1.0], 0.0), Fixed, 0.1, 0.1, 0.0);
    add("lying capsule, segment", &lying, &wall, Fixed, 0.15, 0.35, 0.0);
    add("standing capsule, segment", &standing, &wall, Fixed, 0.15, 0.15, 0.5);
    add("lying capsule, rectangle", &lying, &block, Fixed, 0.15, 0.35, 0.5);
    add("standing capsule, rectangle", &standing, &block, Fixed, 0.15, 0.15, 0.0);
    add("rectangle, segment", &brick, &wall, Fixed, 0.1, 0.2, 0.0);
    add("rectangle, rectangle", &brick, &block, Fixed, 0.1, 0.2, 0.5);
    add("rectangle, disc", &brick, &round, Fixed, 0.4, 0.4, 0.0);
    add("disc that spins and is accelerated, segment", &disc, &wall, Driven, 0.2, 0.2, 0.5);
    add("rectangle that spins and is accelerated, segment", &brick, &wall, Driven, 0.1, 0.3, 0.0);
    add("capsule that spins and is accelerated, rectangle", &standing, &block, Driven, 0.15, 0.35, 0.0);
    add("disc, driven segment", &disc, &wall, Wall, 0.2, 0.2, 0.0);
    add("rectangle, driven rectangle", &brick, &block, Wall, 0.1, 0.2, 0.5);
    add("capsule, driven disc", &standing, &round, Wall, 0.35, 0.35, 0.0);
    add("disc, accelerated segment", &disc, &wall, Sudden, 0.2, 0.2, 0.0);
    add("two discs", &disc, &disc, HeadOn, 0.2, 0.2, 0.5);
    add("two rectangles", &brick, &brick, HeadOn, 0.1, 0.2, 0.0);
    add("two standing capsules", &standing, &standing, HeadOn, 0.1, 0.1, 0.0);
    add("disc, lying capsule", &disc, &lying, HeadOn, 0.15, 0.35, 0.5);
    add("two rectangles that spin", &brick, &brick, Spinning, 0.1, 0.3606, 0.0);
    add("two capsules that spin", &standing, &standing, Spinning, 0.1, 0.5, 0.5);
    list
}

impl Case {
    /// The run of a scheme where the relative motion in a step is `ratio` times the depth of the middle and the contact falls at `phase` of a step.
    pub(crate) fn run(&self, scheme: &str, ratio: f64, phase: f64) -> Outcome {
        let per_step = ratio * self.depth;
        let speed = per_step / STEP;
        // Two steps, or once the depth, and the phase before the contact.
        let free = per_step.max(0.5 * self.depth) * 2.0 + phase * per_step;
        let distance = self.contact + free;
        let steps = ((free + 4.0 * self.contact) / per_step).ceil() + 8.0;
        let end = steps * STEP;
        let mut world = Builder::new();
        let flier = Body::new("flier").mass(1.0, 0.01).shape(self.flier).at([0.0, 0.0], 0.0);
        let target = |body: Body| body.shape(self.target).at([distance, 0.0], 0.0);
        match self.approach {
            Approach::Fixed => {
                world.body(flier.moving([speed, 0.0], 0.0)).body(target(Body::fixed("target")));
            }
            Approach::Driven => {
                // A tenth of the speed is gained in a step, and a step turns by 0.3 rad.
                world.gravity([0.1 * speed / STEP, 0.0]);
                world.body(flier.moving([speed, 0.0], 0.3 / STEP)).body(target(Body::fixed("target")));
            }
            Approach::Wall => {
                let start = Pose { centre: [distance, 0.0], angle: 0.0 };
                let rate = Twist { velocity: [-speed, 0.0], spin: 0.0 };
                let wall = Body::driven("target", Uniform { start, rate });
                world.body(flier).body(wall.shape(self.target));
            }
            Approach::Sudden => {
                // It comes by `per_step` in the third step.
                let wall = Body::driven("target", Accelerated { from: distance, acceleration: -speed / (2.5 * STEP) });
                world.body(flier).body(wall.shape(self.target));
            }
            Approach::HeadOn | Approach::Spinning => {
                let spin = if self.approach == Approach::Spinning { 0.5 / STEP } else { 0.0 };
                let other = target(Body::new("target").mass(1.0, 0.01));
                world.body(flier.moving([0.5 * speed, 0.0], spin)).body(other.moving([-0.5 * speed, 0.0], -0.7 * spin));
            }
        }
        let scheme = scheme::make(scheme, &Default::default()).expect("a scheme of the list");
        let supports = scheme.base().supports;
        let law = ContactLaw::newton(if supports.has(Feature::Restitution) { self.restitution } else { 0.0 });
        let has_friction = supports.friction_dim > 0;
        world.contact_of_all("contact", if has_friction { law.coulomb(1, 0.2) } else { law });
        let (system, start) = world.build().expect("a case that can be built");
        let simulation = Simulation::new(&system, start, scheme, SimulationOptions::new(STEP, end));
        let mut watch = Watch { system: &system, shapes: [&self.flier, &self.target], nearest: f64::INFINITY };
        let summary = simulation.expect("a case that can be run").run_with(&mut watch);
        if summary.status == Status::Stopped {
            return Outcome::Stopped(summary.stop.map(|s| s.to_string()).unwrap_or_default());
        }
        if watch.nearest < CROSSED { Outcome::Passed(watch.nearest) } else { Outcome::Held(summary.work.rejected) }
    }
}

/// A shape as a line with a radius around it, which lies in the shape: those of two bodies that go through each other cross.
fn core(shape: &Shape, pose: &Pose) -> ([Vec2; 2], f64) {
    let (ends, radius) = match *shape {
        Shape::Disc { centre, radius } => ([centre, centre], radius),
        Shape::Segment { from, to, radius } => ([from, to], radius),
        // Rectangles here are upright.
        Shape::Box { half, .. } => ([[0.0, half[0] - half[1]], [0.0, half[1] - half[0]]], half[0]),
        Shape::HalfPlane { .. } | Shape::InnerCircle { .. } => unreachable!("no case has them"),
    };
    let (sin, cos) = pose.angle.sin_cos();
    let place = |p: Vec2| [pose.centre[0] + cos * p[0] - sin * p[1], pose.centre[1] + sin * p[0] + cos * p[1]];
    (ends.map(place), radius)
}

/// Distance of two lines; zero where they cross.
fn distance([a, b]: [Vec2; 2], [c, d]: [Vec2; 2]) -> f64 {
    let minus = |p: Vec2, q: Vec2| [p[0] - q[0], p[1] - q[1]];
    let cross = |p: Vec2, q: Vec2| p[0] * q[1] - p[1] * q[0];
    let from_line = |p: Vec2, a: Vec2, b: Vec2| {
        let (e, y) = (minus(b, a), minus(p, a));
        let length = e[0] * e[0] + e[1] * e[1];
        let x = if length > 0.0 { ((y[0] * e[0] + y[1] * e[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
        (y[0] - x * e[0]).hypot(y[1] - x * e[1])
    };
    let apart =
        |a: Vec2, b: Vec2, c: Vec2, d: Vec2| cross(minus(b, a), minus(c, a)) * cross(minus(b, a), minus(d, a)) >= 0.0;
    if !apart(a, b, c, d) && !apart(c, d, a, b) {
        return 0.0;
    }
    from_line(a, c, d).min(from_line(b, c, d)).min(from_line(c, a, b)).min(from_line(d, a, b))
}

/// Looks at how near to each other the middles of both shapes come, within steps too.
struct Watch<'a> {
    system: &'a Multibody,
    shapes: [&'a Shape; 2],
    /// Over the sum of the radii.
    nearest: f64,
}

/// Motion from one look within a step to the next, over the sum of the radii.
const LOOK: f64 = 0.02;
/// Most looks in a step: ten depths of a middle are some hundred.
const MAX_LOOKS: f64 = 2000.0;
/// Distance of the middles over the sum of the radii at which bodies have crossed: with it the looks find every crossing.
const CROSSED: f64 = 0.02;

impl Observer for Watch<'_> {
    fn step(&mut self, view: &StepView) {
        let (start, end) = (view.start, view.end);
        let poses = |body: usize| [self.system.pose(body, start.t, &start.q), self.system.pose(body, end.t, &end.q)];
        let ends = [poses(0), poses(1)];
        let at = |x: f64| {
            let cores = [0, 1].map(|body: usize| {
                let [a, b] = ends[body];
                let mix = |a: f64, b: f64| a + x * (b - a);
                let centre = [mix(a.centre[0], b.centre[0]), mix(a.centre[1], b.centre[1])];
                core(self.shapes[body], &Pose { centre, angle: mix(a.angle, b.angle) })
            });
            distance(cores[0].0, cores[1].0)
        };
        let radii: f64 = [0, 1].map(|body: usize| core(self.shapes[body], &ends[body][0]).1).iter().sum();
        // Far from each other nothing happens.
        let turn = |[a, b]: [Pose; 2]| (b.angle - a.angle).abs();
        let moved = |[a, b]: [Pose; 2]| (b.centre[0] - a.centre[0]).hypot(b.centre[1] - a.centre[1]) + turn([a, b]);
        let motion = moved(ends[0]) + moved(ends[1]);
        let looks = if at(0.0) > motion { 1 } else { (motion / (LOOK * radii)).ceil().clamp(1.0, MAX_LOOKS) as u32 };
        for k in 0..=looks {
            self.nearest = self.nearest.min(at(f64::from(k) / f64::from(looks)) / radii);
        }
    }
}
