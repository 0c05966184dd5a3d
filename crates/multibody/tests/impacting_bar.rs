//! The impacting elastic bar [Acary2013, 6.2]: a bar of length L flies at v₀ along its axis and touches a rigid wall at t = 0.
//!
//! Exact: with c₀ = √(E/ρ) the wall pushes with F = S |v₀| √(E ρ) = 1271.472 N for T = 2L/c₀ = 3.8545e-4 s; then the
//! bar flies back with −v₀ and without waves.
//!
//! **The first step of Moreau-Jean, θ = 1/2, e = 0, by hand.** Until then the bar is not strained, so that u_free = v₀ 1 and P₁ = |v₀|/A with
//! A = e₀ᵀ M̂⁻¹ e₀, M̂ = M + h²/4 K. With s = ρ S l/6 and κ = h² E S/(4 l) the rows of M̂ are (s − κ, 4s + 2κ, s − κ), with half the
//! diagonal at the ends, and elimination from the far end gives 1/A by
//!
//! ```text
//! d_N = 2s + κ,    d_i = 4s + 2κ − (s − κ)²/d_{i+1},    1/A = 2s + κ − (s − κ)²/d_1 .
//! ```
//!
//! For N → ∞ it settles at 1/A = √((2s + κ)² − (s − κ)²), that is
//!
//! ```text
//! P₁ = ρ S |v₀| √(l²/12 + c₀² h²/4),    P₁/h = F √(1/4 + (l/(c₀ h))²/12) .
//! ```
//!
//! So for h → 0 the impulse tends to |v₀| times the finite mass ρ S l/√12 = m_e/√12 of the end of the last element, and the force to infinity
//! as 1/h; for l → 0 the force of the first step is F/2, without any peak: Figs. 13 and 14.

use nonsmooth::law::ContactLaw;
use nonsmooth::scheme::{self, Settings};
use nonsmooth::simulation::{Observer, Status, StepView};
use nonsmooth::{Simulation, SimulationOptions, Summary};
use nonsmooth_multibody::{Bar, Builder};

const LENGTH: f64 = 1.0;
const AREA: f64 = std::f64::consts::PI * 1e-4;
const DENSITY: f64 = 7800.0;
const MODULUS: f64 = 210e9;
const SPEED: f64 = 0.1;
const END: f64 = 8e-4;
/// Rest of the tip, m/s: ε times 0.1 m/s, and a factor of some hundreds for the elimination of as many nodes; 3e-17 is measured.
const STILL: f64 = 1e-14;

fn wave_speed() -> f64 {
    (MODULUS / DENSITY).sqrt()
}

fn exact_force() -> f64 {
    AREA * SPEED * (MODULUS * DENSITY).sqrt()
}

fn exact_contact() -> f64 {
    2.0 * LENGTH / wave_speed()
}

fn mass() -> f64 {
    DENSITY * AREA * LENGTH
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    t: f64,
    tip: f64,
    velocity: f64,
    percussion: f64,
}

#[derive(Default)]
struct Record(Vec<Sample>);

impl Observer for Record {
    fn step(&mut self, view: &StepView) {
        let end = &view.end;
        self.0.push(Sample { t: end.t, tip: end.q[0], velocity: end.u[0], percussion: view.step.percussion(0)[0] });
    }
}

struct Impact {
    elements: usize,
    step: f64,
    end: f64,
    restitution: f64,
    modulus: f64,
    scheme: &'static str,
    theta: f64,
}

impl Impact {
    fn new(elements: usize, step: f64) -> Self {
        let (scheme, theta) = ("moreau-jean", 0.5);
        Self { elements, step, end: END, restitution: 0.0, modulus: MODULUS, scheme, theta }
    }

    fn run(&self) -> (Vec<Sample>, Summary) {
        let mut world = Builder::new();
        world.bar(Bar {
            name: "bar".into(),
            elements: self.elements,
            length: LENGTH,
            area: AREA,
            density: DENSITY,
            modulus: self.modulus,
            displacement: 0.0,
            velocity: -SPEED,
        });
        world.stop("wall", "bar_0", 1.0, 0.0, ContactLaw::newton(self.restitution));
        let (system, start) = world.build().unwrap();
        let mut settings = Settings::new().number("theta", self.theta);
        if self.scheme == "projected-combined" {
            // Figs. 16 to 18 are made with N = I; with that of the masses the force rings by 2 N instead of 50.
            settings = settings.word("metric", "identity");
        }
        let scheme = scheme::make(self.scheme, &settings).unwrap();
        let mut record = Record::default();
        let options = SimulationOptions::new(self.step, self.end);
        let summary = Simulation::new(&system, start, scheme, options).unwrap().run_with(&mut record);
        assert_eq!(summary.status, Status::Done);
        (record.0, summary)
    }

