"""Pictures of the schemes projected-direct and projected-combined: figures of Acary (2013), from runs of the tool.

    python3 docs/pictures/projected.py target/release/nonsmooth

run from the project's root, writes projected-*.svg beside this file, the same bytes every time. Needs numpy.
"""
import json, sys
import numpy as np
from drawing import BLACK, BLUE, DASH, DOTS, GREEN, GREY, PURPLE, RED, SLOPES, Panel, Picture, call, errors, run

COMBINED, DIRECT, FREE, MOREAU = (BLUE,), (RED, DASH), (GREEN, "1 2"), (BLACK, "8 3 2 3")
SCHEMES = {  # of the ball: title, scheme and its options
    "direct, γ = 0": ("projected-direct", "--set", "scheme.gamma=0"),
    "direct, γ = 1": ("projected-direct", "--set", "scheme.gamma=1"),
    "direct, γ = 2": ("projected-direct", "--set", "scheme.gamma=2"),
    "direct, free forecast": ("projected-direct", "--set", "scheme.forecast=free"),
    "combined": ("projected-combined",),
}


def ball(scheme, step, end, *options):
    return run("bouncing_ball", scheme[0], step, end, *scheme[1:], *options)


def window(r, start, *arrays):
    """Times from start on, and the values of the arrays there."""
    late = r["t"] > start - 1e-9
    return r["t"][late], *(a[late] for a in arrays)


def chatter():
    legend = {"height q": (BLUE,), "velocity u": (RED,), "one mark per step": (GREY, None, GREY)}
    p = Picture("projected-chatter", 906, "Bouncing ball with the projected schemes: bounces, and what follows", legend)
    for row, (title, scheme) in enumerate(SCHEMES.items()):
        r, top, label = ball(scheme, 5e-2, 5), 64 + 172 * row, "t (s)"
        q, u = r["q"][:, 0], r["u"][:, 0]
        axes = (label, 0, 5, range(6)), ("q (m), u (m/s)", -2.3, 1.3, (-2, -1, 0, 1))
        a = Panel(p, (62, top, 230, 104), title, *axes)
        a.line(r["t"], q, BLUE)
        a.line(r["t"], u, RED)
        late = label, 4.475, 5.025, (4.5, 4.75, 5)
        t, q, u = window(r, 4.5, q, u)
        a = Panel(p, (362, top, 140, 104), "q, last 0.5 s", late, ("q (mm)", -0.2, 1.1, (0, 0.5, 1)))
        a.line(t, 1e3 * q, BLUE, None, BLUE)
        a = Panel(p, (572, top, 138, 104), "u, last 0.5 s", late, ("u (m/s)", -0.16, 0.1, (-0.1, 0, 0.1)))
        a.line(t, u, RED, None, RED)
    return p


def energy():
    legend = {"direct, γ = 0": DIRECT, "direct, free forecast": FREE, "combined": COMBINED, "Moreau–Jean": MOREAU}
    p = Picture("projected-energy", 580, "Bouncing ball with the projected schemes: energy", legend)
    schemes = {**SCHEMES, "Moreau–Jean": ("moreau-jean",)}
    axis = "E (J)", 0, 2.3, (0, 0.5, 1, 1.5, 2)
    whole = Panel(p, (70, 64, 270, 195), "e = 0.5, h = 0.05 s", ("t (s)", 0, 5, range(6)), axis)
    late = ("t (s)", 2.5, 5, (2.5, 3, 3.5, 4, 4.5, 5)), ("E (mJ)", -26, 42, range(-20, 41, 10))
    late = Panel(p, (430, 64, 270, 195), "The same, from t = 2.5 s", *late)
    elastic = [Panel(p, (left, 330, 270, 195), f"e = 1, h = {h} s", ("t (s)", 0, 20, range(0, 21, 5)), axis)
               for left, h in ((70, 0.05), (430, 0.048))]
    for title, style in legend.items():
        r = ball(schemes[title], 0.05, 5)
        whole.line(r["t"], r["energy"], *style)
        t, e = window(r, 2.5, r["energy"])
        late.line(t, 1e3 * e, *style)
        for a, h in zip(elastic, (0.05, 0.048)):
            r = ball(schemes[title], h, 20, "--set", "parameters.e_N=1")
            a.line(r["t"], r["energy"], *style)
            if style == DIRECT:
                a.note(1, 2.13, f"direct, γ = 0: {r['energy'][-1]:.3f} J; free forecast: 2 J")
    return p


