"""Pictures of the scheme trapezoidal-lcp: figures 2, 4, 6 and 7 and table 10.1 of Potra, Anitescu, Gavrea & Trinkle
(2006), the block's errors over the step and Painleve's sliding rod, from runs of the tool.

    python3 docs/pictures/trapezoidal.py target/release/nonsmooth

run from the project's root, writes trapezoidal-*.svg beside this file, the same bytes every time. Needs numpy.
"""
import json, sys
import numpy as np
import drawing
from drawing import BLACK, BLUE, DASH, DOTS, GREEN, GREY, RED, SLOPES, Panel, Picture, call

TABLE = 2.38e-3, 6.14e-4, 1.54e-4, 3.95e-5, 1.01e-5, 2.42e-6, 6.15e-7  # E_h of table 10.1, h = 2^-5 .. 2^-11
BLOCK = 2.99130283311503  # exact x of the block at t = 10 s, m
THREE = (BLUE,), (RED, DASH), (GREEN, DOTS)


def run(scene, step, end, *settings):
    return drawing.run(scene, "trapezoidal-lcp", step, end, *(f"--set={s}" for s in settings))


def pendulum():
    legend = {"upper bob, x₁": (BLUE,), "lower bob, x₂": (RED, DASH), "energy": (GREEN,)}
    p = Picture("trapezoidal-pendulum", 310, "Double pendulum and a wall: positions and energy, h = 1/256 s", legend)
    r, time = run("double_pendulum_wall", 2 ** -8, 2.5, "scheme.stabilise=none"), ("t (s)", 0, 2.5, np.arange(6) / 2)
    a = Panel(p, (70, 64, 270, 195), "Distance from the wall", time, ("x (m)", -0.1, 1.6, (0, 0.5, 1, 1.5)))
    a.level(0)
    a.line(r["t"], r["q"][:, 0], BLUE)
    a.line(r["t"], r["q"][:, 2], RED, DASH)
    axis = "E (J)", -30.5, -16.5, range(-30, -16, 2)
    a = Panel(p, (430, 64, 270, 195), "Energy; dotted: at start, at rest", time, axis)
    a.level(r["energy"][0], -3 * 9.81)
    a.line(r["t"], r["energy"], GREEN)
    return p


def block():
    legend = {"only collisions located": (RED, None, RED), "all events located (the default)": (BLUE, DASH, "none")}
    p = Picture("trapezoidal-block", 480, "Block sliding on a table, h = 0.01 s: variants I and II", legend)
    time = "t (s)", 0, 10, range(0, 11, 2)
    for row, variant in enumerate(("I", "II")):
        box = lambda left: (left, 64 + 212 * row, 160, 145)
        whole = Panel(p, box(70), f"Variant {variant}: position", time, ("x - 3 m (mm)", -10, 6, range(-10, 6, 5)))
        rate = Panel(p, box(303), f"Variant {variant}: velocity", time, ("x' (mm/s)", -45, 45, range(-40, 41, 20)))
        axes = ("t (s)", 0.32, 0.51, (0.35, 0.4, 0.45, 0.5)), ("x' (mm/s)", -1, 3, range(-1, 4))
        late = Panel(p, box(536), "detail, mark per step", *axes)
        for detection, style in zip(("collisions", "all"), legend.values()):
            r = run("sliding_block", 1e-2, 10, f"scheme.variant={variant}", f"scheme.detection={detection}")
            t, x, u = r["t"], 1e3 * (r["q"][:, 0] - 3), 1e3 * r["u"][:, 0]
            whole.line(t, x, *style[:2])
            rate.line(t, u, *style[:2], width=1.2)
            near = (t > 0.3299) & (t < 0.5001)
            late.line(t[near], u[near], *style, width=1.2)
    return p


def carts():
    names = *(f"above: δ = 10{n} N s/m" for n in "²³⁶"), *(f"below: γ = 10{n} N/m" for n in "²⁴⁶")
    legend = dict(zip(names, THREE * 2))
    p = Picture("trapezoidal-carts", 500, "Two carts, h = 0.01 s: stiff dampers, stiff springs", legend)
    box, time = lambda column, row: (70 + 233 * column, 84 + 212 * row, 160, 145), ("t (s)", 0, 4, range(5))
    panels = [Panel(p, box(column, 0), *axes) for column, axes in enumerate((
        ("Distance, γ = 10² N/m", time, ("x₂ - x₁ (m)", 4.96, 5.004, (4.96, 4.97, 4.98, 4.99, 5))),
        ("δ (x₂ - x₁ - 5 m)", time, ("N s", -4, 0.4, range(-4, 1))),
        ("Energy", time, ("E (J)", -0.2, 5, range(6)))))]
    for delta, style in zip((1e2, 1e3, 1e6), THREE):
        r = run("two_carts", 1e-2, 4, "parameters.gamma=100", f"parameters.delta={delta}")
        distance = r["q"] @ [-1, 1]
        for a, y in zip(panels, (distance, delta * (distance - 5), r["energy"])):
            a.line(r["t"], y, *style)
    time, short = ("t (s)", 0, 2, (0, 0.5, 1, 1.5, 2)), ("t (s)", 0, 0.2, (0, 0.05, 0.1, 0.15, 0.2))
    panels = [Panel(p, box(column, 1), *axes) for column, axes in enumerate((
        ("Left cart, δ = 10 N s/m", time, ("x₁ - 0.2 m (cm)", -22, 11, range(-20, 11, 10))),
        ("√γ (x₁ - 0.2 m)", short, ("√J", -3.4, 3.4, range(-3, 4))),
        ("Energy", time, ("E (J)", -0.4, 10, range(0, 11, 2)))))]
    for gamma, style in zip((1e2, 1e4, 1e6), THREE):
        settings = "parameters.delta=10", f"parameters.gamma={gamma}", "initial.q=[0.2,5.2]", "initial.u=[-3,-3]"
        r = run("two_carts", 1e-2, 2, *settings)
        x = r["q"][:, 0] - 0.2
        for a, y in zip(panels, (100 * x, np.sqrt(gamma) * x, r["energy"])):
            a.line(r["t"], y, *style, width=1.4)
    return p


