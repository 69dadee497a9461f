#!/bin/sh
# What tracing costs a program of very many short threads: bare and traced in turn.
# usage: bench/short-threads.sh [build folder [rounds [threads]]]       (build/release, 5, 100000)
# Exits 1 when the median of the pairs is above +20 %.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
rounds=${2:-5}
threads=${3:-100000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 bench/short_threads.c -o "$folder/short_threads" -lpthread

round=0
while [ "$round" -lt "$rounds" ]; do
    bare=$("$folder/short_threads" "$threads")
    traced=$("$build/persik" trace -q --plain-runs 0 --no-evictions --no-block-io -o "$folder/recording" -- \
        "$folder/short_threads" "$threads" 2>"$folder/log") || { cat "$folder/log" >&2; exit 1; }
    echo "$(awk -v b="$bare" -v t="$traced" 'BEGIN { print t / b }') $bare $traced"
    round=$((round + 1))
done | sort -n | awk -v threads="$threads" '
{ ratio[NR] = $1; bare[NR] = $2; traced[NR] = $3 }
END {
    if (NR == 0) exit 1
    middle = int((NR + 1) / 2)
    printf "%d threads: bare %.3f s, traced %.3f s: %+.1f %% (%+.1f to %+.1f over %d pairs)\n", threads,
        bare[middle], traced[middle], 100 * (ratio[middle] - 1), 100 * (ratio[1] - 1), 100 * (ratio[NR] - 1), NR
    exit ratio[middle] > 1.2
}'
