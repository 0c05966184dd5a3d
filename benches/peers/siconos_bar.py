#!/usr/bin/python3
"""Times packaged Siconos on the impacting elastic bar and prints one JSON object per mesh.

Model (Acary 2013, section 6.2, eq. 71): N linear bar elements, consistent mass,
N + 1 node displacements; every node starts at -0.1 m/s, node 0 (the tip) touches
the rigid wall at t = 0: gap g = q[0] >= 0, Newton restitution 0, no friction.
Scheme: Moreau-Jean, theta = 0.5, h = 2e-6 s, LCP by Lemke (Siconos' default), one thread.

Activation: Siconos puts the contact into step k -> k + 1 if g_k + gamma h dg_k <= 0,
both taken at the end of step k. Here gamma = 0, so the rule is g_k <= 0; the models
of siconos_peer.py keep Siconos' default gamma = 1/2.

Mass and stiffness are stored sparse or dense; both are timed up to N = 1000 and
the faster one is the result; above that only sparse (at N = 3000 dense takes about
twice as long). Only the time loop is timed. Its first step holds the factorisation,
which counts in `cpu_seconds` but not in `ms_per_step`.

JSON goes to stdout, table.py reads it; a readable line per run goes to stderr.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when the libraries load

# Siconos prints to file descriptor 1: keep the real one for the JSON objects.
REPORT = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

LENGTH, AREA = 1.0, math.pi * 1e-4  # [m], [m^2]
RHO, YOUNG = 7800.0, 210e9  # [kg/m^3], [Pa]
V0 = -0.1  # [m/s]
H = 2e-6  # time step [s]
THETA, GAMMA = 0.5, 0.0
STEPS = 200  # 4.0e-4 s: the bar has just left the wall
MESHES = (100, 300, 1000, 3000)
DENSE_LIMIT = 1000  # largest N that is also timed with dense matrices

CONTACT = 2 * LENGTH * math.sqrt(RHO / YOUNG)  # exact contact time, 3.8545e-4 s
FORCE = AREA * abs(V0) * math.sqrt(YOUNG * RHO)  # exact contact force, 1271.47 N


def bands(elements):
    """Diagonal and off-diagonal entry of mass and stiffness; end nodes have half the diagonal."""
    size = LENGTH / elements
    mass, stiffness = RHO * AREA * size / 6, YOUNG * AREA / size
    return (4 * mass, mass), (2 * stiffness, -stiffness)


def dense(nodes, diagonal, side):
    matrix = diagonal * np.eye(nodes) + side * (np.eye(nodes, k=1) + np.eye(nodes, k=-1))
    matrix[0, 0] = matrix[-1, -1] = diagonal / 2
    return matrix


def sparse(nodes, diagonal, side):
    """Siconos' own sparse matrix: it refuses those of scipy."""
    matrix = sk.SimpleMatrix(nodes, nodes, sk.SPARSE, 3 * nodes)
    for column in range(nodes):
        for row in range(max(0, column - 1), min(nodes, column + 2)):
            matrix.setValue(row, column, diagonal if row == column else side)
    for end in (0, nodes - 1):
        matrix.setValue(end, end, diagonal / 2)
    return matrix


def bar(elements, storage):
    """The dynamical system and its contact."""
    nodes = elements + 1
    mass, stiffness = bands(elements)
    start = np.zeros(nodes), np.full(nodes, V0)
    if storage == "sparse":
        # The constructor aborts on a SimpleMatrix where assertions are on (siconos issues
        # 314 and 334), the setters take it; so the mass of the constructor is a placeholder.
        ds = sk.LagrangianLinearTIDS(*start, np.zeros((nodes, nodes)))
        ds.setMassPtr(sparse(nodes, *mass))
        ds.setKPtr(sparse(nodes, *stiffness))
    else:
        ds = sk.LagrangianLinearTIDS(*start, dense(nodes, *mass))
        ds.setKPtr(dense(nodes, *stiffness))
    row = np.zeros((1, nodes))  # dense: with a sparse row Siconos 4.4 returns wrong forces
    row[0, 0] = 1.0
    return ds, sk.Interaction(sk.NewtonImpactNSL(0.0), sk.LagrangianLinearTIR(row))


