//! FCLIB files: frictional contact problems in HDF5.
//!
//! Local form, group `/fclib_local`, and global form, group `/fclib_global`, with spacedim = d components per contact
//! (normal first) and one friction coefficient μ per contact:
//!
//! ```text
//! local    u = W r + V λ + q,              0 = Vᵀ r + R λ + s
//! global   M v = H r + G λ + f,            u = Hᵀ v + w,          0 = Gᵀ v + b
//! ```
//!
//! | path below the group | content |
//! |---|---|
//! | `spacedim` | 2 or 3 |
//! | `W`, `V`, `R`; `M`, `H`, `G` | sparse matrices; V, R, s and G, b only with equalities |
//! | `vectors/mu`, `q`, `s`; `f`, `w`, `b` | vectors |
//! | `info/title`, `info/description` | strings, if there |
//! | `/guesses/1/r`, else `/solution/r` (with `l` for λ) | the start guess, if there |
//!
//! A sparse matrix is a group of `m n nz nzmax p i x`: rows, columns, then nz = −1 compressed columns (column starts
//! `p`, rows `i`), nz = −2 compressed rows (row starts `p`, columns `i`), nz ≥ 0 that many triplets (rows `i`, columns
//! `p`). The arrays may be longer than what is used. Reference: \[AcaryBremondHuber2018\].
//!
//! Contacts become [`Set::Coulomb`] blocks; equalities follow them as [`Set::Free`] blocks of one row, r and λ together
//! being the percussions. A file with both forms is read in local form.

use super::assemble::{self, Entry};
use super::error::{Flaw, FormatError};
use super::hdf5::{File, Group};
use super::{Form, Loaded, ProblemKind};
use crate::sets::Set;

/// Reads an FCLIB file.
pub fn read(bytes: &[u8]) -> Result<Loaded, FormatError> {
    let file = File::open(bytes)?;
    let root = file.root()?;
    let mut loaded = if root.has("fclib_local") {
        local(&root.group("fclib_local")?)?
    } else if root.has("fclib_global") {
        global(&root.group("fclib_global")?)?
    } else {
        let found = root.names().collect::<Vec<_>>().join(", ");
        return Err(Flaw::Expected { expected: "fclib_local or fclib_global".into(), found }.at("/"));
    };
    let (rows, contacts) = (loaded.rows(), contact_rows(&loaded));
    loaded.guess = guess(&root, contacts, rows - contacts)?;
    Ok(loaded)
}

/// Space dimension and friction coefficients.
struct Contacts {
    kind: ProblemKind,
    dim: usize,
    mu: Vec<f64>,
}

impl Contacts {
    fn read(group: &Group<'_>, vectors: &Group<'_>) -> Result<Self, FormatError> {
        let dim = single(group, "spacedim", 2, 3)?;
        let kind = if dim == 2 { ProblemKind::Friction2d } else { ProblemKind::Friction3d };
        let mu = vectors.floats("mu")?;
        if let Some(index) = mu.iter().position(|&m| m < 0.0) {
            return Err(Flaw::Friction { index, value: mu[index] }.at(vectors.path("mu")));
        }
        Ok(Contacts { kind, dim, mu })
    }

    fn rows(&self) -> usize {
        self.dim * self.mu.len()
    }

    fn sets(&self) -> Vec<Set> {
        self.mu.iter().map(|&mu| Set::Coulomb { dim: self.dim - 1, mu }).collect()
    }
}

fn local(group: &Group<'_>) -> Result<Loaded, FormatError> {
    let vectors = group.group("vectors")?;
    let contacts = Contacts::read(group, &vectors)?;
    let n = contacts.rows();
    let mut b = sized(&vectors, "q", n)?;
    let mut entries = matrix(group, "W", n, n)?;
    let mut sets = contacts.sets();
    if group.has("V") || group.has("R") || vectors.has("s") {
        let s = vectors.floats("s")?;
        let equalities = s.len();
        for (i, j, v) in matrix(group, "V", n, equalities)? {
            entries.extend([(i, n + j, v), (n + j, i, v)]);
        }
        if group.has("R") {
            let r = matrix(group, "R", equalities, equalities)?;
            entries.extend(r.into_iter().map(|(i, j, v)| (n + i, n + j, v)));
        }
        sets.extend(vec![Set::Free { dim: 1 }; equalities]);
        b.extend(s);
    }
    described(group, Loaded::reduced(contacts.kind, assemble::reduced(sets, &entries, b)?))
}

fn global(group: &Group<'_>) -> Result<Loaded, FormatError> {
    let vectors = group.group("vectors")?;
    let contacts = Contacts::read(group, &vectors)?;
    let f = vectors.floats("f")?;
    let n = f.len();
    if u32::try_from(n).is_err() {
        return Err(Flaw::Unsupported(format!("a problem of {n} unknowns")).at(vectors.path("f")));
    }
    let w = sized(&vectors, "w", contacts.rows())?;
    let m = matrix(group, "M", n, n)?;
    let h = matrix(group, "H", n, contacts.rows())?;
    let mut problem = assemble::full(&m, f)?;
    assemble::push_blocks(&mut problem, contacts.sets(), h, &w)?;
    if group.has("G") || vectors.has("b") {
        let b = vectors.floats("b")?;
        let g = matrix(group, "G", n, b.len())?;
        assemble::push_blocks(&mut problem, vec![Set::Free { dim: 1 }; b.len()], g, &b)?;
    }
    described(group, Loaded::new(contacts.kind, Form::Full(problem)))
}

fn described(group: &Group<'_>, mut loaded: Loaded) -> Result<Loaded, FormatError> {
    if let Some(info) = group.optional_group("info")? {
        let text = |name| Ok::<_, FormatError>(info.text(name)?.filter(|t| !t.trim().is_empty()));
        loaded.title = text("title")?;
        loaded.description = text("description")?;
    }
    Ok(loaded)
}

