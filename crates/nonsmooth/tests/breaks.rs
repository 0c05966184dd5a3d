//! What jumps at a known time: a step that ends there sees the model before it, the next one the model after it.

use nonsmooth::scheme::{SCHEMES, Settings};
use nonsmooth::{
    Differentiated, Layout, Model, Scalar, Simulation, SimulationOptions, State, scheme, simulation::Status,
};

/// A unit mass that a force pushes until the time `off`, between whose spring's ends the potential rises at the time `on`.
struct Switched {
    push: f64,
    off: f64,
    lift: f64,
    on: f64,
    /// Whether the break itself belongs to the time before it.
    closed: bool,
}

impl Switched {
    fn before<T: Scalar>(&self, t: T, time: f64) -> bool {
        if self.closed { t.value() <= time } else { t.value() < time }
    }
}

impl Model for Switched {
    fn layout(&self) -> Layout {
        Layout::new(["x"]).force("push").potential("lift").breaks([self.off, self.on]).constant_mass()
    }
    fn mass<T: Scalar>(&self, _i: usize, _t: T, _q: &[T], m: &mut [T]) {
        m[0] = T::from(1.0);
    }
    fn force<T: Scalar>(&self, _i: usize, t: T, _q: &[T], _u: &[T], h: &mut [T]) {
        h[0] = T::from(if self.before(t, self.off) { self.push } else { 0.0 });
    }
    fn potential<T: Scalar>(&self, _i: usize, t: T, q: &[T]) -> T {
        q[0] * 0.5 + if self.before(t, self.on) { 0.0 } else { self.lift }
    }
}

fn schemes() -> impl Iterator<Item = &'static str> {
    // It looks at gaps on position level alone and is a contrast; it is here too, since nothing touches.
    SCHEMES.iter().map(|s| s.name)
}

#[test]
fn forces_at_a_break_are_those_of_the_side_of_the_step() {
    let end = 2.0;
    for closed in [false, true] {
        for name in schemes() {
            let one_length = !scheme::make(name, &Settings::new()).unwrap().info().variable_step;
            // Breaks on the grid, beside it, and after a sum of steps that rounding leaves beside it.
            for (step, off, on) in [(0.25, 1.0, 0.5), (0.1, 0.3, 1.7), (0.25, 0.9, 1.1), (0.037, 1.0, 0.123)] {
                let on_grid = |t: f64| ((t / step).round() * step - t).abs() < 1e-9 * step;
                if one_length && !(on_grid(off) && on_grid(on) && on_grid(end)) {
                    continue;
                }
                let (push, lift) = (3.0, 2.0);
                let model = Differentiated::new(Switched { push, off, lift, on, closed }).unwrap();
                let mut settings = Settings::new();
                if name == "augmented" {
                    settings = settings.number("dt_min", 1e-3).number("dt_max", step);
                }
                let scheme = scheme::make(name, &settings).unwrap();
                let start = State::new(0.0, vec![0.0], vec![0.1]);
                let options = SimulationOptions::new(step, end);
                let done = Simulation::new(&model, start, scheme, options).unwrap().run();
                assert_eq!(done.status, Status::Done);
                let g = -0.5;
                let u = 0.1 + push * off + g * end;
                let x = 0.1 * end + 0.5 * g * end * end + push * off * (end - 0.5 * off);
                // Schemes of order 1 in q leave dt/2 times the change of u there; velocities are sums of forces, exact in all.
                assert!((done.end.u[0] - u).abs() <= 1e-12, "{name} h {step}: u {} is not {u}", done.end.u[0]);
                // Exact where forces are constant on each side; the sum of some 100 steps rounds to 1e-14.
                assert!((done.end.q[0] - x).abs() <= 1e-12, "{name} h {step}: x {} is not {x}", done.end.q[0]);
                let closure = done.energy.closure;
                assert!(closure <= 1e-12, "{name} h {step}: closure {closure}");
            }
        }
    }
}
