#!/usr/bin/python3
"""Races `nonsmooth` against the solvers of packaged Siconos on all friction problems below a folder: see README.md."""
import argparse
import dataclasses
import datetime
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

for name in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[name + "_NUM_THREADS"] = "1"

import peer  # noqa: E402  (the threads first)
import problems  # noqa: E402

#: A solver of Siconos is given up when it takes this many times as long as its fastest so far, but not before a second.
PATIENCE, SHORTEST = 20.0, 1.0
#: How many of its fastest run again, in turns with ours, and how often.
FINALISTS, ROUNDS = 3, 3


def say(text):
    print(text, file=sys.stderr, flush=True)


class Ours:
    """The command on one file."""

    def __init__(self, command, path, tolerance, limit):
        self.command, self.path, self.limit = command, path, limit
        self.common = ["--tol", repr(tolerance), "--time-limit", repr(limit), "--json"]
        self.seconds = self.residual = self.solver = self.error = self.whole = self.own_residual = None
        self.repetitions = 0

    def call(self, *arguments):
        try:
            done = subprocess.run([self.command, *arguments, *self.common], capture_output=True, text=True,
                                  timeout=10 * self.limit + 60)
            return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}
        except (subprocess.TimeoutExpired, ValueError) as error:
            return {"error": type(error).__name__}

    def solve(self, problem):
        """The answer that counts, judged as those of the others are."""
        start = time.perf_counter()
        answer = self.call("solve", str(self.path), "--solver", "auto")
        self.whole = time.perf_counter() - start
        if "error" in answer:
            self.error = answer["error"]
            return
        self.solver, self.own_residual, self.seconds = answer["solver"], answer["residual"], answer["seconds"]
        self.residual = problem.residual(answer["r"])
        self.repetitions = 1

    def again(self, folder):
        """`race` on a folder with copies of the file: the same solve, repeated in one process as those of the others are."""
        for problem in self.call("race", str(folder), "--solvers", "auto").get("problems") or []:
            for run in problem["runs"]:
                if run["status"] == "solved":
                    self.seconds = min(self.seconds, run["seconds"])
                    self.repetitions += 1

    def solved(self, tolerance):
        return self.residual is not None and self.residual <= tolerance and self.seconds <= self.limit


def race(path, name, arguments):
    problem = problems.read(path)
    rows, tolerance = len(problem.q), arguments.tol
    ours = Ours(arguments.command, path, tolerance, arguments.time_limit)
    ours.solve(problem)
    say(f"{name}: {problem.contacts} contacts, {rows} rows; ours {ours.seconds} s, residual {ours.residual} {ours.error or ''}")

    # All for a short time first: the fastest then says how long the others may take.
    runs, fastest = {}, math.inf
    for limit in (SHORTEST, None):
        limit = min(arguments.time_limit, limit or max(SHORTEST, PATIENCE * fastest))
        for solver in filter(lambda solver: solver.suits(problem), peer.solvers()):
            storages = solver.storages(rows)
            for storage in storages:
                first, known = (runs.get((solver.name, s)) for s in (storages[0], storage))
                if known and (known["outcome"] != "time-out" or known["limit"] >= limit):
                    continue
                if storage != storages[0] and first["outcome"] == "time-out" and not solver.factorises:
                    continue
                answer = peer.attempt(problem, solver, storage, tolerance, limit)
                runs[solver.name, storage] = {"solver": solver.name, "storage": storage, "limit": limit, **dataclasses.asdict(answer)}
                if answer.outcome == "solved":
                    fastest = min(fastest, answer.seconds)
                if arguments.verbose:
                    say(f"    {solver.name}, {storage}: {answer.outcome} {answer.seconds} s of {limit:.3g}, {answer.residual}")
    runs = list(runs.values())

    final(problem, ours, runs, arguments)
    solved = [run for run in runs if run["outcome"] == "solved"]
    best = min(solved, key=lambda run: run["seconds"], default=None)
    done = ours.solved(tolerance)
    result = {
        "file": name, "form": "global" if problem.parts else "local", "dimension": problem.dimension,
        "contacts": problem.contacts, "rows": rows,
        "ours": {key: getattr(ours, key) for key in (
            "solver", "seconds", "residual", "own_residual", "repetitions", "whole", "error")} | {"solved": done},
        "best": best,
        "solvers_solved": len({run["solver"] for run in solved}), "solvers_tried": len({run["solver"] for run in runs}),
        "ratio": best["seconds"] / ours.seconds if best and done else None,
        "runs": runs,
    }
    say("    " + row(result))
    return result


def final(problem, ours, runs, arguments):
    """The fastest of Siconos and ours in turns, so that a slow spell of the machine meets both."""
    solved = sorted((run for run in runs if run["outcome"] == "solved"), key=lambda run: run["seconds"])
    by_name = {solver.name: solver for solver in peer.solvers()}
    count = peer.repetitions(solved[0]["seconds"]) if solved else 3
    if solved and solved[0]["seconds"] >= 1.0:
        solved = solved[:1]
    with tempfile.TemporaryDirectory() as folder:
        for k in range(count):
            shutil.copy(ours.path, f"{folder}/{k}")
        if ours.solved(arguments.tol):
            ours.again(folder)
        for _ in range(ROUNDS):
            for run in solved[:FINALISTS]:
                answer = peer.solve(problem, by_name[run["solver"]], run["storage"], run["tolerance"], run["limit"], count)
                if answer.residual is not None and answer.residual <= arguments.tol:
                    run["seconds"] = min(run["seconds"], answer.seconds)
                    run["repetitions"] += answer.repetitions
            if ours.solved(arguments.tol):
                ours.again(folder)


