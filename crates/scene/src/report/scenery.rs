//! What is drawn of a scene: shapes of bodies, bars, springs between bodies, and the figures of `[picture]`, with their poses.
//!
//! A bar has no position in the plane: the first is drawn on the x axis, others below it. Its displacements are too small to be visible, so
//! they are drawn a second time as a curve above the bar, magnified by a round number that is chosen after the run.

use crate::model::bodies::DrawnBar;
use crate::model::{Bounds, Figure};
use crate::prepare::Prepared;
use nonsmooth_multibody::{Pose, Shape, Vec2};
use serde_json::{Value, json};

/// Most points that are drawn of a bar.
const MAX_BAR_POINTS: usize = 65;
/// Height of the curve of a bar, relative to the length of the bar.
const BAR_CURVE_HEIGHT: f64 = 0.2;

/// Something that is drawn.
struct Shown {
    name: String,
    /// Number of its colour; none is grey.
    colour: Option<f64>,
    fill: bool,
    label: Option<String>,
    figure: Figure,
    place: Place,
}

enum Place {
    /// Its pose.
    Fixed(Vec<f64>),
    /// First of its columns in `poses`.
    Moving(usize),
}

/// Where columns of `poses` come from.
enum Source {
    /// Pose of a body.
    Body(usize),
    /// Pose of a shape that is not in the middle of its body.
    Shape(usize, Vec2, f64),
    /// A line of a body: a point of it, and the angle of its normal.
    HalfPlane(usize, Vec2, f64),
    /// Ends of a spring.
    Spring(usize),
    /// Points of a bar.
    Bar(usize),
    /// Places in the undeformed bar, and displacements.
    BarCurve(usize),
    /// A figure of `[picture]`.
    Figure(usize),
}

/// All that is drawn.
pub(super) struct Scenery<'a> {
    prepared: &'a Prepared,
    shown: Vec<Shown>,
    sources: Vec<Source>,
    width: usize,
    /// Heights of the bars.
    heights: Vec<f64>,
    /// Bounds of all moving figures over all frames.
    bounds: Bounds,
    poses: Vec<f32>,
    pose: Vec<f64>,
}

impl<'a> Scenery<'a> {
    pub(super) fn new(prepared: &'a Prepared) -> Self {
        let mut this = Self {
            prepared,
            shown: Vec::new(),
            sources: Vec::new(),
            width: 0,
            heights: Vec::new(),
            bounds: Bounds::EMPTY,
            poses: Vec::new(),
            pose: Vec::new(),
        };
        for body in 0..prepared.drawn.len() {
            this.body(body);
        }
        for (i, spring) in prepared.springs.iter().enumerate() {
            let place = this.source(Source::Spring(i), 4);
            this.show(&spring.name, None, Figure::Spring, place);
        }
        let longest = prepared.bars.iter().fold(0.0f64, |m, b| m.max(b.length));
        for (i, bar) in prepared.bars.iter().enumerate() {
            this.heights.push(if i == 0 { 0.0 } else { -0.6 * longest * i as f64 });
            let figure = Figure::Line { points: nodes(bar).count(), closed: false };
            let place = this.source(Source::Bar(i), figure.numbers());
            this.show(&bar.name, Some(i as f64), figure, place);
            let place = this.source(Source::BarCurve(i), figure.numbers());
            this.show(&format!("{} displacement", bar.name), Some(i as f64), figure, place);
        }
        for (i, item) in prepared.picture.iter().flat_map(|p| &p.items).enumerate() {
            let place = if item.moves {
                this.source(Source::Figure(i), item.figure.numbers())
            } else {
                let mut pose = Vec::new();
                item.pose(prepared.start.t, &prepared.start.q, &prepared.start.u, &mut pose);
                Place::Fixed(pose)
            };
            this.show(&item.name, item.colour, item.figure, place);
            if let Some(shown) = this.shown.last_mut() {
                shown.fill = item.fill;
            }
        }
        this
    }

    /// Whether there is nothing to see.
    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// 2 or 3.
    pub(super) fn dimension(&self) -> usize {
        self.prepared.picture.as_ref().map_or(2, |p| p.dimension)
    }

