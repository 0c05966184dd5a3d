//! Performance profiles \[DolanMore2002\].
//!
//! With t_ps the time of solver s on problem p and τ_ps = t_ps / min_s t_ps (infinite where p is not solved), the profile of a
//! solver is the share of problems with τ_ps ≤ τ. At τ = 1 it says how often the solver is the fastest, at the right end how
//! often it solves at all.

use super::results::{Race, Raced};

/// The profile of one solver.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Profile {
    pub(super) solver: &'static str,
    /// Where the profile rises, ascending; the first is 1.
    pub(super) tau: Vec<f64>,
    /// Share of the problems from there on.
    pub(super) share: Vec<f64>,
    /// Problems that it solved, and all of them.
    pub(super) solved: usize,
    pub(super) problems: usize,
    /// Geometric mean of τ over the problems that it solved.
    pub(super) mean: Option<f64>,
}

/// Resolution of the clock, s: shorter times are raised to it.
const CLOCK_RESOLUTION: f64 = 1e-6;

/// The profiles of all solvers, over the problems that all of them have tried.
pub(super) fn profiles(race: &Race) -> Vec<Profile> {
    let complete: Vec<&Raced> = race.raced().map(|(_, p)| p).filter(|p| p.runs.len() == race.solvers.len()).collect();
    race.solvers
        .iter()
        .enumerate()
        .map(|(s, &solver)| {
            let ratios = complete.iter().filter_map(|p| {
                let best = p.fastest()?.seconds.max(CLOCK_RESOLUTION);
                p.runs[s].status.solved().then(|| p.runs[s].seconds.max(CLOCK_RESOLUTION) / best)
            });
            profile(solver, ratios.collect(), complete.len())
        })
        .collect()
}

fn profile(solver: &'static str, mut ratios: Vec<f64>, problems: usize) -> Profile {
    ratios.sort_by(f64::total_cmp);
    let all = problems.max(1) as f64;
    let (mut tau, mut share) = (vec![1.0], vec![0.0]);
    for (i, &ratio) in ratios.iter().enumerate() {
        let reached = (i + 1) as f64 / all;
        match share.last_mut() {
            Some(last) if tau.last() == Some(&ratio) => *last = reached,
            _ => {
                tau.push(ratio);
                share.push(reached);
            }
        }
    }
    let solved = ratios.len();
    let logs: f64 = ratios.iter().map(|r| r.ln()).sum();
    let mean = (solved > 0).then(|| (logs / solved as f64).exp());
    Profile { solver, tau, share, solved, problems, mean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_rises_at_the_ratios() {
        let p = profile("a", vec![4.0, 1.0, 2.0, 1.0], 8);
        assert_eq!(p.tau, [1.0, 2.0, 4.0]);
        assert_eq!(p.share, [0.25, 0.375, 0.5]);
        assert_eq!((p.solved, p.problems), (4, 8));
        // (4·2)^(1/4).
        assert!((p.mean.unwrap() - 8f64.powf(0.25)).abs() < 1e-15);
        let never = profile("b", Vec::new(), 3);
        assert_eq!((never.tau, never.share, never.mean), (vec![1.0], vec![0.0], None));
        assert_eq!(profile("c", vec![3.0], 1).share, [0.0, 1.0]);
    }
}
