//! Gaps against distances of densely sampled outlines, and which pairs are listed.

use nonsmooth::contract::Workspace;
use nonsmooth::contract::{Candidates, Reach};
use nonsmooth::law::ContactLaw;
use nonsmooth::{State, System};
use nonsmooth_multibody::{Body, Builder, Multibody, Shape};
use std::collections::{BTreeMap, BTreeSet};

type Point = [f64; 2];

/// A fixed pseudo-random sequence in [−1, 1).
fn sequence(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        2.0 * (s >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    }
}

const SAMPLES: usize = 600;
/// Half the length of the line that stands for a half-plane: longer than anything in these tests is far away.
const LONG: f64 = 6.0;

fn place(x: Point, centre: Point, angle: f64) -> Point {
    let (s, c) = angle.sin_cos();
    [centre[0] + c * x[0] - s * x[1], centre[1] + s * x[0] + c * x[1]]
}

/// Points of the outline in the frame of the body, and the largest distance between neighbours.
fn outline(shape: &Shape) -> (Vec<Point>, f64) {
    let n = SAMPLES as f64;
    let circle = |centre: Point, r: f64, from: f64, to: f64, count: usize| {
        (0..=count).map(move |i| {
            let phi = from + (to - from) * i as f64 / count as f64;
            [centre[0] + r * phi.cos(), centre[1] + r * phi.sin()]
        })
    };
    let line = |a: Point, b: Point, count: usize| {
        (0..=count).map(move |i| {
            let s = i as f64 / count as f64;
            [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]
        })
    };
    let full = std::f64::consts::TAU;
    match *shape {
        Shape::Disc { centre, radius } | Shape::InnerCircle { centre, radius } => {
            (circle(centre, radius, 0.0, full, SAMPLES).collect(), radius * full / n)
        }
        Shape::HalfPlane { point, normal } => {
            let l = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
            let t = [-normal[1] / l * LONG, normal[0] / l * LONG];
            let ends = ([point[0] - t[0], point[1] - t[1]], [point[0] + t[0], point[1] + t[1]]);
            (line(ends.0, ends.1, 4 * SAMPLES).collect(), 2.0 * LONG / (4.0 * n))
        }
        Shape::Segment { from, to, radius } => {
            let d = [to[0] - from[0], to[1] - from[1]];
            let l = (d[0] * d[0] + d[1] * d[1]).sqrt();
            let phi = d[1].atan2(d[0]);
            let side = [-d[1] / l * radius, d[0] / l * radius];
            let quarter = SAMPLES / 4;
            let mut points: Vec<Point> = Vec::new();
            for s in [-1.0, 1.0] {
                let shift = |x: Point| [x[0] + s * side[0], x[1] + s * side[1]];
                points.extend(line(shift(from), shift(to), quarter));
            }
            points.extend(circle(to, radius, phi - 0.25 * full, phi + 0.25 * full, quarter));
            points.extend(circle(from, radius, phi + 0.25 * full, phi + 0.75 * full, quarter));
            (points, 4.0 * l.max(0.5 * full * radius) / n)
        }
        Shape::Box { centre, half: [a, b], angle } => {
            let corners = [[-a, -b], [a, -b], [a, b], [-a, b]].map(|c| place(c, centre, angle));
            let points = (0..4).flat_map(|i| line(corners[i], corners[(i + 1) % 4], SAMPLES / 4));
            (points.collect(), 4.0 * 2.0 * a.max(b) / n)
        }
    }
}

