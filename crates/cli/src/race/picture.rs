//! Performance profiles as a picture.

use super::profile::Profile;
use super::results::Race;
use nonsmooth_scene::page::{COLOURS, escape};
use std::fmt::Write;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 430.0;
const HEIGHT: f64 = 490.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 26.0;
/// Dash patterns, so that coinciding lines remain visible.
const DASHES: [&str; 6] = ["none", "9 4", "3 3", "12 3 3 3", "6 2", "16 4 2 4"];
/// Most labels on the axis of times.
const MAX_LABELS: i32 = 12;

/// One line per solver over log₂ τ. The legend is to the right of the diagram, in the order of the right ends.
pub(super) fn svg(race: &Race, profiles: &[Profile]) -> String {
    let problems = profiles.first().map_or(0, |p| p.problems);
    let height = HEIGHT.max(TOP + LEGEND_LINE * (profiles.len() + 1) as f64 + 20.0);
    let largest = profiles.iter().flat_map(|p| &p.tau).fold(1.0_f64, |m, t| m.max(*t));
    let last = (largest.log2().ceil() as i32).max(1);
    // The longest time has room before the frame.
    let last = if largest.log2() > 0.97 * f64::from(last) { last + 1 } else { last };
    let x = |log: f64| LEFT + log / f64::from(last) * (RIGHT - LEFT);
    let y = |share: f64| BOTTOM - share * (BOTTOM - TOP);
    let mut o = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\" role=\"img\" aria-label=\"performance profiles\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\" font-weight=\"600\">Performance profiles</text>\
         <text x=\"{LEFT}\" y=\"43\" fill=\"#555\">{}</text>",
        escape(&format!(
            "{problems} problems, residual below {:e}, at most {} s each",
            race.tolerance, race.time_limit
        ))
    );
    // Writing to a string cannot fail.
    let out = &mut o;
    let each = (last + MAX_LABELS - 1) / MAX_LABELS;
    for e in (0..=last).step_by(each.max(1) as usize) {
        let at = x(f64::from(e));
        let label =
            if e < 10 { (1 << e).to_string() } else { format!("2<tspan dy=\"-5\" font-size=\"10\">{e}</tspan>") };
        let _ = write!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\" stroke=\"#e8e8e8\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            BOTTOM + 19.0
        );
    }
    for tenths in (0..=10).step_by(2) {
        let at = y(f64::from(tenths) / 10.0);
        let _ = write!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e8e8e8\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}&#160;%</text>",
            LEFT - 8.0,
            at + 4.5,
            10 * tenths
        );
    }
    let (middle_x, middle_y) = (0.5 * (LEFT + RIGHT), 0.5 * (TOP + BOTTOM));
    let _ = write!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{middle_x}\" y=\"{}\" text-anchor=\"middle\">&#964;: time divided by that of the fastest solver (log&#8322; scale)</text>\
         <text transform=\"translate(20 {middle_y}) rotate(-90)\" text-anchor=\"middle\">share of problems solved within &#964;</text>",
        RIGHT - LEFT,
        BOTTOM - TOP,
        BOTTOM + 44.0
    );
    for (i, p) in profiles.iter().enumerate() {
        let mut path = format!("M{:.2} {:.2}", x(0.0), y(p.share[0]));
        for (tau, share) in p.tau.iter().zip(&p.share).skip(1) {
            let _ = write!(path, "H{:.2}V{:.2}", x(tau.log2()), y(*share));
        }
        let _ = write!(path, "H{RIGHT}");
        let _ = write!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.4\" stroke-dasharray=\"{}\" stroke-linejoin=\"round\"/>",
            colour(i),
            dash(i)
        );
    }
    // The legend, the best at the right end first.
    let mut order: Vec<usize> = (0..profiles.len()).collect();
    order.sort_by(|&a, &b| profiles[b].solved.cmp(&profiles[a].solved));
    let (line, name, count) = (RIGHT + 20.0, RIGHT + 66.0, WIDTH - 14.0);
    let _ = write!(
        out,
        "<text x=\"{name}\" y=\"{0}\" fill=\"#555\">solver</text><text x=\"{count}\" y=\"{0}\" text-anchor=\"end\" fill=\"#555\">solved</text>",
        TOP + 12.0
    );
    for (k, &i) in order.iter().enumerate() {
        let at = TOP + 12.0 + LEGEND_LINE * (k + 1) as f64;
        let p = &profiles[i];
        let _ = write!(
            out,
            "<line x1=\"{line}\" x2=\"{}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{1}\" stroke-width=\"2.4\" stroke-dasharray=\"{3}\"/>\
             <text x=\"{name}\" y=\"{at}\">{4}</text><text x=\"{count}\" y=\"{at}\" text-anchor=\"end\">{5} of {6}</text>",
            line + 38.0,
            colour(i),
            at - 4.5,
            dash(i),
            escape(p.solver),
            p.solved,
            p.problems
        );
    }
    o + "</svg>\n"
}

fn colour(i: usize) -> &'static str {
    COLOURS[i % COLOURS.len()]
}

fn dash(i: usize) -> &'static str {
    DASHES[i % DASHES.len()]
}
