//! `nonsmooth race`: files, bad ones among them, profiles, the outputs, interrupts.

use crate::command::Directory;
use crate::problems::{HOPELESS, LCP, MLCP, SPACE, every_format};
use serde_json::Value;

/// Problems in folders, one that has no solution, and files that are none.
fn folder() -> Directory {
    let d = Directory::new();
    std::fs::create_dir_all(d.path().join("problems/friction/deep")).unwrap();
    for (name, _, content) in every_format() {
        d.write(&format!("problems/friction/{name}"), content);
    }
    d.write("problems/friction/deep/space.dat", SPACE);
    d.write("problems/lcp.dat", LCP);
    d.write("problems/mlcp.dat", MLCP);
    d.write("problems/hopeless.dat", HOPELESS);
    d.write("problems/README.md", "# Not a problem,\n\"really\"\n");
    d.write("problems/.hidden", "x");
    d
}

const FILES: [&str; 12] = [
    "README.md",
    "friction/blocks.dat",
    "friction/columns.dat",
    "friction/deep/space.dat",
    "friction/dense.dat",
    "friction/full.json",
    "friction/global.hdf5",
    "friction/local.hdf5",
    "friction/reduced.json",
    "hopeless.dat",
    "lcp.dat",
    "mlcp.dat",
];

fn array(v: &Value) -> &[Value] {
    v.as_array().unwrap()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v} is no number"))
}

