//! A run that is saved at any step and goes on in a new object has the same bits as one that was never saved.

use super::schemes::fewer;
use nonsmooth::scheme::SCHEMES;
use nonsmooth::simulation::{Advance, Checkpoint};
use nonsmooth::{Simulation, Summary};
use nonsmooth_scene::bundled::EXAMPLES;
use nonsmooth_scene::prepare::{Prepared, Request};
use std::sync::Arc;

/// Steps of a run.
const STEPS: f64 = 250.0;
/// The same of schemes that choose their steps and make many of one.
const ADAPTIVE: f64 = 20.0;
/// Saved runs of every scene and scheme.
const SAVED: usize = 1;

fn prepared(scene: &str, scheme: &str) -> Option<Prepared> {
    let request =
        Request { scheme: Some(scheme.into()), set: fewer(scene).map(String::from).collect(), ..Request::default() };
    let mut p = Prepared::load(scene, &request).ok()?;
    let steps = if p.scheme.adaptive { ADAPTIVE } else { STEPS };
    p.options.end = p.options.end.min(p.start.t + steps * p.options.step);
    Some(p)
}

fn resume(p: &Prepared, checkpoint: &Checkpoint) -> Result<Simulation<'static>, nonsmooth::Error> {
    let scheme = (p.scheme.make)(&p.settings).unwrap();
    Simulation::resume(Arc::clone(&p.system), scheme, p.options.clone(), checkpoint)
}

/// Everything that a run comes to, in bits; and where they part.
fn differences(a: &Summary, b: &Summary) -> Vec<&'static str> {
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let ledger = |s: &Summary| s.ledger.iter().map(|(n, v)| (n.clone(), v.to_bits())).collect::<Vec<_>>();
    let sums = |s: &Summary| s.percussions.iter().map(|(n, v)| (n.clone(), bits(v))).collect::<Vec<_>>();
    let events = |s: &Summary| s.events.iter().map(|e| (e.t.to_bits(), e.kind, e.id, e.change)).collect::<Vec<_>>();
    let energy = |s: &Summary| bits(&[s.energy.initial, s.energy.last, s.energy.max, s.energy.closure]);
    let worst = |s: &Summary| bits(&[s.worst.residual(), s.worst.penetration, s.worst_at.0, s.worst_at.1]);
    // Lists may hold more contacts that carry nothing: how long a list of near contacts is kept is no part of a state.
    let carried = |s: &Summary| {
        let p = &s.end.percussions;
        let of = |id: &u64| (*id, bits(p.get(*id).unwrap_or_default()));
        p.ids().iter().map(of).filter(|(_, p)| p.iter().any(|x| x << 1 != 0)).collect::<Vec<_>>()
    };
    let checks = [
        ("status", a.status == b.status),
        ("state", bits(&a.end.q) == bits(&b.end.q) && bits(&a.end.u) == bits(&b.end.u) && a.end.t == b.end.t),
        ("last percussions", carried(a) == carried(b)),
        ("events", events(a) == events(b)),
        ("ledger", ledger(a) == ledger(b) && energy(a) == energy(b)),
        ("percussions", sums(a) == sums(b)),
        ("worst", worst(a) == worst(b)),
        ("work", a.work == b.work),
        ("warnings", a.warnings == b.warnings),
    ];
    checks.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

