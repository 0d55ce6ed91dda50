#!/usr/bin/env python3
"""The rows that machines/olifant.toml was calibrated on, run again: Jacobi of the 1999 paper's Tables 1 and 2.

Usage: experiments/calibration/run.py [OLIFANT] [FOLDER OF INSTRUMENTED PROGRAMS]

Prints CSV: configuration, threads, memory policy, published seconds, reproduced seconds, error. 500 sweeps are 500 times the
difference between a run of four sweeps and one of two, halved: set-up is not part of the published times.
"""

import json
import subprocess
import sys

OLIFANT = sys.argv[1] if len(sys.argv) > 1 else "target/release/olifant"
PROGRAMS = sys.argv[2] if len(sys.argv) > 2 else "build/bin"

# (configuration, threads, memory policy, published seconds)
ROWS = [
    ("1N1", 1, "local", 86.7),
    ("1N4", 4, "local", 73.4),
    ("4N4", 1, "any", 252.3),
]


def seconds(configuration, threads, memory, sweeps):
    """Simulated seconds of a run."""
    command = [OLIFANT, "run", "--config", configuration, "--memory", memory, "--format", "json", "--"]
    command += [f"{PROGRAMS}/jacobi", "--in-place", "-i", str(sweeps), "-p", str(threads)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    return json.loads(run.stdout)["seconds"]


print("configuration,threads,memory,published_s,reproduced_s,error")
for configuration, threads, memory, published in ROWS:
    sweep = (seconds(configuration, threads, memory, 4) - seconds(configuration, threads, memory, 2)) / 2
    reproduced = 500 * sweep
    print(f"{configuration},{threads},{memory},{published},{reproduced:.1f},{reproduced / published - 1:+.3f}", flush=True)
