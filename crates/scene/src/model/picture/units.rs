//! Units of coordinates and velocities, for plots.

use crate::file::Fault;
use crate::file::format::Scene;
use nonsmooth::names::hint_or_list;
use nonsmooth_multibody::CoordinateLayout;

/// Units of coordinates and velocities, by number; empty where unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Bodies and bars, which come first.
    bodies: CoordinateLayout,
    /// Of the model's own.
    coordinates: Vec<String>,
    velocities: Vec<String>,
}

impl Units {
    /// Units of a scene with these bodies and bars.
    pub fn build(scene: &Scene, bodies: CoordinateLayout) -> Result<Self, Fault> {
        let mut this = Self { bodies, ..Self::default() };
        let Some(model) = &scene.model else { return Ok(this) };
        let own = model.velocities.as_deref().unwrap_or(&[]);
        let names = || model.coordinates.iter().chain(own).map(|k| k.name.as_str());
        if let Some((key, _)) = model.units.0.iter().find(|(k, _)| !names().any(|n| n == k.name)) {
            let hint = hint_or_list(&key.name, names());
            let message = format!("`units`: there is no coordinate or velocity `{}`{hint}", key.name);
            return Err(Fault::new(&key.origin, message));
        }
        let given = |name: &str| model.units.0.iter().find(|(k, _)| k.name == name).map(|(_, unit)| unit.clone());
        this.coordinates = model.coordinates.iter().map(|k| given(&k.name).unwrap_or_default()).collect();
        let identity = scene.kinematics.0.is_empty();
        let rates = this.coordinates.iter().map(|u| per_second(u)).chain(std::iter::repeat(String::new()));
        this.velocities = match &model.velocities {
            None => rates.take(this.coordinates.len()).collect(),
            Some(list) => {
                let rate = rates.map(|r| if identity { r } else { String::new() });
                list.iter().zip(rate).map(|(k, rate)| given(&k.name).unwrap_or(rate)).collect()
            }
        };
        Ok(this)
    }

    /// Unit of a coordinate.
    pub fn coordinate(&self, i: usize) -> &str {
        let own = || self.coordinates.get(i - self.bodies.nq()).map_or("", String::as_str);
        self.bodies.coordinate_unit(i).unwrap_or_else(own)
    }

    /// Unit of a velocity.
    pub fn velocity(&self, i: usize) -> String {
        let own = || self.velocities.get(i - self.bodies.nu()).cloned().unwrap_or_default();
        self.bodies.velocity_unit(i).map_or_else(own, String::from)
    }
}

fn per_second(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!("{unit}/s") }
}