/// Rows of the contacts, which come first.
fn contact_rows(loaded: &Loaded) -> usize {
    loaded.contacts * if loaded.kind == ProblemKind::Friction2d { 2 } else { 3 }
}

fn guess(root: &Group<'_>, contacts: usize, equalities: usize) -> Result<Option<Vec<f64>>, FormatError> {
    let first = match root.optional_group("guesses")? {
        Some(guesses) => guesses.optional_group("1")?,
        None => None,
    };
    let group = if first.is_some() { first } else { root.optional_group("solution")? };
    let Some(group) = group.filter(|g| g.has("r")) else { return Ok(None) };
    let mut r = sized(&group, "r", contacts)?;
    if equalities > 0 && group.has("l") {
        r.extend(sized(&group, "l", equalities)?);
    }
    r.resize(contacts + equalities, 0.0);
    Ok(Some(r))
}

/// A dataset of one integer within bounds.
fn single(group: &Group<'_>, name: &str, low: i64, high: i64) -> Result<usize, FormatError> {
    let values = group.integers(name)?;
    let &[value] = &values[..] else {
        return Err(Flaw::Size { found: values.len(), expected: 1 }.at(group.path(name)));
    };
    inside(value, 0, low, high).map_err(|flaw| flaw.at(group.path(name)))
}

/// `value` as index, if it lies within bounds, the upper one included; bounds are not negative.
fn inside(value: i64, index: usize, low: i64, high: i64) -> Result<usize, Flaw> {
    if (low..=high).contains(&value) {
        return Ok(value as usize);
    }
    let expected = if low == high { format!("{low}") } else { format!("{low} to {high}") };
    Err(Flaw::Range { index, value, expected })
}

/// A vector of known length.
fn sized(group: &Group<'_>, name: &str, expected: usize) -> Result<Vec<f64>, FormatError> {
    let values = group.floats(name)?;
    if values.len() != expected {
        return Err(Flaw::Size { found: values.len(), expected }.at(group.path(name)));
    }
    Ok(values)
}

/// The entries of a sparse matrix of known size.
fn matrix(parent: &Group<'_>, name: &str, rows: usize, columns: usize) -> Result<Vec<Entry>, FormatError> {
    let group = parent.group(name)?;
    single(&group, "m", rows as i64, rows as i64)?;
    single(&group, "n", columns as i64, columns as i64)?;
    let nz = group.integers("nz")?;
    let &[nz] = &nz[..] else {
        return Err(Flaw::Size { found: nz.len(), expected: 1 }.at(group.path("nz")));
    };
    let (p, i, x) = (group.integers("p")?, group.integers("i")?, group.floats("x")?);
    // Lines of the compressed forms, and the size that the indices are below.
    let (lines, width) = match nz {
        -1 => (columns, rows),
        -2 => (rows, columns),
        0.. => return triplets(&group, nz, [rows, columns], &p, &i, &x),
        _ => {
            let expected = "-1 (compressed columns), -2 (compressed rows) or the number of triplets".into();
            return Err(Flaw::Range { index: 0, value: nz, expected }.at(group.path("nz")));
        }
    };
    if p.len() != lines + 1 {
        return Err(Flaw::Size { found: p.len(), expected: lines + 1 }.at(group.path("p")));
    }
    let count = p[lines];
    if count < 0 {
        return Err(Flaw::Range { index: lines, value: count, expected: "0 or more".into() }.at(group.path("p")));
    }
    inside(p[0], 0, 0, 0).map_err(|flaw| flaw.at(group.path("p")))?;
    long_enough(&group, count, &[("i", i.len()), ("x", x.len())])?;
    let mut entries = Vec::with_capacity(x.len());
    for line in 0..lines {
        // Ascending and at most `count`, hence inside `i` and `x`.
        inside(p[line + 1], line + 1, p[line], count).map_err(|flaw| flaw.at(group.path("p")))?;
        for k in p[line] as usize..p[line + 1] as usize {
            let other = below(i[k], k, width).map_err(|flaw| flaw.at(group.path("i")))?;
            entries.push(if nz == -1 { (other, line, x[k]) } else { (line, other, x[k]) });
        }
    }
    Ok(entries)
}

fn triplets(
    group: &Group<'_>,
    nz: i64,
    [rows, columns]: [usize; 2],
    p: &[i64],
    i: &[i64],
    x: &[f64],
) -> Result<Vec<Entry>, FormatError> {
    long_enough(group, nz, &[("p", p.len()), ("i", i.len()), ("x", x.len())])?;
    (0..nz as usize)
        .map(|k| {
            let row = below(i[k], k, rows).map_err(|flaw| flaw.at(group.path("i")))?;
            let column = below(p[k], k, columns).map_err(|flaw| flaw.at(group.path("p")))?;
            Ok((row, column, x[k]))
        })
        .collect()
}

/// Checks that arrays have at least `count` ≥ 0 entries.
fn long_enough(group: &Group<'_>, count: i64, arrays: &[(&str, usize)]) -> Result<(), FormatError> {
    for &(name, found) in arrays {
        if count as u64 > found as u64 {
            return Err(
                Flaw::Size { found, expected: usize::try_from(count).unwrap_or(usize::MAX) }.at(group.path(name))
            );
        }
    }
    Ok(())
}

/// `value` as index below `size`.
fn below(value: i64, index: usize, size: usize) -> Result<usize, Flaw> {
    if value >= 0 && (value as u64) < size as u64 {
        return Ok(value as usize);
    }
    Err(Flaw::Range { index, value, expected: format!("an index below {size}") })
}
