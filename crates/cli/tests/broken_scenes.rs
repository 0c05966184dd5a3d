//! Broken scenes and wrong requests: exit code 2, a message that names the mistake and its place, and nothing written.

use crate::command::Directory;
use crate::command::broken::{Broken, all_are_refused, broken};

/// A scene that is right.
const GOOD: &str = r#"title = "good"

[model]
coordinates = ["x", "y"]
mass = ["m", "m"]

[parameters]
m = 2
g = 9.81
mu = 0.3

[define]
speed = "x' + y'"

[[force]]
name = "gravity"
potential = "m*g*y"

[[contact]]
name = "table"
gap = "y"
slip = "x'"
friction = "mu"

[initial]
q = [0, 0]
u = [1, 0]

[time]
step = 1e-3
end = 0.01

[scheme]
name = "moreau-jean"
theta = 0.5
"#;

const CASES: &[Broken] = &[
    broken("wrong type", "step = 1e-3", "step = true", "true", &["`step`", "true or false", "formula"]),
    broken(
        "list of the wrong type",
        "coordinates = [\"x\", \"y\"]",
        "coordinates = [1, 2]",
        "1, 2]",
        &["a string", "a whole number"],
    ),
    broken("unknown key", "gap = \"y\"", "gapp = \"y\"", "gapp", &["unknown key `gapp`", "did you mean `gap`"]),
    broken(
        "unknown thing to watch",
        "[scheme]",
        "[output]\nwatch = [\"energy\", \"event\"]\n[scheme]",
        "\"event\"",
        &["`event` cannot be watched", "did you mean `events`"],
    ),
    broken(
        "all and something to watch",
        "[scheme]",
        "[output]\nwatch = [\"energy\", \"all\"]\n[scheme]",
        "\"all\"",
        &["`all` stands alone"],
    ),
    broken(
        "a word instead of a list of what is watched",
        "[scheme]",
        "[output]\nwatch = \"energy\"\n[scheme]",
        "\"energy\"",
        &["`watch`: expected a list", "found a string"],
    ),
    broken(
        "picture of an unknown contact",
        "[scheme]",
        "[picture]\ncontact = [{ contact = \"tabel\", point = [0, 0], normal = [0, 1] }]\n[scheme]",
        "\"tabel\"",
        &["there is no contact `tabel`", "did you mean `table`"],
    ),
    broken(
        "picture with a point of three components",
        "[scheme]",
        "[picture]\ndraw = [{ point = [\"x\", 0, \"y\"] }]\n[scheme]",
        "\"x\"",
        &["`point` has 2 components, this has 3"],
    ),
    broken("unknown table", "[initial]", "[inital]", "inital]", &["unknown key `inital`", "`initial`"]),
    broken("key far from all", "friction = \"mu\"", "colour = \"red\"", "colour", &["unknown key `colour`", "known:"]),
    broken("unknown name in a formula", "\"m*g*y\"", "\"m*gg*y\"", "gg*", &["unknown name `gg`", "did you mean `g`"]),
    broken("unknown function", "\"m*g*y\"", "\"m*g*sni(y)\"", "sni", &["`sni`", "did you mean `sin`"]),
    broken("unbalanced parenthesis", "\"m*g*y\"", "\"m*(g*y\"", "(g*y", &["`(` is not closed"]),
    broken("missing operator", "\"m*g*y\"", "\"m*g y\"", "y\"", &["expected an operator", "`y`"]),
    broken("empty formula", "\"m*g*y\"", "\"\"", "\"\"", &["empty"]),
    broken("unknown parameter in a parameter", "g = 9.81", "g = \"9.81*n\"", "n\"", &["unknown name `n`"]),
    broken("cyclic parameters", "g = 9.81", "g = \"2*mu\"\nnu = 1\nmm = \"g\"\n[x]", "x]", &["unknown key `x`"]),
    broken("circle of parameters", "m = 2\ng = 9.81", "m = \"g/2\"\ng = \"2*m\"", "m =", &["`m`, `g`", "circle"]),
    broken(
        "circle of definitions",
        "speed = \"x' + y'\"",
        "speed = \"2*fast\"\nfast = \"speed\"",
        "fast =",
        &["circle"],
    ),
    broken("parameter that is a variable", "mu = 0.3", "mu = \"0.3*t\"", "t\"", &["cannot depend on the time"]),
    broken(
        "force of the name of a contact",
        "name = \"gravity\"\npotential = \"m*g*y\"",
        "name = \"table\"\npotential = \"m*g*sqrt(y - 1)\"",
        "\"table\"\npot",
        &["force `table` is not finite"],
    ),
    broken("parameter that is not finite", "mu = 0.3", "mu = \"1/0\"", "\"1/0", &["not a finite number"]),
    broken(
        "mass of the wrong size",
        "mass = [\"m\", \"m\"]",
        "mass = [\"m\"]",
        "[\"m\"]",
        &["1 diagonal entries", "2 velocities"],
    ),
    broken(
        "mass that is not square",
        "mass = [\"m\", \"m\"]",
        "mass = [[\"m\", 0], [0]]",
        "0]]",
        &["entries in row 2"],
    ),
    broken(
        "mass that is not symmetric",
        "mass = [\"m\", \"m\"]",
        "mass = [[\"m\", 1], [0, \"m\"]]",
        "[[",
        &["not symmetric"],
    ),
    broken(
        "singular mass",
        "mass = [\"m\", \"m\"]",
        "mass = [\"m\", 0]",
        "[\"m\", 0",
        &["not positive definite", "`y'`"],
    ),
    broken("negative mass", "m = 2", "m = -2", "^[\"m\", \"m\"]", &["not positive definite"]),
    broken(
        "mass that depends on velocity",
        "mass = [\"m\", \"m\"]",
        "mass = [\"m\", \"m + x'\"]",
        "x'",
        &["a mass", "`x'`"],
    ),
    broken("no mass", "mass = [\"m\", \"m\"]\n", "", "^[model]", &["`mass` or `kinetic`"]),
    broken(
        "gap that depends on u",
        "gap = \"y\"",
        "gap = \"y + 0.1*x'\"",
        "x'",
        &["a gap cannot depend on velocities", "`x'`"],
    ),
    broken("gap that depends on u by a definition", "gap = \"y\"", "gap = \"y + speed\"", "speed", &["`speed` does"]),
    broken("gap without coordinate", "gap = \"y\"", "gap = \"1\"", "\"1\"", &["depends on no coordinate"]),
    broken("slip that is not affine", "slip = \"x'\"", "slip = \"x'*abs(x')\"", "\"x'*", &["not affine in `x'`"]),
    broken(
        "slip of four components",
        "slip = \"x'\"",
        "slip = [\"x'\", \"y'\", \"x'\", \"y'\"]",
        "[\"x'",
        &["1 to 3 components"],
    ),
    broken("slip without friction", "friction = \"mu\"\n", "", "^\"x'\"", &["no `friction`"]),
    broken("friction without slip", "slip = \"x'\"\n", "", "^\"mu\"", &["no `slip`"]),
    broken("negative friction", "mu = 0.3", "mu = -0.3", "^\"mu\"", &["must not be negative", "-0.3"]),
    broken("restitution above 1", "gap = \"y\"", "gap = \"y\"\nrestitution = 1.5", "1.5", &["[0, 1]", "1.5"]),
    broken(
        "deep penetration",
        "q = [0, 0]",
        "q = [0, -0.1]",
        "^\"table",
        &["`table`", "penetrates", "initial.tolerance"],
    ),
    broken("wrong number of start values", "q = [0, 0]", "q = [0]", "[0]", &["1 values for 2 coordinates"]),
    broken("nan in the start", "u = [1, 0]", "u = [nan, 0]", "nan", &["nan", "finite"]),
    broken(
        "unknown scheme",
        "name = \"moreau-jean\"",
        "name = \"moreau-jaen\"",
        "\"moreau-jaen",
        &["unknown scheme", "`moreau-jean`"],
    ),
    broken(
        "option of another scheme",
        "name = \"moreau-jean\"",
        "name = \"moreau-midpoint\"",
        "0.5",
        &["no option `theta`"],
    ),
    broken("option out of range", "theta = 0.5", "theta = 2", "2", &["theta", "[0, 1]"]),
    broken("option of the wrong type", "theta = 0.5", "theta = \"half\"", "half", &["half"]),
    broken("step zero", "step = 1e-3", "step = 0", "0", &["step 0", "> 0"]),
    broken("negative end", "end = 0.01", "end = -1", "-1", &["end time -1"]),
    broken(
        "T together with own kinematics",
        "mass = [\"m\", \"m\"]",
        "velocities = [\"u\", \"v\"]\nkinetic = \"u^2\"\n[kinematics]\nx = \"u\"\ny = \"v\"",
        "\"u^2",
        &["`kinetic` needs velocities"],
    ),
    broken("T and mass", "mass = [\"m\", \"m\"]", "mass = [\"m\", \"m\"]\nkinetic = \"x'^2\"", "\"x'^2", &["not both"]),
    broken(
        "T that is not quadratic",
        "mass = [\"m\", \"m\"]",
        "kinetic = \"x'^4 + y'^2\"",
        "\"x'^4",
        &["quadratic in the rates"],
    ),
    broken(
        "T with a kink in a rate",
        "mass = [\"m\", \"m\"]",
        "kinetic = \"x'^2 + y'^2 + if(x' < 0, 5, 1)*y\"",
        "\"x'^2 + y'^2 + if",
        &["quadratic in the rates", "`if`"],
    ),
    broken(
        "T with a modulus of a rate",
        "mass = [\"m\", \"m\"]",
        "kinetic = \"abs(x')^2 + y'^2\"",
        "\"abs",
        &["quadratic in the rates", "`abs`"],
    ),
    broken(
        "bad name",
        "coordinates = [\"x\", \"y\"]",
        "coordinates = [\"x\", \"y-1\"]",
        "\"y-1",
        &["`y-1` is not a name"],
    ),
    broken(
        "reserved name",
        "coordinates = [\"x\", \"y\"]",
        "coordinates = [\"x\", \"sin\"]",
        "\"sin",
        &["word of the formula language"],
    ),
    broken("name twice", "mu = 0.3", "mu = 0.3\nx = 1", "^x = 1", &["`x`", "already"]),
    broken(
        "part name twice",
        "[initial]",
        "[[contact]]\nname = \"table\"\ngap = \"x + 1\"\n\n[initial]",
        "\"table",
        &["`table`", "twice"],
    ),
    broken("negative count", "[scheme]", "[solver]\nmax_iterations = -5\n\n[scheme]", "-5", &["-5 is negative"]),
    broken("unknown solver", "[scheme]", "[solver]\nname = \"nsgz\"\n\n[scheme]", "\"nsgz", &["nsgz", "nsgs"]),
    broken("second key", "m = 2", "m = 2\nm = 3", "m = 3", &["duplicate"]),
    broken("broken TOML", "[initial]", "[initial", "\n", &["]"]),
    broken(
        "force for too few velocities",
        "potential = \"m*g*y\"",
        "value = [\"1\"]",
        "[\"1",
        &["1 components", "2 velocities"],
    ),
    broken(
        "force for an unknown velocity",
        "potential = \"m*g*y\"",
        "value = { z = \"1\" }",
        "z =",
        &["no velocity `z`"],
    ),
    broken(
        "force of both kinds",
        "potential = \"m*g*y\"",
        "potential = \"m*g*y\"\nvalue = [1, 1]",
        "[1, 1]",
        &["give one of them"],
    ),
    broken("acceleration", "\"m*g*y\"", "\"m*g*y''\"", "y''", &["accelerations"]),
    broken(
        "[world] without bodies",
        "[initial]",
        "[world]\ngravity = [0, -9.81]\n\n[initial]",
        "[world]",
        &["[world] needs a [[body]]"],
    ),
    broken(
        "spring without bodies",
        "[initial]",
        "[[spring]]\nname = \"coil\"\nbodies = [\"a\", \"b\"]\nstiffness = 1\n\n[initial]",
        "[[spring]]",
        &["a spring needs a [[body]]"],
    ),
    broken("contact without gap and bodies", "gap = \"y\"\n", "", "^[[contact]]", &["`gap`", "[[body]]"]),
    broken("a date", "title = \"good\"", "title = 2020-01-01", "2020", &["date"]),
];

