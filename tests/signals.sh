#!/bin/sh
# Checks that a thread that waits for a signal which another thread sends it is modelled as waiting for
# that thread, on a kept recording of tests/programs/signal_done.c.
# Usage: tests/signals.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2
data=$scratch/signal_done

is_object() { "$persik" graph -q -i "$data" | tee /dev/stderr | grep -q '^signal to main, main (signal_done.c:'; }

# Four threads on two cores and on four: the wait is as long as they compute.
follows_the_threads() {
    "$persik" predict -q -i "$data" --threads 4 --cores 2,4 --format csv | tee "$scratch/csv" &&
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run_ns") at = i }
                  NR > 1 { run[NR] = $at }
                  END { exit !(NR == 3 && run[3] < 0.7 * run[2]) }' "$scratch/csv"
}

check "a model is built" kept_model signal_done
check "what main waits for has a name" is_object
check "main waits as long as the threads compute, not as long as it did" follows_the_threads

finish