    /// P₁ by the recursion of the module head.
    fn first_percussion(&self) -> f64 {
        let l = LENGTH / self.elements as f64;
        let s = DENSITY * AREA * l / 6.0;
        let kappa = 0.25 * self.step * self.step * self.modulus * AREA / l;
        let (end, off) = (2.0 * s + kappa, (s - kappa) * (s - kappa));
        let mut d = end;
        for _ in 1..self.elements {
            d = 2.0 * end - off / d;
        }
        SPEED * (end - off / d)
    }

    /// P₁ of a bar without end.
    fn first_percussion_of_endless_bar(&self) -> f64 {
        let (l, way) = (LENGTH / self.elements as f64, self.step * (self.modulus / DENSITY).sqrt());
        DENSITY * AREA * SPEED * (l * l / 12.0 + way * way / 4.0).sqrt()
    }
}

/// Momentum of the bar, kg m/s: 1ᵀ M u with the consistent mass.
fn momentum(u: &[f64]) -> f64 {
    let l = LENGTH / (u.len() - 1) as f64;
    u.windows(2).map(|w| 0.5 * DENSITY * AREA * l * (w[0] + w[1])).sum()
}

fn value(summary: &Summary, line: &str) -> f64 {
    summary.ledger.iter().find(|(name, _)| name == line).map_or_else(|| panic!("no line `{line}`"), |(_, v)| *v)
}

fn relative(a: f64, b: f64) -> f64 {
    (a / b - 1.0).abs()
}

#[test]
fn the_exact_solution_is_that_of_the_paper() {
    // To the digits printed there.
    assert!((exact_force() - 1271.472).abs() < 5e-4, "{}", exact_force());
    assert!((exact_contact() - 3.8545e-4).abs() < 5e-9, "{}", exact_contact());
}

#[test]
fn the_wall_pushes_with_the_exact_force_for_the_exact_time() {
    let h = 2e-6;
    let (samples, _) = Impact::new(1000, h).run();
    let contact = exact_contact();
    let plateau = samples.iter().filter(|s| s.t >= 0.2 * contact && s.t <= 0.8 * contact);
    let plateau: Vec<f64> = plateau.map(|s| s.percussion / h).collect();
    let mean = plateau.iter().sum::<f64>() / plateau.len() as f64;
    println!("plateau {mean} N, off by {:e}", relative(mean, 1271.472));
    // The mean of what rings around the force behind the front.
    assert!(relative(mean, 1271.472) < 5e-4, "{mean}");
    let last = samples.iter().rfind(|s| s.percussion > 0.0).unwrap().t;
    println!("contact until {last} s, exact {contact}: {} steps more", (last - contact) / h);
    // A front that goes c₀ h = 10 elements per step comes back smeared over a few steps.
    assert!((last - contact).abs() <= 4.0 * h, "{last}");
}

#[test]
fn penetration_is_half_of_the_way_of_the_first_step() {
    // The paper prints 2.5e-5 m for the first of these steps, ten times |v₀| h/2; its 2.5e-8 m for the last is right.
    for h in [5e-5, 2e-6, 5e-7] {
        let (samples, summary) = Impact::new(1000, h).run();
        let deepest = samples.iter().fold(0.0, |m: f64, s| m.max(-s.tip));
        let expected = 0.5 * SPEED * h;
        println!("h = {h}: {deepest} m, off by {:e}", relative(deepest, expected));
        // Only the first step moves the tip, with the mean of v₀ and 0; then it rests up to STILL, for up to END.
        assert!((deepest - expected).abs() <= 1e-15 * expected + STILL * END, "h = {h}: {deepest}");
        assert_eq!(summary.worst.penetration, deepest);
    }
}

#[test]
fn the_tip_rests_while_the_wall_carries() {
    for (elements, h) in [(1000, 5e-5), (1000, 2e-6), (100, 2e-6), (100, 2e-7)] {
        let (samples, _) = Impact::new(elements, h).run();
        let carrying = samples.iter().take_while(|s| s.percussion > 0.0);
        let (mut count, mut worst) = (0u32, 0.0f64);
        for s in carrying {
            count += 1;
            worst = worst.max(s.velocity.abs());
        }
        println!("N = {elements}, h = {h}: {count} steps of {}, tip velocity up to {worst:e} m/s", exact_contact() / h);
        // The wall carries without a pause until the front is back, up to its width.
        let front = h.max(LENGTH / elements as f64 / wave_speed());
        assert!(f64::from(count) * h >= exact_contact() - 4.0 * front, "{count} steps");
        assert!(worst <= STILL, "N = {elements}, h = {h}: {worst:e} m/s");
    }
}

