//! What accuracy costs, in calls of the base scheme and in time.

use nonsmooth::simulation::{Observe, Summary};
use nonsmooth_scene::prepare::{Prepared, Request};
use std::time::Instant;

/// Seconds that this thread has had a processor (Linux), else of the clock.
fn seconds(since: Instant) -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |ns| 1e-9 * ns)
}

/// The woodpecker over one cycle, nothing observed; the lower edge of its sleeve touches the pole exactly at the start.
fn woodpecker(scheme: &str, step: f64, set: &[&str]) -> Summary {
    let mut set: Vec<String> = set.iter().map(|s| (*s).to_string()).collect();
    set.push("initial.q=[0, -0.10344827586206896, -0.2788]".into());
    let request = Request { scheme: Some(scheme.into()), step: Some(step), end: Some(0.15), set, ..Request::default() };
    let mut prepared = Prepared::load("woodpecker", &request).unwrap();
    prepared.options.observe = Observe::NONE;
    prepared.simulation().unwrap().run()
}

#[test]
fn the_woodpecker_needs_a_three_hundredth_of_the_calls_of_moreau_jean() {
    // Its own error is below 1e-9: another with a third of the smallest step differs by 4e-11 in q.
    let exact = woodpecker("augmented", 5e-4, &["scheme.atol=1e-11", "scheme.dt_min=1e-12"]);
    let off = |s: &Summary| s.end.q.iter().zip(&exact.end.q).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    // The short run is some milliseconds: the best of several, since other work may come between.
    let (mut augmented, mut short) = (None, f64::INFINITY);
    let clock = Instant::now();
    for _ in 0..5 {
        let begin = seconds(clock);
        augmented = Some(woodpecker("augmented", 5e-3, &["scheme.atol=1e-6", "scheme.dt_min=1e-8"]));
        short = short.min(seconds(clock) - begin);
    }
    let augmented = augmented.unwrap();
    let calls = augmented.work.scheme_calls;
    let begin = seconds(clock);
    let fixed = woodpecker("moreau-jean", 0.15 / (300.0 * calls as f64).round(), &[]);
    let long = seconds(clock) - begin;
    println!("augmented: error {:.1e} with {calls} base calls in {short:.3} s", off(&augmented));
    println!("moreau-jean: error {:.1e} with {} calls in {long:.3} s", off(&fixed), fixed.work.scheme_calls);
    println!("time: {:.0} times less", long / short);
    // The factor of the calls with room for what each of them costs, and for a machine with other work.
    assert!(long > 30.0 * short, "{long} s and {short} s");
    assert!(off(&augmented) <= 1e-6 && off(&fixed) > 1e-6);
}
