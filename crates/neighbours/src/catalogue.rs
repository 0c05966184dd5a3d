//! The scenes, and what is known of their motion.
//!
//! Own scenes state every number by the parameters `metre`, `kilogram`, `second`; those with `frame` can be turned, those with `right` or `up`
//! shifted. Bundled scenes are taken as they are.

use nonsmooth_scene::bundled;
use nonsmooth_scene::file::{Document, SceneError};

/// What is known of the motion of a scene, before changes.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Time in which velocities change, s.
    pub tau: f64,
    /// Length of the motion, m.
    pub size: f64,
    /// Whether obstacles or joints move, or potentials depend on time: then energy is no measure.
    pub driven: bool,
    /// Contacts stay closed, and nothing else switches.
    pub held: bool,
    /// Nothing moves.
    pub rest: bool,
    /// Friction and normal percussions change separate velocities: friction with restitution makes no energy.
    pub central: bool,
    /// One motion, that all schemes converge to within the end of the scene.
    pub regular: bool,
    /// Directions of contacts or joints turn.
    pub turning: bool,
    /// Forces by value that only take energy.
    pub passive: &'static [&'static str],
    /// Parameters that may be multiplied by a factor.
    pub free: &'static [&'static str],
    /// A coordinate that a wall stops: its largest excursion, m, and the step times speed up to which it must, m.
    pub stopped: Option<(usize, f64, f64)>,
    /// Overrides that make a large scene small.
    pub small: &'static [&'static str],
}

const PLAIN: Facts = Facts {
    tau: 0.25,
    size: 1.0,
    driven: false,
    held: false,
    rest: false,
    central: false,
    regular: false,
    turning: false,
    passive: &[],
    free: &[],
    stopped: None,
    small: &[],
};
/// Point masses and discs on floors: G is diagonal.
const CENTRAL: Facts = Facts { central: true, ..PLAIN };
const REGULAR: Facts = Facts { regular: true, ..CENTRAL };
const HELD: Facts = Facts { held: true, turning: true, ..REGULAR };
const DRIVEN: Facts = Facts { driven: true, ..CENTRAL };

/// A scene.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its text; none of a bundled scene.
    own: Option<&'static str>,
    /// What is known of it.
    pub facts: Facts,
}

macro_rules! own {
    ($name:literal, $facts:expr) => {
        Entry { name: $name, own: Some(include_str!(concat!("../scenes/", $name, ".toml"))), facts: $facts }
    };
}

const fn bundled(name: &'static str, facts: Facts) -> Entry {
    Entry { name, own: None, facts }
}