    /// Columns of `poses`.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn show(&mut self, name: &str, colour: Option<f64>, figure: Figure, place: Place) {
        self.shown.push(Shown { name: name.into(), colour, fill: true, label: None, figure, place });
    }

    /// Columns for a pose that changes.
    fn source(&mut self, source: Source, numbers: usize) -> Place {
        self.sources.push(source);
        self.width += numbers;
        Place::Moving(self.width - numbers)
    }

    fn body(&mut self, body: usize) {
        let drawn = &self.prepared.drawn[body];
        // What does not move by forces is grey, unless it was given a colour.
        let colour = (drawn.first.is_some() || drawn.colour != 0.0).then_some(drawn.colour);
        let fixed = self.prepared.geometry.as_ref().is_none_or(|g| g.is_fixed(body));
        let mut middle = None;
        if drawn.shapes.is_empty() {
            let place =
                if fixed { Place::Fixed(drawn.pose.centre.to_vec()) } else { self.source(Source::Body(body), 3) };
            self.show(&drawn.name, colour, Figure::Point, place);
        }
        for shape in &drawn.shapes {
            let (figure, centre, angle) = figure(shape);
            let place = if fixed {
                let pose = match figure {
                    Figure::Wall => of_half_plane(&drawn.pose, centre, angle),
                    _ => of_shape(&drawn.pose, centre, angle),
                };
                Place::Fixed(pose.to_vec())
            } else if figure == Figure::Wall {
                self.source(Source::HalfPlane(body, centre, angle), 3)
            } else if centre == [0.0, 0.0] && angle == 0.0 {
                // Shapes in the middle of a body share its pose.
                Place::Moving(match middle {
                    Some(first) => first,
                    None => {
                        let _ = self.source(Source::Body(body), 3);
                        *middle.insert(self.width - 3)
                    }
                })
            } else {
                self.source(Source::Shape(body, centre, angle), 3)
            };
            self.show(&drawn.name, colour, figure, place);
        }
    }

    /// Adds the poses at (t, q, u) as a frame.
    pub(super) fn add_frame(&mut self, t: f64, q: &[f64], u: &[f64]) {
        let p = self.prepared;
        let mut pose = std::mem::take(&mut self.pose);
        pose.clear();
        let of = |body: usize| p.geometry.as_ref().map_or(p.drawn[body].pose, |g| g.pose(body, t, q));
        for source in &self.sources {
            match *source {
                Source::Body(body) => {
                    let b = of(body);
                    pose.extend([b.centre[0], b.centre[1], b.angle]);
                }
                Source::Shape(body, centre, angle) => pose.extend(of_shape(&of(body), centre, angle)),
                Source::HalfPlane(body, point, angle) => pose.extend(of_half_plane(&of(body), point, angle)),
                Source::Spring(i) => {
                    let s = &p.springs[i];
                    for (body, point) in s.bodies.into_iter().zip(s.points) {
                        pose.extend(&of_shape(&of(body), point, 0.0)[..2]);
                    }
                }
                Source::Bar(i) => {
                    let bar = &p.bars[i];
                    pose.extend(nodes(bar).flat_map(|(k, x)| [x + q[bar.first + k], self.heights[i]]));
                }
                Source::BarCurve(i) => {
                    let bar = &p.bars[i];
                    pose.extend(nodes(bar).flat_map(|(k, x)| [x, q[bar.first + k]]));
                }
                Source::Figure(i) => {
                    if let Some(item) = p.picture.as_ref().and_then(|p| p.items.get(i)) {
                        item.pose(t, q, u, &mut pose);
                    }
                }
            }
        }
        for shown in &self.shown {
            if let Place::Moving(first) = shown.place {
                shown.figure.extend_bounds(&pose[first..first + shown.figure.numbers()], &mut self.bounds);
            }
        }
        self.poses.extend(pose.iter().map(|v| *v as f32));
        self.pose = pose;
    }

    /// Bytes of a frame.
    pub(super) fn frame_bytes(&self) -> usize {
        4 * self.width
    }

    /// Puts the curves of bars to scale, after the last frame.
    fn scale_bars(&mut self) {
        let mut first = 0;
        let (width, mut curves) = (self.width.max(1), Vec::new());
        for source in &self.sources {
            let numbers = match *source {
                Source::Body(_) | Source::Shape(..) | Source::HalfPlane(..) => 3,
                Source::Spring(_) => 4,
                Source::Bar(i) => 2 * nodes(&self.prepared.bars[i]).count(),
                Source::BarCurve(i) => {
                    let numbers = 2 * nodes(&self.prepared.bars[i]).count();
                    curves.push((i, first, numbers));
                    numbers
                }
                Source::Figure(i) => self.prepared.picture.as_ref().map_or(0, |p| p.items[i].figure.numbers()),
            };
            first += numbers;
        }
        for (i, first, numbers) in curves {
            let bar = &self.prepared.bars[i];
            let values = || (0..numbers / 2).map(move |k| first + 2 * k + 1);
            let largest = self.poses.chunks_exact(width).flat_map(|frame| values().map(|k| frame[k].abs()));
            let factor = magnification(BAR_CURVE_HEIGHT * bar.length, f64::from(largest.fold(0.0, f32::max)));
            for frame in self.poses.chunks_exact_mut(width) {
                for k in values() {
                    let y = self.heights[i] + factor * f64::from(frame[k]);
                    self.bounds.add(&[0.0, y], 0.0);
                    frame[k] = y as f32;
                }
            }
            let of_curve = |s: &&mut Shown| matches!(s.place, Place::Moving(at) if at == first);
            if let Some(shown) = self.shown.iter_mut().find(of_curve) {
                shown.label = Some(format!("{} × {factor:e}", shown.name));
            }
        }
    }

    /// The poses of all frames, the items as JSON, and the bounds for the camera.
    pub(super) fn finish(mut self) -> (Vec<f32>, Vec<Value>, Value) {
        self.scale_bars();
        let items = self.shown.iter().map(Shown::json).collect();
        let d = self.dimension();
        let bounds = self.camera();
        (self.poses, items, json!({ "min": bounds.min[..d], "max": bounds.max[..d] }))
    }

    /// Bounds of the moving figures, extended to fixed ones nearby that are bounded.
    fn camera(&self) -> Bounds {
        let mut fixed = Bounds::EMPTY;
        for shown in &self.shown {
            if let Place::Fixed(pose) = &shown.place {
                shown.figure.extend_bounds(pose, &mut fixed);
            }
        }
        let mut bounds = if self.bounds.is_empty() { fixed } else { self.bounds };
        let d = self.dimension();
        if bounds.is_empty() {
            bounds = Bounds { min: [0.0; 3], max: [0.0; 3] };
        }
        let size = (0..d).map(|k| bounds.max[k] - bounds.min[k]).fold(0.0, f64::max);
        // Something that never moves and has no size is shown with a metre around it.
        let around = if size > 0.0 { 0.1 * size } else { 0.5 };
        let (low, high) = (bounds.min.map(|v| v - around), bounds.max.map(|v| v + around));
        for k in 0..d {
            if !fixed.is_empty() && fixed.min[k] < high[k] && fixed.max[k] > low[k] {
                bounds.min[k] = bounds.min[k].min(fixed.min[k].max(low[k]));
                bounds.max[k] = bounds.max[k].max(fixed.max[k].min(high[k]));
            }
            if size <= 0.0 {
                (bounds.min[k], bounds.max[k]) = (low[k], high[k]);
            }
        }
        bounds
    }
}