def orders():
    legend = {"variant I": (RED, DASH, "#fff"), "variant II": (BLUE, None, "#fff"),
              "II, events = basis": (GREEN, "1 2", GREEN)} | SLOPES
    p = Picture("trapezoidal-orders", 330, "Trapezoidal LCP scheme: errors over the step", legend)
    (first, second, basis), axis = list(legend.values())[:3], ("h (s)", -3.5, -1.3, (-3, -2))
    h = [2.0 ** -k for k in range(5, 12)]
    error = "error of q (m)", -7, 0, range(-7, 1)
    a = Panel(p, (70, 64, 270, 215), "Double pendulum, t = 2.5 s", axis, error, log=True)
    a.slopes((h[0], h[-1]), 3e-1, 8e-3)

    def swing(h, variant):
        return run("double_pendulum_wall", h, 2.5, "scheme.stabilise=none", f"scheme.variant={variant}")["q"][-1]

    coarse, fine = (swing(2.0 ** -k, "II") for k in (15, 16))
    exact = fine + (fine - coarse) / 3  # Richardson, order 2
    for variant, style in ("I", first), ("II", second):
        a.line(h, [np.linalg.norm(swing(step, variant) - exact) for step in h], *style)
    for x, y in [*a.place(h, TABLE), *a.place(10 ** -2.75, 10 ** -6.6)]:
        for d in 5, -5:
            p.line([(x - 5, y - d), (x + 5, y + d)], BLACK, width=1.2)
    a.note(10 ** -2.68, 10 ** -6.75, "Potra et al., table 10.1")
    error = "|x - x(10 s)| (m)", -8, -3, range(-8, -2)
    a = Panel(p, (430, 64, 270, 215), "Sliding block, t = 10 s", axis, error, log=True)
    a.slopes((h[0], h[-1]), 4e-4, 2e-4)
    for events, style in ("basis", basis), ("continuous", second):
        x = [run("sliding_block", step, 10, f"scheme.events={events}")["q"][-1, 0] for step in h]
        a.line(h, np.abs(np.array(x) - BLOCK), *style)
    return p


def rod():
    legend = {"tip: slip": (BLUE,), "tip: normal": (RED, DASH), "x' (m/s)": (GREEN,), "y' (m/s)": (BLACK, DASH),
              "θ' (rad/s)": (GREY, DOTS)}
    p = Picture("trapezoidal-rod", 580, "Painlevé's sliding rod: an impulse without collision, h = 1e-4 s", legend)
    r = run("painleve_rod", 1e-4, 0.6)
    t, (_, y, angle), (vx, vy, turn) = r["t"], r["q"].T, r["u"].T
    slip, normal = vx + 0.5 * np.sin(angle) * turn, vy - 0.5 * np.cos(angle) * turn
    time, styles = ("t (s)", -0.03, 0.61, np.arange(7) / 10), list(legend.values())
    tip = Panel(p, (70, 64, 270, 195), "Velocity of the tip", time, ("v (m/s)", -1.1, 0.2, (-1, -0.5, 0)))
    axes = ("t (s)", 0.569, 0.601, (0.57, 0.58, 0.59, 0.6)), ("v (mm/s)", -2, 18, range(0, 16, 5))
    late = Panel(p, (430, 64, 270, 195), "Velocity of the tip, last 0.03 s", *axes)
    for v, style in zip((slip, normal), styles):
        tip.line(t, v, *style)
        late.line(t[t > 0.5699], 1e3 * v[t > 0.5699], *style)
    tip.line(t[:1], slip[:1], BLUE, None, BLUE)
    tip.note(0.015, -0.87, "t = 0: slip jumps from -1 m/s to 0")
    events = call("run", "painleve_rod", "--scheme=trapezoidal-lcp", "--step=1e-4", "--end=0.6", "--json")
    onset = next(e["t"] for e in json.loads(events)["events"] if e["kind"] == "slip")
    late.note(0.571, 8, f"slips from t = {onset:.4f} s")
    a = Panel(p, (70, 330, 270, 195), "Height of the centre", time, ("y (m)", 0.18, 0.47, (0.2, 0.3, 0.4)))
    a.line(t, y, BLACK)
    a = Panel(p, (430, 330, 270, 195), "Velocities of the centre", time, ("x', y', θ'", -4.2, 1.6, range(-4, 2)))
    for v, style in zip((vx, vy, turn), styles[2:]):
        a.line(t, v, *style)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for picture in pendulum(), block(), carts(), orders(), rod():
        picture.write()
