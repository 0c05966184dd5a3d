"""The solvers of packaged Siconos, called in its C library: one solve, in a process of its own."""
import ctypes
import multiprocessing
import os
import subprocess
import time
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_long, c_size_t, c_void_p
from dataclasses import dataclass, field

import numpy as np
import siconos.numerics as numerics

lib = ctypes.CDLL("libsiconos_numerics.so")

DENSE, BLOCKS, COLUMNS = "dense", "blocks", "columns"
#: A dense Newton step of more rows takes seconds.
DENSE_ROWS = 2000
STORAGE = {DENSE: 0, BLOCKS: 1, COLUMNS: 2}


class SparseMatrix(ctypes.Structure):
    _fields_ = [("nzmax", c_long), ("m", c_long), ("n", c_long), ("p", POINTER(c_long)), ("i", POINTER(c_long)),
                ("x", POINTER(c_double)), ("nz", c_long)]


class NumericsSparse(ctypes.Structure):
    _fields_ = [("triplet", c_void_p), ("half_triplet", c_void_p), ("csc", POINTER(SparseMatrix)), ("trans_csc", c_void_p),
                ("csr", c_void_p), ("diagonal", c_void_p), ("origin", c_int)]


class NumericsMatrix(ctypes.Structure):
    _fields_ = [("storage", c_int), ("rows", c_int), ("columns", c_int), ("dense", POINTER(c_double)),
                ("blocks", c_void_p), ("sparse", POINTER(NumericsSparse))]


class LocalProblem(ctypes.Structure):
    _fields_ = [("dimension", c_int), ("contacts", c_int), ("M", POINTER(NumericsMatrix)), ("q", POINTER(c_double)),
                ("mu", POINTER(c_double))]


class GlobalProblem(ctypes.Structure):
    _fields_ = [("dimension", c_int), ("contacts", c_int), ("M", POINTER(NumericsMatrix)), ("H", POINTER(NumericsMatrix)),
                ("q", POINTER(c_double)), ("norm_q", c_double), ("b", POINTER(c_double)), ("norm_b", c_double),
                ("mu", POINTER(c_double)), ("env", c_void_p)]


class Options(ctypes.Structure):
    pass


Options._fields_ = [("id", c_int), ("set", c_bool), ("i_size", c_int), ("iparam", POINTER(c_int)), ("d_size", c_int),
                    ("dparam", POINTER(c_double)), ("filter", c_bool), ("d_work_size", c_size_t), ("d_work", c_void_p),
                    ("i_work_size", c_size_t), ("i_work", c_void_p), ("internals", c_size_t),
                    ("internal", POINTER(POINTER(Options)))]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments


MATRIX = POINTER(NumericsMatrix)
declare("NM_create", MATRIX, c_int, c_int, c_int)
declare("NM_csc_alloc", None, MATRIX, c_long)
declare("NM_new_SBM", MATRIX, c_int, c_int, c_void_p)
declare("NM_gemv", None, c_double, MATRIX, c_void_p, c_double, c_void_p)
declare("SBM_new", c_void_p)
declare("SBM_from_csparse", c_int, c_int, c_void_p, c_void_p)
declare("frictionContactProblem_new", POINTER(LocalProblem))
declare("globalFrictionContactProblem_new", POINTER(GlobalProblem))
declare("solver_options_create", POINTER(Options), c_int)
declare("solver_options_update_internal", None, POINTER(Options), c_size_t, c_int)
declare("solver_options_id_to_name", c_char_p, c_int)
for driver in ("fc2d_driver", "fc3d_driver"):
    declare(driver, c_int, POINTER(LocalProblem), c_void_p, c_void_p, POINTER(Options))
declare("gfc3d_driver", c_int, POINTER(GlobalProblem), c_void_p, c_void_p, c_void_p, POINTER(Options))


# Problems: made anew for each solve, since a solver leaves conversions and factors in the matrix it was given.

keep = []  # memory that C refers to


def doubles(values):
    array = np.ascontiguousarray(values, float).copy()
    keep.append(array)
    return array.ctypes.data_as(POINTER(c_double))


