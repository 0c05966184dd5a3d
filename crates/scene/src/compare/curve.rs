//! A recorded motion that can be evaluated at any time of its span.

use nonsmooth::simulation::{Observer, StepView};
use nonsmooth::{State, System};

/// Step ends of a run: times, states, and whether an impact happened in the step that led there.
#[derive(Debug, Clone, Default)]
pub(super) struct Curve {
    pub(super) t: Vec<f64>,
    pub(super) q: Vec<Vec<f64>>,
    pub(super) u: Vec<Vec<f64>>,
    /// q̇ at the points.
    rates: Vec<Vec<f64>>,
    impulse: Vec<bool>,
    /// Whether q̇ = u.
    identity: bool,
}

impl Observer for Curve {
    fn begin(&mut self, system: &dyn System, start: &State) {
        self.identity = system.structure().identity_kinematics;
        self.push(system, start, false);
    }

    fn step(&mut self, view: &StepView) {
        self.push(view.system, &view.step.end, view.step.impact);
    }
}

impl Curve {
    fn push(&mut self, system: &dyn System, state: &State, impulse: bool) {
        self.t.push(state.t);
        self.q.push(state.q.clone());
        self.u.push(state.u.clone());
        if !self.identity {
            let mut rates = vec![0.0; state.q.len()];
            system.kinematics(state.t, &state.q, &state.u, &mut rates);
            self.rates.push(rates);
        }
        self.impulse.push(impulse);
    }

    /// From arrays of a file; percussions are not known, jumps of u show where they were.
    pub(super) fn from_arrays(
        t: Vec<f64>,
        q: Vec<Vec<f64>>,
        u: Vec<Vec<f64>>,
        impulse: Vec<bool>,
        identity: bool,
    ) -> Self {
        Self { t, q, u, rates: Vec::new(), impulse, identity }
    }

    fn rate(&self, k: usize) -> Option<&[f64]> {
        if self.identity { Some(&self.u[k]) } else { self.rates.get(k).map(Vec::as_slice) }
    }

    /// (q, u) at a time: a grid point within 1e-9 of a step; else cubic Hermite, or, where an impact happened, q linear and u
    /// the value at the start of the step.
    pub(super) fn at(&self, t: f64) -> (Vec<f64>, Vec<f64>) {
        let k = self.t.partition_point(|x| *x <= t).clamp(1, self.t.len().max(2) - 1);
        let (t0, t1) = (self.t[k - 1], self.t[k]);
        let dt = t1 - t0;
        let near = 1e-9 * dt;
        if (t - t0).abs() <= near {
            return (self.q[k - 1].clone(), self.u[k - 1].clone());
        }
        if (t - t1).abs() <= near {
            return (self.q[k].clone(), self.u[k].clone());
        }
        let s = ((t - t0) / dt).clamp(0.0, 1.0);
        let (q0, q1, u0, u1) = (&self.q[k - 1], &self.q[k], &self.u[k - 1], &self.u[k]);
        let linear = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + s * (b - a)).collect::<Vec<f64>>();
        if self.impulse[k] {
            return (linear(q0, q1), u0.clone());
        }
        let (Some(r0), Some(r1)) = (self.rate(k - 1), self.rate(k)) else {
            return (linear(q0, q1), linear(u0, u1));
        };
        let (s2, s3) = (s * s, s * s * s);
        let q = (0..q0.len())
            .map(|i| {
                (2.0 * s3 - 3.0 * s2 + 1.0) * q0[i]
                    + (s3 - 2.0 * s2 + s) * dt * r0[i]
                    + (3.0 * s2 - 2.0 * s3) * q1[i]
                    + (s3 - s2) * dt * r1[i]
            })
            .collect();
        (q, linear(u0, u1))
    }
}
