"""Pictures of the scheme augmented: figures 9 to 14 of Studer, Leine & Glocker (2008), from runs of the tool.

    python3 docs/pictures/augmented.py target/release/nonsmooth

run from the project's root, writes augmented-*.svg beside this file, the same bytes every time. Needs numpy.
"""
import json, sys
import numpy as np
import drawing
from drawing import BLACK, BLUE, DASH, DOTS, GREEN, GREY, PURPLE, RAISED, RED, Panel, Picture, call

ORDERS = {f"p = {p}": style for p, style in enumerate((
    (BLACK, DOTS, BLACK), (BLUE, None, BLUE), (RED, DASH, "#fff"), (GREEN, None, GREEN), (PURPLE, DASH, PURPLE),
    (BLACK, None, "#fff")), 1)}
GUIDES = {"slopes, each with its number": (GREY, DASH)}
LAWS = [f"{contact}, {law}" for contact in ("beak", "lower", "upper") for law in ("normal", "friction")]


def run(scene, dt_min, dt_max, end, *settings):
    """The arrays of a run, its report, and its dense output at 3001 times: t, and rows of q and of u."""
    settings = f"--set=scheme.dt_min={dt_min}", *(f"--set={s}" for s in settings)
    r, t = drawing.run(scene, "augmented", dt_max, end, *settings), np.linspace(0, end, 3001)
    options = f"--step={dt_max}", f"--end={end}", "--at=" + ",".join(f"{x:.12g}" for x in t), "--json"
    report = json.loads(call("run", scene, "--scheme=augmented", *options, *settings))
    return r, report, (t, *(np.array([state[x] for state in report["at"]]).T for x in "qu"))


def marks(panel, axis, labels):
    """Ticks of an axis that have labels of their own."""
    left, top, width, height = panel.box
    for value, label in labels.items():
        x, y = panel.place(value, value)[0]
        line = [[(x, top + 0.5), (x, top + height - 0.5)], [(left + 0.5, y), (left + width - 0.5, y)]][axis]
        panel.picture.line(line, "#e4e4e4", width=1)
        panel.picture.text(*[(x, top + height + 17, label, "middle"), (left - 7, y + 4.5, label, "end")][axis])


def powers(panel, exponents):
    """Ticks of the vertical axis for logarithms."""
    marks(panel, 1, {n: "10" + str(n).translate(RAISED) for n in exponents})


def extremes(t, y, bins=1000):
    """The points of least and greatest y in each bin of time, less than a pixel wide: all that can be seen of them."""
    place = ((t - t[0]) * bins / (t[-1] - t[0])).astype(int)
    order = np.lexsort((y, place))
    first = np.flatnonzero(np.diff(place[order], prepend=-1))
    keep = np.unique(order[[*first, *first[1:] - 1, -1]])
    return t[keep], y[keep]


def step_panel(picture, box, time, r, low):
    """Step sizes on a logarithmic axis from 10^low s."""
    a = Panel(picture, box, "Step size", time, ("Δt (s)", low - 0.4, -0.9, ()))
    powers(a, range(low, 0))
    a.line(*extremes(r["force_t"], np.log10(np.repeat(r["dt"][1:], 2))), BLUE, width=1.2)


def order_panel(picture, box, time, r):
    a = Panel(picture, box, "Order", time, ("p", 0.5, 6.5, range(1, 7)))
    a.line(r["force_t"], np.repeat(r["order"][1:], 2), BLUE, width=1.2)


def slope(panel, power, x, start):
    """A line that rises by a power from x[0], where it has the value start, with its number there."""
    panel.line(x, (start, start * (x[1] / x[0]) ** power), GREY, DASH, width=1.2)
    panel.note(0.92 * x[0], start / 1.6, f"{power}")


def falling_odd():
    r, report, (t, (height,), (rate,)) = run("falling_mass", 1e-5, 0.05, 1)
    legend = {f"Δt from 1e-5 s to 0.05 s, odd numbers of substeps: {report['work']['scheme_calls']} calls": (BLUE,)}
    p = Picture("augmented-falling-odd", 570, "Point mass falling on a table: step size, order and motion", legend)
    box, time = lambda column, row: (70 + 360 * column, 64 + 261 * row, 270, 190), ("t (s)", 0, 1, np.arange(6) / 5)
    step_panel(p, box(0, 0), time, r, -5)
    order_panel(p, box(1, 0), time, r)
    a = Panel(p, box(0, 1), "Height", time, ("z (cm)", -0.5, 7.5, range(8)))
    a.line(t, 100 * height, BLUE)
    a = Panel(p, box(1, 1), "Velocity", time, ("z' (m/s)", -1.4, 1.1, (-1, -0.5, 0, 0.5, 1)))
    a.line(t, rate, BLUE)
    return p


