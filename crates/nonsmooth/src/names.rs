//! Names of parts, and suggestions for mistyped ones.

use std::sync::Arc;

/// A list of names in one piece of text: a system of 10⁵ bodies has 6·10⁵ of them.
#[derive(Clone, Default)]
pub struct Names {
    text: Arc<String>,
    /// Where each name ends.
    ends: Arc<Vec<u32>>,
    /// Bytes at the end of each that do not belong to the name: coordinates share the text of their rates.
    cut: usize,
}

const PRIME: &str = "'";

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name with number `i`.
    pub fn get(&self, i: usize) -> Option<&str> {
        let end = *self.ends.get(i)? as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        self.text.get(start..end - self.cut)
    }

    /// All names in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|i| &self[i])
    }

    /// Names and those of their rates, which have a prime. `write` is given a place for the parts of each name.
    pub fn with_rates(write: impl FnOnce(&mut dyn FnMut(&[&str]))) -> (Self, Self) {
        let (mut text, mut ends) = (String::new(), Vec::new());
        write(&mut |parts| {
            parts.iter().for_each(|p| text.push_str(p));
            text.push_str(PRIME);
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        });
        text.shrink_to_fit();
        ends.shrink_to_fit();
        let rates = Self { text: Arc::new(text), ends: Arc::new(ends), cut: 0 };
        (Self { cut: PRIME.len(), ..rates.clone() }, rates)
    }

    /// These names, then others.
    pub fn and<'a>(&'a self, others: impl Iterator<Item = &'a str>) -> Self {
        self.iter().chain(others).collect()
    }
}

impl std::ops::Index<usize> for Names {
    type Output = str;
    fn index(&self, i: usize) -> &str {
        self.get(i).unwrap_or_default()
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for name in names {
            text.push_str(name.as_ref());
            ends.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        text.shrink_to_fit();
        ends.shrink_to_fit();
        Self { text: Arc::new(text), ends: Arc::new(ends), cut: 0 }
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl serde::Serialize for Names {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.iter())
    }
}

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

/// Hint for an unknown name: the nearest candidate if one is near, else the text of `otherwise`.
pub fn hint<'a>(word: &str, candidates: impl Iterator<Item = &'a str>, otherwise: impl FnOnce() -> String) -> String {
    nearest(word, candidates).map_or_else(otherwise, did_you_mean)
}

/// Hint for an unknown name: the nearest candidate if one is near, else all of them.
pub fn hint_or_list<'a>(word: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> String {
    hint(word, candidates.clone(), || {
        let all: Vec<&str> = candidates.collect();
        if all.is_empty() { String::new() } else { format!(" (known: {})", all.join(", ")) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_names_gives_them_back_one_by_one() {
        let names: Names = ["x", "", "phi", "disc_7_ä"].into_iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["x", "", "phi", "disc_7_ä"]);
        assert_eq!((names.get(4), &names[2], names.len()), (None, "phi", 4));
        assert_eq!(serde_json::to_string(&names).unwrap(), r#"["x","","phi","disc_7_ä"]"#);
        let (coordinates, rates) = Names::with_rates(|add| {
            add(&["disc", "_x"]);
            add(&[]);
            add(&["y"]);
        });
        assert_eq!(coordinates.iter().collect::<Vec<_>>(), ["disc_x", "", "y"]);
        assert_eq!(rates.iter().collect::<Vec<_>>(), ["disc_x'", "'", "y'"]);
        assert_eq!(coordinates, ["disc_x", "", "y"].into_iter().collect());
        assert_eq!(coordinates.and(["z"].into_iter()), ["disc_x", "", "y", "z"].into_iter().collect());
    }

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

    #[test]
    fn a_hint_is_the_neighbour_or_the_list() {
        let words = ["theta", "gamma"];
        assert_eq!(hint_or_list("teta", words.into_iter()), ": did you mean `theta`?");
        assert_eq!(hint_or_list("wrong", words.into_iter()), " (known: theta, gamma)");
        assert_eq!(hint_or_list("wrong", [].into_iter()), "");
        assert_eq!(hint("wrong", words.into_iter(), || " (see there)".into()), " (see there)");
    }
}