#[test]
fn the_first_percussion_is_that_of_the_end_of_the_last_element() {
    for (elements, h) in [(1000, 2e-6), (100, 2e-6), (10, 2e-6), (100, 2e-7), (100, 2e-8), (1000, 5e-5), (40, 1e-5)] {
        let impact = Impact { end: h, ..Impact::new(elements, h) };
        let first = impact.run().0[0].percussion;
        let (exact, endless) = (impact.first_percussion(), impact.first_percussion_of_endless_bar());
        println!(
            "N = {elements}, h = {h}: {first} N s, off by {:e}, from the endless bar by {:e}",
            relative(first, exact),
            relative(first, endless)
        );
        // Rounding: the pivots of both eliminations lose a factor of up to (c₀h/l)² = 7e4 against κ.
        assert!(relative(first, exact) < 1e-11, "N = {elements}, h = {h}: {first} {exact}");
        // The far end is felt as (|s − κ|/d)^(2N), 4e-12 for N = 10, unless the step goes far beside L.
        if wave_speed() * h < 0.02 * LENGTH {
            assert!(relative(first, endless) < 2e-11, "N = {elements}, h = {h}: {first} {endless}");
        }
    }
}

#[test]
fn the_peak_grows_with_smaller_steps_and_coarser_elements() {
    // Largest force of the first steps: the impact, and what the nodes behind it send after.
    let peak = |elements: usize, h: f64| {
        let samples = Impact { end: 20.0 * h, ..Impact::new(elements, h) }.run().0;
        samples.iter().map(|s| s.percussion / h).fold(0.0, f64::max)
    };
    let by_step = [2e-6, 2e-7, 2e-8].map(|h| peak(100, h));
    let by_element = [1000, 100, 10].map(|n| peak(n, 2e-6));
    println!("N = 100, h = 2e-6, 2e-7, 2e-8: {by_step:?} N");
    println!("h = 2e-6, N = 1000, 100, 10: {by_element:?} N");
    for p in [by_step, by_element] {
        assert!(p[0] < p[1] && p[1] < p[2], "{p:?}");
    }
    // Where the elements are long beside c₀ h, the peak is the first step.
    for (p, elements, h) in [(by_step[1], 100, 2e-7), (by_step[2], 100, 2e-8), (by_element[2], 10, 2e-6)] {
        assert!(relative(p, Impact::new(elements, h).first_percussion() / h) < 1e-12);
    }
    // The limit h → 0 is an impulse: m_e |v₀|/√12, from which P₁ differs by the factor √(1 + 3 (c₀h/l)²).
    let (l, h) = (LENGTH / 100.0, 2e-8);
    let impulse = DENSITY * AREA * l * SPEED / 12f64.sqrt();
    let factor = (1.0 + 3.0 * (wave_speed() * h / l).powi(2)).sqrt();
    assert!(factor - 1.0 < 2e-4);
    assert!(relative(by_step[2] * h, impulse * factor) < 1e-12, "{}", by_step[2] * h);
}

#[test]
fn a_wall_with_restitution_makes_the_tip_oscillate() {
    // Fig. 15: the law of the node is no law of the bar. The wall carries all the time, so that every step turns the velocity of the
    // tip around, u_k = v₀ (−e)^k, where the bar wants it to rest.
    let (h, e) = (2e-6, 0.95);
    let (samples, _) = Impact { restitution: e, ..Impact::new(100, h) }.run();
    let mut expected = -SPEED;
    for s in samples.iter().take_while(|s| s.t < exact_contact() - 4.0 * h) {
        expected *= -e;
        assert!(s.percussion > 0.0, "t = {}", s.t);
        // Rounding as at rest.
        assert!((s.velocity - expected).abs() < STILL, "t = {}: {} {expected}", s.t, s.velocity);
    }
    // And the force swings with it, by about F itself, where e = 0 rings by a fifth of F.
    let swing = |samples: &[Sample]| {
        let forces = samples[1..10].iter().map(|s| s.percussion / h);
        forces.clone().fold(0.0, f64::max) - forces.fold(f64::INFINITY, f64::min)
    };
    let (rest, turned) = (swing(&Impact::new(100, h).run().0), swing(&samples));
    println!("force of steps 2 to 10 within {rest} N for e = 0, {turned} N for e = 0.95");
    assert!(turned > 0.8 * exact_force() && rest < 0.25 * exact_force(), "{rest} {turned}");
}

