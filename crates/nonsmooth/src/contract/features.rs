//! Features that a system uses and that not every scheme supports.

use crate::law::{Friction, Law, Normal};

/// The table of features. A row: identifier, key in JSON, name in lists, and what a message adds to the name.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident: $key:literal, $name:literal $(, $detail:literal)?;)+) => {
        /// A feature that a system uses or not, and a scheme supports or not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Feature {
            $($(#[$doc])* $feature,)+
        }

        impl Feature {
            /// All of them, in the order in which a lack is reported.
            pub const ALL: &[Feature] = &[$(Feature::$feature,)+];

            /// Its key in JSON.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Feature::$feature => $key,)+
                }
            }

            /// Its name in lists.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Feature::$feature => $name,)+
                }
            }

            /// Its name in messages.
            const fn text(self) -> &'static str {
                match self {
                    $(Feature::$feature => concat!($name $(, " ", $detail)?),)+
                }
            }
        }
    };
}

features! {
    /// Bilateral constraints on position level.
    Joints: "joints", "joints";
    /// Bilateral constraints on velocity level.
    VelocityJoints: "velocity_joints", "velocity-level joints";
    /// q̇ ≠ u.
    GeneralKinematics: "general_kinematics", "velocities that differ from q' (nq != nu)";
    /// Poisson restitution.
    Poisson: "poisson", "Poisson restitution";
    /// Restitution of a contact, of any kind.
    Restitution: "restitution", "restitution of contacts", "(e > 0)";
    /// Tangential restitution.
    TangentialRestitution: "tangential_restitution", "tangential restitution";
    /// Contacts or joints with explicit time.
    Moving: "moving", "moving obstacles";
    /// Elements without a gap.
    Elements: "elements", "elements without a gap";
    /// Friction with a constant bound in a contact.
    Tresca: "tresca", "friction with a constant bound in a contact";
}

/// A set of features and a dimension of friction: what a system needs, or what a scheme supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// One bit per feature.
    bits: u32,
    /// Largest slip dimension of a contact; 0 is no friction.
    pub friction_dim: usize,
}

impl Features {
    /// No feature, and no friction.
    pub const NONE: Features = Features { bits: 0, friction_dim: 0 };

    /// These features.
    pub const fn of(features: &[Feature]) -> Self {
        let (mut set, mut i) = (Self::NONE, 0);
        while i < features.len() {
            set.insert(features[i]);
            i += 1;
        }
        set
    }

    /// The same with slips of up to this dimension.
    pub const fn with_friction(self, friction_dim: usize) -> Self {
        Self { friction_dim, ..self }
    }

    /// The same with one feature more.
    pub const fn with(mut self, feature: Feature) -> Self {
        self.insert(feature);
        self
    }

    /// Adds a feature.
    pub const fn insert(&mut self, feature: Feature) {
        self.bits |= 1 << feature as u32;
    }

    /// Adds a feature if a condition holds.
    pub const fn insert_if(&mut self, condition: bool, feature: Feature) {
        if condition {
            self.insert(feature);
        }
    }

    /// Adds what a law asks for.
    pub fn insert_law(&mut self, law: &Law) {
        match law {
            Law::Contact(law) => {
                self.friction_dim = self.friction_dim.max(law.slip_dim);
                self.insert_if(matches!(law.normal, Normal::Poisson { .. }), Feature::Poisson);
                self.insert_if(law.normal.restitution() > 0.0, Feature::Restitution);
                self.insert_if(law.e_tangential != 0.0, Feature::TangentialRestitution);
                self.insert_if(matches!(law.friction, Some(Friction::Tresca { .. })), Feature::Tresca);
            }
            Law::Bilateral | Law::Element(_) => {}
        }
    }

    /// Whether a feature is in the set.
    pub const fn has(self, feature: Feature) -> bool {
        self.bits & (1 << feature as u32) != 0
    }

    /// What two systems need together.
    pub fn union(self, other: Self) -> Self {
        Self { bits: self.bits | other.bits, friction_dim: self.friction_dim.max(other.friction_dim) }
    }

    /// The first feature that a system needs and that is not in this set.
    pub fn missing(self, needs: &Features) -> Option<String> {
        let lacking = Feature::ALL.iter().find(|f| needs.has(**f) && !self.has(**f));
        lacking.map(|f| f.text().to_string()).or_else(|| {
            let dim = needs.friction_dim;
            (dim > self.friction_dim).then(|| format!("friction of slip dimension {dim}"))
        })
    }
}

impl serde::Serialize for Features {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = s.serialize_map(Some(1 + Feature::ALL.len()))?;
        map.serialize_entry("friction_dim", &self.friction_dim)?;
        for feature in Feature::ALL {
            map.serialize_entry(feature.key(), &self.has(*feature))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_feature_of_the_table_that_lacks_is_reported_and_friction_last() {
        let needs = Features::of(&[Feature::Tresca, Feature::Restitution]).with_friction(2);
        let says = |set: Features| set.missing(&needs);
        assert_eq!(says(Features::NONE).as_deref(), Some("restitution of contacts (e > 0)"));
        let set = Features::of(&[Feature::Restitution, Feature::Joints]);
        assert_eq!(says(set).as_deref(), Some("friction with a constant bound in a contact"));
        let set = set.with(Feature::Tresca);
        assert_eq!(says(set).as_deref(), Some("friction of slip dimension 2"));
        assert_eq!(says(set.with_friction(3)), None);
    }

    #[test]
    fn features_are_keys_in_json() {
        let value = serde_json::to_value(Features::of(&[Feature::Moving]).with_friction(1)).unwrap();
        assert_eq!(value["friction_dim"], 1);
        let keys: Vec<_> = Feature::ALL.iter().filter(|f| value[f.key()] == true).collect();
        assert_eq!(keys, [&Feature::Moving]);
        assert_eq!(value.as_object().unwrap().len(), 1 + Feature::ALL.len());
    }
}