/// Whether a point in the frame of the body lies in the matter of a shape.
fn inside(shape: &Shape, x: Point) -> bool {
    let from = |c: Point| [x[0] - c[0], x[1] - c[1]];
    let length = |d: Point| (d[0] * d[0] + d[1] * d[1]).sqrt();
    match *shape {
        Shape::Disc { centre, radius } => length(from(centre)) < radius,
        Shape::InnerCircle { centre, radius } => length(from(centre)) > radius,
        Shape::HalfPlane { point, normal } => {
            let d = from(point);
            d[0] * normal[0] + d[1] * normal[1] < 0.0
        }
        Shape::Segment { from: a, to: b, radius } => {
            let (d, e) = (from(a), [b[0] - a[0], b[1] - a[1]]);
            let s = ((d[0] * e[0] + d[1] * e[1]) / (e[0] * e[0] + e[1] * e[1])).clamp(0.0, 1.0);
            length([d[0] - s * e[0], d[1] - s * e[1]]) < radius
        }
        Shape::Box { centre, half, angle } => {
            let d = place(from(centre), [0.0, 0.0], -angle);
            d[0].abs() < half[0] && d[1].abs() < half[1]
        }
    }
}

struct Sampled {
    points: Vec<Point>,
    spacing: f64,
}

/// A shape with its pose.
#[derive(Clone, Copy, Debug)]
struct Put {
    shape: Shape,
    centre: Point,
    angle: f64,
}

impl Put {
    fn sample(&self) -> Sampled {
        let (points, spacing) = outline(&self.shape);
        Sampled { points: points.iter().map(|x| place(*x, self.centre, self.angle)).collect(), spacing }
    }
    fn holds(&self, x: &Point) -> bool {
        let d = [x[0] - self.centre[0], x[1] - self.centre[1]];
        inside(&self.shape, place(d, [0.0, 0.0], -self.angle))
    }
}

/// Distance of two outlines with a bound of its error, and whether the shapes overlap.
fn distance(a: &Put, b: &Put) -> (f64, f64, bool) {
    let (x, y) = (a.sample(), b.sample());
    let mut least = f64::INFINITY;
    for p in &x.points {
        for q in &y.points {
            let d = [p[0] - q[0], p[1] - q[1]];
            least = least.min(d[0] * d[0] + d[1] * d[1]);
        }
    }
    let overlap = x.points.iter().any(|p| b.holds(p)) || y.points.iter().any(|p| a.holds(p));
    // The nearest points lie within half a spacing of a sample each.
    (least.sqrt(), 0.5 * (x.spacing + y.spacing), overlap)
}

fn shapes() -> Vec<Shape> {
    vec![
        Shape::disc(0.4),
        Shape::Disc { centre: [0.3, -0.2], radius: 0.3 },
        Shape::half_plane([0.1, 0.2], [0.6, 1.1]),
        Shape::segment([-0.7, 0.2], [0.6, -0.3], 0.2),
        Shape::segment([-0.6, -0.2], [0.8, 0.1], 0.0),
        Shape::inner_circle(1.8),
        Shape::InnerCircle { centre: [0.2, 0.1], radius: 1.6 },
        Shape::rectangle(1.2, 0.5),
        Shape::Box { centre: [-0.2, 0.3], half: [0.3, 0.5], angle: 0.7 },
    ]
}

fn endless(s: &Shape) -> bool {
    matches!(s, Shape::HalfPlane { .. } | Shape::InnerCircle { .. })
}

fn meet(a: &Shape, b: &Shape) -> bool {
    let thin = |s: &Shape| matches!(s, Shape::Segment { radius: 0.0, .. });
    let cornered = |s: &Shape| thin(s) || matches!(s, Shape::Box { .. });
    let never = endless(a) && endless(b);
    !(never || thin(a) && cornered(b) || thin(b) && cornered(a))
}

fn world(parts: &[Put]) -> (Multibody, State) {
    let mut world = Builder::new();
    for (i, p) in parts.iter().enumerate() {
        // What has no end is fixed, so that what is listed against it is what is near.
        let name = format!("b{i}");
        let body = if endless(&p.shape) { Body::fixed(&name) } else { Body::new(&name).mass(1.0, 1.0) };
        world.body(body.at(p.centre, p.angle).shape(p.shape));
    }
    world.contact_of_all("contact", ContactLaw::newton(0.0));
    world.build().unwrap()
}