def numerics_matrix(A, storage, dimension):
    rows, columns = A.shape
    if storage == DENSE:
        matrix = lib.NM_create(STORAGE[DENSE], rows, columns)
        values = np.asfortranarray(A.toarray())
        ctypes.memmove(matrix.contents.dense, values.ctypes.data, values.nbytes)
        return matrix
    matrix = lib.NM_create(STORAGE[COLUMNS], rows, columns)
    A = A.sorted_indices()
    lib.NM_csc_alloc(matrix, A.nnz)
    sparse = matrix.contents.sparse.contents
    sparse.origin = numerics.NSM_CSC
    csc = sparse.csc.contents
    for target, values, kind in ((csc.p, A.indptr, np.int64), (csc.i, A.indices, np.int64), (csc.x, A.data, float)):
        values = np.ascontiguousarray(values, kind)
        ctypes.memmove(target, values.ctypes.data, values.nbytes)
    if storage == COLUMNS:
        return matrix
    blocks = lib.SBM_new()
    if lib.SBM_from_csparse(dimension, sparse.csc, blocks) != 0:
        raise RuntimeError("SBM_from_csparse")
    return lib.NM_new_SBM(rows, columns, blocks)


def check_matrix(matrix, A):
    """The library must multiply with this matrix as we do."""
    x = np.cos(np.arange(A.shape[1]))
    y = np.zeros(A.shape[0])
    lib.NM_gemv(1.0, matrix, x.ctypes.data, 0.0, y.ctypes.data)
    if np.linalg.norm(y - A @ x) > 1e-12 * np.linalg.norm(abs(A) @ abs(x)):
        raise RuntimeError("the matrix did not arrive")


def local_problem(problem, storage):
    made = lib.frictionContactProblem_new()
    c = made.contents
    c.dimension, c.contacts = problem.dimension, problem.contacts
    c.M = numerics_matrix(problem.W, storage, problem.dimension)
    c.q, c.mu = doubles(problem.q), doubles(problem.mu)
    return made


def global_problem(problem, storage):
    M, H, f, w = problem.parts
    made = lib.globalFrictionContactProblem_new()
    c = made.contents
    c.dimension, c.contacts = problem.dimension, problem.contacts
    c.M, c.H = numerics_matrix(M, storage, problem.dimension), numerics_matrix(H, storage, problem.dimension)
    c.q, c.b, c.mu = doubles(f), doubles(w), doubles(problem.mu)
    c.norm_q, c.norm_b = np.linalg.norm(f), np.linalg.norm(w)
    return made


# Solvers

@dataclass
class Solver:
    """A solver and its settings; what is not set here is the default of Siconos."""
    name: str
    id: int
    #: replaces the first internal solver
    internal: int = None
    iparam: dict = field(default_factory=dict)
    dparam: dict = field(default_factory=dict)
    iterations: int = 1_000_000

    @property
    def form(self):
        return "global" if 600 <= self.id < 700 else "2D" if self.id < 500 else "3D"

    def suits(self, problem):
        if self.form == "global":
            return problem.parts is not None
        return self.form == f"{problem.dimension}D"

    def storages(self, rows):
        """How the matrices are given: all that the solver may take; dense only where it has a chance."""
        if self.form == "global":
            return [COLUMNS]
        dense = [DENSE] if rows <= DENSE_ROWS else []
        return [BLOCKS] + dense if self.form == "2D" else [BLOCKS] + dense + [COLUMNS]

    @property
    def factorises(self):
        """Whether the storage decides how linear systems are solved; elsewhere it is only a way to multiply."""
        return "NSN_" in self.name and "NSGS" not in self.name or "ADMM" in self.name or self.form == "2D"

    def options(self, tolerance):
        options = lib.solver_options_create(self.id)
        if self.internal is not None:
            lib.solver_options_update_internal(options, 0, self.internal)
        c = options.contents
        c.iparam[0] = max(c.iparam[0], self.iterations)
        c.dparam[0] = tolerance
        for index, value in self.iparam.items():
            c.iparam[index] = value
        for index, value in self.dparam.items():
            c.dparam[index] = value
        return options


def constant(name):
    return getattr(numerics, "SICONOS_" + name, None)


