//! Broken scenes of bodies, springs and bars: exit code 2, a message that names the mistake and its place, and nothing written.

use crate::command::broken::{Broken, all_are_refused, broken};

/// A scene that is right.
const GOOD: &str = r#"title = "good"

[parameters]
number = 3
r = 0.1
mu = 0.3

[world]
gravity = [0, -9.81]
threads = 1

[[body]]
name = "floor"
fixed = true
shape.half_plane.normal = [0, 1]

[[body]]
name = "wall"
fixed = true
material = "wood"
shape.segment = { from = [-1, 0], to = [-1, 2], thickness = 0.01 }

[[body]]
name = "ball"
count = "number"
shape.disc.radius = "r"
density = 100
material = "rubber"
fill = { from = [-0.5, 0], to = [1, 1], spacing = 0.25 }

[[body]]
name = "box"
shape.rectangle = { width = 0.2, height = 0.3 }
mass = 2
inertia = 0.01
position = [2, 0.5]
angle = 0.2

[[body]]
name = "plate"
shape.disc = { radius = 0.05 }
motion = { x = 2, y = "3 + 0.1*sin(9*t)" }

[[bar]]
name = "rod"
elements = 4
length = 1
area = 1e-4
density = 7800
modulus = 210e9

[[spring]]
name = "coil"
bodies = ["box", "plate"]
stiffness = 10

[[contact]]
name = "touch"
friction = "mu"

[[contact]]
name = "bounce"
between = ["rubber", "wood"]
restitution = 0.8
friction = 0.1

[time]
step = 1e-3
end = 0.01
"#;