/// Contacts within a reach: bodies and gap of each.
fn contacts(system: &Multibody, work: &Workspace, s: &State, reach: f64) -> Vec<(u64, (usize, usize), f64)> {
    let mut list = Candidates::default();
    system.candidates(work, 0.0, &s.q, &s.u, Reach { time: 0.0, distance: reach }, &mut list);
    let gap = |k: &nonsmooth::contract::Interaction| {
        let mut g = [0.0];
        system.position(work, k, 0.0, &s.q, &mut g);
        g[0]
    };
    list.items().iter().map(|k| (k.id, system.bodies_of_contact(k.id).unwrap(), gap(k))).collect()
}

#[test]
fn the_smallest_gap_of_two_shapes_is_their_distance() {
    let mut random = sequence(5);
    let (mut pairs, mut apart, mut overlapping) = (0, 0, 0);
    for a in shapes() {
        for b in shapes() {
            if !meet(&a, &b) {
                continue;
            }
            pairs += 1;
            let mut open = 0;
            for _ in 0..200 {
                if open == 12 {
                    break;
                }
                let mut put = |shape| Put { shape, centre: [random(), random()], angle: 3.0 * random() };
                let parts = [put(a), put(b)];
                let (system, s) = world(&parts);
                let found = contacts(&system, &Workspace::default(), &s, 10.0);
                let least = found.iter().map(|c| c.2).fold(f64::INFINITY, f64::min);
                let (sampled, error, overlap) = distance(&parts[0], &parts[1]);
                if overlap {
                    // A disc knows how deep it lies; boxes and segments may cross without a corner in the other.
                    if matches!(a, Shape::Disc { .. }) || matches!(b, Shape::Disc { .. }) || endless(&a) || endless(&b)
                    {
                        assert!(least < 0.0, "{parts:?}: they overlap, the gap is {least}");
                        overlapping += 1;
                    }
                    continue;
                }
                // Rounding of lengths of a few metres.
                assert!(least <= sampled + 1e-14, "{parts:?}: gap {least}, distance at most {sampled}");
                assert!(least >= sampled - error, "{parts:?}: gap {least}, distance {sampled} within {error}");
                open += 1;
            }
            assert_eq!(open, 12, "{} and {}", a.kind(), b.kind());
            apart += open;
        }
    }
    assert!(pairs == 67 && apart == 67 * 12 && overlapping > 300, "{pairs} pairs, {apart} apart, {overlapping}");
}

#[test]
fn no_pair_within_the_reach_is_missed_and_none_is_listed_twice() {
    let mut random = sequence(17);
    let reach = 0.15;
    let (mut near, mut far) = (0, 0);
    for _ in 0..6 {
        // Bodies of all shapes around each other; walls without thickness stand apart from what has corners.
        let all: Vec<Shape> =
            shapes().into_iter().filter(|s| !matches!(s, Shape::Segment { radius: 0.0, .. })).collect();
        let parts: Vec<Put> = (0..24)
            .map(|i| Put { shape: all[i % all.len()], centre: [4.0 * random(), 4.0 * random()], angle: 3.0 * random() })
            .collect();
        let (system, s) = world(&parts);
        let found = contacts(&system, &Workspace::default(), &s, reach);
        let ids: BTreeSet<u64> = found.iter().map(|c| c.0).collect();
        assert_eq!(ids.len(), found.len(), "every contact once");
        let mut count: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (_, (a, b), _) in &found {
            assert!(a < b, "one order of the bodies");
            *count.entry((*a, *b)).or_default() += 1;
        }
        for j in 0..parts.len() {
            for i in 0..j {
                let (a, b) = (&parts[i], &parts[j]);
                let listed = count.get(&(i, j)).copied().unwrap_or(0);
                if endless(&a.shape) && endless(&b.shape) {
                    assert_eq!(listed, 0, "two that cannot meet");
                    continue;
                }
                let disc = |p: &Put| matches!(p.shape, Shape::Disc { .. });
                let most = if disc(a) || disc(b) { 1 } else { 8 };
                assert!(listed <= most, "{a:?} and {b:?}: {listed} contacts");
                let (d, error, overlap) = distance(a, b);
                // Crossed without a corner in the other: no contact says so.
                let crossed = overlap && !disc(a) && !disc(b) && !endless(&a.shape) && !endless(&b.shape);
                // Both may move by the reach, or one if the other is fixed.
                let both = if endless(&a.shape) || endless(&b.shape) { reach } else { 2.0 * reach };
                if (overlap && !crossed) || (!overlap && d < both) {
                    assert!(listed >= 1, "{a:?} and {b:?} are missed at a distance of {d}, overlap {overlap}");
                    near += 1;
                }
                // Margins hold at most twice the reach of each and a twentieth of their size (0.7 m).
                if !overlap && d > 4.0 * reach + 2.0 * 0.05 * 0.7 + error {
                    assert_eq!(listed, 0, "{a:?} and {b:?} at {d}");
                    far += 1;
                }
            }
        }
    }
    assert!(near > 200 && far > 200, "{near} near, {far} far");
}

