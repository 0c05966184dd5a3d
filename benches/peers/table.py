#!/usr/bin/python3
"""Reads JSON objects of both sides from stdin and prints the comparison table.

Each object is {"siconos" or "nonsmooth": version, "cases": {name: result}}; of
several objects of one side the best rate per case counts.
"""
import json
import sys

SIDES = ("siconos", "nonsmooth")


def objects(text):
    decoder = json.JSONDecoder()
    text = text.strip()
    while text:
        item, end = decoder.raw_decode(text)
        yield item
        text = text[end:].lstrip()


def distance(ours, theirs, when, field):
    """Largest difference of a component, or `-` where a side does not report it."""
    if when not in ours or when not in theirs:
        return "-"
    pair = ours[when][field], theirs[when][field]
    if len(pair[0]) != len(pair[1]):
        sys.exit(f"the two sides report {when}.{field} with different lengths")
    return f"{max(abs(a - b) for a, b in zip(*pair)):.1e}"


def main():
    version, best = {}, {side: {} for side in SIDES}
    for item in objects(sys.stdin.read()):
        side = next((s for s in SIDES if s in item), None)
        if side is None:
            sys.exit(f"an object on stdin names neither of {SIDES}")
        version[side] = item[side]
        for name, case in item["cases"].items():
            known = best[side].get(name)
            if known is None or case["steps_per_cpu_second"] > known["steps_per_cpu_second"]:
                best[side][name] = case
    for side in SIDES:
        if side not in version:
            sys.exit(f"no result of {side} on stdin")

    release = ".".join(version["siconos"].split(".")[:2])
    print(f"Siconos:   packaged Siconos {release} (Debian builds it with assertions on), {version['siconos']}")
    print(f"nonsmooth: {version['nonsmooth']}")
    print("steps per CPU second, one thread, best of all runs; d = largest difference of the states")
    print("(early: after 1100 steps; final: after the last step; of a bar, those of its tip)\n")
    row = "{:<16}{:>8}{:>12}{:>12}{:>9}{:>11}{:>11}{:>11}{:>11}"
    print(row.format("case", "steps", "Siconos", "nonsmooth", "ratio", "early dq", "early dv", "final dq", "final dv"))
    for name, theirs in best["siconos"].items():
        ours = best["nonsmooth"].get(name)
        if ours is None:
            sys.exit(f"nonsmooth reports no case {name}")
        if ours["steps"] != theirs["steps"]:
            sys.exit(f"{name}: {theirs['steps']} steps against {ours['steps']}: not comparable")
        rates = theirs["steps_per_cpu_second"], ours["steps_per_cpu_second"]
        gaps = [distance(ours, theirs, when, field) for when in ("early", "final") for field in "qv"]
        print(row.format(name, theirs["steps"], f"{rates[0]:.3g}", f"{rates[1]:.3g}", f"{rates[1] / rates[0]:.1f}", *gaps))


if __name__ == "__main__":
    main()
