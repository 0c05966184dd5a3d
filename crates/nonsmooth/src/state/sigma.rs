//! Discrete states.

use complementarity::Mode;

/// Discrete state σ̂ of one interaction: one bit per law, set where the law is impressed.
///
/// Contacts: bit 0 the normal law, bit 1 the friction law. Elements and joints: bit i component or
/// block i. An inactive contact is impressed in all bits [Studer2008, §4].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sigma(pub u32);

impl Sigma {
    /// All laws impressed: an open contact.
    pub const OPEN: Sigma = Sigma(0b11);

    /// Mode of one law.
    #[inline]
    pub fn mode(self, bit: usize) -> Mode {
        if self.0 >> bit & 1 == 1 { Mode::Impressed } else { Mode::Constraint }
    }

    /// Sets one law.
    pub fn set(&mut self, bit: usize, mode: Mode) {
        match mode {
            Mode::Impressed => self.0 |= 1 << bit,
            Mode::Constraint => self.0 &= !(1 << bit),
        }
    }
}