/// All scenes.
pub static SCENES: &[Entry] = &[
    own!("bead", Facts { size: 0.8, free: &["v_0", "m"], ..HELD }),
    own!("belt", Facts { regular: true, tau: 0.15, size: 0.1, free: &["v", "k", "m"], ..DRIVEN }),
    own!("blocks", Facts { tau: 0.4, size: 1.0, free: &["push", "m"], ..REGULAR }),
    own!("bowl", Facts { size: 1.2, free: &["R", "m"], ..HELD }),
    own!("box", Facts { tau: 0.15, size: 0.3, free: &["tilt"], turning: true, ..PLAIN }),
    own!("capsule", Facts { tau: 0.15, size: 0.3, turning: true, ..PLAIN }),
    own!("cradle", Facts { tau: 0.1, size: 0.2, ..CENTRAL }),
    own!("damper", Facts { size: 0.5, passive: &["strut_damper"], free: &["c", "v_0", "m"], ..REGULAR }),
    own!("dome", Facts { size: 0.7, free: &["v_0", "R", "m"], turning: true, ..REGULAR }),
    own!("double_pendulum", Facts { tau: 0.1, size: 0.4, regular: true, free: &["m", "wall"], turning: true, ..PLAIN }),
    own!("drop", Facts { size: 0.3, free: &["m"], ..REGULAR }),
    own!("drum", Facts { tau: 0.05, size: 0.25, turning: true, ..PLAIN }),
    own!("dumbbell", Facts { tau: 0.3, size: 0.7, passive: &["rod_damper"], free: &["c", "v_0", "k"], ..REGULAR }),
    own!("hinged_rod", Facts { tau: 0.1, size: 0.5, held: true, turning: true, free: &["w_0", "m"], ..REGULAR }),
    own!("moving_table", Facts { tau: 0.08, size: 0.02, driven: true, turning: false, free: &["m"], ..HELD }),
    own!("particle_cartesian", Facts { tau: 0.5, size: 1.0, free: &["m"], ..REGULAR }),
    own!("particle_polar", Facts { tau: 0.3, size: 1.0, free: &["m"], turning: true, ..REGULAR }),
    own!("pendulum", Facts { size: 0.9, free: &["v_0", "l", "m"], ..HELD }),
    own!("plate", Facts { tau: 0.15, size: 0.2, passive: &["gyroscopic_moment"], turning: true, ..PLAIN }),
    own!("rest_block", Facts { rest: true, size: 0.3, free: &["m", "b"], ..PLAIN }),
    own!("rest_stack", Facts { rest: true, size: 0.25, ..PLAIN }),
    own!("ring", Facts { tau: 0.15, size: 1.1, turning: true, regular: true, free: &["v_0", "m"], ..PLAIN }),
    own!("shaker", Facts { tau: 0.045, size: 0.13, free: &["m", "a"], ..DRIVEN }),
    own!("superball", Facts { tau: 0.2, size: 0.6, free: &["m", "e_t"], ..REGULAR }),
    own!("take_off", Facts { tau: 0.03, size: 0.1, free: &["m"], ..DRIVEN }),
    own!("top", Facts { passive: &["gyroscopic_moment"], held: true, free: &["J_1"], ..REGULAR }),
    own!("unicycle", Facts { tau: 0.6, held: true, ..REGULAR }),
    // 0.73 m to the middle of the wall, half its thickness and the radius: 0.16 m (docs/scene.md, Shapes).
    own!("wall", Facts { tau: 0.05, size: 0.7, free: &["v_0"], stopped: Some((0, 0.57, 0.16)), ..REGULAR }),
    bundled("ball_flight", Facts { held: true, ..REGULAR }),
    bundled("ball_rest", Facts { rest: true, ..CENTRAL }),
    bundled("bouncing_ball", Facts { tau: 0.7, free: &["weight"], ..CENTRAL }),
    bundled("double_pendulum_wall", Facts { turning: true, free: &["m_1", "alpha_1"], ..PLAIN }),
    bundled("falling_mass", Facts { tau: 0.12, size: 0.07, free: &["m", "z_0"], ..CENTRAL }),
    bundled("impact_oscillator", Facts { tau: 0.07, size: 0.5, free: &["c", "m"], ..REGULAR }),
    bundled("impacting_bar", Facts { tau: 2e-5, size: 4e-5, small: &["parameters.elements=20"], ..PLAIN }),
    bundled("linear_oscillator", Facts { tau: 1.0, passive: &["damper"], free: &["c", "k", "m"], ..REGULAR }),
    bundled("painleve_rod", Facts { tau: 0.15, turning: true, free: &["theta_0", "v_0"], ..PLAIN }),
    bundled("pendulum_ring", Facts { tau: 0.2, turning: true, free: &["m"], ..PLAIN }),
    bundled("rocking_block", Facts { tau: 0.2, turning: true, free: &["l", "m"], ..PLAIN }),
    bundled("roller_slider", Facts { tau: 0.1, free: &["torque", "m"], ..CENTRAL }),
    bundled("rotating_ball", Facts { tau: 0.3, free: &["omega", "m"], ..REGULAR }),
    bundled("slider_crank", Facts { tau: 3e-3, size: 0.15, turning: true, ..PLAIN }),
    bundled("slider_crank_joints", Facts { tau: 3e-3, size: 0.15, turning: true, ..PLAIN }),
    bundled("sliding_block", Facts { tau: 0.4, free: &["k_0"], ..REGULAR }),
    bundled("sliding_mass", Facts { tau: 0.3, free: &["F_x", "F_y", "a"], ..REGULAR }),
    bundled("slope_mass", Facts { tau: 0.3, turning: true, free: &["m"], ..REGULAR }),
    bundled("tippedisk", Facts { tau: 0.015, size: 0.05, passive: &["gyro"], turning: true, ..PLAIN }),
    bundled("two_carts", Facts { tau: 0.05, size: 0.2, passive: &["damper"], free: &["gamma", "delta"], ..CENTRAL }),
    bundled("woodpecker", Facts { tau: 5e-3, size: 0.01, free: &["c_phi"], ..PLAIN }),
    bundled(
        "disc_pile",
        Facts {
            tau: 0.05,
            size: 0.04,
            turning: true,
            small: &["parameters.number=9", "parameters.width=0.2", "solver.tol=1e-10"],
            ..PLAIN
        },
    ),
    bundled(
        "mixing_disks",
        Facts {
            tau: 0.05,
            size: 0.3,
            driven: true,
            turning: true,
            small: &["parameters.number=9", "parameters.drum=0.15", "solver.tol=1e-10"],
            ..PLAIN
        },
    ),
];

/// A scene by name.
pub fn find(name: &str) -> Option<&'static Entry> {
    SCENES.iter().find(|e| e.name == name)
}

impl Entry {
    /// The scene as a document, small, and without what a run does not need.
    pub fn document(&self) -> Result<Document, SceneError> {
        let text = self.own.or_else(|| bundled::find(self.name).map(|e| e.text)).unwrap_or("");
        let mut document = Document::parse(self.name, text)?;
        // Changes would make them untrue.
        document.remove(&["picture"]);
        document.remove(&["exact"]);
        for set in self.facts.small {
            document.set(set)?;
        }
        Ok(document)
    }

    /// Whether it is bundled.
    pub fn is_bundled(&self) -> bool {
        self.own.is_none()
    }
}
