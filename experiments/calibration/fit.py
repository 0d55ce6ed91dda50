#!/usr/bin/env python3
"""Fits cycles per instruction of each program to its published time with one thread, and to nothing else.

Usage: experiments/calibration/fit.py [--olifant FILE] [--programs FOLDER] [--jobs N] [KEY...]

For each application of applications.toml (or those named): its one-thread run of the 1999 paper's Table 1 (1N1, t3,m0) or of
the 2001 paper's Table 1 (4N4, t0,local) at two values of --cpi, then at the value where a straight line through the two points
nearest to the published time meets it, until that is within half a percent. A program that waits for memory longer than published
whatever its CPI has none. Iterative programs run a few of their steps, at two numbers of steps: the
difference is a step. Prints CSV; the values are copied into applications.toml, each with its source row.
"""

import argparse
import concurrent.futures
import csv
import os
import re
import subprocess
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
# The evaluation's own file, not the built-in machine of the same name.
MACHINE = os.path.join(HERE, "..", "machines", "olifant.toml")
CPIS = (1.0, 3.0)
# The option that counts steps, its full value, and the two numbers of steps that are run; of others the whole run is made.
STEPS = {
    "jacobi": ("-i", 500, (4, 10)),
    "fft3d": ("-i", 20, (1, 2)),
    "water-spatial": ("-s", 5, (1, 2)),
    "water-nsquared": ("-s", 5, (1, 2)),
    "fmm": ("-s", 10, (1, 2)),
    "barnes": ("-s", 4, (1, 2)),
}
RUN = {
    "nt": ["--config", "1N1", "--threads", "float", "--memory", "node:0", "--frames", "sequential"],
    "jrd": ["--config", "4N4", "--threads", "0", "--memory", "local", "--frames", "coloured", "--locked"],
}


def published(application):
    """The one-thread time of the application's paper."""
    paper = application["key"].split("-")[0]
    table, metric = ("nt-table-1", "time_base_single") if paper == "nt" else ("jrd-table-1", "sequential_time")
    with open(os.path.join(HERE, "..", table, "published.csv")) as file:
        for row in csv.DictReader(file):
            if row["application"] in (application["name"], application.get("also")) and row["metric"] == metric:
                return float(row["value"])
    return None


def seconds(options, application, cpi, steps):
    """Simulated seconds that the program reports; `steps` replaces its number of steps."""
    words = application["arguments"].replace("{threads}", "1").split()
    if steps is not None:
        option = STEPS[application["program"]][0]
        words[words.index(option) + 1] = str(steps)
    command = [options.olifant, "run", "--on", MACHINE, *RUN[application["key"].split("-")[0]], "--cpi", str(cpi), "--format", "json", "--"]
    command += [os.path.join(options.programs, application["program"]), *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.search(r"^time: ([\d.]+) s", run.stderr, re.M)[1])


def whole(options, application, cpi):
    """Simulated seconds of the whole run."""
    if application["program"] not in STEPS:
        return seconds(options, application, cpi, None)
    _, full, (few, more) = STEPS[application["program"]]
    first, second = seconds(options, application, cpi, few), seconds(options, application, cpi, more)
    return first + (second - first) / (more - few) * (full - few)


def fit(options, application):
    """Key, published time, (CPI, seconds) of every run, and the CPI that meets the published time; None if none does."""
    goal = published(application)
    points = [(cpi, whole(options, application, cpi)) for cpi in CPIS]
    if points[0][1] > goal:
        return application["key"], goal, points, None
    while True:
        (x0, y0), (x1, y1) = sorted(points, key=lambda point: abs(point[1] - goal))[:2]
        cpi = round(x0 + (goal - y0) * (x1 - x0) / (y1 - y0), 2)
        if abs(y0 / goal - 1) < 0.005 or len(points) == 6 or cpi in (x for x, _ in points):
            return application["key"], goal, points, x0
        points.append((cpi, whole(options, application, cpi)))


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--olifant", default="target/release/olifant")
parser.add_argument("--programs", default="build/bin")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("keys", nargs="*")
options = parser.parse_args()
with open(os.path.join(HERE, "..", "applications.toml"), "rb") as file:
    applications = tomllib.load(file)["application"]
chosen = [one for one in applications if (one["key"] in options.keys if options.keys else published(one) and "--" not in one["arguments"])]
print("application,published_s,runs,cpi", flush=True)
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for done in concurrent.futures.as_completed([pool.submit(fit, options, one) for one in chosen]):
        key, goal, points, cpi = done.result()
        runs = " ".join(f"{x}:{y:.2f}" for x, y in points)
        print(f"{key},{goal},{runs},{cpi or 'none'}", flush=True)
