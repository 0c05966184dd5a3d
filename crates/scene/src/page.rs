//! Shared by HTML pages: quoting of commands; for pages without the viewer also colours, style and escaping.

/// Colours that are distinguishable with most kinds of colour blindness (Okabe & Ito).
pub const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

/// Style sheet.
pub const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#222}\
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}\
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(360px,1fr));gap:1em}svg{width:100%;height:auto}\
.legend span{margin-right:1.5em}.legend i{display:inline-block;width:1em;height:.25em;vertical-align:middle;margin-right:.4em}\
.note{color:#666}";

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Quotes a word for a shell where it would be split or expanded.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,:/".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_word_that_was_meant() {
        for text in ["plain-1.5", "a b", "rattle{theta=1,gamma=0}", "it's", "$HOME", "", "x;y", "\"`\\"] {
            let line = format!("printf %s {}", shell_word(text));
            let out = std::process::Command::new("bash").args(["-c", &line]).output();
            assert_eq!(
                out.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default(),
                text,
                "{line}"
            );
        }
    }
}
