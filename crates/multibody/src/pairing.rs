//! Contact laws of pairs of bodies.
//!
//! The most specific pairing applies. In descending order, a pairing names two bodies, a body and a material, two materials, or all pairs.
//! Two pairings that fit equally well are an error.

use crate::error::BuildError;
use crate::material::{Class, Classes};
use nonsmooth::law::{ContactLaw, Law, LawError};
use std::sync::Arc;

/// A law for pairs of bodies.
#[derive(Debug, Clone)]
pub(crate) struct Pairing {
    pub(crate) name: String,
    /// Names of bodies or materials; all pairs if there are none.
    pub(crate) between: Option<[String; 2]>,
    pub(crate) law: ContactLaw,
}

impl Pairing {
    /// Specificity for a pair of classes, if it fits.
    fn fit(&self, a: &Class, b: &Class) -> Option<u8> {
        let Some([x, y]) = &self.between else { return Some(0) };
        let specificity = |s: &str, t: &str| match (a.fit(s), b.fit(t)) {
            (0, _) | (_, 0) => None,
            (m, n) => Some(m + n),
        };
        specificity(x, y).max(specificity(y, x))
    }
}

/// Laws of the pairs of classes.
#[derive(Debug)]
pub(crate) struct Laws {
    classes: usize,
    /// Row by row, symmetric.
    table: Vec<Option<Arc<Law>>>,
}

impl Laws {
    /// The most specific pairing of every pair of classes. The laws must be valid.
    pub(crate) fn new(pairings: &[Pairing], classes: &[Class]) -> Result<Self, BuildError> {
        let count = classes.len();
        let mut table = vec![None; count * count];
        let mut shared: Vec<Option<Arc<Law>>> = vec![None; pairings.len()];
        for i in 0..count {
            for j in i..count {
                let Some(k) = best(pairings, &classes[i], &classes[j])? else { continue };
                let law = shared[k].get_or_insert_with(|| Arc::new(Law::Contact(pairings[k].law.clone())));
                table[i * count + j] = Some(law.clone());
                table[j * count + i] = Some(law.clone());
            }
        }
        Ok(Self { classes: count, table })
    }

    /// The law between bodies of two classes. Bodies without one pass through each other.
    #[inline]
    pub(crate) fn between(&self, a: u16, b: u16) -> Option<&Arc<Law>> {
        self.table[usize::from(a) * self.classes + usize::from(b)].as_ref()
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The laws that hold for some pair.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Law> {
        self.table.iter().flatten().map(|l| &**l)
    }
}

/// The most specific pairing of a pair of classes.
fn best(pairings: &[Pairing], a: &Class, b: &Class) -> Result<Option<usize>, BuildError> {
    let mut best: Option<(u8, usize)> = None;
    for (k, p) in pairings.iter().enumerate() {
        let Some(score) = p.fit(a, b) else { continue };
        match best {
            Some((other, first)) if other == score => {
                let (first, second) = (pairings[first].name.clone(), p.name.clone());
                return Err(BuildError::Ambiguous { first, second, a: a.name().into(), b: b.name().into() });
            }
            Some((other, _)) if other > score => {}
            Some(_) | None => best = Some((score, k)),
        }
    }
    Ok(best.map(|(_, k)| k))
}

/// Checks the laws and the names of pairings. A slip velocity may have at most `slip` components; `expected` is the text for the error.
pub(crate) fn check(
    pairings: &[Pairing],
    classes: &Classes,
    (slip, expected): (usize, &'static str),
    unknown: impl Fn(&Pairing, &str) -> BuildError,
) -> Result<(), BuildError> {
    for p in pairings {
        let fault = |source: LawError| BuildError::Law { contact: p.name.clone(), source };
        Law::Contact(p.law.clone()).validate(1 + p.law.slip_dim).map_err(fault)?;
        if p.law.slip_dim > slip {
            return Err(fault(LawError::Dimension { found: p.law.slip_dim, expected }));
        }
        if let Some(name) = p.between.iter().flatten().find(|n| classes.list.iter().all(|c| c.fit(n) == 0)) {
            return Err(unknown(p, name));
        }
    }
    Ok(())
}
