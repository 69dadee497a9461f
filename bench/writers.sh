#!/bin/bash
# How well programs that wait for their writes are predicted: each kind of tests/programs/writer.c is recorded once on a
# slow disk (bench/slow-disk.sh), predicted over threads, and run there. As root.
#
# usage: bench/writers.sh [KIND...]      (default: log logs direct; writer.c tells of them)
#
# Each thread writes as many records, so that throughput is threads times records over the running time. Of each
# configuration $RUNS runs (3), in turn with all others; their medians. Recordings and measurements are kept in
# bench/scratch/writers/KIND/; delete the folder to measure anew, give more $RUNS to add some.
#
#   THREADS   the configurations (1 2 4 8); RECORDED: threads of the recorded run (4)
#   RECORDS   of each thread (480), of a page; EVERY: of these it waits for the disk (16)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
runs=${RUNS:-3}
recorded=${RECORDED:-4}
records=${RECORDS:-480}
every=${EVERY:-16}
kept=$work/writers

# On the slow disk.
record_and_measure() {
    local kind i t
    for kind; do
        mkdir -p "$kept/$kind"
        [ -s "$kept/$kind/recording/trace.persik" ] ||
            "$persik" profile -q --no-evictions --plain-runs 1 -o "$kept/$kind/recording" -- \
                "$kept/writer" "$kind" "$recorded" "$records" "$SLOW_DISK" "$every" >&2
        touch "$kept/$kind/measured"
    done
    for ((i = 1; i <= runs; i++)); do
        for kind; do
            for t in "${threads[@]}"; do
                [ "$(grep -cs "^$t " "$kept/$kind/measured")" -ge "$i" ] ||
                    echo "$t $("$kept/writer" "$kind" "$t" "$records" "$SLOW_DISK" "$every")" >>"$kept/$kind/measured"
            done
        done
    done
}

median() {
    awk -v t="$2" '$1 == t {print $2}' "$kept/$1/measured" | sort -g |
        awk '{value[NR] = $1} END {print value[int((NR + 1) / 2)]}'
}

compare() {
    local t
    for t in "${threads[@]}"; do
        echo "$1 $t $(median "$1" "$t") $("$persik" predict -q -i "$kept/$1/recording" --threads "$t" \
            --partition work=perthread --format json | jq -r '.configurations[0].run_ns / 1e9')"
    done | awk -v records="$records" '{
        printf "%-7s %7d %12.1f %12.1f %+6.1f\n", $1, $2, $2 * records / $3, $2 * records / $4, 100 * ($3 / $4 - 1)}'
}

need_persik
[ $# -gt 0 ] || set -- log logs direct
if [ "$1" = --on-the-disk ]; then
    record_and_measure "${@:2}"
    exit
fi
mkdir -p "$kept"
gcc -std=gnu17 -D_GNU_SOURCE -g -O2 "$root/tests/programs/writer.c" -o "$kept/writer" -lpthread
"$root/bench/slow-disk.sh" -- "$0" --on-the-disk "$@"
for kind; do "$persik" build-model -q -i "$kept/$kind/recording" >&2; done
echo "kind    threads   measured/s  predicted/s      %"
for kind; do compare "$kind"; done
