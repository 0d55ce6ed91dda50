#!/usr/bin/env python3
"""Simulated accesses per second against cachegrind's data references per second, interleaved, on one core.

Usage: experiments/throughput/run.py [OLIFANT] [INSTRUMENTED PROGRAMS] [NATIVE PROGRAMS] [ROUNDS]

cachegrind runs the native program with one thread, olifant the instrumented one with 16 threads on 4N4 and full timing.
Prints CSV: program, tool, placement, accesses, the smallest cpu seconds of all rounds, million accesses per second, and the ratio to
cachegrind's.
"""

import os
import re
import subprocess
import sys

DEFAULTS = ["target/release/olifant", "build/bin", "build/native"]
OLIFANT, INSTRUMENTED, NATIVE = (sys.argv[1:4] + DEFAULTS[len(sys.argv[1:4]) :])
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3

# (program, its options, placements)
PROGRAMS = [
    ("ocean", ["-n", "514"], ["first-touch", "striped:1"]),
    ("water-spatial", ["-n", "4096", "-s", "4"], ["first-touch"]),
    ("water-nsquared", ["-n", "512", "-s", "2"], ["first-touch"]),
]


def cpu_seconds(command):
    """Runs a command; its cpu time and what it printed."""
    before = os.times()
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, run.stdout + run.stderr


def cachegrind(program, options):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
    used, text = cpu_seconds(command + [f"{NATIVE}/{program}", *options, "-p", "1"])
    return used, int(re.search(r"D +refs: +([\d,]+)", text)[1].replace(",", ""))


def olifant(program, options, placement):
    command = [OLIFANT, "run", "--memory", placement, "--format", "json", "--", f"{INSTRUMENTED}/{program}", *options, "-p", "16"]
    used, text = cpu_seconds(command)
    return used, int(re.search(r'"accesses": (\d+)', text)[1])


print("program,tool,placement,accesses,cpu_s,million_per_s,against_cachegrind")
for program, options, placements in PROGRAMS:
    peer, ours = [], {placement: [] for placement in placements}
    for _ in range(ROUNDS):
        peer.append(cachegrind(program, options))
        for placement in placements:
            ours[placement].append(olifant(program, options, placement))
    name = " ".join([program, *options])
    used, count = min(peer)
    speed = count / used / 1e6
    print(f"{name},cachegrind,,{count},{used:.2f},{speed:.0f},1.00")
    for placement in placements:
        used, count = min(ours[placement])
        print(f"{name},olifant,{placement},{count},{used:.2f},{count / used / 1e6:.0f},{count / used / 1e6 / speed:.2f}", flush=True)
