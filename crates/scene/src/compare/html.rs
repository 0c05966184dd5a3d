//! The comparison as one page: a table and log-log diagrams, nothing loaded from elsewhere.

use super::errors::Errors;
use super::rows::{Comparison, Row};
use crate::page::{COLOURS, STYLE, escape};
use std::fmt::Write;

fn name(row: &Row) -> String {
    if row.options.is_empty() { row.scheme.clone() } else { format!("{}{{{}}}", row.scheme, row.options.join(",")) }
}

/// The page. `command` is how to make it again.
pub fn compare_html(c: &Comparison, command: &str) -> String {
    let mut schemes: Vec<String> = Vec::new();
    for row in &c.rows {
        if !schemes.contains(&name(row)) {
            schemes.push(name(row));
        }
    }
    let mut out = String::new();
    // Writing to a string cannot fail.
    let o = &mut out;
    let _ = write!(
        o,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{STYLE}</style></head><body>\
         <h1>{0}</h1><p class=\"note\">Errors against {1}. Made by <code>{2}</code>, nonsmooth {3}.</p>",
        escape(&format!("compare {}", c.scene)),
        escape(&c.reference),
        escape(command),
        env!("CARGO_PKG_VERSION")
    );
    let _ = write!(o, "<p class=\"legend\">");
    for (i, s) in schemes.iter().enumerate() {
        let _ = write!(o, "<span><i style=\"background:{}\"></i>{}</span>", COLOURS[i % COLOURS.len()], escape(s));
    }
    let _ = write!(
        o,
        "</p><h2>Orders</h2><table><tr><th>scheme</th><th>q, L1</th><th>u, L1</th><th>u, graph</th><th>p, L1</th></tr>"
    );
    let with = |v: Option<f64>, d: Option<f64>| match (v, d) {
        (Some(v), Some(d)) => format!("{v:.3} ± {d:.3}"),
        (Some(v), None) => format!("{v:.3}"),
        _ => "-".into(),
    };
    for r in &c.orders {
        let _ = write!(
            o,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&r.scheme),
            with(r.q, r.q_uncertainty),
            with(r.u, r.u_uncertainty),
            with(r.u_graph, r.u_graph_uncertainty),
            with(r.p, r.p_uncertainty)
        );
    }
    let _ = write!(o, "</table>");

    type Pick = fn(&Errors) -> f64;
    let percussions = c.rows.iter().any(|r| r.errors.is_some_and(|e| e.p.is_some()));
    let norms: [(&str, Pick); 9] = [
        ("q, L1", |e| e.q.l1),
        ("u, L1", |e| e.u.l1),
        ("q, L2", |e| e.q.l2),
        ("u, L2", |e| e.u.l2),
        ("q, sup", |e| e.q.sup),
        ("u, sup", |e| e.u.sup),
        ("q, graph", |e| e.q.graph),
        ("u, graph", |e| e.u.graph),
        ("sums p of normal percussions, L1", |e| e.p.map_or(0.0, |p| p.l1)),
    ];
    let shown = if percussions { norms.len() } else { norms.len() - 1 };
    let _ = write!(o, "<h2>Error against step (s)</h2><div class=\"grid\">");
    for (title, pick) in norms.into_iter().take(shown) {
        o.push_str(&diagram(title, "step", c, &schemes, |r| r.step, pick, true));
    }
    let _ = write!(o, "</div><h2>Work and precision</h2><div class=\"grid\">");
    for (title, pick) in &norms[..2] {
        o.push_str(&diagram(title, "scheme calls", c, &schemes, |r| r.calls as f64, *pick, false));
        o.push_str(&diagram(title, "CPU seconds", c, &schemes, |r| r.seconds, *pick, false));
    }
    let _ = write!(
        o,
        "</div><h2>All runs</h2><table><tr><th>scheme</th><th>step</th><th>calls</th><th>seconds</th><th>q L1</th><th>q sup</th>\
         <th>u L1</th><th>u sup</th><th>u graph</th></tr>"
    );
    for r in &c.rows {
        let _ = write!(
            o,
            "<tr><td>{}</td><td>{:e}</td><td>{}</td><td>{:.4}</td>",
            escape(&name(r)),
            r.step,
            r.calls,
            r.seconds
        );
        match (&r.errors, &r.reason) {
            (Some(e), _) => {
                for v in [e.q.l1, e.q.sup, e.u.l1, e.u.sup, e.u.graph] {
                    let _ = write!(o, "<td>{v:.3e}</td>");
                }
            }
            (None, reason) => {
                let _ = write!(o, "<td colspan=\"5\">{}</td>", escape(reason.as_deref().unwrap_or("")));
            }
        }
        let _ = write!(o, "</tr>");
    }
    let _ = write!(o, "</table></body></html>");
    out
}

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 12.0;