def block():
    legend = {"corner A, y'": (BLUE,), "corner B, θ'": (RED, DASH), "energy": (GREEN,)}
    p = Picture("projected-block", 806, "Rocking block with the projected schemes", legend)
    time = "t (s)", 0, 2, (0, 0.5, 1, 1.5, 2)
    for left, scheme in (70, "direct"), (430, "combined"):
        r = run("rocking_block", f"projected-{scheme}", 1e-2, 2)
        (_, y, angle), u = r["q"].T, r["u"]
        corners = [y - 0.75 * np.cos(angle) + side * 0.5 * np.sin(angle) for side in (1, -1)]
        axes = time, ("g (m)", -0.02, 0.4, (0, 0.2, 0.4))
        gaps = Panel(p, (left, 64, 270, 120), f"{scheme}: gaps of the corners", *axes)
        axes = ("t (s)", 1.895, 2.005, (1.9, 1.95, 2)), ("g (mm)", -0.2, 1.2, (0, 0.5, 1))
        late = Panel(p, (left, 256, 270, 120), "gaps, last 0.1 s, one mark per step", *axes)
        for gap, style, fill in zip(corners, ((BLUE, None), (RED, DASH)), (BLUE, "#fff")):
            gaps.line(r["t"], gap, *style)
            t, gap = window(r, 1.9, gap)
            late.line(t, 1e3 * gap, *style, fill)
        axes = time, ("y' (m/s), θ' (rad/s)", -3.2, 2.2, range(-3, 3))
        a = Panel(p, (left, 448, 270, 120), "velocities", *axes)
        a.line(r["t"], u[:, 1], BLUE)
        a.line(r["t"], u[:, 2], RED, DASH)
        axes = time, ("E (J)", 7, 10.2, range(7, 11))
        a = Panel(p, (left, 640, 270, 120), "energy; dotted: at start, at rest", *axes)
        a.level(9.81 * 0.75, r["energy"][0])
        a.line(r["t"], r["energy"], GREEN)
        a.note(0.55, 9.3, f"highest {r['energy'].max():.3f} J, last {r['energy'][-1]:.4f} J")
    return p


def bar():
    legend = {"combined": COMBINED, "exact": (GREY, DOTS)}
    p, exact = Picture("projected-bar", 806, "Impacting bar, N = 1000, combined scheme", legend), legend["exact"]
    v0, plateau = 0.1, 210e9 * np.pi * 1e-4 * 0.1 / np.sqrt(210e9 / 7800)
    end, ms = 2 / np.sqrt(210e9 / 7800), ("t (ms)", 0, 0.8, (0, 0.2, 0.4, 0.6, 0.8))
    for left, h, theta in (66, "2e-6", "1/2"), (294, "2e-7", "1/2"), (522, "2e-7", "1"):
        options = "--set", "parameters.elements=1000", "--set", f"scheme.theta={1 / int(theta[-1])}"
        r = run("impacting_bar", "projected-combined", h, 8e-4, *options)
        t, force_t = 1e3 * r["t"], 1e3 * r["force_t"]
        box, name = lambda top: (left, top, 180, 120), lambda label: label if left == 66 else ""
        a = Panel(p, box(64), f"h = {h} s, θ = {theta}", ms, (name("q (µm)"), -4, 46, range(0, 41, 10)))
        a.line(t, 1e6 * r["q"][:, 0], *COMBINED)
        a.line([0, 1e3 * end, 0.8], [0, 0, 1e6 * v0 * (8e-4 - end)], *exact)
        a = Panel(p, box(256), "velocity of the tip", ms, (name("u (m/s)"), -0.12, 0.18, (-0.1, 0, 0.1)))
        a.line(t, r["u"][:, 0], *COMBINED, width=1)
        a.line([0, 0, 1e3 * end, 1e3 * end, 0.8], [-v0, 0, 0, v0, v0], *exact)
        axes = ("t (ms)", 0, 0.05, (0, 0.02, 0.04)), (name("r (N)"), 1000, 1500, range(1000, 1501, 100))
        first = Panel(p, box(640), "force, first 0.05 ms", *axes)
        for a in Panel(p, box(448), "contact force P/h", ms, (name("r (N)"), -60, 1560, range(0, 1501, 500))), first:
            a.line(force_t, r["force"][:, 0], *COMBINED, width=1.2)
            a.line([0, 0, 1e3 * end, 1e3 * end, 0.8], [0, plateau, plateau, 0, 0], *exact)
        first.note(0.017, 1425, f"largest {r['force'].max():.0f} N")
    return p


