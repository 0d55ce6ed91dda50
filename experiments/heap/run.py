#!/usr/bin/env python3
"""malloc under the preload library against mimalloc itself: cpu time, instructions and memory, interleaved.

Usage: experiments/heap/run.py [OLIFANT] [ROUNDS]

mimalloc is built from the same source as the one in the library (libmimalloc-sys of Cargo.lock) with the same compiler
options, and put into the load by LD_PRELOAD. The forms:

    mimalloc   that library
    preload    `olifant exec --thread 9999=float`, which puts the preload library in and places nothing
    heap       `olifant exec --heap node:0`, every block from a heap that is bound to a node

Each round runs every form of a load once, in turn, so that all see the same disturbances. Prints CSV: load, form, the least
and the median cpu seconds, the median peak memory in KiB, and the ratios of the medians to mimalloc's; where valgrind is
installed, instructions of one run of a tenth of the size and their ratio too.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OLIFANT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/olifant")
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 15

# (kind, threads, rounds of the load)
LOADS = [("single", 1, 8_000_000), ("many", 4, 2_000_000), ("queue", 4, 2_000_000), ("larson", 4, 2_000_000)]


def build_mimalloc(folder):
    """The allocator alone, as a library to preload."""
    text = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    packages = json.loads(text)["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "libmimalloc-sys")
    source = Path(manifest).parent / "c_src/mimalloc/v3"
    library = folder / "libmimalloc.so"
    options = "-O3 -fPIC -shared -ftls-model=initial-exec -DMI_DEBUG=0 -DMI_BUILD_RELEASE -DNDEBUG -DMI_MALLOC_OVERRIDE"
    subprocess.run(
        ["cc", *options.split(), "-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT", f"-I{source / 'include'}"]
        + ["-fno-builtin-malloc", "-o", library, source / "src/static.c", "-lpthread"],
        check=True,
    )
    return library


def build_loads(folder):
    program = folder / "loads"
    subprocess.run(["cc", "-std=c11", "-O2", "-pthread", "-o", program, HERE / "loads.c"], check=True)
    return program


def forms(mimalloc):
    return {
        "mimalloc": ["env", f"LD_PRELOAD={mimalloc}"],
        "preload": [OLIFANT, "exec", "--thread", "9999=float", "--children", "--"],
        "heap": [OLIFANT, "exec", "--heap", "node:0", "--children", "--"],
    }


def run(command):
    """Cpu seconds and peak memory in KiB of a command; its answer."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        answer = output.read()
    if process.returncode != 0:
        sys.exit(f"{command}: exit code {process.returncode}")
    blocks, memory = answer.split()
    return usage.ru_utime + usage.ru_stime, int(memory), blocks


def instructions(prefix, load):
    """Instructions of the load under callgrind, which the prefix starts and which starts the load."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    words = subprocess.run(prefix + command + load, capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", words)[1])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build_loads(folder)
        kinds = forms(build_mimalloc(folder))
        print("load,form,least_s,median_s,median_kib,time_ratio,memory_ratio,instructions,instruction_ratio")
        for kind, threads, rounds in LOADS:
            load = [str(program), kind, str(threads), str(rounds)]
            seen = {form: [] for form in kinds}
            answers = set()
            for _ in range(ROUNDS):
                for form, prefix in kinds.items():
                    seconds, memory, answer = run(prefix + load)
                    seen[form].append((seconds, memory))
                    answers.add(answer)
            if len(answers) != 1:
                sys.exit(f"{kind}: the forms gave different answers")
            counted = {form: 0 for form in kinds}
            if shutil.which("valgrind"):
                small = load[:3] + [str(rounds // 10)]
                counted = {form: instructions(prefix, small) for form, prefix in kinds.items()}
            base = [statistics.median(column) for column in zip(*seen["mimalloc"])]
            for form, rows in seen.items():
                seconds, memory = (statistics.median(column) for column in zip(*rows))
                least = min(row[0] for row in rows)
                count_ratio = counted[form] / counted["mimalloc"] if counted["mimalloc"] else 0
                print(
                    f"{kind},{form},{least:.3f},{seconds:.3f},{memory:.0f},{seconds / base[0]:.3f},{memory / base[1]:.3f},"
                    f"{counted[form]},{count_ratio:.3f}",
                    flush=True,
                )


main()