# What is printed

def milliseconds(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.3g}"


def exponent(value):
    return "-" if value is None else f"{value:.0e}"


HEAD = ("| problem | form | contacts | ours | ms | residual | fastest of Siconos | ms | residual | solved | ratio |\n"
        "|---|---|---:|---|---:|---:|---|---:|---:|---:|---:|")


def row(result):
    ours, best = result["ours"], result["best"]
    ratio = "lost" if not ours["solved"] else "-" if best is None else f"{result['ratio']:.2f}"
    theirs = (f"{best['solver']}, {best['storage']}", milliseconds(best["seconds"]), exponent(best["residual"])) if best else ("none", "-", "-")
    what = (ours["solver"] or "-") if ours["solved"] else "UNSOLVED"
    cells = (result["file"], f"{result['dimension']}D {result['form']}", result["contacts"], what, milliseconds(ours["seconds"]),
             exponent(ours["residual"]), *theirs, f"{result['solvers_solved']}/{result['solvers_tried']}", ratio)
    return "| " + " | ".join(map(str, cells)) + " |"


def head(arguments):
    version = peer.version()
    own = subprocess.run([arguments.command, "--version"], capture_output=True, text=True).stdout.strip()
    names = [solver.name for solver in peer.solvers()]
    return "\n".join([
        f"# Race of solvers, {datetime.date.today()}", "",
        f"- ours: {own}, `auto`; peer: packaged Siconos {'.'.join(version.split('.')[:2])} ({version}; Debian builds it with assertions on)",
        f"- tolerance {arguments.tol:g} of the relative residual in unit scaling, computed here for both; one thread",
        f"- time-out {arguments.time_limit:g} s; of a solver of Siconos {PATIENCE:g} times its fastest so far, if that is less, but not less than {SHORTEST:g} s",
        f"- {len(names)} solvers of Siconos: {', '.join(names)}",
    ])


def summary(results, skipped):
    lines = []
    both = [r for r in results if r["ratio"] is not None]
    if both:
        mean = math.exp(sum(math.log(r["ratio"]) for r in both) / len(both))
        least = min(both, key=lambda r: r["ratio"])
        lines.append(f"ratio = time of its fastest / time of ours. Geometric mean over {len(both)} problems: {mean:.2f}; "
                     f"smallest: {least['ratio']:.2f} ({least['file']}).")
    alone = [r["file"] for r in results if r["ours"]["solved"] and r["best"] is None]
    lost = [r["file"] for r in results if not r["ours"]["solved"]]
    nobody = [f for f in lost if next(r for r in results if r["file"] == f)["best"] is None]
    lines.append(f"Solved by ours alone: {len(alone)}{listed(alone)}; not by ours: {len(lost)}{listed(lost)}; by nobody: {len(nobody)}{listed(nobody)}.")
    lines += ["", "| solver of Siconos | solved | tried | fastest | crashed | time-out | says solved, is not | gives up |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for solver in dict.fromkeys(run["solver"] for r in results for run in r["runs"]):
        tried = [[run for run in r["runs"] if run["solver"] == solver] for r in results]
        tried = [runs for runs in tried if runs]
        fastest = sum(r["best"] is not None and r["best"]["solver"] == solver for r in results)
        # Of several storages the best outcome counts.
        order = ["solved", "not accurate", "said no", "time-out", "crashed"]
        worst = [min((run["outcome"] for run in runs), key=order.index) for runs in tried]
        counts = [worst.count(outcome) for outcome in ("crashed", "time-out", "not accurate", "said no")]
        lines.append("| " + " | ".join(map(str, (solver, worst.count("solved"), len(tried), fastest, *counts))) + " |")
    if skipped:
        lines += ["", f"Left out, {len(skipped)} files that are no friction problem:"] + [f"- {name}: {why}" for name, why in skipped]
    return "\n".join(lines)


def listed(names):
    return f" ({', '.join(names)})" if names else ""


def main():
    parser = argparse.ArgumentParser(description="Races nonsmooth against packaged Siconos on friction problems.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds for each solve")
    parser.add_argument("--only", default="", metavar="NAME", help="only files with this in their name")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="everything")
    parser.add_argument("--verbose", action="store_true", help="every solve, on standard error")
    parser.add_argument("--command", required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"{arguments.folder} is not a folder")

    print(head(arguments), "", HEAD, sep="\n", flush=True)
    results, skipped = [], []
    for path in sorted(p for p in arguments.folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        name = str(path.relative_to(arguments.folder))
        if arguments.only not in name:
            continue
        try:
            results.append(race(path, name, arguments))
            print(row(results[-1]), flush=True)
        except problems.NotFriction as error:
            skipped.append((name, str(error)))
        except Exception as error:  # one file must not end the race
            say(f"{name}: {error!r}")
            skipped.append((name, repr(error)))
        if arguments.json:
            everything = {"date": str(datetime.date.today()), "tolerance": arguments.tol, "time_limit": arguments.time_limit,
                          "siconos": peer.version(), "problems": results, "skipped": dict(skipped)}
            arguments.json.write_text(json.dumps(everything, indent=1) + "\n")
    print("\n" + summary(results, skipped))
    if not results:
        sys.exit("no friction problem was found")


if __name__ == "__main__":
    main()
