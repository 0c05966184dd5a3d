#!/usr/bin/env python3
"""Fingerprints of runs: every bundled scene with every scheme, one line each.

Usage: benches/bits.py PROGRAM > FILE; the same with another build; diff FILE OTHER.

A line has a hash of all that `nonsmooth run --json` prints (end state, events, percussions, ledger, work) but for times of the clock, or what
the command said instead. Scenes of many discs run with 100 of them and a short end; `--full NAME` runs one as it is.
"""

import hashlib
import json
import subprocess
import sys

# Scenes that are too long as they are: fewer bodies, nodes or a shorter end.
SHORTER = {
    "disc_pile": ["--set", "parameters.number=100", "--end", "0.4"],
    "mixing_disks": ["--set", "parameters.number=100", "--set", "parameters.drum=0.32", "--end", "0.3"],
    "impacting_bar": ["--end", "2e-4"],
    "slider_crank": ["--end", "0.02"],
    "slider_crank_joints": ["--end", "0.01"],
}
LIMIT = 120  # s


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=LIMIT)


def fingerprint(program, scene, scheme, shorter):
    try:
        done = run(program, "run", scene, "--scheme", scheme, "--json", *shorter)
    except subprocess.TimeoutExpired:
        return f"longer than {LIMIT} s"
    if done.returncode == 2:
        return "refused: " + " ".join(done.stderr.split())
    result = json.loads(done.stdout)
    result["work"].pop("wall_seconds")
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]
    return f"{digest} {result['status']} {result['work']['scheme_calls']} calls"


def main():
    program, *rest = sys.argv[1:]
    listed = lambda what: [entry["name"] for entry in json.loads(run(program, "list", what, "--json").stdout)[what]]
    full = rest[1] if rest[:1] == ["--full"] else None
    for scene in [full] if full else listed("examples"):
        for scheme in listed("schemes"):
            shorter = [] if full else SHORTER.get(scene, [])
            print(scene, scheme, fingerprint(program, scene, scheme, shorter), flush=True)


main()