def trapezoid():
    legend = {"θ-method on position level": (RED,), "exact": (GREY, DOTS)}
    title = "Impacting bar, N = 1000, h = 2e-6 s: the trapezoidal rule with the gap on position level, a contrast"
    p, exact = Picture("projected-trapezoid", 246, title, legend), legend["exact"]
    v0, plateau = 0.1, 210e9 * np.pi * 1e-4 * 0.1 / np.sqrt(210e9 / 7800)
    end, ms = 2 / np.sqrt(210e9 / 7800), ("t (ms)", 0, 0.8, (0, 0.2, 0.4, 0.6, 0.8))
    r = run("impacting_bar", "position-theta", "2e-6", 8e-4)
    t = 1e3 * r["t"]
    a = Panel(p, (66, 64, 180, 130), "position of the tip", ms, ("q (µm)", -4, 46, range(0, 41, 10)))
    a.line(t, 1e6 * r["q"][:, 0], RED)
    a.line([0, 1e3 * end, 0.8], [0, 0, 1e6 * v0 * (8e-4 - end)], *exact)
    a = Panel(p, (308, 64, 180, 130), "velocity of the tip", ms, ("u (m/s)", -0.35, 0.35, (-0.2, 0, 0.2)))
    a.line(t, r["u"][:, 0], RED, width=0.7)
    a.line([0, 0, 1e3 * end, 1e3 * end, 0.8], [-v0, 0, 0, v0, v0], *exact)
    a = Panel(p, (556, 64, 154, 130), "contact force P/h", ms, ("r (N)", -200, 3000, range(0, 3001, 1000)))
    a.line(1e3 * r["force_t"], r["force"][:, 0], RED, width=0.7)
    a.line([0, 0, 1e3 * end, 1e3 * end, 0.8], [0, plateau, plateau, 0, 0], *exact)
    return p


def ring():
    legend = {"combined": COMBINED, "Moreau–Jean, θ = 1/2": MOREAU, "Moreau–Jean, θ = 0": (PURPLE, DASH)}
    p = Picture("projected-ring", 600, "Pendulum in a ring: gap between the tip of the pendulum and the ring", legend)
    landing = ("t (s)", 0.04, 0.05, (0.04, 0.042, 0.044, 0.046, 0.048, 0.05)), ("g (mm)", -0.6, 2.4, range(3))
    landing = Panel(p, (70, 64, 270, 195), "The tip lands; one mark per step", *landing)
    axes = ("t (s)", 0, 5, range(6)), ("g - g(0.05 s) (nm)", -60, 260, (0, 100, 200))
    drift = Panel(p, (430, 64, 270, 195), "Drift since t = 0.05 s, θ = 1/2", *axes)
    axes = ("t (s)", 0, 5, range(6)), ("g (mm)", -4.2, 1.2, range(-4, 2))
    whole = Panel(p, (70, 330, 630, 215), "All the time; dotted: outer side of a ring 2 mm thick", *axes)
    whole.level(-2)
    runs = ("projected-combined", 0.5), ("moreau-jean", 0.5), ("moreau-jean", 0)
    for (scheme, theta), style in zip(runs, legend.values()):
        r = run("pendulum_ring", scheme, 5e-4, 5, "--set", f"scheme.theta={theta}")
        (_, x, y, angle), a, t = r["q"].T, np.sqrt(0.6), r["t"]
        gap = 1 - np.hypot(x - a * np.sin(angle), y + a * np.cos(angle))
        whole.line(t, 1e3 * gap, *style)
        if theta:
            near = (t > 0.03995) & (t < 0.05005)
            landing.line(t[near], 1e3 * gap[near], *[*style, None][:2], "#fff" if scheme == "moreau-jean" else BLUE)
            t, gap = window(r, 0.05, gap)
            drift.line(t, 1e9 * (gap - gap[0]), *style, width=1.2)
    return p