#[test]
fn the_json_lists_every_file_and_every_solver_in_order() {
    let d = folder();
    let output = d.run(&["race", "problems", "--time-limit", "2", "--json"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let v = output.json();
    assert_eq!((number(&v["tolerance"]), number(&v["time_limit"])), (1e-8, 2.0));
    let files: Vec<&str> = array(&v["problems"]).iter().map(|p| p["file"].as_str().unwrap()).collect();
    assert_eq!(files, FILES);
    let listed = d.run(&["list", "solvers", "--json"]).json();
    let solvers: Vec<&Value> = array(&listed["solvers"]).iter().map(|s| &s["name"]).collect();
    for p in array(&v["problems"]) {
        if p["file"] == "README.md" {
            assert!(p["error"].as_str().unwrap().contains("not a problem in any known format"), "{p}");
            assert!(array(&p["runs"]).is_empty() && p["rows"].is_null());
            continue;
        }
        assert!(p.get("error").is_none() && p["kind"].is_string() && p["rank"].is_number(), "{p}");
        let raced: Vec<&Value> = array(&p["runs"]).iter().map(|r| &r["solver"]).collect();
        assert_eq!(raced, solvers);
        for r in array(&p["runs"]) {
            // What is called solved is; and the time limit is kept up to one iteration of these small problems.
            assert!(r["status"] != "solved" || number(&r["residual"]) <= 1e-8, "{r}");
            assert!(number(&r["seconds"]) < 3.0 && r["iterations"].is_u64(), "{r}");
        }
        let auto = &p["runs"][0];
        assert_eq!(auto["status"] == "solved", p["file"] != "hopeless.dat", "{p}");
    }
    let dense = &v["problems"][4];
    assert_eq!(
        (dense["contacts"].as_u64(), dense["rows"].as_u64(), dense["rank"].as_u64()),
        (Some(2), Some(4), Some(4))
    );
}

/// The profile of a solver, anew from the times.
fn share(v: &Value, solver: &str, tau: f64) -> f64 {
    let read: Vec<&Value> = array(&v["problems"]).iter().filter(|p| p.get("error").is_none()).collect();
    let solved = |r: &&Value| r["status"] == "solved";
    let within = |p: &&&Value| {
        let time = |r: &Value| number(&r["seconds"]).max(1e-6);
        let best = array(&p["runs"]).iter().filter(solved).map(time).fold(f64::INFINITY, f64::min);
        array(&p["runs"]).iter().filter(solved).any(|r| r["solver"] == solver && time(r) / best <= tau)
    };
    read.iter().filter(within).count() as f64 / read.len() as f64
}

#[test]
fn profiles_rise_from_the_share_of_wins_to_the_share_solved() {
    let d = folder();
    let v = d.run(&["race", "problems", "--time-limit", "2", "--solvers", "nsgs,newton,auto,lemke", "--json"]).json();
    let profiles = array(&v["profiles"]);
    let names: Vec<&str> = profiles.iter().map(|p| p["solver"].as_str().unwrap()).collect();
    assert_eq!(names, ["nsgs", "newton", "auto", "lemke"]);
    let mut wins = 0.0;
    for p in profiles {
        let solver = p["solver"].as_str().unwrap();
        let (taus, shares) = (array(&p["tau"]), array(&p["share"]));
        assert_eq!((taus.len(), number(&taus[0])), (shares.len(), 1.0));
        for k in 0..taus.len() {
            let (tau, value) = (number(&taus[k]), number(&shares[k]));
            assert!((0.0..=1.0).contains(&value));
            assert!(k == 0 || (tau > number(&taus[k - 1]) && value > number(&shares[k - 1])), "{p}");
            assert_eq!(value, share(&v, solver, tau), "{solver} at {tau}");
        }
        assert_eq!(number(&shares[shares.len() - 1]), share(&v, solver, f64::INFINITY));
        wins += number(&shares[0]);
    }
    // All but the one without solution have a winner; equal times have several.
    assert!(wins >= 10.0 / 11.0 - 1e-12, "{wins}");
    assert!(share(&v, "lemke", f64::INFINITY) < share(&v, "auto", f64::INFINITY), "lemke does not take space.dat");
}

#[test]
fn the_table_marks_the_fastest_and_goes_on_after_a_bad_file() {
    let d = folder();
    let output = d.run(&["race", "problems", "--solvers", "auto,jacobi", "--time-limit", "1"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let lines: Vec<&str> = output.out.lines().collect();
    let at = |start: &str| {
        lines.iter().position(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{start}: {}", output.out))
    };
    assert!(lines[at("README.md") + 1].starts_with("    ERROR: not a problem"));
    let lcp = at("lcp.dat: lcp, 2 contacts, 2 rows, rank 2");
    assert!(lcp > at("README.md"));
    let marked = lines[lcp + 2..lcp + 4].iter().filter(|l| l.starts_with("  * ")).count();
    assert_eq!(marked, 1, "{}", lines[lcp + 2..lcp + 4].join("\n"));
    let hopeless = at("hopeless.dat: lcp, 1 contact, 1 row, rank 0");
    assert!(lines[hopeless + 2..hopeless + 4].iter().all(|l| !l.contains('*') && !l.contains(" solved")));
    assert!(lines.contains(&"11 problems, tolerance 1e-8, at most 1 s each"), "{}", output.out);
    assert!(lines.contains(&"1 file could not be read"));
    let auto = lines.iter().rfind(|l| l.starts_with("auto ")).unwrap();
    assert_eq!(auto.split_whitespace().nth(1), Some("10"), "{auto}");
}

#[test]
fn the_folder_gets_tables_and_a_picture() {
    let d = folder();
    let words = ["race", "problems", "--solvers", "auto,newton,nsgs", "--tol", "1e-6", "--out", "problems/result"];
    let output = d.run(&words);
    assert_eq!(output.code, 0, "{}", output.err);
    let json: Value = serde_json::from_str(&d.read("problems/result/race.json")).unwrap();
    assert_eq!(array(&json["problems"]).len(), FILES.len());
    let csv = d.read("problems/result/race.csv");
    // Every run, every bad file, and the heading; one message has several lines, in quotes.
    let rows = csv.lines().filter(|l| FILES.iter().any(|f| l.starts_with(&format!("{f},")))).count();
    assert_eq!(rows, 3 * (FILES.len() - 1) + 1);
    assert!(csv.starts_with("file,kind,contacts,rows,rank,solver,status,seconds,iterations,residual,error\n"));
    assert!(csv.contains("README.md,,,,,,,,,,\"not a problem"), "{csv}");
    let picture = d.read("problems/result/profiles.svg");
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
    assert_eq!(picture.matches("<path ").count(), 3, "a line for each solver");
    for name in [">auto<", ">newton<", ">nsgs<", "10 of 11", "Performance profiles", "log&#8322;", "share of problems"]
    {
        assert!(picture.contains(name), "{name}");
    }
    let page = d.read("problems/result/race.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>"));
    for outside in ["https://", "src=", "<link", "<script"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("nonsmooth race problems --solvers auto,newton,nsgs --tol 1e-6"), "{page}");
    // Again: the folder is ours, and its files are not raced although it lies among the problems.
    assert_eq!(d.run(&words).code, 0);
    let again: Value = serde_json::from_str(&d.read("problems/result/race.json")).unwrap();
    assert_eq!(array(&again["problems"]).len(), FILES.len());
    // A folder of somebody else.
    d.write("problems/other.txt", "x");
    let output = d.run(&["race", "problems/friction", "--out", "problems"]);
    assert!(output.code == 2 && output.out.is_empty() && output.err.contains("--force"), "{}", output.err);
}

#[test]
fn what_cannot_be_raced_is_refused_or_exit_1() {
    let d = folder();
    std::fs::create_dir(d.path().join("empty")).unwrap();
    std::fs::create_dir(d.path().join("none")).unwrap();
    d.write("none/a.txt", "not a problem");
    let cases: &[(&[&str], &str)] = &[
        (&["missing"], "missing: no such folder"),
        (&["problems/lcp.dat"], "nonsmooth solve"),
        (&["empty"], "empty: no files"),
        (&["none"], "a.txt: not a problem in any known format"),
        (&["problems", "--solvers", "auto,nwton"], "did you mean `newton`"),
        (&["problems", "--solvers", "auto,nsgs,auto"], "`auto` is given twice"),
        (&["problems", "--tol", "-1"], "--tol -1"),
        (&["problems", "--time-limit", "0"], "--time-limit 0"),
    ];
    for (words, part) in cases {
        for json in [&[][..], &["--json"][..]] {
            let output = d.run(&[&["race"], *words, json].concat());
            assert!(output.code == 2 && output.out.is_empty(), "{words:?}: {} {}", output.code, output.out);
            assert!(output.err.contains(part), "{words:?}: {}", output.err);
        }
    }
    // Nothing solved: the clock has run out before the first look at it.
    d.write("none/slow.dat", LCP);
    let output = d.run(&["race", "none", "--solvers", "jacobi", "--time-limit", "1e-9", "--json"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert_eq!(output.json()["problems"][1]["runs"][0]["status"], "time_limit");
}

#[cfg(unix)]
#[test]
fn an_interrupted_race_finishes_its_solve_and_writes_everything() {
    let d = Directory::new();
    std::fs::create_dir(d.path().join("slow")).unwrap();
    // Sweeps contract by 1 − 2e-7 each, from 1e-7 on: 1e-12 takes more than 10⁷ of them, and seconds.
    for i in 0..20 {
        d.write(&format!("slow/{i:02}.dat"), "2\n0\n2\n2\n2\t2\n1 0.9999999\n0.9999999 1\n-1 -0.99999995\n");
    }
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_nonsmooth"))
        .args(["race", "slow", "--solvers", "gauss-seidel,jacobi", "--tol", "1e-12", "--time-limit", "0.5"])
        .args(["--json", "--out", "result"])
        .current_dir(d.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1300));
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let v: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!((1..20).contains(&array(&v["problems"]).len()), "{v}");
    for name in ["race.json", "race.csv", "profiles.svg", "race.html"] {
        assert!(d.path().join("result").join(name).is_file(), "{name}");
    }
}
