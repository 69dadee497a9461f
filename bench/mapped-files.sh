#!/bin/bash
# How well programs that wait for a disk in page faults of mapped files are predicted: each kind is recorded once on a
# slow disk (bench/slow-disk.sh), with a cold page cache, predicted over threads, and run there. As root.
#
#   random shared rows   tests/programs/mapped_reader.c, which tells of them
#   hashing              sha256deep (Debian's hashdeep) maps 300 files, of which each thread takes the next
#
# usage: bench/mapped-files.sh [KIND...]      (default: random shared rows)
#
# Throughput is pages, or files, over the running time. Of each configuration $RUNS runs, in turn with all others; their
# medians, least and most. Recordings and measurements are kept in bench/scratch/mapped-files/RECORDED/KIND/: delete the
# folder to measure anew, give more $RUNS to add some. No run begins after $LIMIT seconds: start it again.
#
#   THREADS      the configurations (1 2 4 8); RECORDED: threads of the recorded run (2)
#   RUNS, LIMIT  3, 100000
#   BUILD        options of persik build-model
#   SHA256DEEP   the command (sha256deep)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=on-slow-disk.sh
. "$(dirname "$0")/on-slow-disk.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
read -ra build_options <<<"${BUILD:-}"
runs=${RUNS:-3}
recorded=${RECORDED:-2}
limit=${LIMIT:-100000}
kept=$work/mapped-files/$recorded
disk=(--mb 384 --turn 2000 --seek-least 200 --seek-most 2000) # a run takes two seconds

# How many pages are touched, and how often each is read: what is read ahead together comes together.
touches_of() {
    case $1 in
    rows) echo 32768 ;;
    hashing) echo 300 ;; # files
    *) echo 600 ;;
    esac
}
passes_of() { [ "$1" = rows ] && echo 4 || echo 300; }

# Sets the array `command`: KIND with so many threads.
command_of() {
    command=("$kept/mapped_reader" "$SLOW_DISK/data" "$2" "$(touches_of "$1")" "$1" "$(passes_of "$1")")
    [ "$1" != hashing ] || command=("${SHA256DEEP:-sha256deep}" -Fm -j "$2" -r "$SLOW_DISK/files")
}

measured_run() { seconds_of "${command[@]}"; }

on_the_disk() {
    prepare="'$SLOW_DISK_DROP'"
    blockdev --setra 256 "$SLOW_DISK_DEVICE" # what others left there remains
    record_and_measure "$@"
}

compare() {
    local t touches
    touches=$(touches_of "$1")
    for t in "${threads[@]}"; do
        awk -v t="$t" '$1 == t {print $2}' "$kept/$1/measured" | sort -g >"$kept/of-threads"
        echo "$(median_of <"$kept/of-threads") $(head -n 1 "$kept/of-threads") $(tail -n 1 "$kept/of-threads")" \
            "$("$persik" predict -q -i "$kept/$1/recording" --threads "$t" --format json 2>>"$kept/$1/log" |
                jq -r '.configurations[0].run_ns // empty | . / 1e9')" |
            awk -v kind="$1" -v t="$t" -v n="$touches" '{
                printf "%-7s %7d %10.1f (%.1f .. %.1f) ", kind, t, n / $1, n / $3, n / $2
                if ($4) printf "%11.1f %+6.1f\n", n / $4, 100 * ($1 / $4 - 1)
                else print "no figure"}'
    done
}

need_persik
[ $# -gt 0 ] || set -- random shared rows
case $1 in --on-the-disk) on_the_disk "${@:2}" && exit ;; esac
mkdir -p "$kept"
gcc -std=gnu17 -D_GNU_SOURCE -g -O2 "$root/tests/programs/mapped_reader.c" -o "$kept/mapped_reader" -lpthread
cat >"$kept/fill" <<'END'
head -c 128M /dev/urandom >"$SLOW_DISK/data"
mkdir "$SLOW_DISK/files"
for i in $(seq 300); do head -c $((20000 + i * 1700)) /dev/urandom >"$SLOW_DISK/files/$i"; done
END
"$root/bench/slow-disk.sh" "${disk[@]}" --prepare "sh '$kept/fill'" -- "$0" --on-the-disk "$@"
for kind; do
    "$persik" build-model -q -i "$kept/$kind/recording" "${build_options[@]}" >"$kept/$kind/model.txt" 2>&1
done
echo "kind    threads measured/s (least .. most) predicted/s      %"
for kind; do compare "$kind"; done
