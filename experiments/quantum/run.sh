#!/bin/sh
# What the ordering quantum does to results: the same programs at several quanta, as CSV on stdout.
# Usage: experiments/quantum/run.sh [OLIFANT] [FOLDER OF INSTRUMENTED PROGRAMS]
set -eu
olifant=${1:-target/release/olifant}
programs=${2:-build/bin}

echo "program,quantum_cycles,seconds,l2_misses,request_packets,response_packets,host_seconds"
for program in "ocean -n 258 -p 16" "fft3d -x 64 -y 64 -z 64 -i 4 -p 16" "jacobi -i 20 -p 16"; do
    for quantum in 100 300 1000 3000 10000; do
        # The program's words are meant to be split.
        # shellcheck disable=SC2086
        "$olifant" run --quantum "$quantum" --memory striped:1 --format json -- "$programs"/$program 2>/dev/null |
            python3 -c '
import json, sys
run = json.load(sys.stdin)
keys = ["seconds", "l2_misses", "request_packets", "response_packets", "host_seconds"]
print(",".join([sys.argv[1], sys.argv[2]] + [str(round(run[key], 6)) for key in keys]))' "$program" "$quantum"
    done
done
