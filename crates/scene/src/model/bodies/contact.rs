//! Reads the records of contacts between bodies: the law of a pair.

use super::Reader;
use crate::file::format;
use crate::file::{Fault, Key};
use crate::model::law::Slip;

impl Reader<'_> {
    pub(super) fn contact(&mut self, contact: &format::Contact) -> Result<(), Fault> {
        let name = &contact.name.name;
        self.out.places.insert(name, &contact.name.origin);
        if let Some(f) = &contact.slip {
            let message = format!("contact `{name}` is between bodies: its slip velocity is known, remove `slip`");
            return Err(Fault::new(f.origin(), message));
        }
        let law = self.numbers.contact_law(self.document, contact, Slip::Planar)?;
        for key in contact.between.iter().flatten() {
            self.out.places.insert_mention(name, &key.name, &key.origin);
        }
        match contact.between.as_deref() {
            None => self.out.builder.contact_of_all(name, law),
            Some([a, b]) => self.out.builder.contact(name, &a.name, &b.name, law),
            Some(other) => {
                let origin = other.first().map_or(&contact.origin, |k: &Key| &k.origin);
                return Err(Fault::new(origin, format!("`between` has two names, this has {}", other.len())));
            }
        };
        Ok(())
    }
}
