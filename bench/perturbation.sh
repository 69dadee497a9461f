#!/bin/bash
# What tracing costs the traced program: runs with probes, each between two without, measured by
# `persik trace` itself (from before the start to the exit of the program). A machine that slowly
# becomes faster or slower, or a cache that the first run fills, so favours neither.
#
# usage: bench/perturbation.sh [PROGRAM...]   (a name in programs.sh; default all)
#
# $PAIRS (default 9), $THREADS (default 2). Prints, per program, the median of traced / untraced
# running time with its 95 % interval, and what was recorded. Exits 1 when a median is above 1.03.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

pairs=${PAIRS:-9}
threads=${THREADS:-2}
limit=1.03
record_bytes=32

# One pair of `concrete`: "perturbation in %, untraced seconds, records".
measure_pair() {
    local data=$work/perturbation.data notes
    notes=$("$persik" trace --no-evictions --plain-runs 2 -o "$data" -- "${concrete[@]}" 2>&1 \
        >/dev/null) || {
        say "this could not be traced: ${concrete[*]}: $notes"
        return 1
    }
    awk '
        match($0, /[0-9]+ records of/) { records = substr($0, RSTART) + 0 }
        match($0, /perturbation: [-+.0-9]+ % over [.0-9]+ s/) {
            split(substr($0, RSTART), word, " ")
            percent = word[2] + 0
            untraced_s = word[5]
        }
        END {
            if (untraced_s == "")
                exit 1
            print percent, untraced_s, records + 0
        }' <<<"$notes" || {
        say "persik trace did not say what the probes cost: $notes"
        return 1
    }
}

measure_program() {
    local name=$1 pair pairs_file=$work/perturbation.pairs
    with_threads "$threads"
    : >"$pairs_file"
    for ((pair = 1; pair <= pairs; pair++)); do
        say "$name: pair $pair of $pairs"
        measure_pair >>"$pairs_file" || return 1
    done
    sort -g "$pairs_file" | awk -v name="$name" -v bytes="$record_bytes" '
        { ratio[NR] = 1 + $1 / 100; untraced += $2; records += $3 }
        END {
            median = (ratio[int((NR + 1) / 2)] + ratio[int(NR / 2) + 1]) / 2
            # Order statistics around the median, by the normal limit of the binomial.
            low = int((NR - 1.96 * sqrt(NR)) / 2)
            if (low < 1)
                low = 1
            per_s = records / NR / (untraced / NR * median)
            printf "%-11s %8.3f %8.3f - %.3f %9.2f s %12.0f %12.0f\n", name, median, ratio[low],
                ratio[NR + 1 - low], untraced / NR, per_s, per_s * bytes
        }'
}

need_persik
names=("$@")
[ $# -gt 0 ] || names=("${sample_programs[@]}" "${real_programs[@]}")
failed=()
printf '%-11s %8s %16s %11s %12s %12s\n' program median '95 % interval' untraced records/s bytes/s
for name in "${names[@]}"; do
    if { set_command "$name" && line=$(measure_program "$name"); }; then
        echo "$line"
        read -r _ median _ <<<"$line"
        [ "$(number %d "$median <= $limit")" = 1 ] || failed+=("$name")
    else
        failed+=("$name")
    fi
done
echo "One record is $record_bytes bytes; $pairs triples at $threads threads; ratio of running times."
[ "${#failed[@]}" = 0 ] || fail "above $limit or not measured: ${failed[*]}"