/// A log-log diagram.
fn diagram(
    title: &str,
    axis: &str,
    c: &Comparison,
    schemes: &[String],
    x: impl Fn(&Row) -> f64,
    y: impl Fn(&Errors) -> f64,
    slopes: bool,
) -> String {
    let points: Vec<(usize, f64, f64)> = c
        .rows
        .iter()
        .filter_map(|r| {
            let series = schemes.iter().position(|s| *s == name(r))?;
            let (a, b) = (x(r), r.errors.as_ref().map(&y)?);
            (a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite()).then(|| (series, a.log10(), b.log10()))
        })
        .collect();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0} against {1}\"><text x=\"{LEFT}\" y=\"16\" font-weight=\"600\">{0}</text>",
        escape(title),
        escape(axis)
    );
    if points.is_empty() {
        svg += "<text x=\"60\" y=\"120\">no errors above rounding</text></svg>";
        return svg;
    }
    let range = |values: Vec<f64>| {
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        let pad = (0.08 * (high - low)).max(0.1);
        (low - pad, high + pad)
    };
    let (x0, x1) = range(points.iter().map(|p| p.1).collect());
    let (y0, y1) = range(points.iter().map(|p| p.2).collect());
    let px = |v: f64| LEFT + (v - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    let py = |v: f64| HEIGHT - BOTTOM - (v - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = write!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>",
        right - LEFT,
        bottom - TOP
    );
    // Decades, and 2 and 5 between them where there are few.
    let ticks = |low: f64, high: f64| {
        let mut out = Vec::new();
        for d in low.floor() as i32..=high.ceil() as i32 {
            let few = high - low < 2.0;
            for (m, shown) in [(1.0f64, true), (2.0, few), (5.0, few)] {
                let v = f64::from(d) + m.log10();
                if shown && v >= low && v <= high {
                    out.push((v, format!("{m}e{d}")));
                }
            }
        }
        out
    };
    for (v, label) in ticks(x0, x1) {
        let _ = write!(
            svg,
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#eee\"/><text x=\"{0:.1}\" y=\"{1}\" font-size=\"11\" text-anchor=\"middle\">{label}</text>",
            px(v),
            bottom + 14.0
        );
    }
    for (v, label) in ticks(y0, y1) {
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#eee\"/><text x=\"{1}\" y=\"{2:.1}\" font-size=\"11\" text-anchor=\"end\">{label}</text>",
            py(v),
            LEFT - 5.0,
            py(v) + 4.0
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{}\" font-size=\"12\" text-anchor=\"middle\">{}</text>",
        0.5 * (LEFT + right),
        HEIGHT - 6.0,
        escape(axis)
    );
    if slopes {
        // Lines of order 1 and 2 from the upper right corner.
        for order in [1.0, 2.0] {
            let length = (x1 - x0).min((y1 - y0) / order);
            let (xe, ye) = (x1 - length, y1 - order * length);
            let _ = write!(
                svg,
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#aaa\" stroke-dasharray=\"4 4\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#777\">{order}</text>",
                px(x1),
                py(y1),
                px(xe),
                py(ye),
                px(xe) + 3.0,
                py(ye) - 4.0
            );
        }
    }
    for (i, _) in schemes.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        // In the order of the steps: times scatter.
        let mine: Vec<(f64, f64)> = points.iter().filter(|p| p.0 == i).map(|p| (p.1, p.2)).collect();
        let path: Vec<String> = mine.iter().map(|(a, b)| format!("{:.1},{:.1}", px(*a), py(*b))).collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
            path.join(" ")
        );
        for (a, b) in mine {
            let _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", px(a), py(b));
        }
    }
    svg + "</svg>"
}
