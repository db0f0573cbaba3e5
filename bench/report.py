# SPDX-License-Identifier: BSD-3-Clause
"""What all benchmarks have in common: where things are, their options, and a report, which is printed as text while it
grows, and written as JSON and as a plot (SVG) when it is complete."""
import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def parser(description, repeat):
    """With the options of every benchmark."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--build", default="build", help="the build folder (default: build)")
    result.add_argument("--repeat", type=int, default=repeat, help=f"timed executions of each (default: {repeat})")
    result.add_argument("--quick", action="store_true", help="few cases, for a first look")
    result.add_argument("--results", metavar="FOLDER", help="where NAME.json and NAME.svg are written (default: BUILD/bench)")
    return result


def parse(of):
    """The options of a parser. The BLAS that plain programs use is told for which processor to choose its routines, as
    `distal run` tells its own: OpenBLAS takes processors that are newer than itself for very old ones."""
    options = of.parse_args()
    distal = os.path.join(build_folder(options), "distal")
    program = "tensor a: f64; tensor b: f64; a = 2 * b"
    done = subprocess.run([distal, "run", "-q", "--stats=json", "-e", program], stdout=subprocess.PIPE, text=True, check=True)
    core = re.match(r"OpenBLAS \S+ for (\S+)", json.loads(done.stdout)["blas"])
    if core:
        os.environ.setdefault("OPENBLAS_CORETYPE", core[1])
    return options


def build_folder(options):
    return os.path.join(ROOT, options.build)


def compile_c(command, source, target, libraries=()):
    """Whether a file of this folder could be compiled; what is missing is named."""
    compiler = shutil.which(command[0])
    done = compiler and subprocess.run([*command, os.path.join(HERE, source), "-o", target, *libraries],
                                       stderr=subprocess.PIPE, text=True)
    if done and done.returncode == 0:
        return True
    reason = done.stderr.strip().splitlines()[0] if done and done.stderr else f"{command[0]} is missing"
    print(f"{source} is left out: {reason}", flush=True)
    return False


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()


class Report:
    """Rows of one kind: `keys` say what was measured, and `columns` are formats by name of what was. Of these, `bars`
    are plotted, with a line at `mark`. A value that is None was not measured."""

    def __init__(self, name, options, keys, columns, bars, mark=None):
        self.name, self.keys, self.columns, self.bars, self.mark = name, keys, columns, bars, mark
        self.folder = options.results or os.path.join(build_folder(options), "bench")
        self.rows = []
        self.notes = {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
                      "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}

    def note(self, name, value, text):
        """Something that holds for all rows."""
        self.notes[name] = value
        print(text, flush=True)

    def cell(self, column, value):
        width = max(len(column), len(format(0.0, self.columns.get(column, ""))) + 3)
        if column in self.keys:
            return f"{value:<{self.keys[column]}}"
        return f"{'-' if value is None else format(value, self.columns[column]):>{width}}"

    def row(self, **values):
        if not self.rows:
            print(" ".join([f"{key:<{width}}" for key, width in self.keys.items()]
                           + [f"{column:>{len(self.cell(column, None))}}" for column in self.columns]))
        self.rows.append(values)
        print(" ".join(self.cell(column, values.get(column)) for column in [*self.keys, *self.columns]), flush=True)

    def write(self):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, self.name)
        with open(f"{path}.json", "w", encoding="utf-8") as file:
            json.dump({"bench": self.name, **self.notes, "rows": self.rows}, file, indent=1)
        with open(f"{path}.svg", "w", encoding="utf-8") as file:
            file.write(self.svg())
        print(f"written: {path}.json, {path}.svg", flush=True)

    def svg(self):
        """One group of horizontal bars for each row."""
        left, width, bar, gap = 330, 500, 11, 7
        colors = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0"]
        values = [row[name] for row in self.rows for name in self.bars if row.get(name) is not None]
        most = max([*values, self.mark or 0, 1e-9]) * 1.05
        lines, y = [], 50
        for row in self.rows:
            label = escape(", ".join(str(row[key]) for key in self.keys))
            lines.append(f'<text x="{left - 8}" y="{y + bar}" text-anchor="end">{label}</text>')
            for number, name in enumerate(self.bars):
                value = row.get(name)
                if value is None:
                    continue
                length = max(0, value) / most * width
                lines.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 1}" fill="{colors[number % 4]}"/>')
                lines.append(f'<text x="{left + length + 4:.1f}" y="{y + bar - 2}">{format(value, self.columns[name])}</text>')
                y += bar
            y += gap
        if self.mark is not None:
            x = left + self.mark / most * width
            lines.append(f'<line x1="{x:.1f}" y1="44" x2="{x:.1f}" y2="{y}" stroke="#888" stroke-dasharray="3"/>')
        legend = "".join(f'<tspan fill="{colors[number % 4]}"> ■ </tspan>{escape(name)}' for number, name in enumerate(self.bars))
        title = f"{self.name}: {self.notes['processor']}, {self.notes['cores']} cores"
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 80}" height="{y + 10}" '
                f'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>'
                f'<text x="8" y="18" font-size="13">{escape(title)}</text><text x="8" y="36">{legend}</text>\n'
                + "\n".join(lines) + "\n</svg>\n")
