#!/usr/bin/env python3
"""What sampling costs a memory-bound loop: cpu time per pass with and without `olifant record`, turn and turn about.

Usage: experiments/host-sampling/overhead.py [OLIFANT] [ROUNDS] [SECONDS]

Each round runs stream.c alone and recorded at the default rate, in alternating order, and compares the medians of the cpu time of a
pass (cpu time, as other work on the computer must not count). The last two columns are the cpu seconds of everything: with the
recorder, which is a process of its own and also starts, finds names and writes the profile. Prints CSV, one row per round and the
median at the end. Exit code 1 if the median is 5 % or more, or a checksum differs.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

OLIFANT = sys.argv[1] if len(sys.argv) > 1 else "target/release/olifant"
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
SECONDS = sys.argv[3] if len(sys.argv) > 3 else "4"
HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 0.05


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words):
    before = cpu_seconds()
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"(\w+) ([\d.]+)", text))
    return float(found["median_ns"]), found["checksum"], cpu_seconds() - before


def main():
    with tempfile.TemporaryDirectory() as folder:
        stream = f"{folder}/stream"
        subprocess.run(["cc", "-O2", "-pthread", "-o", stream, f"{HERE}/stream.c"], check=True)
        alone = [stream, SECONDS, "2"]
        recorded = [OLIFANT, "record", "--on", "host", "-o", f"{folder}/profile.olp", "--", *alone]
        program, checksums = [], set()
        print("round,alone_ns,recorded_ns,program,alone_cpu_s,recorded_cpu_s")
        for number in range(ROUNDS):
            order = [alone, recorded] if number % 2 == 0 else [recorded, alone]
            results = {words is recorded: run(words) for words in order}
            program.append(results[True][0] / results[False][0] - 1)
            checksums |= {results[True][1], results[False][1]}
            print(f"{number},{results[False][0]:.0f},{results[True][0]:.0f},{program[-1]:+.4f},{results[False][2]:.3f},{results[True][2]:.3f}", flush=True)
        cost = statistics.median(program)
        print(f"median,,,{cost:+.4f},,")
        print(f"checksums: {' '.join(sorted(checksums))}", file=sys.stderr)
        return 0 if cost < MOST and len(checksums) == 1 else 1


sys.exit(main())
