//! Writes FCLIB files, local and global form; see [`fclib`](super::fclib) for what they hold.
//!
//! The blocks of the problem must be Coulomb contacts of one dimension (1 or 2 tangents), then, if there are
//! equalities, [`Set::Free`] blocks. Matrices are written with every entry that the problem stores: the local ones by
//! compressed rows, the global ones as triplets. Reading the file back gives the same bits; Free blocks come back as
//! single rows, unknowns of a block in ascending order, and a matrix dense or by blocks according to its filling.

use super::write_hdf5::{Node, file};
use crate::full::FullProblem;
use crate::problem::{Problem, ReducedMatrix};
use crate::sets::Set;

/// A problem that has no FCLIB form.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// A set that is neither a Coulomb cone nor free, or a free one before a contact.
    #[error("block {block}: FCLIB files hold Coulomb contacts followed by equalities, nothing else")]
    Set {
        /// Which block.
        block: usize,
    },
    /// Contacts of different dimension, or of one that FCLIB does not have.
    #[error("block {block} has {found} components, but the contacts of an FCLIB file have {expected}")]
    Dimension {
        /// Which block.
        block: usize,
        /// Components of the block.
        found: usize,
        /// Components that fit.
        expected: String,
    },
    /// No contact, hence no dimension.
    #[error("an FCLIB file needs at least one contact")]
    NoContact,
    /// A start guess of the wrong length.
    #[error("the start guess has {found} entries, expected {expected}")]
    Guess {
        /// Its length.
        found: usize,
        /// Rows of the problem.
        expected: usize,
    },
    /// The format stores V once, for both V and Vᵀ.
    #[error("entry ({row}, {column}) of A, between a contact and an equality, is not symmetric")]
    Asymmetric {
        /// Row of the contact.
        row: usize,
        /// Row of the equality.
        column: usize,
    },
    /// Indices are 32-bit numbers.
    #[error("{count} {what} are more than the 32-bit indices of the format can count")]
    Large {
        /// How many.
        count: usize,
        /// Of what.
        what: &'static str,
    },
}

/// Metadata and start guess of a file. Readers leave out empty strings.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// Title.
    pub title: &'a str,
    /// Description.
    pub description: &'a str,
    /// Start guess, r and λ.
    pub guess: Option<&'a [f64]>,
}

/// The local form of a reduced problem.
pub fn local(problem: &Problem, about: About<'_>) -> Result<Vec<u8>, WriteError> {
    let sets: Vec<&Set> = problem.blocks().iter().map(|b| &b.set).collect();
    let contacts = Contacts::of(&sets)?;
    let (n, size) = (contacts.rows(), problem.size());

    // Entries of A by rows, columns ascending.
    let mut expanded = Problem::default();
    problem.expand(&mut expanded);
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); size];
    match expanded.matrix() {
        ReducedMatrix::Dense(a) => {
            for (i, row) in rows.iter_mut().enumerate() {
                row.extend(a.row(i).iter().copied().enumerate());
            }
        }
        ReducedMatrix::BlockSparse(a) => {
            for i in 0..sets.len() {
                for k in a.row[i]..a.row[i + 1] {
                    let (column, width) = (a.start[a.column[k]], sets[a.column[k]].dim());
                    for p in 0..sets[i].dim() {
                        let values = &a.values[a.offset[k] + p * width..][..width];
                        rows[a.start[i] + p].extend(values.iter().enumerate().map(|(q, &v)| (column + q, v)));
                    }
                }
            }
        }
        // Expanded above.
        ReducedMatrix::Gram(_) => {}
    }

    let (top, bottom) = rows.split_at(n);
    let part = |rows: &[Vec<(usize, f64)>], from: usize, to: usize| {
        let select = |row: &Vec<(usize, f64)>| {
            row.iter().filter(|e| (from..to).contains(&e.0)).map(|&(j, v)| (j - from, v)).collect::<Vec<_>>()
        };
        rows.iter().map(select).collect::<Vec<_>>()
    };
    let mut vectors = vec![named("mu", Node::Floats(contacts.mu)), named("q", Node::Floats(problem.b()[..n].to_vec()))];
    let mut members = vec![named("spacedim", Node::integer(contacts.dim as i32))];
    members.push(named("W", compressed_rows(&part(top, 0, n), n)?));
    if size > n {
        let v = part(top, n, size);
        transposed(&v, &part(bottom, 0, n), n)?;
        members.push(named("V", compressed_rows(&v, size - n)?));
        members.push(named("R", compressed_rows(&part(bottom, n, size), size - n)?));
        vectors.push(named("s", Node::Floats(problem.b()[n..].to_vec())));
    }
    members.push(named("vectors", Node::Group(vectors)));
    finish("fclib_local", members, n, size, about)
}

/// The global form of a full problem.
pub fn global(problem: &FullProblem, about: About<'_>) -> Result<Vec<u8>, WriteError> {
    let sets: Vec<&Set> = problem.blocks().iter().map(|b| &b.set).collect();
    let contacts = Contacts::of(&sets)?;
    let (n, rows, size) = (problem.matrix.size(), contacts.rows(), problem.c.len());
    let mut m = Vec::new();
    problem.matrix.for_each_entry(|i, j, v| m.push((i, j, v)));
    let (mut h, mut g) = (Vec::new(), Vec::new());
    for (k, set) in sets.iter().enumerate() {
        let (dofs, values) = (problem.coupling().dofs(k), problem.coupling().values(k));
        let first = problem.blocks()[k].start;
        for p in 0..set.dim() {
            let column = first + p;
            let (out, column) = if column < rows { (&mut h, column) } else { (&mut g, column - rows) };
            out.extend(dofs.iter().zip(&values[p * dofs.len()..]).map(|(&i, &v)| (i as usize, column, v)));
        }
    }
    let mut vectors = vec![
        named("f", Node::Floats(problem.f.clone())),
        named("mu", Node::Floats(contacts.mu)),
        named("w", Node::Floats(problem.c[..rows].to_vec())),
    ];
    let mut members = vec![named("spacedim", Node::integer(contacts.dim as i32))];
    members.push(named("M", triplets(&m, n, n)?));
    members.push(named("H", triplets(&h, n, rows)?));
    if size > rows {
        members.push(named("G", triplets(&g, n, size - rows)?));
        vectors.push(named("b", Node::Floats(problem.c[rows..].to_vec())));
    }
    members.push(named("vectors", Node::Group(vectors)));
    finish("fclib_global", members, rows, size, about)
}

