#!/bin/bash
# How well programs that write are predicted: each kind of tests/programs/writer.c is recorded once on a slow disk
# (bench/slow-disk.sh), predicted over threads, and run there. As root.
#
# usage: bench/writers.sh [KIND...]      (default: log logs bulk direct; writer.c tells of them)
#
# Each thread writes as much, so that throughput is threads times records over the time of the writing. `bulk` may have
# 64 MB dirty, a limit of the slow disk alone. Of each configuration $RUNS runs (3), in turn with all others; their
# medians. The disk is calibrated first (persik calibrate), and the models know the result. Recordings and measurements
# are kept in bench/scratch/writers/KIND/; delete the folder to measure anew, give more $RUNS to add some. What each run
# asked of the disk is in KIND/disk.THREADS.RUN, lines of bench/slow_disk.c. No run begins after $LIMIT seconds: start it
# again.
#
#   THREADS   the configurations (1 2 4 8); RECORDED: threads of the recorded run (4)
#   LIMIT     100000
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=on-slow-disk.sh
. "$(dirname "$0")/on-slow-disk.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
runs=${RUNS:-3}
recorded=${RECORDED:-4}
limit=${LIMIT:-100000}
kept=$work/writers
dirty_limit=$((64 << 20))

# Records of each thread.
records_of() {
    case $1 in
    log | logs) echo 480 ;;
    bulk) echo 768 ;;
    *) echo 300 ;; # with fewer the first seeks are much of one thread's time
    esac
}

# Sets the array `command`: KIND with so many threads.
command_of() {
    local every=16 bytes=4096
    [ "$1" != bulk ] || bytes=131072
    command=("$kept/writer" "$1" "$2" "$(records_of "$1")" "$SLOW_DISK" "$every" "$bytes")
}

# Nothing is dirty, and nothing cached, before a run.
prepare_disk() {
    local limits
    rm -f "$SLOW_DISK"/written.*
    "$SLOW_DISK_DROP"
    limits=/sys/class/bdi/$(lsblk -no MAJ:MIN "$SLOW_DISK_DEVICE" | tr -d ' ')
    echo 1 >"$limits/strict_limit"
    echo "$dirty_limit" >"$limits/max_bytes"
}

# What the run asked of the disk is kept beside.
measured_run() {
    local before
    before=$(wc -l <"$kept/disk.log")
    "${command[@]}"
    tail -n +$((before + 1)) "$kept/disk.log" >"$kept/$1/disk.$2.$3"
}

on_the_disk() {
    prepare="'$0' --prepare"
    "$SLOW_DISK_DROP"
    [ -s "$kept/disk.json" ] || "$persik" calibrate -q --duration 12s -o "$kept/disk.json" "$SLOW_DISK" >&2
    record_and_measure "$@"
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
    done | awk -v records="$(records_of "$1")" '{
        printf "%-7s %7d %12.1f %12.1f %+6.1f\n", $1, $2, $2 * records / $3, $2 * records / $4, 100 * ($3 / $4 - 1)}'
}

need_persik
[ $# -gt 0 ] || set -- log logs bulk direct
case $1 in
--prepare) prepare_disk && exit ;;
--on-the-disk) on_the_disk "${@:2}" && exit ;;
esac
mkdir -p "$kept"
rm -f "$kept/disk.log"
gcc -std=gnu17 -D_GNU_SOURCE -g -O2 "$root/tests/programs/writer.c" -o "$kept/writer" -lpthread
"$root/bench/slow-disk.sh" --log "$kept/disk.log" -- "$0" --on-the-disk "$@"
for kind; do "$persik" build-model -q -i "$kept/$kind/recording" --disk "$(cat "$kept/$kind/device")=$kept/disk.json" >&2; done
echo "kind    threads   measured/s  predicted/s      %"
for kind; do compare "$kind"; done
