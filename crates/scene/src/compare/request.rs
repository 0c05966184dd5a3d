//! Request of a comparison: schemes with options, steps, the reference.

use nonsmooth::scheme::SCHEMES;

/// A scheme and its options, `name{key=value,..}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemeChoice {
    /// Name.
    pub name: String,
    /// Options, `key=value`.
    pub options: Vec<String>,
}

/// Choice of the reference.
#[derive(Debug, Clone, PartialEq)]
pub enum ReferenceChoice {
    /// The closed form of the scene, if it has one, else a finer run.
    Default,
    /// The closed form.
    ClosedForm,
    /// A run of a scheme with a step.
    Run(SchemeChoice, f64),
    /// A trajectory file.
    File(String),
}

/// Request of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareRequest {
    /// Schemes; empty means all that fit.
    pub schemes: Vec<SchemeChoice>,
    /// Steps, s.
    pub steps: Vec<f64>,
    /// The reference.
    pub reference: ReferenceChoice,
    /// Overrides of the scene.
    pub set: Vec<String>,
    /// End, if not that of the scene, s.
    pub end: Option<f64>,
    /// Times at which errors are taken; empty means all step ends.
    pub at: Vec<f64>,
    /// Errors over all of every step, by dense output, not at step ends alone.
    pub dense: bool,
    /// Threads; 0 means as many as there are cores.
    pub threads: usize,
}

impl SchemeChoice {
    /// Reads `name` or `name{key=value,..}`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('{') else {
            return Ok(Self { name: text.into(), options: Vec::new() });
        };
        let Some(inside) = rest.strip_suffix('}') else { return Err(format!("`{text}`: `{{` is not closed")) };
        let options: Vec<String> = split(inside).into_iter().map(|o| o.trim().to_string()).collect();
        if let Some(bad) = options.iter().find(|o| !o.contains('=')) {
            return Err(format!("`{text}`: `{bad}` is not key=value"));
        }
        Ok(Self { name: name.trim().into(), options })
    }

    /// A list of schemes; `all` gives an empty list.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, String> {
        if text.trim() == "all" {
            return Ok(Vec::new());
        }
        let list: Result<Vec<Self>, String> = split(text).into_iter().map(Self::parse).collect();
        let list = list?;
        if list.is_empty() || list.iter().any(|s| s.name.is_empty()) {
            return Err(format!("`{text}`: a scheme has no name"));
        }
        Ok(list)
    }

    /// As it was written.
    pub fn text(&self) -> String {
        if self.options.is_empty() { self.name.clone() } else { format!("{}{{{}}}", self.name, self.options.join(",")) }
    }

    /// As overrides of a scene.
    pub(super) fn overrides(&self) -> Vec<String> {
        self.options.iter().map(|o| format!("scheme.{o}")).collect()
    }
}

/// Splits at commas outside braces and brackets.
fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut from) = (0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(&text[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    if from < text.len() {
        out.push(&text[from..]);
    }
    out
}

impl ReferenceChoice {
    /// Reads `closed-form`, `SCHEME:STEP` or the name of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "closed-form" {
            return Ok(Self::ClosedForm);
        }
        if let Some((name, step)) = text.rsplit_once(':')
            && let Ok(step) = step.trim().parse::<f64>()
        {
            return Ok(Self::Run(SchemeChoice::parse(name)?, step));
        }
        if SCHEMES.iter().any(|s| text.starts_with(s.name)) && !std::path::Path::new(text).exists() {
            return Err(format!("`{text}`: a reference run is SCHEME:STEP"));
        }
        Ok(Self::File(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_schemes_keep_their_options_together() {
        let list = SchemeChoice::parse_list("a,b{x=1,y=min(1,2)},c{z=step^3}").unwrap();
        let texts: Vec<String> = list.iter().map(SchemeChoice::text).collect();
        assert_eq!(texts, ["a", "b{x=1,y=min(1,2)}", "c{z=step^3}"]);
        assert_eq!(list[1].options, ["x=1", "y=min(1,2)"]);
        assert!(SchemeChoice::parse_list("all").unwrap().is_empty());
        assert!(SchemeChoice::parse_list("a{x").is_err() && SchemeChoice::parse_list("a{x}").is_err());
        assert!(SchemeChoice::parse_list("a,,b").is_err());
    }

    #[test]
    fn references_are_told_apart() {
        assert_eq!(ReferenceChoice::parse("closed-form"), Ok(ReferenceChoice::ClosedForm));
        let run = ReferenceChoice::parse("moreau-jean{theta=1}:1e-5").unwrap();
        assert!(matches!(run, ReferenceChoice::Run(s, h) if s.name == "moreau-jean" && h == 1e-5));
        assert!(matches!(ReferenceChoice::parse("run/trajectory.npz"), Ok(ReferenceChoice::File(_))));
        assert!(ReferenceChoice::parse("moreau-jean").is_err());
    }
}
