"""Friction problems from files, and the residual that decides the race.

A problem is u = W r + q with the Coulomb cones of `mu`; per contact normal first. One in global form,
M v = H r + f, u = H^T v + w, is reduced here and keeps its parts.
"""
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu


class NotFriction(Exception):
    """The file holds something else, or nothing that can be read."""


@dataclass
class Problem:
    dimension: int
    W: sparse.csc_matrix
    q: np.ndarray
    mu: np.ndarray
    #: M, H, f, w of a global problem
    parts: tuple = None

    @property
    def contacts(self):
        return len(self.mu)

    def residual(self, r):
        """||r - P_K(r - (u + mu ||u_T|| n))|| / ||q||, in unit scaling."""
        r = np.asarray(r, float)
        if r.shape != self.q.shape or not np.all(np.isfinite(r)):
            return np.inf
        u = (self.W @ r + self.q).reshape(-1, self.dimension)
        r = r.reshape(-1, self.dimension)
        z = r - u
        z[:, 0] -= self.mu * np.linalg.norm(u[:, 1:], axis=1)
        return np.linalg.norm(r - project(z, self.mu)) / (np.linalg.norm(self.q) or 1.0)


def project(z, mu):
    """Rows of z on the cones ||z_T|| <= mu z_N."""
    normal, slip = z[:, 0], np.linalg.norm(z[:, 1:], axis=1)
    inside = slip <= mu * normal
    polar = mu * slip <= -normal
    p_normal = (normal + mu * slip) / (1.0 + mu**2)
    p = np.empty_like(z)
    p[:, 0] = p_normal
    p[:, 1:] = z[:, 1:] * (mu * p_normal / np.where(slip > 0.0, slip, 1.0))[:, None]
    p[inside] = z[inside]
    p[polar] = 0.0
    return p


def read(path):
    with open(path, "rb") as file:
        magic = file.read(8)
    problem = read_fclib(path) if magic == b"\x89HDF\r\n\x1a\n" else read_text(path)
    rows = problem.dimension * problem.contacts
    if problem.dimension not in (2, 3) or rows == 0:
        raise NotFriction("no contacts, or neither two nor three dimensions")
    if problem.W.shape != (rows, rows) or problem.q.shape != (rows,):
        raise NotFriction(f"{problem.contacts} contacts do not fit a matrix {problem.W.shape}, {len(problem.q)} numbers q")
    if not all(np.all(np.isfinite(x)) for x in (problem.W.data, problem.q, problem.mu)):
        raise NotFriction("a number is not finite")
    return problem


# FCLIB

def read_fclib(path):
    import h5py
    with h5py.File(path, "r") as file:
        local, whole = file.get("fclib_local"), file.get("fclib_global")
        group = local if local is not None else whole
        if group is None:
            raise NotFriction("neither fclib_local nor fclib_global")
        vector = {name: np.array(data, float).ravel() for name, data in group["vectors"].items()}
        dimension = int(np.ravel(group["spacedim"])[0])
        if local is not None:
            return Problem(dimension, fclib_matrix(group["W"]), vector["q"], vector["mu"])
        if "G" in group:
            raise NotFriction("global with equalities G")
        M, H = fclib_matrix(group["M"]), fclib_matrix(group["H"])
        return reduced(dimension, M, H, vector["f"], vector["w"], vector["mu"])


def fclib_matrix(group):
    m, n, nz = (int(np.ravel(group[name])[0]) for name in ("m", "n", "nz"))
    p, i, x = (np.ravel(group[name]) for name in ("p", "i", "x"))
    if nz == -1:
        return sparse.csc_matrix((x, i, p), (m, n))
    if nz == -2:
        return sparse.csr_matrix((x, i, p), (m, n)).tocsc()
    # In a triplet matrix p holds the columns.
    return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n)).tocsc()


