//! Names of parts, and what a mistyped one may have meant.

/// Longest name.
const MAX_NAME: usize = 64;

/// Whether a name matches `[A-Za-z_][A-Za-z0-9_]{0,63}`.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.len() <= MAX_NAME
}

/// The candidate that is closest to a word, if any is close enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_NAME {
        return None;
    }
    let length = word.chars().count();
    let allowed = (length / 3).max(1);
    // Short words are near to everything: they must begin alike.
    let first = |w: &str| w.chars().next().map(|c| c.to_ascii_lowercase());
    let alike = |c: &str| length > 2 || first(word) == first(c);
    let scored = candidates.filter(|c| *c != word && alike(c)).map(|c| (distance(word, c), c));
    scored.filter(|(d, _)| *d <= allowed).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// Edits (insert, remove, replace, swap of neighbours; case is half an edit and rounds down) from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// ": did you mean `x`?", or nothing.
pub fn did_you_mean(nearest: &str) -> String {
    if nearest.is_empty() { String::new() } else { format!(": did you mean `{nearest}`?") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_of_at_most_64_letters() {
        assert!(is_name("_x1") && is_name(&"a".repeat(64)));
        assert!(!is_name("") && !is_name("1x") && !is_name("a-b") && !is_name(&"a".repeat(65)) && !is_name("ä"));
    }

    #[test]
    fn a_mistyped_word_finds_its_neighbour() {
        let words = ["theta", "forecast", "gamma"];
        assert_eq!(nearest("thteta", words.into_iter()), Some("theta"));
        assert_eq!(nearest("Gamma", words.into_iter()), Some("gamma"));
        assert_eq!(nearest("htheta", words.into_iter()), Some("theta"));
        assert_eq!(nearest("wrong", words.into_iter()), None);
        assert_eq!(nearest("g", ["x", "G"].into_iter()), Some("G"));
        assert_eq!(nearest("g", ["x", "k"].into_iter()), None);
    }
}