/// Space dimension and friction coefficients.
struct Contacts {
    dim: usize,
    mu: Vec<f64>,
}

impl Contacts {
    fn of(sets: &[&Set]) -> Result<Self, WriteError> {
        let dim = sets.first().ok_or(WriteError::NoContact)?.dim();
        let mut mu = Vec::new();
        for (block, set) in sets.iter().enumerate() {
            match set {
                Set::Coulomb { mu: m, .. } if mu.len() == block => {
                    let found = set.dim();
                    if found != dim || !(2..=3).contains(&dim) {
                        let expected = if block == 0 { "2 or 3".into() } else { format!("{dim}") };
                        return Err(WriteError::Dimension { block, found, expected });
                    }
                    mu.push(*m);
                }
                Set::Free { .. } => {}
                _ => return Err(WriteError::Set { block }),
            }
        }
        if mu.is_empty() { Err(WriteError::NoContact) } else { Ok(Contacts { dim, mu }) }
    }

    fn rows(&self) -> usize {
        self.dim * self.mu.len()
    }
}

fn named(name: &str, node: Node) -> (String, Node) {
    (name.to_owned(), node)
}

/// The whole file: the problem's group with title and description, and the guess.
fn finish(
    name: &str,
    mut members: Vec<(String, Node)>,
    contact_rows: usize,
    size: usize,
    about: About<'_>,
) -> Result<Vec<u8>, WriteError> {
    let text = |s: &str| Node::Text(s.to_owned());
    members.push(named(
        "info",
        Node::group([("title", text(about.title)), ("description", text(about.description)), ("math_info", text(""))]),
    ));
    let mut root = vec![named(name, Node::Group(members))];
    if let Some(guess) = about.guess {
        if guess.len() != size {
            return Err(WriteError::Guess { found: guess.len(), expected: size });
        }
        let (r, l) = guess.split_at(contact_rows);
        let mut first = vec![named("r", Node::Floats(r.to_vec()))];
        if !l.is_empty() {
            first.push(named("l", Node::Floats(l.to_vec())));
        }
        root.push(named("guesses", Node::group([("number_of_guesses", Node::integer(1)), ("1", Node::Group(first))])));
    }
    Ok(file(&root))
}

/// Checks that the entries of `v` and `lower` are each other's transpose.
fn transposed(v: &[Vec<(usize, f64)>], lower: &[Vec<(usize, f64)>], n: usize) -> Result<(), WriteError> {
    let mut flipped = vec![Vec::new(); n];
    for (e, row) in lower.iter().enumerate() {
        for &(i, x) in row {
            flipped[i].push((e, x));
        }
    }
    for (i, (a, b)) in v.iter().zip(&flipped).enumerate() {
        // What is not stored is zero.
        let nonzero = |row: &[(usize, f64)]| row.iter().copied().filter(|e| e.1 != 0.0).collect::<Vec<_>>();
        let (a, b) = (nonzero(a), nonzero(b));
        if a != b {
            let differs = a.iter().zip(&b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
            let column = a.get(differs).or(b.get(differs)).map_or(0, |e| e.0);
            return Err(WriteError::Asymmetric { row: i, column: n + column });
        }
    }
    Ok(())
}

fn index(what: &'static str, count: usize) -> Result<i32, WriteError> {
    i32::try_from(count).map_err(|_| WriteError::Large { count, what })
}

fn compressed_rows(rows: &[Vec<(usize, f64)>], columns: usize) -> Result<Node, WriteError> {
    let mut p = vec![0];
    let (mut i, mut x) = (Vec::new(), Vec::new());
    index("columns", columns)?;
    for row in rows {
        for &(column, value) in row {
            i.push(column as i32);
            x.push(value);
        }
        p.push(index("entries", x.len())?);
    }
    sparse([rows.len(), columns], -2, p, i, x)
}

fn triplets(entries: &[(usize, usize, f64)], rows: usize, columns: usize) -> Result<Node, WriteError> {
    let nz = index("entries", entries.len())?;
    index("rows", rows)?;
    index("columns", columns)?;
    let column = entries.iter().map(|e| e.1 as i32).collect();
    let row = entries.iter().map(|e| e.0 as i32).collect();
    sparse([rows, columns], nz, column, row, entries.iter().map(|e| e.2).collect())
}

fn sparse([m, n]: [usize; 2], nz: i32, p: Vec<i32>, i: Vec<i32>, x: Vec<f64>) -> Result<Node, WriteError> {
    Ok(Node::group([
        ("m", Node::integer(index("rows", m)?)),
        ("n", Node::integer(index("columns", n)?)),
        ("nz", Node::integer(nz)),
        ("nzmax", Node::integer(index("entries", x.len())?)),
        ("p", Node::Integers(p)),
        ("i", Node::Integers(i)),
        ("x", Node::Floats(x)),
    ]))
}
