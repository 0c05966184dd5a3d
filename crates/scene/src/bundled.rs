//! The bundled examples: scene files compiled into the program.

/// A bundled scene.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        /// All bundled scenes.
        pub static EXAMPLES: &[Example] = &[
            $( Example { name: $name, text: include_str!(concat!("../../../examples/", $name, ".toml")) } ),*
        ];
    };
}

examples!(
    "ball_flight",
    "ball_rest",
    "bouncing_ball",
    "disc_pile",
    "double_pendulum_wall",
    "falling_mass",
    "impact_oscillator",
    "impacting_bar",
    "linear_oscillator",
    "mixing_disks",
    "painleve_rod",
    "pendulum_ring",
    "rocking_block",
    "roller_slider",
    "rotating_ball",
    "slider_crank",
    "slider_crank_joints",
    "sliding_block",
    "sliding_mass",
    "slope_mass",
    "tippedisk",
    "two_carts",
    "woodpecker",
);

/// A bundled scene by name.
pub fn find(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|e| e.name == name)
}

impl Example {
    /// Its title.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find_map(|l| l.strip_prefix("title = \""));
        line.and_then(|l| l.strip_suffix('"')).unwrap_or("")
    }
}