#[test]
fn bodies_without_a_law_and_shapes_of_one_body_do_not_touch() {
    let mut world = Builder::new();
    let two = |name: &str, m: &str| {
        let body = Body::new(name).mass(1.0, 1.0).material(m).shape(Shape::disc(0.5));
        body.shape(Shape::Disc { centre: [0.2, 0.0], radius: 0.5 })
    };
    world.body(two("a", "steel")).body(two("b", "steel").at([0.3, 0.0], 0.0)).body(two("c", "air"));
    world.body(Body::fixed("f").material("steel").shape(Shape::disc(0.5)));
    world.body(Body::fixed("g").material("steel").shape(Shape::disc(0.5)));
    world.contact("steel_steel", "steel", "steel", ContactLaw::newton(0.0));
    let (system, s) = world.build().unwrap();
    let pairs: Vec<(usize, usize)> = contacts(&system, &Workspace::default(), &s, 0.0).iter().map(|c| c.1).collect();
    // Two shapes each: four contacts of a and b, two of each with f and with g; f and g are both fixed.
    let expected = [(0, 1); 4].into_iter().chain([(0, 3), (0, 4), (0, 3), (0, 4), (1, 3), (1, 4), (1, 3), (1, 4)]);
    let (mut expected, mut pairs): (Vec<_>, Vec<_>) = (expected.collect(), pairs);
    expected.sort_unstable();
    pairs.sort_unstable();
    assert_eq!(pairs, expected);
    let missing: Vec<(String, String)> = [("a", "c")].iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    assert_eq!(system.pairs_without_law(), missing);
}

#[test]
fn a_box_that_slides_and_turns_on_a_plane_keeps_the_identities_of_its_corners() {
    let mut world = Builder::new();
    world.body(Body::fixed("ground").at([0.3, -0.2], 0.1).shape(Shape::half_plane([0.0, 0.0], [0.0, 1.0])));
    world.body(Body::new("block").density(1.0).shape(Shape::rectangle(1.2, 0.5)));
    world.contact_of_all("contact", ContactLaw::newton(0.0));
    let (system, _) = world.build().unwrap();
    let corners = [[-0.6, -0.25], [0.6, -0.25], [-0.6, 0.25], [0.6, 0.25]];
    let mut who: BTreeMap<u64, usize> = BTreeMap::new();
    for i in 0..500 {
        let (x, phi) = (0.01 * f64::from(i), 0.05 * f64::from(i));
        let s = State::new(0.0, vec![x, 0.4 + 0.3 * (0.3 * phi).sin(), phi], vec![0.1, 0.0, 1.0]);
        let found = contacts(&system, &Workspace::default(), &s, 5.0);
        assert_eq!(found.len(), 4);
        for (id, _, gap) in found {
            assert_eq!(system.name(id), "ground-block");
            // The height of a corner above the tilted plane, by hand.
            let height = |c: usize| {
                let p = place(corners[c], [s.q[0], s.q[1]], phi);
                let n = [-(0.1f64.sin()), 0.1f64.cos()];
                n[0] * (p[0] - 0.3) + n[1] * (p[1] + 0.2)
            };
            let corner = *who.entry(id).or_insert_with(|| (0..4).find(|c| (height(*c) - gap).abs() < 1e-14).unwrap());
            // Rounding of the turn of a corner 5 m away.
            assert!((gap - height(corner)).abs() < 1e-14, "step {i}: {gap} {}", height(corner));
        }
    }
    assert_eq!(who.values().collect::<BTreeSet<_>>().len(), 4);
}