def run(elements, storage, steps):
    """Steps a fresh bar; returns CPU seconds of every step, the impulses, the tip's state and the solver."""
    ds, contact = bar(elements, storage)
    # Half a step of margin: the last event is then exactly number `steps`.
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * H)
    nsds.insertDynamicalSystem(ds)
    nsds.link(contact, ds)
    problem = sk.LCP()
    osi = sk.MoreauJeanOSI(THETA, GAMMA)
    simulation = sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, H), osi, problem)
    seconds, impulses = [], []
    while simulation.hasNextEvent():
        start = time.process_time()
        simulation.computeOneStep()
        solved = time.process_time()
        impulses.append(float(contact.lambda_(1)[0]))  # here: nextStep() clears it where the contact opens
        stored = time.process_time()
        simulation.nextStep()
        seconds.append(time.process_time() - stored + solved - start)
    if len(seconds) != steps:
        sys.exit(f"expected {steps} steps, made {len(seconds)}")
    tip = {"q": [float(ds.q()[0])], "v": [float(ds.velocity()[0])]}
    return seconds, impulses, tip, sn.solver_options_id_to_name(problem.numericsSolverOptions().solverId)


def measure(elements, storage, steps, runs, budget):
    """The best of up to `runs` runs; no further one starts once `budget` CPU seconds are used."""
    best, used, done = None, 0.0, 0
    while done < runs and (best is None or used < budget):
        result = run(elements, storage, steps)
        used, done = used + sum(result[0]), done + 1
        if best is None or sum(result[0]) < sum(best[0]):
            best = result
    seconds, impulses, tip, solver = best
    times = H * np.arange(1, steps + 1)  # ends of the steps
    plateau = np.array(impulses)[(times >= 0.2 * CONTACT) & (times <= 0.8 * CONTACT)] / H
    if abs(plateau.mean() / FORCE - 1) > 1e-3:
        sys.exit(f"wrong model: mean contact force {plateau.mean()} N at N = {elements}, expected {FORCE} N")
    touching = times[np.array(impulses) > 0.0]
    case = {
        "steps": steps,
        "cpu_seconds": sum(seconds),
        "steps_per_cpu_second": steps / sum(seconds),
        "ms_per_step": 1e3 * sum(seconds[1:]) / (steps - 1),
        "first_step_ms": 1e3 * seconds[0],
        "runs": done,
        "storage": storage,
        "solver": solver,
        "gamma": GAMMA,
        "mean_force": float(plateau.mean()),
        "contact_time": float(touching[-1]) if touching[-1] < times[-1] else None,  # None: still touching
        "final": tip,
    }
    print(
        f"N = {elements:<5}{storage:<7}{case['ms_per_step']:9.3f} ms/step  first step {case['first_step_ms']:8.2f} ms"
        f"  loop {case['cpu_seconds']:7.3f} s (best of {done})  force {case['mean_force']:.3f} N"
        f"  contact {1e6 * (case['contact_time'] or math.nan):.0f} us  tip {tip['q'][0]:.6e} m",
        file=sys.stderr,
        flush=True,
    )
    return case


def package_version():
    """The Debian version: the module's own `siconos.version` names the next release."""
    query = ["dpkg-query", "-W", "-f=${Version}", "python3-siconos"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS, help="steps per run")
    parser.add_argument("--runs", type=int, default=5, help="runs per mesh and storage at most, the best counts")
    parser.add_argument("--budget", type=float, default=6.0, help="CPU seconds after which no further run starts")
    parser.add_argument("--storage", choices=("sparse", "dense"), help="only this one")
    parser.add_argument("meshes", nargs="*", type=int, help=f"numbers of elements; {MESHES} if none is given")
    args = parser.parse_args()
    if args.steps * H < 0.8 * CONTACT:
        parser.error(f"at least {math.ceil(0.8 * CONTACT / H)} steps: the force is averaged up to 0.8 of the contact")
    if args.runs < 1 or any(elements < 1 for elements in args.meshes):
        parser.error("runs and meshes must be positive")
    version = package_version()
    for elements in args.meshes or MESHES:
        storages = [args.storage] if args.storage else ["sparse", "dense"] if elements <= DENSE_LIMIT else ["sparse"]
        results = [measure(elements, storage, args.steps, args.runs, args.budget) for storage in storages]
        case = min(results, key=lambda result: result["cpu_seconds"])
        case["ms_per_step_by_storage"] = {result["storage"]: result["ms_per_step"] for result in results}
        json.dump({"siconos": version, "cases": {f"bar N={elements}": case}}, REPORT)
        REPORT.write("\n")
        REPORT.flush()
    REPORT.close()


if __name__ == "__main__":
    main()
