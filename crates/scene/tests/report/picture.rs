//! `[picture]`: mistakes are told with their line, and runs do not depend on it.

use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};
use nonsmooth_scene::run::RunOptions;

const SCENE: &str = r#"title = "A mass on a table"

[model]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
units = { x = "m" }

[parameters]
r = 0.1

[define]
top = "y + r"

[[contact]]
name = "table"
gap = "y"
slip = "x'"
friction = 0.3

[time]
step = 1e-3
end = 0.01

[picture]
draw = [
    { name = "ball", disc = { centre = ["x", "top"], radius = "r" } },
]
contact = [{ contact = "table", point = ["x", "y"], normal = [0, 1] }]
"#;

fn prepared(text: &str) -> Result<Prepared, nonsmooth_scene::file::SceneError> {
    Prepared::new(Document::parse("scene.toml", text)?, &Request::default())
}

#[test]
fn the_scene_is_good_and_its_definitions_are_used() {
    let scene = prepared(SCENE).unwrap();
    assert!(scene.unused.is_empty(), "{:?}", scene.unused);
    assert_eq!(scene.units.coordinate(0), "m");
    assert_eq!((scene.units.velocity(0), scene.units.velocity(1)), ("m/s".into(), String::new()));
}

#[test]
fn mistakes_are_told_with_their_line() {
    let ball = r#"{ name = "ball", disc = { centre = ["x", "top"], radius = "r" } }"#;
    let with = |figure: &str| SCENE.replace(ball, figure);
    let contact = |text: &str| SCENE.replace(r#"{ contact = "table", point = ["x", "y"], normal = [0, 1] }"#, text);
    let cases = [
        (
            contact(r#"{ contact = "tabel", point = [0, 0], normal = [0, 1] }"#),
            29,
            "there is no contact `tabel`: did you mean `table`?",
        ),
        (
            contact(r#"{ contact = "table", point = [0, 0, 0], normal = [0, 1] }"#),
            29,
            "`point` has 2 components, this has 3",
        ),
        (
            contact(r#"{ contact = "table", point = [0, 0], normal = [0] }"#),
            29,
            "`normal` has 2 components, this has 1",
        ),
        (
            contact(r#"{ contact = "table", point = [0, 0], normal = [0, 1], tangent = [[1, 0], [0, 1]] }"#),
            29,
            "`tangent` is one direction of the plane",
        ),
        (contact(r#"{ contact = "table", point = [0, 0] }"#), 29, "`normal` has 2 components, this has 0"),
        (
            contact(
                r#"{ contact = "table", point = [0, 0], normal = [0, 1] }, { contact = "table", point = [0, 0], normal = [0, 1] }"#,
            ),
            29,
            "contact `table` is drawn twice",
        ),
        (with(r#"{ disc = { centre = ["z", "y"], radius = 1 } }"#), 27, "`z`"),
        (with(r#"{ disc = { centre = ["x", "y", 0], radius = 1 } }"#), 27, "`centre` has 2 components, this has 3"),
        (
            with(r#"{ disc = { centre = ["x", "y"], radius = "x" } }"#),
            27,
            "`x` is a coordinate: only parameters can stand here",
        ),
        (with(r#"{ disc = { centre = ["x", "y"], radius = "-r" } }"#), 27, "`radius` must be positive, it is -0.1"),
        (with(r#"{ disc = { centre = ["x", "y"], radius = 1, axis = [0, 0, 1] } }"#), 27, "are for discs in space"),
        (
            with(r#"{ sphere = { centre = ["x", "y", 0], radius = 1 } }"#),
            27,
            "`sphere` is for pictures in space: give `dimension = 3`",
        ),
        (with(r#"{ name = "ball" }"#), 27, "this has 0 of them"),
        (with(r#"{ point = [0, 0], line = { points = [[0, 0], [1, 1]] } }"#), 27, "this has 2 of them"),
        (with(r#"{ line = { points = [[0, 0]] } }"#), 27, "a line has two points or more, this has 1"),
        (
            with(r#"{ disk = { centre = ["x", "y"], radius = 1 } }"#),
            27,
            "unknown key `disk` in [[picture.draw]]: did you mean `disc`?",
        ),
        (SCENE.replace("[picture]\n", "[picture]\ndimension = 4\n"), 26, "`dimension` is 2 or 3, this is 4"),
        (SCENE.replace("units = { x", "units = { z"), 7, "`units`: there is no coordinate or velocity `z`"),
    ];
    for (text, line, message) in cases {
        let error = prepared(&text).err().unwrap_or_else(|| panic!("{message}"));
        assert!(error.message.contains(message), "{}, expected {message}", error.message);
        assert_eq!(error.position.map(|p| p.0), Some(line), "{}", error.message);
    }
}

#[test]
fn space_has_figures_of_its_own() {
    let space = r#"
[model]
coordinates = ["z"]
mass = 1
[time]
step = 1e-3
end = 1e-2
[picture]
dimension = 3
draw = [
    { floor = { normal = [0, 0, 1] } },
    { sphere = { centre = [0, 0, "z"], radius = 1, quaternion = [1, 0, 0, "z"] } },
    { cuboid = { centre = [0, 0, "z"], size = [1, 2, 3] } },
    { disc = { centre = [0, 0, "z"], radius = 1, axis = ["z", 0, 1] } },
    { line = { points = [[0, 0, 0], [0, 0, "z"]] } },
    { point = [0, 0, "z"] },
]
"#;
    let scene = prepared(space).unwrap();
    let kinds: Vec<&str> = scene.picture.iter().flat_map(|p| &p.items).map(|i| i.figure.kind()).collect();
    assert_eq!(kinds, ["floor", "sphere", "box3", "disc3", "line3", "point3"]);
    for item in scene.picture.iter().flat_map(|p| &p.items) {
        let mut pose = Vec::new();
        item.pose(0.0, &[0.5], &[0.0], &mut pose);
        assert_eq!(pose.len(), item.figure.numbers(), "{}", item.name);
    }
    for (bad, message) in [
        ("{ spring = { from = [0, 0, 0], to = [0, 0, 1] } }", "`spring` is for pictures in the plane"),
        ("{ floor = { normal = [0, 0, 1], point = [0, 0, \"z\"] } }", "a `floor` does not move"),
        ("{ disc = { centre = [0, 0, 0], radius = 1, angle = 1 } }", "`angle` is for discs in the plane"),
        ("{ sphere = { centre = [0, 0, 0], radius = 1, quaternion = [1, 0, 0, 0], rotation = [] } }", "give one of"),
    ] {
        let error = prepared(&space.replace("{ point = [0, 0, \"z\"] }", bad)).err().unwrap();
        assert!(error.message.contains(message), "{}", error.message);
    }
}

#[test]
fn a_run_does_not_depend_on_the_picture() {
    let without = SCENE.split("[picture]").next().unwrap();
    let end = |text: &str| {
        let mut scene = prepared(text).unwrap();
        let summary = scene.run(&RunOptions::default(), &mut |_, _| {}).unwrap().summary;
        (summary.end.q, summary.end.u)
    };
    assert_eq!(end(SCENE), end(without));
}