impl Shown {
    fn json(&self) -> Value {
        // A colour is a number of a palette.
        let colour = self.colour.filter(|c| c.is_finite()).map(|c| c.clamp(0.0, 1e9).round() as u64);
        let mut out = json!({ "name": self.name, "kind": self.figure.kind(), "colour": colour });
        match self.figure {
            Figure::Line { points, closed } | Figure::Line3 { points, closed } => {
                out["points"] = json!(points);
                out["closed"] = json!(closed);
            }
            Figure::Circle { radius } | Figure::Ring { radius } | Figure::Sphere { radius } => {
                out["radius"] = json!(radius);
            }
            Figure::Box { size } => out["size"] = json!(size),
            Figure::Box3 { size } => out["size"] = json!(size),
            Figure::Segment { from, to, thickness } => {
                out["from"] = json!(from);
                out["to"] = json!(to);
                out["thickness"] = json!(thickness);
            }
            Figure::Disc3 { radius, thickness } => {
                out["radius"] = json!(radius);
                out["thickness"] = json!(thickness);
            }
            Figure::Point | Figure::Spring | Figure::Wall | Figure::Point3 | Figure::Floor => {}
        }
        match &self.place {
            Place::Fixed(pose) => out["fixed"] = json!(pose),
            Place::Moving(first) => out["first"] = json!(first),
        }
        if !self.fill {
            out["fill"] = json!(false);
        }
        if let Some(label) = &self.label {
            out["label"] = json!(label);
        }
        out
    }
}

