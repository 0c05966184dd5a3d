//! Display of errors: the message, the place, and the line itself.

use nonsmooth_scene::file::SceneError;
use nonsmooth_scene::run::RunError;
use std::fmt;

/// Bad input: exit code 2.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.0)
    }
}

impl From<SceneError> for Failed {
    fn from(e: SceneError) -> Self {
        let mut text = e.to_string();
        if let (Some((line, column)), Some(shown)) = (e.position, &e.line) {
            let gutter = line.to_string().len();
            let before: String = shown.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let short: String = shown.chars().take(200).collect();
            text += &format!("\n{:gutter$} |\n{line} | {short}\n{:gutter$} | {before}^", "", "");
        }
        Failed(text)
    }
}

impl From<RunError> for Failed {
    fn from(e: RunError) -> Self {
        match e {
            RunError::Scene(e) => e.into(),
            other => Failed(other.to_string()),
        }
    }
}
