#!/bin/sh
# Runs every test of the workspace and ends with one line of the sum, which is also how it exits.
set -u

# The gate tries the same random cases every time, so that it says the same of the same code; `make fuzz` tries new ones.
if [ -n "${CI:-}" ]; then
    export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1999}"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test --workspace --locked --no-fail-fast 2>&1 | tee "$log" | grep -v '^running 0 tests$' | cat -s

# cargo prints one line per test program: `test result: ok. 16 passed; 0 failed; ...`. A program that does not compile
# or crashes leaves no such line but an `error:`.
awk '
    /^test result: / { for (i = 2; i <= NF; i++) { if ($i == "passed;") passed += $(i - 1); if ($i == "failed;") failed += $(i - 1) } }
    /^error: could not compile|^error: test failed|process didn.t exit successfully|^error\[/ { errors++ }
    END {
        if (failed == 0 && errors > 0) failed = 1
        printf "\n%d passed, %d failed\n", passed, failed
        exit failed > 0 || passed == 0
    }' "$log"
