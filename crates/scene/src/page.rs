//! What pages without the viewer share: colours, style, and the escaping of what users wrote.

/// Colours that stay apart for most eyes (Okabe & Ito).
pub const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

/// Style sheet.
pub const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#222}\
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}\
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(360px,1fr));gap:1em}svg{width:100%;height:auto}\
.legend span{margin-right:1.5em}.legend i{display:inline-block;width:1em;height:.25em;vertical-align:middle;margin-right:.4em}\
.note{color:#666}";

/// Text that is shown, whatever it holds.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