def falling_all():
    r, report, _ = run("falling_mass", 1e-5, 0.05, 1, "scheme.substeps=all")
    legend = {f"Δt from 1e-5 s to 0.05 s, all numbers of substeps: {report['work']['scheme_calls']} calls": (BLUE,)}
    p = Picture("augmented-falling-all", 310, "Point mass falling on a table: step size, and velocity at rest", legend)
    box, late = lambda column: (70 + 235 * column, 64, 160, 195), r["t"] > 0.677  # s: the impacts have accumulated
    t, rate = r["t"][late], r["u"][late, 0]
    step_panel(p, box(0), ("t (s)", 0, 1, np.arange(6) / 5), r, -5)
    axes = ("t (s)", 0.8, 0.8006, (0.8, 0.8003, 0.8006)), ("z' (nm/s)", -12, 12, range(-10, 11, 5))
    a = Panel(p, box(1), "Velocity at rest", *axes)
    some = (t > 0.7999) & (t < 0.8007)
    a.line(t[some], 1e9 * rate[some], BLUE, width=1.2)
    a = Panel(p, box(2), "Its magnitude", ("t (s)", 0.66, 1, (0.7, 0.8, 0.9, 1)), ("|z'| (m/s)", -9.5, -4.5, ()))
    powers(a, range(-9, -4))
    a.line(*extremes(t, np.log10(np.maximum(np.abs(rate), 1e-30))), BLUE, width=1.2)
    return p


def sliding():
    r, report, _ = run("sliding_mass", 1e-6, 0.05, 4)
    legend = {f"Δt from 1e-6 s to 0.05 s: {report['work']['scheme_calls']} calls": (BLUE,), "force: x": (RED,),
              "force: y": (GREEN, DASH)}
    p = Picture("augmented-sliding", 770, "Point mass sliding on a table: path, forces, order and step size", legend)
    box = lambda column, row, width=270: (70 + 360 * column, 64 + 241 * row, width, 170)
    time = "t (s)", 0, 4, range(5)
    axes = ("x (m)", -1.9, 0.6, (-1.5, -1, -0.5, 0, 0.5)), ("y (m)", -0.33, 0.03, np.arange(-3, 1) / 10)
    a = Panel(p, box(0, 0), "Path", *axes)
    a.line(*r["q"].T, BLUE)
    for text, (x, y), rise in ("start", r["q"][0], 0.005), ("rest", r["q"][-1], -0.017):
        a.line(x, y, BLUE, None, BLUE)
        a.note(x + 0.08, y + rise, text)
    a = Panel(p, box(1, 0), "Speed", time, ("|u| (m/s)", -0.1, 2.2, (0, 0.5, 1, 1.5, 2)))
    a.line(r["t"], np.hypot(*r["u"].T), BLUE)
    a = Panel(p, box(0, 1), "Friction force P/Δt", time, ("F (N)", -2.4, 2.4, (-2, -1, 0, 1, 2)))
    for force, style in zip(r["force"].T, list(legend.values())[1:]):
        a.line(r["force_t"], force, *style)
    order_panel(p, box(1, 1), time, r)
    step_panel(p, box(0, 2, 630), ("t (s)", 0, 4, np.arange(9) / 2), r, -6)
    return p


def oscillator():
    p = Picture("augmented-oscillator", 450, "Impact oscillator: errors over the largest step and over work",
                ORDERS | GUIDES)
    error = "largest error of x (m)", -13, 0.3, range(-12, 1, 2)
    axes = ("Δtₘₐₓ (s)", -2.48, -1.62, ()), error
    a = Panel(p, (70, 84, 270, 310), "Error over the step", *axes, log=True)
    marks(a, 0, {h: f"{h:g}" for h in (0.004, 0.006, 0.01, 0.02)})
    b = Panel(p, (430, 84, 270, 310), "Error over work", ("scheme calls", 1.4, 4, (2, 3, 4)), error, log=True)
    for power, start in (1, 1.5e-2), (2, 8e-5), (3, 1.1e-7), (4, 1e-8), (5, 3e-12), (6, 3e-13):
        slope(a, power, (0.0041, 0.0197), start)
    steps = "0.0197,0.0157,0.0127,0.0101,0.0083,0.0067,0.0053,0.0041"  # none divides another
    for order, style in enumerate(ORDERS.values(), 1):
        scheme = f"--schemes=augmented{{fixed_order={order},dt_min=step^{order}}}", f"--steps={steps}"
        rows = json.loads(call("compare", "impact_oscillator", *scheme, "--reference=closed-form", "--json"))["rows"]
        h, calls, e = np.array([(r["step"], r["calls"], r["errors"]["q"]["sup"]) for r in rows]).T
        a.line(h, e, *style)
        b.line(calls, e, *style)
    return p


