"""Pictures of the schemes tdg-minus (D⁻) and tdg-plus (D⁺): figures 5, 6 and 7 of Schindler & Acary (2014), the
polynomials about an impact, error over work, and the woodpecker toy, from runs of the tool.

    python3 docs/pictures/tdg.py target/release/nonsmooth

run from the project's root, writes tdg-*.svg beside this file, the same bytes every time. Needs numpy.
"""
import json, sys
import numpy as np
from drawing import BLACK, BLUE, DASH, DOTS, GREEN, GREY, PURPLE, RED, SLOPES, Panel, Picture, call, errors, run

MOREAU = "moreau-jean{theta=1,force=trapezoid}"
DEGREES = {f"D⁻, M = {m}": (f"tdg-minus{{degree={m}}}", style) for m, style in enumerate((
    (BLUE, None, BLUE), (RED, DASH, "#fff"), (GREEN, None, GREEN), (PURPLE, DASH, PURPLE)), 1)}
SMOOTH = {"Moreau–Jean, θ = 1": (MOREAU, (BLACK, DOTS, BLACK))} | DEGREES
UNITS = {"q": "m s", "u": "m", "p": "N s²"}  # of L1 errors
EVERY = "0.5,0.25,0.125,0.0625,0.03125,0.015625"


def legend_of(schemes):
    return {title: style for title, (_, style) in schemes.items()}


def draw(panel, x, error, style):
    """Errors over steps or work, those of rounding left out."""
    seen = error > 1e-14
    panel.line(x[seen], error[seen], *style)


def smooth(name, scene, title, quantities):
    """Rows of panels: one per force, or one for both forces if there is one quantity; with slopes of the orders."""
    legend = legend_of(SMOOTH) | {"slopes, each with its number": (GREY, DASH)}
    p = Picture(name, 64 + 286 * len(quantities), title, legend)
    guides = {("q", 0): {1: 2.5, 2: 1.2e-2}, ("u", 0): {1: 8, 2: 1e-1}, ("p", 0): {1: 4, 2: 8e-2},  # starts at 0.5 s
              ("q", 1): {2: 8e-1, 4: 1.2e-2, 6: 1e-7}, ("u", 1): {2: 3, 3: 1e-1, 4: 1.5e-4, 5: 2e-6},
              ("p", 1): {2: 8e-1, 4: 1.2e-2, 6: 8e-8}}
    for w, force in enumerate(("-10 t² N", "-10 exp(t) N")):
        names, time = list(DEGREES) if w else list(SMOOTH)[:2], ("h (s)", -2, 0, (-2, -1, 0))
        options, norms = (EVERY, "closed-form", "--dense", f"--set=parameters.w={w}"), [f"{x}.l1" for x in quantities]
        table = errors(scene, ",".join(SMOOTH[n][0] for n in names), *options, norms=norms)
        for column, x in enumerate(quantities):
            left, row = (column, w) if len(quantities) > 1 else (w, 0)
            axis = f"L1 error of {x} ({UNITS[x]})", *[(-5.5, 1.5, range(-5, 2)), (-15, 1.5, range(-14, 1, 2))][w]
            a = Panel(p, (70 + 360 * left, 84 + 286 * row, 270, 215), f"{x}: force {force}", time, axis, log=True)
            for power, start in guides[x, w].items():
                a.line((0.5, 0.015625), (start, start * 2.0 ** (-5 * power)), GREY, DASH, width=1.2)
                a.note(0.56, start / (1.3, 2)[w], f"{power}")
            for (h, *e), n in zip(table, names):
                draw(a, h, e[column], SMOOTH[n][1])
    return p


def ball():
    schemes = {"Moreau–Jean, θ = 1": SMOOTH["Moreau–Jean, θ = 1"], "D⁻, M = 1": DEGREES["D⁻, M = 1"],
               "D⁺, M = 1": ("tdg-plus{degree=1}", (RED, DASH, "#fff"))}
    legend = legend_of(schemes) | {"slope 1": SLOPES["slope 1"]}
    p = Picture("tdg-ball", 370, "Bouncing ball up to t = 5 s: errors over the step", legend)
    steps = ",".join(f"{0.02 / np.sqrt(2) * 0.785 ** k:.6g}" for k in range(18))  # none divides the time of an impact
    names = ",".join(name for name, _ in schemes.values())
    table = errors("bouncing_ball", names, steps, "closed-form", "--dense", norms=("q.l1", "u.l1", "p.l1"))
    for column, (x, unit) in enumerate(UNITS.items()):
        axes = ("h (s)", -4, -1.5, (-4, -3, -2)), ("" if column else "L1 error", -4, -0.3, range(-4, 0))
        a = Panel(p, (66 + 228 * column, 64, 180, 250), f"{x} ({unit})", *axes, log=True)
        a.slopes((2e-2, 1.5e-4), 6e-2 if x == "q" else 3e-1)
        for (h, *e), style in zip(table, legend.values()):
            a.line(h, e[column], *style, width=1.2)
    return p


