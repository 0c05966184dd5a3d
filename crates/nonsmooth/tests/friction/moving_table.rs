//! Obstacles that move along their normal: a table that rises, and one that is shaken.

use super::table::on_table;
use super::{G, SCHEMES, contact, of, one_step, run, take};
use nonsmooth::law::ContactLaw;
use nonsmooth::simulation::EventKind;
use nonsmooth::{Layout, Model, Scalar, SimulationOptions};

#[test]
fn an_impact_on_a_rising_table_reflects_the_relative_velocity() {
    for name in SCHEMES {
        for e in [0.0, 0.6, 1.0] {
            for rising in [-0.5, 0.0, 1.5] {
                let fall = -2.0;
                let system = on_table(ContactLaw::newton(e).coulomb(2, 0.3), [0.0, 0.0, rising]);
                let end = one_step(&system, name, "auto", &[0.0; 3], &[0.4, 0.0, fall], 1e-3);
                // u⁺ = (1 + e) v_table − e u⁻, a linear law: rounding only.
                let exact = (1.0 + e) * rising - e * fall;
                assert!((end.u[2] - exact).abs() <= 1e-13, "{name}, e = {e}, table {rising}: {} {exact}", end.u[2]);
            }
        }
    }
}

/// A ball over a table that oscillates as A sin ωt.
struct Shaken {
    amplitude: f64,
    omega: f64,
    e: f64,
}

impl Model for Shaken {
    fn layout(&self) -> Layout {
        Layout::new(["z"])
            .constant_mass()
            .potential("gravity")
            .linear()
            .contact("table", ContactLaw::newton(self.e))
            .moving()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn potential<T: Scalar>(&self, _i: usize, _t: T, q: &[T]) -> T {
        q[0] * G
    }
    fn gap<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[0] - (t * self.omega).sin() * self.amplitude
    }
}

#[test]
fn an_impact_on_a_shaken_table_has_the_velocity_of_the_closed_form() {
    let (amplitude, omega, e) = (0.05, 8.0, 0.7);
    let system = take(Shaken { amplitude, omega, e });
    let z0 = 0.4;
    // First zero of z0 − g t²/2 − A sin ωt by bisection: the gap falls monotonically from t = 0.2 on.
    let gap = |t: f64| z0 - 0.5 * G * t * t - amplitude * (omega * t).sin();
    let (mut low, mut high) = (0.2, 0.4);
    assert!(gap(low) > 0.0 && gap(high) < 0.0);
    for _ in 0..60 {
        let mid = 0.5 * (low + high);
        if gap(mid) > 0.0 { low = mid } else { high = mid }
    }
    let table = amplitude * omega * (omega * low).cos();
    let exact = (1.0 + e) * table + e * G * low;
    for name in SCHEMES {
        let h = 1e-4;
        let (summary, records) = run(&system, name, &[z0], &[0.0], SimulationOptions::new(h, 0.5));
        let impact = summary.events.iter().find(|e| e.kind == EventKind::Impact).expect("an impact").t;
        let after =
            records.iter().find(|r| r.step.is_some() && contact(r, 0)[0] > 0.0).expect("the step of the impact");
        // The impact is made up to two steps late, at table and ball velocities of that time.
        let tolerance = 2.0 * h * ((1.0 + e) * amplitude * omega * omega + e * G);
        assert!(
            (impact - low).abs() <= 2.0 * h && (after.t - low).abs() <= 2.0 * h,
            "{name}: {impact} {} {low}",
            after.t
        );
        assert!((after.u[0] - exact).abs() <= tolerance, "{name}: {} {exact} {tolerance:e}", after.u[0]);
    }
}

#[test]
fn a_ball_rests_on_a_table_that_is_shaken_gently() {
    // A ω² < g: the ball stays on the table. The law is on velocity level: the gap drifts by A ω³ h³/12 in a step, and where
    // it opens, the ball falls for one step and is caught, (g − Aω²) h² deep. That is more than the drift of the whole run.
    let (amplitude, omega, h) = (0.05, 8.0, 1e-3);
    let system = take(Shaken { amplitude, omega, e: 0.0 });
    let (shaking, table) = (amplitude * omega * omega, |t: f64| amplitude * omega * (omega * t).cos());
    let (drift, steps) = (amplitude * omega.powi(3) * h.powi(3) / 12.0, 2000.0);
    assert!(shaking < G && (G - shaking) * h * h > drift * steps);
    let (_, records) = run(&system, "moreau-jean", &[0.0], &[table(0.0)], SimulationOptions::new(h, steps * h));
    let mut lost = 0;
    for w in records.windows(2) {
        let r = &w[1];
        let (gap, velocity) = (r.q[0] - amplitude * (omega * r.t).sin(), r.u[0] - table(r.t));
        // One step of free fall in velocity, two half steps in position, and the drift of all steps.
        assert!(velocity.abs() <= (G + shaking) * h, "t = {}: velocity {velocity:e}", r.t);
        assert!(gap.abs() <= (G + shaking) * h * h + drift * steps, "t = {}: gap {gap:e}", r.t);
        if !of(r).active[0] {
            lost += 1;
            continue;
        }
        // The law at the end of the step: rounding.
        assert!(velocity.abs() <= 1e-12, "t = {}: {velocity:e}", r.t);
        if w[0].step.as_ref().is_some_and(|s| s.active[0]) {
            // Mean force over a step against m (g − A ω² sin ωt) in its middle: A ω⁴ h²/24.
            let exact = G - shaking * (omega * (r.t - 0.5 * h)).sin();
            let force = contact(r, 0)[0] / h;
            assert!((force - exact).abs() <= amplitude * omega.powi(4) * h * h / 24.0 + 1e-9, "{force} {exact}");
        }
    }
    assert!(lost <= 1, "lost {lost} times");
}
