#!/usr/bin/python3
"""Times packaged Siconos on three small contact models and prints one JSON object.

Scheme: Moreau-Jean time stepping, theta = 0.5, h = 1e-3 s, one thread.
A run is `steps` steps from the initial state; it is repeated `runs` times and
the best CPU time counts. Building the model is not timed, nothing is recorded.

The loop is `TimeStepping.run()`, which steps in C++. A Python loop over
`computeOneStep(); nextStep()` gives the same states bit for bit and is slower
(about 15 % on the ball, 3 to 7 % on the block), so the faster one is used.
"""
import argparse
import json
import os
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when the libraries load

# Siconos prints to file descriptor 1: keep the real one for the JSON object.
REPORT = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn

H = 1e-3  # time step [s]
THETA = 0.5
EARLY = 1100  # steps of the warm-up: the ball has bounced once, the block still slides

A, B, M, G = 0.5, 0.25, 1.0, 9.81  # block: half width, half height [m], mass [kg], gravity [m/s^2]
J = M * ((2 * A) ** 2 + (2 * B) ** 2) / 12  # [kg m^2]
MU = 0.5


def ball():
    """Height q; m = 1, force -2, restitution 0.5."""
    ds = sk.LagrangianLinearTIDS([1.0], [0.0], np.array([[1.0]]))
    ds.setFExtPtr(np.array([-2.0]))
    contact = sk.Interaction(sk.NewtonImpactNSL(0.5), sk.LagrangianLinearTIR(np.array([[1.0]])))
    return ds, [contact], sk.LCP(sn.SICONOS_LCP_LEMKE)


def falling_block(speed):
    """Coordinates (x, y, theta), both lower corners 0.01 m above the ground."""
    ds = sk.LagrangianLinearTIDS([0.0, B + 0.01, 0.0], [speed, 0.0, 0.0], np.diag([M, M, J]))
    ds.setFExtPtr(np.array([0.0, -M * G, 0.0]))
    return ds


def block():
    """Frictionless, restitution 0: g = y +- a theta - b."""
    contacts = [
        sk.Interaction(
            sk.NewtonImpactNSL(0.0),
            sk.LagrangianLinearTIR(np.array([[0.0, 1.0, side]]), np.array([-B])),
        )
        for side in (A, -A)
    ]
    return falling_block(0.0), contacts, sk.LCP(sn.SICONOS_LCP_LEMKE)


def block_friction():
    """Coulomb friction; slides from 6 m/s, then sticks. Rows: normal, tangential."""
    contacts = [
        sk.Interaction(
            sk.NewtonImpactFrictionNSL(0.0, 0.0, MU, 2),
            sk.LagrangianLinearTIR(np.array([[0.0, 1.0, side], [1.0, 0.0, B]]), np.array([-B, 0.0])),
        )
        for side in (A, -A)
    ]
    return falling_block(6.0), contacts, sk.FrictionContact(2)


CASES = {"ball": ball, "block": block, "block-friction": block_friction}


def run(model, steps, tolerance):
    """Steps a fresh model `steps` times; returns CPU seconds, the state and the solver options."""
    ds, contacts, problem = model()
    if tolerance is not None:
        problem.numericsSolverOptions().dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    # Half a step of margin: the last event is then exactly number `steps`.
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * H)
    nsds.insertDynamicalSystem(ds)
    for contact in contacts:
        nsds.link(contact, ds)
    simulation = sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, H), sk.MoreauJeanOSI(THETA), problem)
    start = time.process_time()
    simulation.run()
    seconds = time.process_time() - start
    if abs(simulation.startingTime() - steps * H) > 0.1 * H:
        sys.exit(f"expected {steps} steps, stopped at t = {simulation.startingTime()}")
    state = {"q": [float(x) for x in ds.q()], "v": [float(x) for x in ds.velocity()]}
    return seconds, state, problem.numericsSolverOptions()


def measure(model, steps, runs, tolerance):
    _, early, _ = run(model, EARLY, tolerance)
    best = float("inf")
    for _ in range(runs):
        seconds, final, options = run(model, steps, tolerance)
        best = min(best, seconds)
    return {
        "steps": steps,
        "cpu_seconds": best,
        "steps_per_cpu_second": steps / best,
        "solver": sn.solver_options_id_to_name(options.solverId),
        "tolerance": options.dparam[sn.SICONOS_DPARAM_TOL],
        "early": early,
        "final": final,
    }


def package_version():
    """The Debian version: the module's own `siconos.version` names the next release."""
    query = ["dpkg-query", "-W", "-f=${Version}", "python3-siconos"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20000, help="steps per run")
    parser.add_argument("--runs", type=int, default=25, help="runs per case, the best counts")
    parser.add_argument("--tolerance", type=float, help="solver tolerance; Siconos' default if not given")
    parser.add_argument("cases", nargs="*", help=f"any of {', '.join(CASES)}; all if none is given")
    args = parser.parse_args()
    names = args.cases or list(CASES)
    for name in names:
        if name not in CASES:
            parser.error(f"unknown case {name}: choose from {', '.join(CASES)}")
    cases = {name: measure(CASES[name], args.steps, args.runs, args.tolerance) for name in names}
    json.dump({"siconos": package_version(), "cases": cases}, REPORT, indent=1)
    REPORT.write("\n")
    REPORT.close()


if __name__ == "__main__":
    main()
