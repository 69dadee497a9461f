#!/bin/bash
# What it costs that the kernel tells which pages of a file a call reads (tracer/pages.c): nanoseconds of CPU of a read from
# the page cache, bare, recorded without block I/O, and recorded with it and hence with pages, in turn. The last two differ
# by the kernel's tracepoints, as nothing asks a disk.
#
# usage: bench/read-cost.sh [ROUNDS]      (11; medians and, in brackets, least and most)
#
#   READS   a round (200000)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

rounds=${1:-11}
reads=${READS:-200000}
sizes=(16 512 4096 16384 65536)

recorded() {
    "$persik" trace -q --plain-runs 0 --no-evictions "${@:2}" -o "$scratch/recording" -- "$scratch/read_cost" \
        "$scratch/file" "$reads" "$1" 2>"$scratch/log" || fail "not recorded: $(<"$scratch/log")"
}

need_persik
scratch=$(mktemp -d "$work/read-cost.XXXXXX") # not in memory (tmpfs): that is no page cache
trap 'rm -rf "$scratch"' EXIT
gcc -O2 "$root/bench/read_cost.c" -o "$scratch/read_cost"
head -c 4M /dev/urandom >"$scratch/file"
echo "$(machine); $rounds rounds of $reads reads"
echo "bytes a read  bare, ns             recorded             and with pages       pages cost, ns"
for bytes in "${sizes[@]}"; do
    for ((round = 1; round <= rounds; round++)); do
        bare=$("$scratch/read_cost" "$scratch/file" "$reads" "$bytes")
        if [ $((round % 2)) = 0 ]; then # who goes first takes turns
            without=$(recorded "$bytes" --no-block-io)
            with=$(recorded "$bytes")
        else
            with=$(recorded "$bytes")
            without=$(recorded "$bytes" --no-block-io)
        fi
        echo "$bare $without $with $(number %.1f "$with - $without")"
    done >"$scratch/rounds"
    for column in 1 2 3 4; do
        awk -v column="$column" '{print $column}' "$scratch/rounds" | sort -g | awk '{value[NR] = $1}
            END {printf "  %-19s", sprintf("%.0f (%.0f .. %.0f)", value[int((NR + 1) / 2)], value[1], value[NR])}'
    done | awk -v bytes="$bytes" '{printf "%12d%s\n", bytes, $0}'
done
