//! Every block of the documents is run: scenes, commands with their output and exit codes, Python.
//!
//! | block | what is done |
//! |---|---|
//! | `toml` after `<!-- scene: NAME -->` | written to NAME.toml; it must check and run |
//! | `sh` | run line by line; exit code 0, or that of `<!-- exit N -->` before it; not at all after `<!-- not run -->` |
//! | `text` after `<!-- output -->` | its lines stand, in this order, in the output of the `sh` block before it; `...` stands for anything |
//! | `python` | run with numpy in the same directory |

use crate::command::{Directory, python};
use std::path::Path;
use std::process::Command;

struct Block {
    kind: String,
    /// The comment before it.
    note: String,
    text: String,
    line: usize,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut note = String::new();
    let mut open: Option<Block> = None;
    for (i, line) in document.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => {
                open = Some(Block {
                    kind: kind.trim().into(),
                    note: std::mem::take(&mut note),
                    text: String::new(),
                    line: i + 1,
                });
            }
            (Some(_), Some(_)) => out.extend(open.take()),
            (Some(block), None) => {
                block.text += line;
                block.text.push('\n');
            }
            (None, None) if line.starts_with("<!--") => {
                note = line.trim_start_matches("<!--").trim_end_matches("-->").trim().into();
            }
            (None, None) => {
                if !line.trim().is_empty() {
                    note.clear();
                }
            }
        }
    }
    assert!(open.is_none(), "a block is not closed");
    out
}

/// Runs a shell line with our binary first on the path; output and errors together.
fn shell(directory: &Path, line: &str) -> (i32, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_nonsmooth")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{line} 2>&1")])
        .env("PATH", path)
        .current_dir(directory)
        .output()
        .unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run_document(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(name)).unwrap();
    let d = Directory::new();
    let mut output = String::new();
    let mut counts = [0; 4];
    for block in blocks(&text) {
        let place = format!("{name}:{}", block.line);
        match block.kind.as_str() {
            "toml" => {
                let scene =
                    block.note.strip_prefix("scene: ").unwrap_or_else(|| panic!("{place}: a scene without a name"));
                let file = format!("{scene}.toml");
                d.write(&file, &block.text);
                let check = d.run(&["check", &file]);
                assert_eq!(check.code, 0, "{place}: {}", check.err);
                let run = d.run(&["run", &file, "--json"]);
                assert_eq!(run.code, 0, "{place}: {}{}", run.err, run.out);
                counts[0] += 1;
            }
            "sh" => {
                if block.note == "not run" {
                    continue;
                }
                let expected: i32 = block.note.strip_prefix("exit ").map_or(0, |n| n.parse().unwrap());
                output.clear();
                for line in block.text.lines().filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#')) {
                    let (code, out) = shell(d.path(), line);
                    assert_eq!(code, expected, "{place}: {line}\n{out}");
                    output += &out;
                }
                counts[1] += 1;
            }
            "text" => {
                assert_eq!(block.note, "output", "{place}: text that is not output");
                let mut rest = output.lines();
                for line in block.text.lines().map(str::trim_end).filter(|l| l.trim() != "...") {
                    assert!(
                        rest.any(|found| found.trim_end() == line),
                        "{place}: {line:?} is not in the output\n{output}"
                    );
                }
                counts[2] += 1;
            }
            "python" => {
                let out = Command::new(python()).args(["-c", &block.text]).current_dir(d.path()).output().unwrap();
                assert!(out.status.success(), "{place}: {}", String::from_utf8_lossy(&out.stderr));
                output = String::from_utf8_lossy(&out.stdout).into_owned();
                counts[3] += 1;
            }
            other => panic!("{place}: a block of kind {other:?}"),
        }
    }
    println!("{name}: {} scenes, {} commands, {} outputs, {} scripts", counts[0], counts[1], counts[2], counts[3]);
    assert!(counts.iter().all(|c| *c > 0), "{name}: {counts:?}");
}

#[test]
fn every_block_of_the_scene_format_runs() {
    run_document("docs/scene.md");
}

#[test]
fn every_block_of_the_first_hour_runs() {
    run_document("docs/first-hour.md");
}

#[test]
fn every_block_of_solving_runs() {
    run_document("docs/solving.md");
}

#[test]
fn the_scene_of_the_readme_runs_with_its_commands() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let d = Directory::new();
    let blocks = blocks(&text);
    let scenes: Vec<&Block> = blocks.iter().filter(|b| b.kind == "toml").collect();
    assert_eq!(scenes.len(), 1);
    d.write("box.toml", &scenes[0].text);
    let commands = blocks.iter().filter(|b| b.kind == "sh").flat_map(|b| b.text.lines());
    let commands: Vec<&str> = commands.filter(|l| l.starts_with("nonsmooth ")).collect();
    assert!(commands.len() >= 3);
    for line in commands {
        let line = line.split(" #").next().unwrap().trim_end();
        // To its end, and with what it says of the discs, it is run by `pile.rs` of the scenes.
        let shorter = if line == "nonsmooth run disc_pile" { " --end 0.1" } else { "" };
        let (code, out) = shell(d.path(), &format!("{line}{shorter}"));
        assert_eq!(code, 0, "{line}\n{out}");
    }
    // The output that the README opens with, without the times of the machine that made it.
    let shown = blocks.iter().find(|b| b.text.starts_with("$ nonsmooth run woodpecker")).unwrap();
    let (_, out) = shell(d.path(), "nonsmooth run woodpecker");
    let mut rest = out.lines();
    for line in shown.text.lines().skip(1).filter(|l| l.trim() != "...") {
        let same = |found: &str| found == line || (line.ends_with("steps") && found.starts_with(line));
        assert!(rest.any(same), "{line:?} is not in the output\n{out}");
    }
}