#[test]
fn identities_do_not_depend_on_the_way_that_led_to_a_pose() {
    let mut random = sequence(23);
    let parts: Vec<Put> = shapes()
        .into_iter()
        .filter(|s| !matches!(s, Shape::Segment { radius: 0.0, .. }))
        .map(|shape| Put { shape, centre: [random(), random()], angle: 3.0 * random() })
        .collect();
    let (wandering, mut s) = world(&parts);
    let work = Workspace::default();
    let mut seen = BTreeMap::new();
    let mut changes = 0;
    let mut before = Vec::new();
    for _ in 0..400 {
        for q in &mut s.q {
            *q += 0.05 * random();
        }
        // Within the margins of the list, the wandering system may list more; what is near must be the same.
        let near = |system: &Multibody, work: &Workspace| {
            let all = contacts(system, work, &s, 0.05);
            all.into_iter().filter(|c| c.2 <= 0.05).collect::<Vec<_>>()
        };
        let (kept, anew) = (near(&wandering, &work), near(&world(&parts).0, &Workspace::default()));
        assert_eq!(kept, anew);
        changes += usize::from(kept.len() != before.len());
        for (id, bodies, _) in &kept {
            assert_eq!(seen.entry(*id).or_insert((*bodies, wandering.name(*id))), &(*bodies, wandering.name(*id)));
        }
        before = kept;
    }
    assert!(changes > 50 && seen.len() > 30, "{changes} changes of {} contacts", seen.len());
}

#[test]
fn boxes_that_overlap_are_pushed_apart_and_never_into_each_other() {
    let mut random = sequence(31);
    let (mut seen, mut several) = (0, 0);
    for _ in 0..3000 {
        let half = [0.3 + 0.1 * random(), 0.2 + 0.1 * random()];
        let mut put = |centre: Point| Put {
            shape: Shape::Box { centre: [0.1, -0.05], half, angle: 0.3 },
            centre,
            angle: 3.0 * random(),
        };
        let parts = [put([0.0, 0.0]), put([0.45, 0.3])];
        let (system, s) = world(&parts);
        let mut list = Candidates::default();
        system.candidates(&Workspace::default(), 0.0, &s.q, &s.u, Reach::NONE, &mut list);
        let middles = parts.map(|p| place([0.1, -0.05], p.centre, p.angle));
        let between = [middles[1][0] - middles[0][0], middles[1][1] - middles[0][1]];
        let mut deep = 0;
        for k in list.items() {
            let mut g = [0.0];
            system.position(&Workspace::default(), k, 0.0, &s.q, &mut g);
            if g[0] >= 0.0 {
                continue;
            }
            let (mut w, mut chi) = (vec![0.0; 6], vec![0.0]);
            system.velocity(&Workspace::default(), k, 0.0, &s.q, &mut w, &mut chi);
            // The direction in which the second box is pushed.
            let at = k.dofs.iter().position(|d| *d == 3).unwrap();
            let along = w[at] * between[0] + w[at + 1] * between[1];
            assert!(along >= 0.0, "{parts:?}: pushed by {w:?}, the boxes lie {between:?} apart");
            deep += 1;
        }
        seen += deep;
        several += usize::from(deep > 1);
    }
    assert!(seen > 1000 && several > 300, "{seen} contacts, {several} times several");
}
