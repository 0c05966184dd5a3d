"""Pictures of the rattle scheme: figures of Breuling, Capobianco, Eugster & Leine (2024), sections 5.1 to 5.4,
and the point mass that is turned round of Studer, Leine & Glocker (2008), from runs of the tool.

    python3 docs/pictures/rattle.py target/release/nonsmooth

run from the project's root, writes rattle-*.svg beside this file, the same bytes every time. Needs numpy.
"""
import sys
import numpy as np
import drawing
from drawing import BLUE, DASH, RED, SLOPES, Panel, Picture, errors

FIRST, SECOND = (BLUE,), (RED, DASH)  # styles of lines: colour, dashes, fill of the marks at the points
FIRST_MARKED, SECOND_MARKED = (BLUE, None, BLUE), (RED, DASH, "#fff")
CASES = {  # of slope_mass
    "Case 1, starts at rest": [],
    "Case 2, starts downhill": ["--set", 'initial.u=["sqrt(0.5)", "-sqrt(0.5)"]'],
    "Case 3, starts uphill": ["--set", 'initial.u=["-sqrt(0.5)", "sqrt(0.5)"]'],
    "Case 4, falls on the slope": ["--set", "initial.q=[0, 1.5]"],
}


def run(scene, *options):
    return drawing.run(scene, "rattle", *options)


def ball():
    legend = {"height": FIRST, "slip velocity": (BLUE, DASH), "friction force P/Δt": (RED,)}
    p = Picture("rattle-ball", 570, "Rotating ball: height, slip velocity and friction force", legend)
    time, both = ("t (s)", 0, 1.5, (0, 0.5, 1, 1.5)), ("v (m/s), F (N)", -3.2, 5.5, range(-3, 6))
    a = Panel(p, (70, 64, 630, 170), "Case 1: bounces, e = 0.5; dotted: y = R", time, ("y (m)", 0, 1.1, (0, 0.5, 1)))
    r = run("rotating_ball", 1e-2, 1.5, "--set", "parameters.omega=0", "--set", "parameters.e_N=0.5")
    a.level(0.1)
    a.line(r["t"], r["q"][:, 1], BLUE)
    for left, omega, title in (70, 50, "Case 2: slides, then rolls"), (430, 10, "Case 3: sticks"):
        a = Panel(p, (left, 315, 270, 205), f"{title}, ω = {omega} rad/s", time, both)
        r = run("rotating_ball", 1e-2, 1.5, "--set", f"parameters.omega={omega}")
        a.line(r["force_t"], r["force"][:, 1], RED)
        a.line(r["t"], r["u"] @ [1, 0, 0.1], BLUE, DASH)
        a.note(0.47, -2.85, f"impact: {r['force'][:, 1].min():.1f} N in its step")
    return p,


def crank():
    legend = {"step 1e-4 s": FIRST, "step 1e-3 s (energy only)": SECOND}
    p = Picture("rattle-crank", 646, "Slider-crank mechanism with play: the slider and the energy", legend)
    fine, coarse = (run("slider_crank_joints", step, 0.1466) for step in (1e-4, 1e-3))
    time = "t (s)", 0, 0.1466, np.arange(8) / 50
    a = Panel(p, (70, 64, 630, 130), "Slider: height; dotted: its play", time, ("y₃ (mm)", -1.2, 1.2, (-1, 0, 1)))
    a.level(-1, 1)
    a.line(fine["t"], 1e3 * fine["q"][:, 7], *FIRST)
    a = Panel(p, (70, 266, 630, 130), "Slider: angle", time, ("φ₃ (rad)", -0.005, 0.02, (0, 0.01, 0.02)))
    a.line(fine["t"], fine["q"][:, 8], *FIRST)
    a = Panel(p, (70, 468, 630, 130), "Change of the energy", time, ("E - E(0) (J)", -0.45, 0.15, (-0.4, -0.2, 0)))
    a.level(0)
    for r, style in (fine, FIRST), (coarse, SECOND):
        a.line(r["t"], r["energy"] - r["energy"][0], *style)
    return p,