#[test]
fn the_ledger_closes_and_the_percussions_alone_take_energy() {
    for (elements, h) in [(1000, 2e-6), (100, 2e-6), (100, 2e-7)] {
        let (samples, summary) = Impact::new(elements, h).run();
        let energy = summary.energy;
        println!("N = {elements}, h = {h}: closure {:e}, {:?}", energy.closure, summary.ledger);
        println!("certificate {:e}", summary.worst.residual());
        // Rounding of the displacements, up to 4e-5 m: tensions of 1271 N over half an ulp of 3e-21 m of each node and step,
        // 4e5 of them, are 2e-12 J at most, beside 0.012 J.
        assert!(energy.closure < 1e-10, "{:e}", energy.closure);
        let kinetic = 0.5 * mass() * SPEED * SPEED;
        assert!(relative(energy.initial, kinetic) < 1e-13);
        // The first percussion works over the mean of v₀ and 0, those on a tip at rest not at all.
        let first = -0.5 * SPEED * samples[0].percussion;
        let later: f64 = samples.windows(2).map(|w| 0.5 * (w[0].velocity + w[1].velocity) * w[1].percussion).sum();
        let normal = value(&summary, "contact.normal");
        println!("work {normal} J, of the first step {first}, later {later}");
        assert!((normal - first - later).abs() < 1e-13 * kinetic, "{normal} {first} {later}");
        // A tip that leaves and is caught again loses energy, too; it never gains any.
        assert!(later <= 1e-13 * kinetic, "{later}");
        // Linear forces at the midpoint conserve: the numerical lines are rounding of some thousand terms.
        for line in ["numerical.quadrature", "numerical.theta", "numerical.mass_change", "drive"] {
            assert!(value(&summary, line).abs() < 1e-11 * kinetic, "{line}: {}", value(&summary, line));
        }
        assert!((energy.last - energy.initial - normal).abs() < 1e-10 * kinetic);
    }
}

#[test]
fn momentum_changes_by_the_percussions_and_the_bar_rebounds_as_a_whole() {
    for h in [8e-6, 2e-6, 5e-7] {
        let (samples, summary) = Impact::new(1000, h).run();
        let sum: f64 = samples.iter().map(|s| s.percussion).sum();
        let after = momentum(&summary.end.u);
        // 1ᵀK = 0: forces within the bar do not move its centre of mass, but for rounding.
        assert!((after + mass() * SPEED - sum).abs() < 1e-10 * sum);
        assert!((summary.percussions["wall"][0] - sum).abs() < 1e-13 * sum);
        // e = 0 at the node, and yet restitution 1 of the bar: F T = 2 m |v₀|, up to the steps by which contact is too short or too
        // long. The first step already has F/2 alone.
        let missing = (2.0 * mass() * SPEED - sum) / (exact_force() * h);
        println!(
            "h = {h}: rebound of {} of the speed, {missing} steps of the force are missing",
            after / mass() / SPEED
        );
        assert!(missing.abs() < 4.0, "h = {h}: {missing}");
    }
}

#[test]
fn a_very_stiff_bar_hits_as_a_rigid_body() {
    for elements in [1, 10, 100] {
        let h = 2e-6;
        // c₀ h = 10³ L: waves cross the bar a thousand times in a step, so that it answers as a whole.
        let modulus = DENSITY * (1e3 * LENGTH / h).powi(2);
        let impact = Impact { modulus, end: 10.0 * h, ..Impact::new(elements, h) };
        let (samples, summary) = impact.run();
        let first = samples[0].percussion;
        let fastest = summary.end.u.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
        println!("N = {elements}: {first} N s, off by {:e}; fastest {fastest:e}", relative(first, mass() * SPEED));
        // By the modes of the bar A = 1/m (1 + 4/3 (L/(c₀h))²), and rounding of (c₀h/l)² ε = 2e-6 at most.
        assert!(relative(first, mass() * SPEED) < 4e-6, "N = {elements}: {first}");
        // What compresses it springs back with the same order: no node moves by more than some (L/(c₀h))² of v₀ per step.
        assert!(fastest < 1e-4 * SPEED, "N = {elements}: {fastest}");
    }
}