def reduced(dimension, M, H, f, w, mu):
    """W = H^T M^-1 H, q = w + H^T M^-1 f."""
    try:
        factor = splu(M)
    except RuntimeError as error:
        raise NotFriction(f"M: {error}") from error
    W = sparse.csc_matrix(H.T @ factor.solve(H.toarray()))
    return Problem(dimension, W, w + H.T @ factor.solve(f), mu, (M, H, f, w))


# Text: dimension, contacts, matrix, q, mu

def read_text(path):
    try:
        with open(path, encoding="ascii") as file:
            words = Words(file.read())
        dimension = words.integer()
        # What follows the size n of a linear complementarity problem is not a number of contacts.
        if dimension not in (2, 3):
            raise NotFriction("not a friction problem")
        contacts = words.integer()
        W = words.matrix()
        if W.shape[0] != dimension * contacts:
            raise NotFriction("not a friction problem")
        q, mu = words.numbers(dimension * contacts), words.numbers(contacts)
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise NotFriction(f"not a friction problem ({error})") from error
    # Some files go on with the answer of the program that wrote them.
    return Problem(dimension, W, q, mu)


class Words:
    def __init__(self, text):
        self.words, self.at = text.split(), 0

    def left(self):
        return len(self.words) - self.at

    def take(self, n):
        if not 0 <= n <= self.left():
            raise ValueError("the file ends too early")
        self.at += n
        return self.words[self.at - n:self.at]

    def integer(self):
        return int(self.take(1)[0])

    def integers(self, n):
        return np.array(self.take(n), dtype=int)

    def numbers(self, n):
        return np.array(self.take(n), dtype=float)

    def matrix(self):
        storage, m, n = self.integer(), self.integer(), self.integer()
        if storage == 0:
            if (m, n) != (self.integer(), self.integer()):
                raise ValueError("two sizes of a matrix differ")
            return sparse.csc_matrix(self.numbers(m * n).reshape((m, n), order="F"))
        if storage == 1:
            return self.blocks(m, n)
        if storage == 2:
            return self.columns(m, n)
        raise ValueError(f"storage {storage} of a matrix")

    def blocks(self, m, n):
        count, block_rows, block_columns = self.integer(), self.integer(), self.integer()
        row_ends, column_ends = self.integers(block_rows), self.integers(block_columns)
        filled = self.integer(), self.integer()
        pointers, columns = self.integers(filled[0]), self.integers(filled[1])
        if len(pointers) != block_rows + 1 or len(columns) != count:
            raise ValueError("pointers of a block matrix")
        rows, cols, values = [], [], []
        for row in range(block_rows):
            first = row_ends[row - 1] if row else 0
            for k in range(pointers[row], pointers[row + 1]):
                if self.integer() != k:
                    raise ValueError("blocks out of order")
                left = column_ends[columns[k] - 1] if columns[k] else 0
                height, width = row_ends[row] - first, column_ends[columns[k]] - left
                values.append(self.numbers(height * width))
                rows.append(first + np.tile(np.arange(height), width))
                cols.append(left + np.repeat(np.arange(width), height))
        if not values:
            return sparse.csc_matrix((m, n))
        join = np.concatenate
        return sparse.coo_matrix((join(values), (join(rows), join(cols))), (m, n)).tocsc()

    def columns(self, m, n):
        """What CSparse prints: `col 0 : locations 0 to 2`, then `row : value`."""
        self.integer()
        start = self.words.index("col", self.at)
        rows, cols, values = [], [], []
        self.at = start
        for column in range(n):
            word, number, _, _, first, _, last = self.take(7)
            if word != "col" or int(number) != column:
                raise ValueError("columns out of order")
            count = int(last) - int(first) + 1
            entries = self.take(3 * count)
            rows += map(int, entries[0::3])
            cols += [column] * count
            values += map(float, entries[2::3])
        return sparse.coo_matrix((values, (rows, cols)), (m, n)).tocsc()