/// The figure of a shape, and its place and angle in the body; of a half-plane a point, and the angle of its normal.
fn figure(shape: &Shape) -> (Figure, Vec2, f64) {
    match *shape {
        Shape::Disc { centre, radius } => (Figure::Circle { radius }, centre, 0.0),
        Shape::InnerCircle { centre, radius } => (Figure::Ring { radius }, centre, 0.0),
        Shape::HalfPlane { point, normal } => (Figure::Wall, point, normal[1].atan2(normal[0])),
        Shape::Segment { from, to, radius } => (Figure::Segment { from, to, thickness: 2.0 * radius }, [0.0; 2], 0.0),
        Shape::Box { centre, half, angle } => (Figure::Box { size: [2.0 * half[0], 2.0 * half[1]] }, centre, angle),
    }
}

/// Pose of a frame with a position and an angle in a body.
fn of_shape(body: &Pose, centre: Vec2, angle: f64) -> [f64; 3] {
    let (sin, cos) = body.angle.sin_cos();
    let x = body.centre[0] + cos * centre[0] - sin * centre[1];
    let y = body.centre[1] + sin * centre[0] + cos * centre[1];
    [x, y, body.angle + angle]
}

/// Pose of a wall: the point of its line that is nearest to the body, so that it is drawn where that is.
fn of_half_plane(body: &Pose, point: Vec2, angle: f64) -> [f64; 3] {
    let (sin, cos) = angle.sin_cos();
    let distance = point[0] * cos + point[1] * sin;
    of_shape(body, [distance * cos, distance * sin], angle)
}

/// Nodes of a bar that are drawn, and their places in it, m.
fn nodes(bar: &DrawnBar) -> impl Iterator<Item = (usize, f64)> {
    let (n, length) = (bar.elements, bar.length);
    let points = (n + 1).min(MAX_BAR_POINTS);
    let node = move |j: usize| if points < 2 { 0 } else { (j * n + (points - 1) / 2) / (points - 1) };
    (0..points).map(node).map(move |k| (k, length * k as f64 / n.max(1) as f64))
}

/// The largest of 1, 2, 5 times a power of ten by which `value` is not more than `wanted`; 1 for a value of zero.
fn magnification(wanted: f64, value: f64) -> f64 {
    let factor = wanted / value;
    if !(factor > 0.0 && factor.is_finite()) {
        return 1.0;
    }
    let decade = 10f64.powf(factor.log10().floor());
    let digit = [5.0, 2.0].into_iter().find(|d| d * decade <= factor).unwrap_or(1.0);
    digit * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_magnified_by_a_round_number() {
        for (wanted, value, factor) in [(0.2, 8e-5, 2000.0), (1.0, 0.99, 1.0), (1.0, 0.19, 5.0), (1.0, 3.0, 0.2)] {
            assert!((magnification(wanted, value) / factor - 1.0).abs() < 1e-12, "{wanted} {value}");
        }
        assert_eq!(magnification(0.2, 0.0), 1.0);
    }

    #[test]
    fn a_long_bar_is_drawn_with_few_of_its_nodes_and_both_ends() {
        for elements in [1, 5, 64, 65, 1000] {
            let bar = DrawnBar { name: "bar".into(), first: 0, elements, length: 2.0 };
            let drawn: Vec<(usize, f64)> = nodes(&bar).collect();
            assert_eq!(drawn.len(), (elements + 1).min(MAX_BAR_POINTS));
            assert_eq!((drawn[0], drawn[drawn.len() - 1]), ((0, 0.0), (elements, 2.0)));
            assert!(drawn.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }
}
