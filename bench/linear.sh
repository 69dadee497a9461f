#!/bin/bash
# Whether stage 4 is linear in the trace: CPU time and peak memory of `persik build-model`, and the time of each pass,
# for traces of 1, 5 and 20 million records of linear.c: a bounded queue of its own making with four consumers.
#
# usage: bench/linear.sh [MILLIONS...]      (default: 1 5 20)
#
#   ROUNDS   builds of each trace, in turn; medians are compared (5)
#
# The source is not analysed. Traces are kept in bench/scratch/linear/ and used again. Exit status 1: a record costs more than twice as much CPU
# time, or more than 1.5 times as much memory, in the longest trace as in the shortest one.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=linear-traces.sh
. "$(dirname "$0")/linear-traces.sh"

rounds=${ROUNDS:-5}
time_limit=2
memory_limit=1.5
shown=0.02 # of a build's time, for a pass to be shown

# One build: "CPU_S WALL_S KIB" to COSTS, "PASS MS" lines to PASSES: build FOLDER COSTS PASSES.
build() {
    PATH='' /usr/bin/time -a -o "$2" -f '%U %S %e %M' "$persik" build-model -v -i "$1" >/dev/null 2>"$1.build.log" ||
        fail "no model: see $1.build.log"
    sed -n 's/.*pass \([a-z_]*\): \([0-9.]*\) ms.*/\1 \2/p' "$1.build.log" >>"$3"
}

# "MEDIAN LEAST MOST" of numbers.
spread() {
    LC_ALL=C sort -g | awk '
        { v[NR] = $1 }
        END { printf "%.6g %.6g %.6g\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}

# "MEDIAN LEAST MOST" in words.
in_words() { awk -v format="$1" '{ printf format " (" format " .. " format ")", $1, $2, $3 }'; }

need_persik
[ -x /usr/bin/time ] || fail "no /usr/bin/time: install the package time"
[ $# -gt 0 ] || set -- 1 5 20
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prepare_all "$@"
for ((round = 1; round <= rounds; round++)); do
    for millions; do
        say "round $round: $millions million"
        build "$kept/$millions" "$scratch/$millions.costs" "$scratch/$millions.passes"
    done
done

echo "$(machine), $(date -u +%Y-%m-%d), at commit $(git -C "$root" rev-parse --short HEAD):" \
    "medians of $rounds builds, least and most"
echo
echo "| records | CPU time, s | wall time, s | peak memory, MiB | CPU us / record | bytes / record |"
echo "|--:|--:|--:|--:|--:|--:|"
for millions; do
    records=$(records_in "$kept/$millions")
    costs=$scratch/$millions.costs
    cpu=$(awk '{ print $1 + $2 }' "$costs" | spread)
    memory=$(awk '{ print $4 / 1024 }' "$costs" | spread)
    echo "| $records | $(in_words %.2f <<<"$cpu") | $(awk '{ print $3 }' "$costs" | spread | in_words %.2f) |" \
        "$(in_words %.0f <<<"$memory") | $(number %.3f "${cpu%% *} * 1e6 / $records") |" \
        "$(number %.0f "${memory%% *} * 1048576 / $records") |"
    echo "$records ${cpu%% *} ${memory%% *}" >>"$scratch/totals"
done

# What a pass costs a record in the longest trace, over what it does in the shortest one.
first=$1 last=${*: -1}
times_as_many=$(awk 'NR == 1 { first = $1 } END { print $1 / first }' "$scratch/totals")
last_cpu=$(awk 'END { print $2 }' "$scratch/totals")
echo
echo "| pass | ms, $first million | ms, $last million | cost of a record, last / first |"
echo "|---|--:|--:|--:|"
awk '{ print $1 }' "$scratch/$last.passes" | awk '!seen[$0]++' | while read -r pass; do
    for millions in "$first" "$last"; do
        awk -v pass="$pass" '$1 == pass { print $2 }' "$scratch/$millions.passes" | spread
    done | paste -s -d ' ' | awk -v pass="$pass" -v shown="$shown" -v records="$times_as_many" -v cpu="$last_cpu" '
        $4 / 1000 > shown * cpu {
            printf "| %s | %.1f (%.1f .. %.1f) | %.1f (%.1f .. %.1f) | %s |\n", pass, $1, $2, $3, $4, $5, $6,
                ($1 > 0 ? sprintf("%.2f", $4 / $1 / records) : "-")
        }'
done
awk -v time_limit=$time_limit -v memory_limit=$memory_limit '
    NR == 1 { records = $1; cpu = $2 / $1; memory = $3 / $1 }
    END { exit NR > 1 && ($2 / $1 > time_limit * cpu || $3 / $1 > memory_limit * memory) }' "$scratch/totals" ||
    fail "not linear: a record costs more in the longest trace"