def slope():
    legend = {"normal force P/Δt": FIRST, "friction force P/Δt": SECOND}
    p = Picture("rattle-slope", 580, "Point mass on a slope: forces of the contact", legend)
    legend = {"error of q (m s)": FIRST_MARKED, "error of u (m)": SECOND_MARKED} | SLOPES
    o = Picture("rattle-orders", 620, "Point mass on a slope: errors over the step", legend)
    steps = "2.56e-2,1.28e-2,6.4e-3,3.2e-3,1.6e-3,8e-4,4e-4,2e-4"
    for k, (title, options) in enumerate(CASES.items()):
        left, row = 70 + 360 * (k % 2), k // 2
        axes = ("t (s)", 0, 3.2768, range(4)), ("F (N)", -15, 46, range(-10, 41, 10))
        a = Panel(p, (left, 64 + 266 * row, 270, 195), title, *axes)
        r = run("slope_mass", 1e-2, 3.2768, *options)
        a.level(0)
        a.line(r["force_t"], r["force"][:, 0], *FIRST)
        a.line(r["force_t"], r["force"][:, 1], *SECOND)
        if r["impact"].any():
            a.note(0.42, 41.2, "impact: {:.0f} N, {:.0f} N".format(*r["force"][r["force"][:, 0].argmax()]))
        axes = ("step (s)", -4, -1.3, (-4, -3, -2)), ("L1 error", -8, -0.5, range(-8, 0))
        a = Panel(o, (left, 64 + 286 * row, 270, 215), title, *axes, log=True)
        a.slopes((2.56e-2, 2e-4), 1e-1, 2e-4)
        h, q, u = errors("slope_mass", "rattle", steps, "rattle:5e-5", *options)[0]
        a.line(h, q, *FIRST_MARKED)
        a.line(h, u, *SECOND_MARKED)
    return p, o


def tippedisk():
    p = Picture("rattle-tippedisk", 370, "Tippedisk: centre of mass", {"step 1e-4 s": FIRST, "step 1e-3 s": SECOND})
    axes = ("t (s)", 0, 3, np.arange(7) / 2), ("z (mm)", 42, 48, range(42, 49))
    a = Panel(p, (70, 64, 630, 250), "Height of the centre of mass; dotted: r - e = 42.5 mm and r + e = 47.5 mm", *axes)
    a.level(42.5, 47.5)
    for step, style in (1e-4, FIRST), (1e-3, SECOND):
        r = run("tippedisk", step, 3)
        a.line(r["t"], 1e3 * r["q"][:, 2], *style)
    return p,


def turning():
    legend = {"direction: end": SECOND_MARKED, "direction: mean": FIRST_MARKED}
    title = "Point mass that is turned round: errors over the step, and its path"
    p = Picture("rattle-turning", 400, title, legend | SLOPES)
    axes = ("step (s)", -3, -1.5, (-3, -2)), ("L1 error of q (m s)", -5.4, -0.6, range(-5, 0))
    a = Panel(p, (70, 64, 270, 280), "Error up to t = 2.5 s", *axes, log=True)
    a.slopes((2e-2, 1.25e-3), 1.2e-1, 1.5e-3)
    options = "2e-2,1e-2,5e-3,2.5e-3,1.25e-3", "rattle{friction_direction=mean}:2e-5", "--end", "2.5"
    schemes = "rattle{friction_direction=end},rattle{friction_direction=mean}"
    for (h, q, _), style in zip(errors("sliding_mass", schemes, *options), legend.values()):
        a.line(h, q, *style)
    axes = ("x (m)", -1.9, 0.6, (-1.5, -1, -0.5, 0, 0.5)), ("y (m)", -0.33, 0.03, np.arange(-3, 1) / 10)
    a = Panel(p, (430, 64, 270, 280), "Path up to t = 4 s (mean)", *axes)
    path = run("sliding_mass", 1e-3, 4, "--set", "scheme.friction_direction=mean")["q"]
    a.line(*path.T, BLUE)
    for text, (x, y) in ("start", path[0]), ("rest", path[-1]):
        a.line(x, y, *FIRST_MARKED)
        a.note(x + 0.08, y - 0.005, text)
    return p,


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for picture in ball() + crank() + slope() + tippedisk() + turning():
        picture.write()
