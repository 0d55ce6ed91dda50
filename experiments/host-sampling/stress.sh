#!/bin/sh
# A program that churns its memory (tests/host/stress.c), recorded from its start, while other recordings attach to it, detach and are
# killed. Usage: experiments/host-sampling/stress.sh [OLIFANT] [SECONDS]; exit code 0 if the program found all its data as it left it.
set -eu
olifant=${1:-target/release/olifant}
seconds=${2:-600}
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -g -pthread -o "$folder/stress" "$here/../../tests/host/stress.c"
"$olifant" record --on host --rate 4000 -o "$folder/whole.olp" -- "$folder/stress" "$seconds" 2>"$folder/whole.log" &
recorder=$!
sleep 1
program=$(ps -o pid= --ppid "$recorder" | head -n 1 | tr -d ' ')
attached=0
killed=0
while kill -0 "$program" 2>/dev/null; do
    "$olifant" record --pid "$program" --seconds 3 -o "$folder/part.olp" >/dev/null 2>&1 &
    part=$!
    attached=$((attached + 1))
    sleep 1
    if [ $((attached % 2)) -eq 0 ]; then
        # It may have ended with the program.
        kill -9 "$part" 2>/dev/null && killed=$((killed + 1))
    fi
    wait "$part" 2>/dev/null || true
done
code=0
wait "$recorder" || code=$?
echo "seconds $seconds, attached $attached, killed while attached $killed, exit code $code"
cat "$folder/whole.log"
exit "$code"