const CASES: &[Broken] = &[
    broken(
        "unknown key of a body",
        "density = 100",
        "densty = 100",
        "densty",
        &["`densty`", "[[body]]", "did you mean `density`"],
    ),
    broken(
        "mass over a body's coordinate",
        "[time]",
        "[model]\ncoordinates = [\"s\"]\nmass = \"1 + box_x^2\"\n[time]",
        "\"1 + box",
        &["a mass names a coordinate of a body", "[model] alone"],
    ),
    broken("unknown key of the world", "gravity =", "gravty =", "gravty", &["[world]", "did you mean `gravity`"]),
    broken("unknown shape", "shape.disc.radius", "shape.disk.radius", "disk", &["`disk`", "did you mean `disc`"]),
    broken("unknown key of a shape", "height = 0.3", "hight = 0.3", "hight", &["`hight`", "did you mean `height`"]),
    broken("no kind of shape", "shape.disc = { radius = 0.05 }", "shape = {}", "{}", &["one of disc", "has 0"]),
    broken(
        "two kinds of shape",
        "shape.disc = { radius = 0.05 }",
        "shape = { disc = { radius = 1 }, rectangle = { width = 1, height = 1 } }",
        "{ disc",
        &["one of disc", "has 2"],
    ),
    broken("radius zero", "r = 0.1", "r = 0", "^\"ball\"", &["`ball_0`", "radius must be positive", "0"]),
    broken("shape without extent", "to = [-1, 2]", "to = [-1, 0]", "^\"wall\"", &["`wall`", "no extent"]),
    broken("rectangle without height", "height = 0.3", "height = 0", "^\"box\"", &["`box`", "height must be positive"]),
    broken("negative thickness", "thickness = 0.01", "thickness = -0.01", "^\"wall\"", &["thickness", "-0.01"]),
    broken("normal of no length", "normal = [0, 1]", "normal = [0, 0]", "^\"floor\"", &["`floor`", "normal"]),
    broken(
        "centre with three components",
        "radius = 0.05",
        "radius = 0.05, centre = [0, 0, 0]",
        "0, 0, 0]",
        &["`centre` has two components", "3"],
    ),
    broken("negative density", "density = 100", "density = -100", "^\"ball\"", &["density must be positive", "-100"]),
    broken("no density", "density = 100\n", "", "^[[body]]\nname = \"ball\"", &["`ball`", "`density`", "`inertia`"]),
    broken(
        "two masses",
        "mass = 2",
        "mass = 2\ndensity = 1",
        "^[[body]]\nname = \"box\"",
        &["`box`", "`density`, or `mass` and `inertia`"],
    ),
    broken("mass without inertia", "inertia = 0.01\n", "", "^[[body]]\nname = \"box\"", &["`box`", "`inertia`"]),
    broken("negative inertia", "inertia = 0.01", "inertia = -1", "^\"box\"", &["moment of inertia", "-1"]),
    broken(
        "free half-plane with density",
        "fixed = true\nshape.half_plane",
        "density = 1\nshape.half_plane",
        "^\"floor\"",
        &["`floor`", "no area"],
    ),
    broken(
        "position with three components",
        "[2, 0.5]",
        "[2, 0.5, 1]",
        "2, 0.5",
        &["`position` has two components", "3"],
    ),
    broken(
        "position and fill",
        "density = 100",
        "density = 100\nposition = [0, 0]",
        "0, 0]",
        &["`ball`", "`position` and `fill`"],
    ),
    broken("region too small", "number = 3", "number = 100", "^{ from = [-0.5", &["room for", "`ball`", "100"]),
    broken("spacing zero", "spacing = 0.25", "spacing = 0", "0 }", &["`spacing` must be positive"]),
    broken("fill without region", "to = [1, 1], ", "", "^{ from = [-0.5", &["`radius`, or `from` and `to`"]),
    broken("count not whole", "number = 3", "number = 2.5", "^\"number\"", &["`count`", "whole number", "2.5"]),
    broken("negative count", "number = 3", "number = -1", "^\"number\"", &["`count`", "not negative", "-1"]),
    broken("too many bodies", "number = 3", "number = 1e9", "^\"ball\"", &["--max-coordinates", "3000000"]),
    broken("number of a body without count", "angle = 0.2", "angle = \"0.1*i\"", "i\"", &["`i` is not a parameter"]),
    broken("density of time", "density = 100", "density = \"100*t\"", "t\"", &["cannot depend on the time"]),
    broken(
        "unknown body in a spring",
        "[\"box\", \"plate\"]",
        "[\"bxo\", \"plate\"]",
        "\"bxo",
        &["`bxo`", "did you mean `box`"],
    ),
    broken("spring of a bar", "[\"box\", \"plate\"]", "[\"box\", \"rod\"]", "\"rod", &["`rod`", "not a body"]),
    broken("spring with one body", "[\"box\", \"plate\"]", "[\"box\"]", "\"box\"]", &["between two bodies, not 1"]),
    broken("negative stiffness", "stiffness = 10", "stiffness = -10", "^\"coil\"", &["stiffness", "-10"]),
    broken(
        "one point of a spring",
        "stiffness = 10",
        "stiffness = 10\npoints = [[0, 1]]",
        "0, 1]]",
        &["two points", "1"],
    ),
    broken(
        "unknown material in a contact",
        "\"rubber\", \"wood\"",
        "\"ruber\", \"wood\"",
        "\"ruber",
        &["`ruber`", "did you mean `rubber`"],
    ),
    broken(
        "contact of one name",
        "[\"rubber\", \"wood\"]",
        "[\"rubber\"]",
        "\"rubber",
        &["`between` has two names", "1"],
    ),
    broken(
        "gap and between",
        "restitution = 0.8",
        "restitution = 0.8\ngap = \"box_y\"",
        "^\"rubber\", ",
        &["`gap` and `between`"],
    ),
    broken("slip between bodies", "restitution = 0.8", "slip = \"box_x'\"", "\"box_x'", &["`bounce`", "remove `slip`"]),
    broken(
        "polyhedral friction",
        "friction = 0.1",
        "friction = { polyhedral = 0.1, facets = 4 }",
        "0.1,",
        &["polyhedral"],
    ),
    broken("restitution 2", "restitution = 0.8", "restitution = 2", "2", &["restitution", "[0, 1]", "2"]),
    broken("negative friction", "mu = 0.3", "mu = -0.3", "^\"mu\"", &["must not be negative", "-0.3"]),
    broken(
        "tangential restitution without friction",
        "friction = 0.1",
        "tangential_restitution = 0.1",
        "0.1",
        &["no effect", "`bounce`"],
    ),
    broken(
        "two laws for a pair",
        "friction = \"mu\"",
        "friction = \"mu\"\nbetween = [\"wood\", \"rubber\"]",
        "^\"touch\"",
        &["`touch` and `bounce`"],
    ),
    broken("motion of an unknown component", "{ x = 2,", "{ z = 2,", "z =", &["x, y and phi", "`z`"]),
    broken("motion by a coordinate", "\"3 + 0.1*sin(9*t)\"", "\"3 + box_y\"", "box_y", &["box_y", "motion"]),
    broken(
        "fixed and motion",
        "motion = {",
        "fixed = true\nmotion = {",
        "x = 2",
        &["`plate`", "fixed and has a motion"],
    ),
    broken(
        "position and motion",
        "motion = {",
        "position = [0, 0]\nmotion = {",
        "0, 0]",
        &["`plate`", "`position` has no effect"],
    ),
    broken(
        "fixed and spin",
        "fixed = true\nmaterial",
        "fixed = true\nspin = 3\nmaterial",
        "3",
        &["`wall`", "`spin` has no effect"],
    ),
    broken("name of two bodies", "name = \"plate\"", "name = \"box\"", "\"box", &["`box`", "twice"]),
    broken("name of a body and a bar", "name = \"rod\"", "name = \"box\"", "\"box", &["`box`", "twice"]),
    broken("name of a body and a contact", "name = \"touch\"", "name = \"box\"", "\"box", &["`box`", "twice"]),
    broken("name of one among many", "name = \"plate\"", "name = \"ball_1\"", "\"ball_1", &["`ball_1`", "twice"]),
    broken("bad name", "name = \"plate\"", "name = \"a-b\"", "\"a-b", &["`a-b` is not a name"]),
    broken("parameter like a coordinate", "mu = 0.3", "mu = 0.3\nbox_x = 1", "^box_x = 1", &["`box_x`", "already"]),
    broken(
        "coordinate like that of a body",
        "[time]",
        "[model]\ncoordinates = [\"box_x\"]\nmass = 1\n\n[time]",
        "\"box_x",
        &["`box_x`", "already"],
    ),
    broken("bar of no element", "elements = 4", "elements = 0", "^\"rod\"", &["`rod`", "number of elements", "0"]),
    broken("bar of two and a half elements", "elements = 4", "elements = 2.5", "2.5", &["`elements`", "whole number"]),
    broken("negative modulus", "modulus = 210e9", "modulus = -1", "^\"rod\"", &["`rod`", "modulus", "-1"]),
    broken("overlapping start", "[2, 0.5]", "[2, 0.1]", "^\"box\"", &["box", "penetrates", "initial.tolerance"]),
    broken(
        "corner and a wall without thickness",
        "thickness = 0.01",
        "thickness = 0",
        "^\"wall\"",
        &["`wall`", "`box`", "thickness"],
    ),
    broken("no thread", "threads = 1", "threads = 0", "0", &["`threads`", "1 to 64"]),
    broken("gravity of three components", "[0, -9.81]", "[0, 0, -9.81]", "0, 0,", &["`gravity` has two components"]),
    broken("negative seed", "threads = 1", "seed = -3", "-3", &["`seed`", "not negative"]),
    broken(
        "start value of a fixed body",
        "[time]",
        "[initial]\nq = { floor_x = 1 }\n\n[time]",
        "floor_x",
        &["`floor_x`"],
    ),
    broken("too few start values", "[time]", "[initial]\nq = [1, 2]\n\n[time]", "[1, 2]", &["2 values", "coordinates"]),
];

#[test]
fn broken_scenes_of_bodies_are_refused_with_the_place_of_the_mistake() {
    all_are_refused(GOOD, CASES);
}
