"""Runs of the tool and drawings of them as SVG, for the scripts beside this file. Needs numpy."""
import json, shutil, subprocess, sys, tempfile
from pathlib import Path
import numpy as np

HERE, NAME = Path(__file__).resolve().parent, Path(sys.argv[0]).name
# colours of Okabe & Ito, and a grey
BLUE, RED, GREEN, PURPLE, BLACK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000", "#767676"
DASH, DOTS = "7 4", "2 3"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SLOPES = {"slope 1": (GREY, DASH), "slope 2": (GREY, DOTS)}


def call(command, scene, *options):
    program = shutil.which(sys.argv[1]) or sys.exit(f"{NAME}: no such program: {sys.argv[1]}")
    line = [program, command, str(HERE.parent.parent / "examples" / f"{scene}.toml"), *options]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{NAME}: a run failed: {' '.join(line)}\n{done.stdout}{done.stderr}")
    return done.stdout


def run(scene, scheme, step, end, *options):
    """The arrays of a run; `force` is the mean force of each step, N, at its start and its end, `force_t`."""
    with tempfile.TemporaryDirectory() as out:
        call("run", scene, f"--scheme={scheme}", f"--step={step}", f"--end={end}", *options, f"--out={out}", "--force")
        r = dict(np.load(Path(out) / "trajectory.npz"))
    force = r["percussion"][1:] / r["dt"][1:, None]
    return r | {"force": np.repeat(force, 2, axis=0), "force_t": np.repeat(r["t"], 2)[1:-1]}


def errors(scene, schemes, steps, reference, *options, norms=("q.l1", "u.l1")):
    """For each scheme: steps, and for each norm the errors."""
    options = "--schemes", schemes, "--steps", steps, "--reference", reference, "--json", *options
    rows = json.loads(call("compare", scene, *options))["rows"]
    for reason in (r["reason"] for r in rows if r["reason"]):
        sys.exit(f"{NAME}: a comparison failed: {reason}")
    table = np.array([[r["step"], *(r["errors"][x][norm] for x, norm in (n.split(".") for n in norms))] for r in rows])
    return table.reshape(-1, len(steps.split(",")), 1 + len(norms)).transpose(0, 2, 1)


def thin(points, tolerance=0.15):
    """Few of the points, such that all stay within a tolerance of their polyline (Douglas & Peucker)."""
    keep, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        chord, inner = points[last] - points[first], points[first + 1:last] - points[first]
        distance = np.hypot(*(inner - np.outer(np.clip(inner @ chord / max(chord @ chord, 1e-12), 0, 1), chord)).T)
        if distance.max(initial=0) > tolerance:
            middle = first + 1 + int(distance.argmax())
            keep.add(middle)
            spans += [(first, middle), (middle, last)]
    return points[sorted(keep)]


class Picture:
    def __init__(self, name, height, title, legend):
        self.name, x, y = f"{name}.svg", 70, 20
        self.parts = ['<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" font-size="13" '
                      f'fill="#222" viewBox="0 0 720 {height}">\n<title>{title}</title>',
                      f'<rect width="720" height="{height}" fill="#fff"/>']
        for label, (colour, *style) in legend.items():
            if x > 70 and x + 40 + 6.4 * len(label) > 715:
                x, y = 70, y + 20
            self.line([(x, y), (x + 34, y)], colour, *style[:1])
            self.line([(x + 17, y)], colour, *style)
            self.text(x + 40, y + 4.5, label)
            x += 64 + 6.4 * len(label)

    def write(self):
        (HERE / self.name).write_text("\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")

    def line(self, points, colour, dash=None, fill=None, width=1.8, clip=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in thin(np.array(points)))
        style = f'stroke="{colour}" stroke-width="{width}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        self.parts.append(f'<polyline points="{path}" fill="none" {style}{clip}/>')
        for x, y in points if fill else ():
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{colour}"/>')

    def text(self, x, y, text, anchor="start", more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{text.replace("-", "−")}</text>')


class Panel:
    """Axes in a box (left, top, width, height). An axis is (label, low, high, ticks), where log in exponents of ten."""

    def __init__(self, picture, box, title, xaxis, yaxis, log=False):
        (xlabel, *xlim, xticks), (ylabel, *ylim, yticks) = xaxis, yaxis
        left, top, width, height = self.box = box
        self.picture, self.limits, self.log = picture, np.array([xlim, ylim], float), log
        name, rect = f"panel{len(picture.parts)}", f'<rect x="{left}" y="{top}" width="{width}" height="{height}"'
        self.clip = f' clip-path="url(#{name})"'
        picture.parts.append(f'<clipPath id="{name}">{rect}/></clipPath>')
        for axis, tick in [(0, tick) for tick in xticks] + [(1, tick) for tick in yticks]:
            x, y = self.place(*[10.0 ** tick if log else tick] * 2)[0]
            label = "10" + str(tick).translate(RAISED) if log else f"{tick:g}"
            picture.line([[(x, top), (x, top + height)], [(left, y), (left + width, y)]][axis], "#e4e4e4", width=1)
            picture.text(*[(x, top + height + 17, label, "middle"), (left - 7, y + 4.5, label, "end")][axis])
        picture.parts.append(rect + ' fill="none" stroke="#444"/>')
        picture.text(left, top - 8, title, more=' font-weight="bold"')
        picture.text(left + width / 2, top + height + 34, xlabel, "middle")
        picture.text(0, 0, ylabel, "middle", f' transform="translate({left - 45} {top + height / 2}) rotate(-90)"')

    def place(self, x, y):
        values, (low, high) = np.array([x, y], float).reshape(2, -1), self.limits.T[:, :, None]
        x, y = ((np.log10(values) if self.log else values) - low) / (high - low)
        left, top, width, height = self.box
        return np.column_stack([left + x * width, top + (1 - y) * height])

    def line(self, x, y, *style, width=1.8):
        self.picture.line(self.place(x, y), *style, width=width, clip=self.clip)

    def level(self, *heights):
        for y in heights:
            self.line(self.limits[0], [y, y], GREY, DOTS, width=1.2)

    def slopes(self, x, *starts):
        for power, start, style in zip((1, 2), starts, SLOPES.values()):
            self.line(x, [start, start * (x[1] / x[0]) ** power], *style, width=1.2)

    def note(self, x, y, text):
        self.picture.text(*self.place(x, y)[0], text)