def solvers():
    """The solvers of friction that the package has. GAMS is not built into it; fc3d_driver does not know NCPGlockerFBFixedPoint."""
    f3, g3, one = "FRICTION_3D_", "GLOBAL_FRICTION_3D_", "FRICTION_3D_ONECONTACT_"
    found = []

    def add(name, id, internal=None, iparam=None, dparam=None, iterations=1_000_000):
        ids = [constant(id), constant(internal) if internal else 0]
        if None not in ids:
            found.append(Solver(name, ids[0], ids[1] or None, iparam or {}, dparam or {}, iterations))

    def newton(name, id, iparam=None):
        add(name, id, None, iparam, iterations=10_000)

    add("2D NSGS", "FRICTION_2D_NSGS")
    add("2D NSGS light", "FRICTION_2D_NSGS", iparam={constant("IPARAM_ERROR_EVALUATION"): 1})
    add("2D CPG", "FRICTION_2D_CPG")
    add("2D LEMKE", "FRICTION_2D_LEMKE")
    add("2D ENUM", "FRICTION_2D_ENUM")

    # The ones that are often fast come first: they set the time-out of the rest.
    newton("NSN_AC", f3 + "NSN_AC")
    add("NSGS", f3 + "NSGS")
    add("ADMM", f3 + "ADMM")
    add("NSGS quartic", f3 + "NSGS", one + "QUARTIC")
    add("NSGS cone iterated", f3 + "NSGS", one + "ProjectionOnConeWithLocalIteration")

    add("NSGS NSN", f3 + "NSGS", one + "NSN")
    add("NSGS NSN_GP", f3 + "NSGS", one + "NSN_GP")
    add("NSGS cone", f3 + "NSGS", one + "ProjectionOnCone")
    add("NSGS cone diagonalised", f3 + "NSGS", one + "ProjectionOnConeWithDiagonalization")
    add("NSGS cone regularised", f3 + "NSGS", one + "ProjectionOnConeWithRegularization")
    add("NSGS quartic nu", f3 + "NSGS", one + "QUARTIC_NU")
    add("NSGS Glocker-FB", f3 + "NSGS", f3 + "NCPGlockerFBNewton")
    shuffle, evaluation = constant(f3 + "NSGS_SHUFFLE"), constant(f3 + "IPARAM_ERROR_EVALUATION")
    add("NSGS shuffled", f3 + "NSGS", iparam={shuffle: 1})
    add("NSGS shuffled each loop", f3 + "NSGS", iparam={shuffle: 2})
    add("NSGS quartic shuffled", f3 + "NSGS", one + "QUARTIC", {shuffle: 1})
    add("NSGS cone iterated shuffled", f3 + "NSGS", one + "ProjectionOnConeWithLocalIteration", {shuffle: 1})
    add("NSGS full error", f3 + "NSGS", iparam={evaluation: 0})
    add("NSGS adaptive error", f3 + "NSGS", iparam={evaluation: 3})
    add("NSGS relaxed", f3 + "NSGS", iparam={constant(f3 + "NSGS_RELAXATION"): 1},
        dparam={constant(f3 + "NSGS_RELAXATION_VALUE"): 0.9})
    add("NSGSV", f3 + "NSGSV")

    # Its choice of a linear solver (MUMPS or CSparse) changes nothing in the package.
    search, formula, hybrid = (constant(f3 + "NSN_" + key) for key in ("LINESEARCH", "FORMULATION", "HYBRID_STRATEGY"))
    newton("NSN_AC Armijo", f3 + "NSN_AC", {search: 1})
    newton("NSN_AC no search", f3 + "NSN_AC", {search: -1})
    newton("NSN_AC Moreau", f3 + "NSN_AC", {formula: 1})
    newton("NSN_AC standard", f3 + "NSN_AC", {formula: 0})
    newton("NSN_AC Moreau generated", f3 + "NSN_AC", {formula: 3})
    newton("NSN_AC after EG", f3 + "NSN_AC", {hybrid: 3})
    newton("NSN_AC_TEST", f3 + "NSN_AC_TEST")
    newton("NSN_FB", f3 + "NSN_FB")
    newton("NSN_FB Armijo", f3 + "NSN_FB", {search: 1})
    newton("NSN_NM", f3 + "NSN_NM")

    rho, speed, symmetry, store = (
        constant(f3 + "ADMM_IPARAM_" + key) for key in ("RHO_STRATEGY", "ACCELERATION", "SYMMETRY", "SPARSE_STORAGE"))
    add("ADMM balancing", f3 + "ADMM", iparam={rho: 2})
    add("ADMM scaled balancing", f3 + "ADMM", iparam={rho: 3})
    add("ADMM no acceleration", f3 + "ADMM", iparam={speed: 0})
    add("ADMM symmetrised", f3 + "ADMM", iparam={symmetry: 3})
    add("ADMM asymmetric", f3 + "ADMM", iparam={symmetry: 2})
    add("ADMM sparse", f3 + "ADMM", iparam={store: 1})

    add("PROX NSGS", f3 + "PROX", f3 + "NSGS")
    add("PROX NSN_AC", f3 + "PROX", f3 + "NSN_AC")
    add("PROX regularised NSN_AC", f3 + "PROX", f3 + "NSN_AC", {constant(f3 + "PROXIMAL_IPARAM_STRATEGY"): 1})
    add("TFP", f3 + "TFP")
    add("TFP projected gradient", f3 + "TFP", f3 + "CONVEXQP_PG_CYLINDER")
    add("TFP VI_FPP", f3 + "TFP", f3 + "VI_FPP_Cylinder")
    for name in ("PFP", "ACLMFP", "SOCLCP", "DSFP", "VI_FPP", "VI_EG", "FPP", "EG", "HP"):
        add(name, f3 + name)

    for name in ("NSN_AC", "NSN_AC_WR", "IPM"):
        newton("global " + name, g3 + name)
    for name in ("NSGS_WR", "ADMM", "ADMM_WR", "NSGS", "NSGSV_WR", "PROX_WR", "DSFP_WR", "TFP_WR", "ACLMFP", "VI_FPP", "VI_EG"):
        add("global " + name, g3 + name)
    return found