#[test]
fn a_bar_without_stiffness_stops_at_its_tip_alone() {
    // κ → 0: nodes are coupled by their mass alone, and the wall takes m_e/√12.
    let impact = Impact { modulus: 1e-6, end: 2e-6, ..Impact::new(50, 2e-6) };
    let first = impact.run().0[0].percussion;
    let expected = DENSITY * AREA * LENGTH / 50.0 * SPEED / 12f64.sqrt();
    // (2 − √3)^100 is far below rounding.
    assert!(relative(first, expected) < 1e-14, "{first} {expected}");
}

/// Forces while the wall carries, between two times, N.
fn forces(samples: &[Sample], h: f64, from: f64, to: f64) -> Vec<f64> {
    samples.iter().filter(|s| s.t >= from && s.t <= to).map(|s| s.percussion / h).collect()
}

/// Mean of a list, and the largest distance from it.
fn mean_and_swing(list: &[f64]) -> (f64, f64) {
    let mean = list.iter().sum::<f64>() / list.len() as f64;
    (mean, list.iter().fold(0.0, |m: f64, f| m.max((f - mean).abs())))
}

/// Figs. 16 to 18.
#[test]
fn the_combined_scheme_holds_tip_position_and_velocity() {
    let combined = |h, theta| {
        let impact = Impact { scheme: "projected-combined", theta, ..Impact::new(1000, h) };
        let (samples, summary) = impact.run();
        // ε of the displacements, up to 4e-5 m: machine accuracy.
        assert!(summary.worst.penetration <= 1e-20, "h = {h}: {:e}", summary.worst.penetration);
        let still = samples.iter().take_while(|s| s.t < 0.9 * exact_contact()).map(|s| s.velocity.abs());
        assert!(still.fold(0.0, f64::max) <= STILL, "h = {h}, theta = {theta}");
        let ring = forces(&samples, h, 1e-5, 3e-5);
        let late = forces(&samples, h, 0.2 * exact_contact(), 0.8 * exact_contact());
        let (mean, swing) = (mean_and_swing(&late).0, mean_and_swing(&ring).1);
        println!(
            "projected-combined, h = {h:.0e}, theta = {theta}: penetration {:.1e} m, plateau {mean:.4} N, swing {swing:.2} N from 10 to 30 us",
            summary.worst.penetration
        );
        (mean, swing)
    };
    let (jean, _) =
        mean_and_swing(&forces(&Impact::new(1000, 2e-6).run().0, 2e-6, 0.2 * exact_contact(), 0.8 * exact_contact()));
    let (coarse, fine, damped) = (combined(2e-6, 0.5), combined(2e-7, 0.5), combined(2e-7, 1.0));
    println!("moreau-jean, h = 2e-6: plateau {jean:.4} N");
    assert!(relative(coarse.0, jean) <= 1e-3, "{} {jean}", coarse.0);
    // What the jump of the position excites rings for some steps: for a tenth of the time with a tenth of the step, and not at all where θ damps it.
    assert!(fine.1 <= 0.1 * coarse.1, "{} {}", fine.1, coarse.1);
    assert!(damped.1 <= 0.01 * fine.1, "{} {}", damped.1, fine.1);
}

/// Fig. 11: the contrast. With the gap on position level alone, g_{k+1} = g_k = 0 asks for u_{k+1} = −u_k.
#[test]
fn on_position_level_alone_the_velocity_of_the_tip_flips_in_every_step() {
    let h = 2e-6;
    let (samples, summary) = Impact { scheme: "position-theta", ..Impact::new(1000, h) }.run();
    assert!(summary.worst.penetration <= 1e-20, "{:e}", summary.worst.penetration);
    let contact: Vec<&Sample> = samples.iter().take_while(|s| s.t < 0.9 * exact_contact()).collect();
    for w in contact.windows(2) {
        // Rounding of the tip position over half a step.
        assert!((w[1].velocity + w[0].velocity).abs() <= 1e-20 / (0.5 * h), "t = {}", w[1].t);
        assert!((w[1].velocity.abs() - SPEED).abs() <= 1e-3 * SPEED, "t = {}: {}", w[1].t, w[1].velocity);
    }
    let swing =
        |samples: &[Sample]| mean_and_swing(&forces(samples, h, 0.2 * exact_contact(), 0.8 * exact_contact())).1;
    let (here, jean) = (swing(&samples), swing(&Impact::new(1000, h).run().0));
    println!(
        "position-theta, h = 2e-6: tip velocity flips between ±{SPEED} m/s, force swings by {here:.1} N (moreau-jean {jean:.1e} N)"
    );
    // The percussions turn the end of the bar around in every step, where those of Moreau-Jean hold it.
    assert!(here > 10.0 * jean && here > 0.01 * exact_force(), "{here} {jean}");
}