def crank():
    legend = {"Moreau–Jean": (BLACK,), "direct": (RED,), "combined": COMBINED}
    p = Picture("projected-crank", 676, "Slider-crank mechanism with play, h = 1e-4 s", legend)
    schemes = "moreau-jean", "projected-direct", "projected-combined"
    for row, (scheme, (title, style)) in enumerate(zip(schemes, legend.items())):
        r, top = run("slider_crank", scheme, 1e-4, 0.1376), 64 + 212 * row
        (first, second, third), rates = r["q"].T, r["u"].T
        x, y = (0.153 * f(first) + 0.306 * f(second) for f in (np.cos, np.sin))
        rise = 0.153 * np.cos(first) * rates[0] + 0.306 * np.cos(second) * rates[1]
        normal = -rise + (0.05 * np.cos(third) + 0.025 * np.sin(third)) * rates[2]  # of corner 1
        axes = ("x (mm)", 140, 470, (150, 250, 350, 450)), ("y (mm)", -1.3, 1.3, (-1, 0, 1))
        a = Panel(p, (62, top, 240, 138), f"{title}: portrait", *axes)
        a.level(-1, 1)
        a.line(1e3 * x, 1e3 * y, *style, width=1.4)
        turns, late = first / (2 * np.pi), (first > 0.3 * np.pi) & (first < 0.5 * np.pi)
        axes = ("crank revolutions", 0, 0.25, (0, 0.1, 0.2)), ("g' of corner 1 (m/s)", -1, 0.5, (-1, -0.5, 0, 0.5))
        a = Panel(p, (364, top, 138, 138), "velocity", *axes)
        a.line(turns, normal, *style, width=1.4)
        axes = ("crank revolutions", 0.15, 0.25, (0.15, 0.2, 0.25)), ("g' (mm/s)", -30, 75, (-20, 0, 20, 40, 60))
        a = Panel(p, (562, top, 138, 138), "in detail", *axes)
        a.line(turns[late], 1e3 * normal[late], *style, width=1.4)
    return p


def orders():
    schemes = {
        "Schatzman–Paoli": ("schatzman-paoli", (PURPLE, DOTS, PURPLE)),
        "Moreau–Jean": ("moreau-jean", (BLACK, DASH, "#fff")),
        "direct": ("projected-direct", (RED, None, "#fff")),
        "combined": ("projected-combined", (BLUE, None, BLUE)),
    }
    legend = {title: style for title, (_, style) in schemes.items()} | {"slope 1": SLOPES["slope 1"]}
    p = Picture("projected-orders", 826, "Errors and largest multipliers over the step", legend)
    rows = ("bouncing_ball", "Ball", 5), ("linear_oscillator", "Oscillator", 10)
    names, norms = ",".join(name for name, _ in schemes.values()), ("q.l1", "q.l2", "q.sup")
    for row, (scene, title, end) in enumerate(rows):
        # 13 steps that divide the end, as Schatzman-Paoli needs them, and not the time of the first impact of the ball
        counts = np.geomspace(end / 2e-2, end / 2e-4, 13).round().astype(int)
        steps = [str(end / (n + (n % 5 == 0))) for n in counts.tolist()]
        table = errors(scene, names, ",".join(steps), "closed-form", norms=norms)
        for column, label in enumerate(("l1 (m s)", "l2 (m √s)", "sup (m)")):
            axes = ("h (s)", -4, -1.5, (-4, -3, -2)), ("" if column else "error of q", -5.3, -0.3, range(-5, 0))
            a = Panel(p, (66 + 228 * column, 64 + 262 * row, 180, 190), f"{title}: {label}", *axes, log=True)
            a.slopes((2e-2, 1.5e-4), 3e-1)
            for (h, *e), (_, style) in zip(table, schemes.values()):
                a.line(h, e[column], *style)
        axes = ("h (s)", -4, -1.5, (-4, -3, -2)), ("largest τ (m)", -5.3, -0.3, range(-5, 0))
        a = Panel(p, (66 + 364 * row, 588, 270, 190), f"{title}: largest multiplier τ", *axes, log=True)
        a.slopes((2e-2, 1.5e-4), 3e-1)
        for name, style in list(schemes.values())[2:]:
            done = [call("run", scene, f"--scheme={name}", f"--step={h}", f"--end={end}", "--json") for h in steps]
            a.line([float(h) for h in steps], [json.loads(d)["worst"]["multiplier"] for d in done], *style)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for picture in chatter(), energy(), block(), bar(), trapezoid(), ring(), crank(), orders():
        picture.write()