#[test]
fn a_run_that_is_saved_and_goes_on_has_the_same_bits() {
    let (mut tried, mut failures, mut random) = (0, Vec::new(), 0.5f64);
    for scene in EXAMPLES.iter().map(|e| e.name) {
        for scheme in SCHEMES {
            let Some(p) = prepared(scene, scheme.name) else { continue };
            // Refused by what the scheme supports.
            let Ok(mut run) = p.simulation() else { continue };
            let whole = run.run();
            let steps = whole.work.steps.max(1);
            for _ in 0..SAVED {
                random = (random * 997.0 + 0.377).fract();
                let at = (random * steps as f64) as usize;
                let mut first = p.simulation().unwrap();
                (0..at).for_each(|_| _ = first.advance(&mut ()));
                let bytes = first.checkpoint().bytes().to_vec();
                drop(first);
                let fresh = prepared(scene, scheme.name).unwrap();
                let resumed = resume(&fresh, &Checkpoint::from_bytes(bytes)).map(|mut s| s.run());
                let found = match resumed {
                    Ok(resumed) => differences(&whole, &resumed),
                    Err(e) => panic!("{scene}, {}: {e}", scheme.name),
                };
                if !found.is_empty() {
                    failures.push(format!("{scene}, {} after step {at} of {steps}: {found:?}", scheme.name));
                }
                tried += 1;
            }
        }
    }
    println!("{tried} runs were saved");
    assert!(tried >= 100, "{tried}");
    assert!(failures.is_empty(), "{} of {tried}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_run_goes_on_beyond_its_end_as_if_it_had_been_longer() {
    for (scene, scheme) in
        [("woodpecker", "moreau-jean"), ("bouncing_ball", "rattle"), ("disc_pile", "moreau-midpoint")]
    {
        let long = prepared(scene, scheme).unwrap();
        let whole = long.simulation().unwrap().run();
        let mut short = prepared(scene, scheme).unwrap();
        let end = long.options.end;
        // A grid point: an end elsewhere shortens a step.
        short.options.end = short.start.t + (0.4 * STEPS).round() * short.options.step;
        let mut run = short.simulation().unwrap();
        run.run();
        // Once in the same object, once from its checkpoint.
        let checkpoint = run.checkpoint();
        assert_eq!(run.run_to(end, &mut ()).unwrap(), Advance::Stepped);
        assert_eq!(differences(&whole, &run.run()), [""; 0], "{scene}");
        assert_eq!(differences(&whole, &resume(&long, &checkpoint).unwrap().run()), [""; 0], "{scene}, resumed");
    }
}

#[test]
fn bytes_that_are_no_checkpoint_of_the_run_are_refused() {
    // The second one holds a step that is not final, with its substeps.
    let of = |scheme: &str| {
        let p = prepared("woodpecker", scheme).unwrap();
        let mut run = p.simulation().unwrap();
        (0..40).for_each(|_| _ = run.advance(&mut ()));
        let good = run.checkpoint().bytes().to_vec();
        (p, good)
    };
    for (p, good) in ["tdg-minus", "augmented"].map(of) {
        let refusal = |bytes: Vec<u8>| resume(&p, &Checkpoint::from_bytes(bytes)).err().map(|e| e.to_string());
        assert_eq!(refusal(good.clone()), None);
        for length in (0..good.len()).step_by(7) {
            assert!(refusal(good[..length].to_vec()).is_some(), "cut off after {length} of {}", good.len());
        }
        assert!(refusal([&good[..], &[0]].concat()).is_some(), "something follows");
        // Changed bytes: refused or read, never a panic, and no memory without end.
        for at in 0..good.len() {
            for change in [0xff, 0x01] {
                let mut bytes = good.clone();
                bytes[at] ^= change;
                let _ = refusal(bytes);
            }
        }
    }
    let (_, good) = of("tdg-minus");
    let other = prepared("woodpecker", "moreau-jean").unwrap();
    let message = resume(&other, &Checkpoint::from_bytes(good.clone())).err().unwrap().to_string();
    assert!(message.contains("`tdg-minus over tdg-minus` where `moreau-jean"), "{message}");
    let other = prepared("bouncing_ball", "tdg-minus").unwrap();
    assert!(resume(&other, &Checkpoint::from_bytes(good)).is_err(), "of another system");
}

#[test]
fn a_run_can_be_sent_to_a_thread_and_two_threads_share_a_system() {
    let p = prepared("disc_pile", "moreau-midpoint").unwrap();
    let whole = p.simulation().unwrap().run();
    let runs: Vec<Simulation<'static>> = (0..2).map(|_| p.simulation().unwrap()).collect();
    let threads: Vec<_> = runs.into_iter().map(|mut run| std::thread::spawn(move || run.run())).collect();
    for thread in threads {
        assert_eq!(differences(&whole, &thread.join().unwrap()), [""; 0]);
    }
}