#[test]
fn broken_scenes_are_refused_with_the_place_of_the_mistake() {
    assert!(CASES.len() >= 40);
    all_are_refused(GOOD, CASES);
}

#[test]
fn wrong_requests_are_refused() {
    let directory = Directory::new();
    directory.write("good.toml", GOOD);
    directory.write("empty.toml", "");
    directory.write("binary.toml", [0u8, 159, 146, 150, 255]);
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "missing.toml"], &["missing.toml", "neither a file nor a bundled example"]),
        (&["run", "bouncing_bal"], &["did you mean `bouncing_ball`"]),
        (&["run", "empty.toml"], &["empty.toml", "no [model]"]),
        (&["run", "binary.toml"], &["binary.toml", "not a text file"]),
        (&["run", "."], &["a folder"]),
        (&["run", "good.toml", "--set", "x"], &["KEY=VALUE"]),
        (&["run", "good.toml", "--set", "model.masss=1"], &["--set model.masss=1", "did you mean `mass`"]),
        (&["run", "good.toml", "--set", "initial.q=[1,2,3]"], &["--set initial.q", "3 values for 2 coordinates"]),
        (&["run", "good.toml", "--set", "contact.tabel.gap=y"], &["did you mean `table`"]),
        (&["run", "good.toml", "--set", "contact.table.gap=y+z"], &["unknown name `z`", "character 3"]),
        (&["run", "good.toml", "--set", "title.x=1"], &["`title` is a string"]),
        (&["run", "good.toml", "--set", "parameters.mu=[1]"], &["formula"]),
        (&["run", "good.toml", "--scheme", "moreau"], &["--scheme moreau:", "unknown scheme `moreau`"]),
        (&["run", "good.toml", "--set", "parameters.nu=0.1"], &["no `parameters.nu`"]),
        (&["run", "good.toml", "--set", "parameters.mux=0.1"], &["did you mean `mu`"]),
        (&["run", "good.toml", "--set", "model.force={x=-2*x'}"], &["not TOML"]),
        (&["run", "good.toml", "--set", "parameters.mu=x"], &["`x` is"]),
        (&["run", "good.toml", "--set", "initial.q.z=1"], &["no `z`"]),
        (&["run", "good.toml", "--set", "output.every=0"], &["--set output.every=0", "at least 1"]),
        (&["run", "good.toml", "--step", "0"], &["--step 0:", "step 0 is not usable"]),
        (&["run", "good.toml", "--step", "-1e-3"], &["step -0.001"]),
        (&["run", "good.toml", "--step", "1e-30"], &["step"]),
        (&["run", "good.toml", "--step", "nan"], &["step NaN"]),
        (&["run", "good.toml", "--step", "abc"], &["abc"]),
        (&["run", "good.toml", "--end", "-1"], &["end time -1"]),
        (&["run", "good.toml", "--at", "0.5"], &["--at 0.5", "outside [0, 0.01]"]),
        (&["run", "good.toml", "--at", "-0.001"], &["outside"]),
        (&["run", "good.toml", "--step", "1e-12"], &["--max-steps"]),
        (&["run", "good.toml", "--step", "1e-9", "--out", "result", "--max-bytes", "1000"], &["--max-bytes"]),
        (&["run", "good.toml", "--unknown"], &["--unknown"]),
        (&["run"], &["SCENE"]),
        (&["fly"], &["fly"]),
        (&["show", "woodpeker"], &["did you mean `woodpecker`"]),
        (&["list", "things"], &["things"]),
        (&["new", "good.toml"], &["exists"]),
    ];
    for (words, says) in cases {
        let output = directory.run(words);
        println!("== {words:?}\n{}", output.err);
        assert_eq!(output.code, 2, "{words:?}: {}", output.err);
        assert!(output.out.is_empty(), "{words:?}: {}", output.out);
        for part in *says {
            assert!(
                output.err.to_lowercase().contains(&part.to_lowercase()),
                "{words:?}: {part:?} is missing in {}",
                output.err
            );
        }
        assert_eq!(directory.names(), ["binary.toml", "empty.toml", "good.toml"], "{words:?}");
    }
    assert_eq!(directory.read("good.toml"), GOOD);
}
