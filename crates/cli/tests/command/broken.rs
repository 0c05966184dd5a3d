//! Scenes that are wrong in one place.

use super::Directory;

/// What is replaced by what, and what must be said. The place is that of a piece of text, searched from the replacement on,
/// or (`^`) from the beginning of the file.
pub(crate) struct Broken {
    what: &'static str,
    from: &'static str,
    to: &'static str,
    place: &'static str,
    says: &'static [&'static str],
}

/// A broken scene.
pub(crate) const fn broken(
    what: &'static str,
    from: &'static str,
    to: &'static str,
    place: &'static str,
    says: &'static [&'static str],
) -> Broken {
    Broken { what, from, to, place, says }
}

/// Line and column of a piece of text.
fn position(text: &str, piece: &str, from: usize) -> String {
    let (piece, from) = match piece.strip_prefix('^') {
        Some(rest) => (rest, 0),
        None => (piece, from),
    };
    let at = from + text[from..].find(piece).unwrap_or_else(|| panic!("{piece:?} is not in the broken scene"));
    let line = text[..at].matches('\n').count() + 1;
    let column = at - text[..at].rfind('\n').map_or(0, |i| i + 1) + 1;
    format!("{line}:{column}:")
}

/// Checks and runs a scene that is right, and then every broken one: exit code 2, the place, the words, and nothing written.
pub(crate) fn all_are_refused(good: &str, cases: &[Broken]) {
    let mut failures = Vec::new();
    let directory = Directory::new();
    directory.write("good.toml", good);
    let right = directory.run(&["run", "good.toml", "--json"]);
    assert_eq!(right.code, 0, "{}", right.err);
    for case in cases {
        assert!(good.contains(case.from), "{}: the good scene has no {:?}", case.what, case.from);
        let directory = Directory::new();
        let text = good.replacen(case.from, case.to, 1);
        let at = good.find(case.from).unwrap();
        directory.write("bad.toml", &text);
        for words in [&["run", "bad.toml", "--json", "--out", "result"][..], &["check", "bad.toml"]] {
            let output = directory.run(words);
            println!("== {}\n{}", case.what, output.err);
            let mut complain =
                |why: String| failures.push(format!("{} ({}): {why}\n{}", case.what, words[0], output.err));
            if output.code != 2 {
                complain(format!("exit code {}", output.code));
            }
            if !output.out.is_empty() {
                complain(format!("standard output {:?}", output.out));
            }
            let place = format!("bad.toml:{}", position(&text, case.place, at));
            if !output.err.contains(&place) {
                complain(format!("place {place} is missing"));
            }
            for part in case.says {
                if !output.err.contains(part) {
                    complain(format!("{part:?} is missing"));
                }
            }
            if directory.names() != ["bad.toml"] {
                complain(format!("wrote {:?}", directory.names()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
