#!/usr/bin/env python3
"""Servers and an OpenMP program under the preload library, each by its own measure of success, and a long stress.

Usage: experiments/real-programs/run.py [OLIFANT] [STRESS SECONDS]

Needs redis-server, redis-benchmark, nginx, wrk, gcc with OpenMP. Servers listen on loopback only. Each is run without the
library and in three forms; every run must answer without an error and end with exit code 0. Prints CSV: program,
form, what it was, requests per second (on a shared computer a first idea, no more), errors.
"""

import contextlib
import csv
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OLIFANT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/olifant")
STRESS_S = int(sys.argv[2]) if len(sys.argv) > 2 else 600

FORMS = {
    "plain": [],
    "threads": [OLIFANT, "exec", "--threads", "fill", "--"],
    "heap local": [OLIFANT, "exec", "--heap", "local", "--children", "--"],
    "heap striped": [OLIFANT, "exec", "--heap", "striped:4", "--children", "--"],
}

OPENMP = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    enum { COUNT = 1 << 20 };
    double *values = malloc(COUNT * sizeof *values), sum = 0;
    for (int turn = 0; turn < 20; turn++) {
#pragma omp parallel for
        for (int at = 0; at < COUNT; at++)
            values[at] = at % 1000;
#pragma omp parallel for reduction(+ : sum)
        for (int at = 0; at < COUNT; at++)
            sum += values[at];
    }
    free(values);
    printf("%.0f\n", sum);
    return 0;
}
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def server(command, port, folder):
    """A server until the block ends; it must end by SIGTERM with code 0."""
    log = open(folder / "server.log", "w+")
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        time.sleep(0.05)
    else:
        process.kill()
        log.seek(0)
        sys.exit(f"{command}: does not listen\n{log.read()}")
    yield process
    process.send_signal(signal.SIGTERM)
    if process.wait(30) != 0:
        log.seek(0)
        sys.exit(f"{command}: ended with {process.returncode}\n{log.read()}")


def output(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def redis(prefix, folder):
    port = free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--io-threads", "2", "--appendonly", "no"]
    with server(prefix + ["redis-server", *options], port, folder):
        client = ["redis-cli", "-p", str(port)]
        tests = ["redis-benchmark", "-p", str(port), "-n", "40000", "-c", "20", "-P", "8", "-q", "-d", "512"]
        text = output(tests + ["-t", "set,get,incr,lpush,lrange_100,hset", "--csv"])
        rows = list(csv.DictReader(io.StringIO(text)))
        # What was written is read back, before and after the server forks to save it.
        output(client + ["set", "name", "olifant" * 10000])
        errors = int(output(client + ["get", "name"]).strip() != "olifant" * 10000)
        output(client + ["bgsave"])
        for _ in range(100):
            info = output(client + ["info", "persistence"])
            if "rdb_bgsave_in_progress:0" in info:
                break
            time.sleep(0.1)
        errors += int("rdb_last_bgsave_status:ok" not in info)

        errors += int(output(client + ["get", "name"]).strip() != "olifant" * 10000)
    for row in rows:
        yield row["test"], float(row["rps"]), errors


def nginx(prefix, folder):
    port = free_port()
    for name in ("small", "large"):
        (folder / name).write_bytes(os.urandom(1000 if name == "small" else 300_000))
    (folder / "nginx.conf").write_text(
        f"worker_processes 2;\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{ worker_connections 256; }}\nhttp {{\naccess_log off;\nclient_body_temp_path {folder}/body;\n"
        f"proxy_temp_path {folder}/proxy;\nfastcgi_temp_path {folder}/fastcgi;\nuwsgi_temp_path {folder}/uwsgi;\n"
        f"scgi_temp_path {folder}/scgi;\ngzip on;\ngzip_types *;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; }}\n}}\n"
    )
    os.chmod(folder, 0o755)
    with server(prefix + ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], port, folder):
        for name in ("small", "large"):
            url = f"http://127.0.0.1:{port}/{name}"
            text = output(["wrk", "-t", "2", "-c", "16", "-d", "5s", "-H", "Accept-Encoding: gzip", url])
            counts = re.findall(r"(?:connect|read|write|timeout|Non-2xx or 3xx responses:) (\d+)", text)
            same = subprocess.run(["curl", "-sf", url], capture_output=True).stdout == (folder / name).read_bytes()
            yield name, float(re.search(r"Requests/sec: +([\d.]+)", text)[1]), sum(map(int, counts)) + (not same)


def openmp(prefix, folder):
    (folder / "sum.c").write_text(OPENMP)
    output(["gcc", "-O2", "-fopenmp", "-o", "sum", "sum.c"], cwd=folder)
    begun = time.monotonic()
    text = output(prefix + [str(folder / "sum")], env={**os.environ, "OMP_NUM_THREADS": "4"})
    expected = 20 * sum(at % 1000 for at in range(1 << 20))
    yield "sums per second", 20 / (time.monotonic() - begun), int(text.strip() != str(expected))


def stress(prefix, folder):
    output(["gcc", "-std=c11", "-O1", "-pthread", "-o", folder / "stress", ROOT / "tests/inside/stress.c"])
    seconds = STRESS_S // (len(FORMS) - 1)
    text = output(prefix + [str(folder / "stress"), str(seconds), "libm.so.6"])
    yield text.strip().replace(",", ""), int(text.split()[0]) / seconds, 0


def main():
    print("program,form,what,per_second,errors")
    failed = 0
    for program in (redis, nginx, openmp, stress):
        for form, prefix in FORMS.items():
            if program is stress and not prefix:
                continue
            with tempfile.TemporaryDirectory() as folder:
                for what, rate, errors in program(prefix, Path(folder)):
                    print(f"{program.__name__},{form},{what},{rate:.0f},{errors}", flush=True)
                    failed += errors
    sys.exit(1 if failed else 0)


main()
