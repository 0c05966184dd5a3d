//! Records of contacts between bodies: the law of a pair.

use super::Reader;
use crate::file::format;
use crate::file::{Fault, Key};
use nonsmooth::law::ContactLaw;

impl Reader<'_> {
    pub(super) fn contact(&mut self, contact: &format::Contact) -> Result<(), Fault> {
        let name = &contact.name.name;
        self.out.places.insert(name, &contact.name.origin);
        if let Some(f) = &contact.slip {
            let message = format!("contact `{name}` is between bodies: its slip velocity is known, remove `slip`");
            return Err(Fault::new(f.origin(), message));
        }
        let mut law = match &contact.restitution {
            None => ContactLaw::newton(0.0),
            Some(format::Restitution::Newton(e)) => ContactLaw::newton(self.restitution(e)?),
            Some(format::Restitution::Poisson(e)) => ContactLaw::poisson(self.restitution(e)?),
        };
        if let Some(e) = &contact.tangential_restitution {
            if contact.friction.is_none() {
                let message = format!("`tangential_restitution` has no effect: contact `{name}` has no `friction`");
                return Err(Fault::new(&e.origin, message));
            }
            law = law.tangential_restitution(self.restitution(e)?);
        }
        law = match &contact.friction {
            None => law,
            Some(format::Friction::Coulomb(mu)) => law.coulomb(1, self.not_negative(mu, "a friction coefficient")?),
            Some(format::Friction::Bound(a)) => law.tresca(1, self.not_negative(a, "a bound")?),
            Some(format::Friction::Polyhedral(mu, _)) => {
                return Err(Fault::new(
                    &mu.origin,
                    "polyhedral friction needs two directions of slip, the plane has one",
                ));
            }
        };
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