def strips(panel, r):
    """A strip per law, dark while it is a constraint; what is shorter than a pixel is a pixel wide."""
    pixel = (panel.limits[0, 1] - panel.limits[0, 0]) / panel.box[2]
    marks(panel, 1, {-row: law for row, law in enumerate(LAWS)})
    for row in range(len(LAWS)):
        panel.line(r["t"][[0, -1]], [-row, -row], "#d8d8d8", width=14)
        impressed = r["sigma"][1:, row // 2] >> row % 2 & 1
        ends = np.flatnonzero(np.diff(impressed, prepend=1, append=1))
        for start, end in r["t"][ends.reshape(-1, 2)]:
            panel.line([start, max(end, start + pixel)], [-row, -row], "#222", width=14)


def woodpecker():
    r, report, (t, (_, _, bird), (_, sleeve_rate, bird_rate)) = run("woodpecker", 1e-7, 5e-3, 0.15, "scheme.atol=1e-6")
    legend = {f"Δt from 1e-7 s to 5e-3 s, atol 1e-6 m/s: {report['work']['scheme_calls']} calls": (BLUE,),
              "switch": (BLUE, None, RED)}
    p = Picture("augmented-woodpecker", 895, "Woodpecker toy: motion, step size, order and discrete state", legend)
    box, time = lambda column, row: (70 + 360 * column, 64 + 212 * row, 270, 145), ("t (s)", 0, 0.15, np.arange(4) / 20)
    rate = "φₛ' (rad/s)", -13, 21, range(-10, 21, 5)
    a = Panel(p, (70, 64, 270, 357), "Woodpecker", ("φₛ (rad)", -0.6, 0.25, (-0.6, -0.4, -0.2, 0, 0.2)), rate)
    a.line(bird, bird_rate, BLUE, width=1.4)
    for at in np.searchsorted(r["t"], [e["t"] for e in report["events"] if e["kind"] == "switch"]):
        a.line(r["q"][at, 2], r["u"][at, 2], *legend["switch"])
    a = Panel(p, box(1, 0), "Sleeve: angular velocity", time, ("φₘ' (rad/s)", -15, 35, range(-10, 31, 10)))
    a.line(t, sleeve_rate, BLUE, width=1.4)
    a = Panel(p, box(1, 1), "Woodpecker: angular velocity", time, rate)
    a.line(t, bird_rate, BLUE, width=1.4)
    step_panel(p, box(0, 2), time, r, -7)
    order_panel(p, box(1, 2), time, r)
    axes = ("t (s)", 0, 0.15, np.arange(7) / 40), ("", -5.6, 0.6, ())
    title = "Laws: dark a constraint (closed, stick), light impressed (open, slip)"
    strips(Panel(p, (110, 700, 590, 145), title, *axes), r)
    return p


def woodpecker_orders():
    styles = (RED, None, RED), (BLACK, DASH, "none"), (GREEN, None, GREEN), (BLACK, DOTS, "none")
    legend = dict(zip(ORDERS, styles)) | GUIDES
    p = Picture("augmented-woodpecker-orders", 370, "Woodpecker toy: error over the largest step", legend)
    steps = np.array([9, 7.2, 5.8, 4.6, 3.7, 3]) * 1e-4
    touching = '--set=initial.q=[0,"-(r_m - r_0)/h_m",-0.2788]'  # p = 1, 2 keep a start that penetrates, others do not

    def bird(dt_max, end, setting):
        settings = touching, "--set=scheme.dt_min=1e-10", f"--set=scheme.{setting}"
        return drawing.run("woodpecker", "augmented", dt_max, end, *settings)["q"][-1, 2]

    for left, end, switches, guides in (70, 0.06, "one switch", (5e-6, 4e-11)), (430, 0.15, "a cycle", (1.2e-4, 4e-8)):
        axes = ("Δtₘₐₓ (s)", -3.6, -2.98, ()), ("error of φₛ (rad)", -11, -2, range(-10, -2))
        a = Panel(p, (left, 64, 270, 250), f"At t = {end} s, after {switches}", *axes, log=True)
        marks(a, 0, {h * 1e-4: f"{h}e-4" for h in (3, 4, 6, 9)})
        for power, value in zip((2, 4), guides):
            slope(a, power, (3e-4, 9e-4), value)
        exact = bird(9e-4, end, "atol=1e-10")
        for order, style in enumerate(styles, 1):
            a.line(steps, [abs(bird(h, end, f"fixed_order={order}") - exact) for h in steps], *style)
    return p


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for picture in falling_odd(), falling_all(), sliding(), oscillator(), woodpecker(), woodpecker_orders():
        picture.write()
