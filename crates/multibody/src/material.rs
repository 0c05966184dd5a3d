//! Materials, and the classes of bodies that follow from them.
//!
//! Bodies of one class have the same contact laws. Each material is a class, and so is each body that a contact names.

use crate::error::BuildError;
use std::collections::BTreeMap;

/// Material of a body that names none.
pub const DEFAULT_MATERIAL: &str = "default";

/// A material, or a body that a contact names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class<'a> {
    material: &'a str,
    body: Option<&'a str>,
}

impl<'a> Class<'a> {
    /// Specificity of a name: 2 for its body, 1 for its material, 0 if it does not fit.
    pub(crate) fn fit(&self, name: &str) -> u8 {
        if self.body == Some(name) { 2 } else { u8::from(self.material == name) }
    }

    /// The name of its body, else of its material.
    pub(crate) fn name(&self) -> &'a str {
        self.body.unwrap_or(self.material)
    }
}

/// Classes of the bodies of a system.
#[derive(Debug)]
pub(crate) struct Classes<'a> {
    pub(crate) of_body: Vec<u16>,
    pub(crate) list: Vec<Class<'a>>,
}

impl<'a> Classes<'a> {
    /// Classes of bodies with a name and a material each; `named` tells which bodies are named by a contact.
    pub(crate) fn new(
        bodies: impl Iterator<Item = (&'a str, &'a str)>,
        named: impl Fn(&str) -> bool,
    ) -> Result<Self, BuildError> {
        let mut class_of: BTreeMap<Class, u16> = BTreeMap::new();
        let mut list: Vec<Class> = Vec::new();
        let mut of_body = Vec::new();
        for (name, material) in bodies {
            let class = Class { material, body: named(name).then_some(name) };
            let next = list.len();
            if next > usize::from(u16::MAX) {
                return Err(BuildError::Many { what: "materials", found: next, limit: usize::from(u16::MAX) });
            }
            of_body.push(*class_of.entry(class).or_insert_with(|| {
                list.push(class);
                next as u16
            }));
        }
        Ok(Self { of_body, list })
    }
}