def path():
    legend = {"M = 2": (BLUE,), "M = 1": (RED, DASH), "exact": (GREY, DOTS), "at step ends": (BLACK, None, "#fff")}
    p = Picture("tdg-path", 560, "Bouncing ball about its first impact, h = 0.06 s: the polynomials of a step", legend)
    ends = 0.06 * np.arange(14, 22)
    inner = np.linspace(ends[:-1] + 1e-9, ends[1:] - 1e-9, 41).T  # a row of times per step
    times = ",".join(f"{t:.12g}" for t in [*inner.flat, *ends])
    for left, side, title, end in (70, "minus", "D⁻", "right"), (430, "plus", "D⁺", "left"):
        time = "t (s)", 0.83, 1.27, (0.9, 1, 1.1, 1.2)
        u = Panel(p, (left, 64, 270, 195), f"{title}: velocity", time, ("u (m/s)", -5.3, 1.6, range(-5, 2)))
        q = Panel(p, (left, 320, 270, 195), f"{title}: height", time, ("q (m)", -0.06, 0.3, (0, 0.1, 0.2, 0.3)))
        q.level(0)
        u.line([0.8, 1, 1, 1.3], [-1.6, -2, 1, 0.4], *legend["exact"])
        fall, rise = np.linspace(0.8, 1, 41), np.linspace(1, 1.3, 41)
        q.line([*fall, *rise], [*1 - fall ** 2, *(rise - 1) * (2 - rise)], *legend["exact"])
        u.note(1.02, -2.8, f"jumps at the {end} end")
        for degree, style in (2, legend["M = 2"]), (1, legend["M = 1"]):
            options = "--step=0.06", "--end=1.3", f"--set=scheme.degree={degree}", f"--at={times}", "--json"
            at = json.loads(call("run", "bouncing_ball", f"--scheme=tdg-{side}", *options))["at"]
            for a, x in (u, "u"), (q, "q"):
                values = np.array([s[x][0] for s in at])
                for t, y in zip(inner, values[:inner.size].reshape(inner.shape)):
                    a.line(t, y, *style)
                for t, y in zip(ends, values[inner.size:]) if degree == 1 else ():
                    a.line(t, y, *legend["at step ends"])
    return p


def work():
    schemes = {"Moreau–Jean, θ = ½": ("moreau-jean", (BLACK, DOTS, BLACK))} | DEGREES
    p = Picture("tdg-work", 350, "Impact oscillator before its first impact: error over work", legend_of(schemes))
    error = "largest error of x (m)", -14.5, -1, range(-14, 0, 2)
    panels = {key: Panel(p, (left, 64, 270, 230), title, (label, 0.4, high, (1, 2, 3)), error, log=True)
              for key, left, title, label, high in (
                  ("scheme_calls", 70, "At step ends, up to t = 0.13 s", "scheme calls", 3),
                  ("solves", 430, "The same, over problems solved", "problems solved in these calls", 3.5))}
    steps = [f"{0.13 / n:.17g}" for n in (4, 8, 16, 32, 64, 128, 256, 512)]
    names = ",".join(name for name, _ in schemes.values())
    table = errors("impact_oscillator", names, ",".join(steps), "closed-form", "--end=0.13", norms=("q.sup",))
    for degree, ((_, e), (name, style)) in enumerate(zip(table, schemes.values())):
        options = f"--scheme={name.partition('{')[0]}", "--end=0.13", "--json"
        options += (f"--set=scheme.degree={degree}",) if degree else ()
        done = [json.loads(call("run", "impact_oscillator", f"--step={h}", *options))["work"] for h in steps]
        for key, panel in panels.items():
            draw(panel, np.array([d[key] for d in done]), e, style)
    return p


def woodpecker():
    legend = {"sleeve, φₘ": (BLUE,), "woodpecker, φₛ": (RED, DASH), "beak": (BLACK,), "lower edge": (GREEN,),
              "upper edge": (PURPLE,)}
    p = Picture("tdg-woodpecker", 680, "Woodpecker toy, D⁻ of degree 3, h = 1e-4 s", legend)
    r = run("woodpecker", "tdg-minus", 1e-4, 0.3, "--set=scheme.degree=3")
    (y, sleeve, bird), t, time = r["q"].T, r["t"], ("t (s)", 0, 0.3, np.arange(7) / 20)
    box = lambda row, width=630, left=70: (left, 64 + 212 * row, width, 145)
    axes = time, ("φ (rad)", -0.6, 0.25, (-0.6, -0.4, -0.2, 0, 0.2))
    a = Panel(p, box(0), "Angles; dotted: the sleeve touches, the beak touches", *axes)
    a.level(-0.6 / 5.8, 0.6 / 5.8, 0.12)
    a.line(t, bird, *legend["woodpecker, φₛ"])
    a.line(t, sleeve, *legend["sleeve, φₘ"])
    a = Panel(p, box(1), "Height of the sleeve", time, ("y (mm)", -45, 5, range(-40, 1, 10)))
    a.line(t, 1e3 * y, BLUE)
    axes = time, ("F (N)", -0.1, 2.2, (0, 0.5, 1, 1.5, 2))
    whole = Panel(p, box(2, 270), "Normal forces P/Δt", *axes)
    axes = ("t (s)", 0.075, 0.085, (0.076, 0.078, 0.08, 0.082, 0.084)), axes[1]
    detail = Panel(p, box(2, 270, 430), "The first stroke, per step", *axes)
    for a in whole, detail:
        for column, name in (0, "beak"), (4, "upper edge"), (2, "lower edge"):
            a.line(r["force_t"], r["force"][:, column], *legend[name], width=1.4)
    detail.note(0.0777, 1.9, f"beak: {r['force'][r['force_t'] < 0.085, 0].max():.1f} N")
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    flight = smooth("tdg-flight", "ball_flight", "Ball in free flight: errors over the step", ("q", "u"))
    rest = smooth("tdg-rest", "ball_rest", "Ball at rest: errors of the summed percussion over the step", ("p",))
    for picture in flight, rest, ball(), path(), work(), woodpecker():
        picture.write()