# One solve

@dataclass
class Answer:
    #: "solved", "time-out", "crashed", "said no" (it gives up) or "not accurate" (it says solved)
    outcome: str
    seconds: float = None
    residual: float = None
    info: int = None
    iterations: int = None
    #: what it was given as tolerance
    tolerance: float = None
    repetitions: int = 0


def repetitions(seconds):
    """Short solves are repeated, on both sides."""
    return 1 if seconds >= 1.0 else 3 if seconds >= 0.02 else 10


def call_cost(driver, *given):
    """What it costs to call C from here, measured with a function of the same arguments that does nothing."""
    nothing = ctypes.CDLL(None).labs
    nothing.restype, nothing.argtypes = driver.restype, driver.argtypes
    best = 1.0
    for _ in range(100):
        start = time.perf_counter()
        nothing(*given)
        best = min(best, time.perf_counter() - start)
    return best


def work(pipe, problem, solver, storage, tolerance, count):
    """In the child: says `None` before each timed call and what came of it after."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    lib.numerics_set_verbose(0)
    done = 0
    while True:
        n = len(problem.q)
        r, u = np.zeros(n), np.zeros(n)
        options = solver.options(tolerance)
        given = [r.ctypes.data, u.ctypes.data]
        if solver.form == "global":
            made, driver = global_problem(problem, storage), lib.gfc3d_driver
            v = np.zeros(len(problem.parts[2]))
            given.append(v.ctypes.data)
        else:
            made, driver = local_problem(problem, storage), lib.fc2d_driver if solver.form == "2D" else lib.fc3d_driver
            check_matrix(made.contents.M, problem.W)
            # The check must leave nothing behind either.
            made = local_problem(problem, storage)
        cost = call_cost(driver, made, *given, options)
        pipe.send(None)
        start = time.perf_counter()
        info = driver(made, *given, options)
        seconds = max(time.perf_counter() - start - cost, 1e-9)
        pipe.send((seconds, r, info, options.contents.iparam[1]))
        done += 1
        if done >= (count or repetitions(seconds)):
            return


def solve(problem, solver, storage, tolerance, limit, count=None):
    """The best of several repetitions in one child; `count` None lets the first time decide how many."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=work, args=(theirs, problem, solver, storage, tolerance, count))
    child.start()
    theirs.close()
    answer = Answer("crashed", tolerance=tolerance)
    running = False
    try:
        while True:
            if not ours.poll(limit if running else 60.0):
                if answer.seconds is None and running:
                    answer.outcome = "time-out"
                break
            message = ours.recv()
            running = message is None
            if running:
                continue
            seconds, r, answer.info, answer.iterations = message
            answer.residual = problem.residual(r)
            answer.repetitions += 1
            answer.seconds = seconds if answer.seconds is None else min(seconds, answer.seconds)
            answer.outcome = "said no" if answer.info != 0 else "not accurate"
    except EOFError:
        pass
    finally:
        child.kill()
        child.join()
        ours.close()
    return answer


def attempt(problem, solver, storage, tolerance, limit, count=None):
    """A solve that says solved and is not gets a smaller tolerance, three times."""
    for divisor in (1, 10, 100, 1000):
        answer = solve(problem, solver, storage, tolerance / divisor, limit, count)
        if answer.residual is not None and answer.residual <= tolerance:
            answer.outcome = "solved"
        if answer.outcome != "not accurate":
            break
    return answer


def version():
    """That of the package."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "python3-siconos"], capture_output=True, text=True)
    return asked.stdout or "unknown"
