#!/usr/bin/env python3
"""How well a sampled profile of this computer ranks the areas by accesses from each thread, against the exact profile.

Usage: experiments/host-sampling/agreement.py [OLIFANT] [INSTRUMENTED PROGRAMS] [NATIVE PROGRAMS] [--quick]

Each program runs twice with two threads, the second time for more steps: instrumented, on a simulated machine with next to no caches (bare.toml), where
every access but those to the line used just before is counted; and as it is, sampled on this computer. For each thread the
areas that have 1 % or more of the thread's exact transactions (write-backs left out: no thread makes them) are ranked by both, and
Spearman's coefficient of the two rankings is printed as CSV. Areas are the same if their allocation's function, file, line,
size and ordinal, or their symbol, are; all small allocations of a program are one. Stacks are left out: the compiler of the native
program keeps on the stack what the instrumented one never stores.

Exit code 1 if a coefficient of the first three programs is below 0.9. --show also prints the shares; --quick is for the tests.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile

DEFAULTS = ["target/release/olifant", "build/bin", "build/native"]
WORDS = [word for word in sys.argv[1:] if not word.startswith("--")]
OLIFANT, INSTRUMENTED, NATIVE = (WORDS + DEFAULTS[len(WORDS) :])
IS_QUICK = "--quick" in sys.argv
HERE = os.path.dirname(os.path.abspath(__file__))
LEAST_SHARE = 0.01
LEAST_COEFFICIENT = 0.9

# (program, options of both runs, the number of steps counted exactly, and of those sampled, samples per second of a thread)
PROGRAMS = [
    ("ocean", "-p 2 -n 258", "-s 8", "-s 240", 20000),
    ("fft3d", "-p 2 -x 64 -y 64 -z 64", "-i 30", "-i 900", 4000),
    ("matmult", "-p 2 -n 256", "", "", 20000),
]
# Programs whose small, always cached data the exact profile hardly counts: see README.md. Shown, not judged.
OTHERS = [
    ("fmm", "-p 2 -n 8192", "-s 5", "-s 120", 4000),
    ("barnes", "-p 2 -n 8192", "-s 4", "-s 100", 4000),
]
QUICK = [("fft3d", "-p 2 -x 32 -y 32 -z 32", "-i 8", "-i 1000", 16000)]

ACCESSES = """
    SELECT kind, name, bytes, ordinal, counters.thread, sum(reads + writes + upgrades)
    FROM counters JOIN areas USING (area) GROUP BY area, counters.thread
"""


def record(profile, *words):
    subprocess.run([OLIFANT, "record", "-o", profile, *words], check=True, stdout=subprocess.DEVNULL)


def accesses(profile):
    """Accesses by thread and area."""
    by_thread = {}
    for kind, name, size, ordinal, thread, count in sqlite3.connect(profile).execute(ACCESSES):
        if kind in ("stack", "other"):
            continue
        if kind == "global":
            # clang puts a function's name before those of its static variables, gcc a number behind.
            parts = name.split(".")
            name = parts[0] if parts[-1].isdigit() else parts[-1]
        key = ("small",) if kind == "small" else (kind, name, size, ordinal)
        areas = by_thread.setdefault(thread, {})
        areas[key] = areas.get(key, 0) + count
    return by_thread


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    ranked = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for place in range(begin, end + 1):
            ranked[order[place]] = (begin + end) / 2 + 1
        begin = end + 1
    return ranked


def spearman(left, right):
    left, right = ranks(left), ranks(right)
    mean = (len(left) + 1) / 2
    covariance = sum((a - mean) * (b - mean) for a, b in zip(left, right))
    spread = (sum((a - mean) ** 2 for a in left) * sum((b - mean) ** 2 for b in right)) ** 0.5
    return covariance / spread if spread else float("nan")


def main():
    print("program,options,counted,sampled,thread,areas,samples,spearman")
    worst = 1.0
    for program, options, counted, repeated, rate in QUICK if IS_QUICK else PROGRAMS + OTHERS:
        with tempfile.TemporaryDirectory() as folder:
            exact, sampled = f"{folder}/exact.olp", f"{folder}/sampled.olp"
            words = options.split()
            record(exact, "--on", f"{HERE}/bare.toml", "--", f"{INSTRUMENTED}/{program}", *words, *counted.split())
            record(sampled, "--on", "host", "--rate", str(rate), "--", f"{NATIVE}/{program}", *words, *repeated.split())
            exact, sampled = accesses(exact), accesses(sampled)
        for thread, areas in sorted(exact.items()):
            whole = sum(areas.values())
            chosen = [key for key, count in areas.items() if count >= LEAST_SHARE * whole]
            found = sampled.get(thread, {})
            if "--show" in sys.argv:
                total = sum(found.values())
                for key in sorted(chosen, key=areas.get, reverse=True):
                    print(f"  {100 * areas[key] / whole:5.1f} % {100 * found.get(key, 0) / total:5.1f} %  {key}", file=sys.stderr)
            coefficient = spearman([areas[key] for key in chosen], [found.get(key, 0) for key in chosen])
            if (program, options) not in [other[:2] for other in OTHERS]:
                worst = min(worst, coefficient)
            print(f"{program},{options},{counted},{repeated},{thread},{len(chosen)},{sum(found.values())},{coefficient:.3f}", flush=True)
    return 0 if worst >= LEAST_COEFFICIENT else 1


sys.exit(main())
