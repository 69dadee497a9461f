#!/bin/bash
# Does persik bottleneck name the right limit, and does relieving it in the program gain what was predicted? Programs
# of bench/bottleneck.c that have one limit each are recorded; the first line of persik's answer is held against the
# same program compiled without that limit, both run in turn.
#
# usage: bench/bottleneck.sh [RUNS [ACT...]]      (7 runs of each of two programs; all acts)
#
# A line for each act: the limit that is named, whether it is the right one, the predicted and the real gain (medians),
# by how much the predicted time without the limit is off, and what share of the cores' time a virtual machine's host
# took meanwhile. Where that is more than 3 %, or the recording gives no figures, the act is done again, up to $TRIES
# times (3). Exit status 1: a wrong limit, or off by more than 10 %.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

runs=${1:-7}
shift $(($# > 0))
[ $# -gt 0 ] || set -- lock device permits queue stage serial uneven convoy readers crowd cores accept
most=0.1
tries=${TRIES:-3}
undisturbed=0.03
need_persik
scratch=$work/bottleneck
mkdir -p "$scratch"

# What must be named first: the kind of limit, and a part of its name. right_limit ACT.
right_limit() {
    case $1 in
        lock | device | convoy) echo 'lock locks' ;;
        permits) echo 'permits permits' ;;
        queue) echo 'capacity jobs' ;;
        stage) echo 'one thread make_jobs' ;;
        serial) echo 'one thread main' ;;
        uneven) echo 'uneven work compute_share' ;;
        readers) echo 'lock tables' ;;
        crowd) echo 'crowd compute_items' ;;
        cores) echo 'cores cores' ;;
        accept) echo 'one thread accept_all' ;;
    esac
}

# prefix_of ACT RELIEVED: what starts the program with as many cores as it shall have.
prefix_of() { [ "$1" != cores ] || [ "$2" = 1 ] || echo taskset -c 0; }

defined=("" -DRELIEVED)
for relieved in 0 1; do
    # shellcheck disable=SC2086 # nothing, or one word
    gcc -std=gnu17 -O2 -g -Wall -Wextra -Werror ${defined[$relieved]} \
        "$root/bench/bottleneck.c" -o "$scratch/program$relieved" -lpthread
done

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# column NAME: of the first line of figures in a CSV on standard input.
column() { python3 -c 'import csv, sys; print(next(csv.DictReader(sys.stdin))[sys.argv[1]])' "$1"; }

# measure ACT: "RELIEVED SECONDS" for each run.
measure() {
    local i relieved
    for ((i = 0; i < runs; i++)); do
        for relieved in 0 1; do
            read -ra prefix <<<"$(prefix_of "$1" "$relieved")"
            echo "$relieved $(seconds_of "${prefix[@]}" "$scratch/program$relieved" "$1")"
        done
    done
}

# Ticks that the host took, and all that passed: of all cores since the machine started.
stolen_of_all() { awk '$1 == "cpu" { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat; }

# attempt ACT: records it, asks, runs it, and sets $stolen. Fails where there are no figures.
attempt() {
    local data=$scratch/$1 stolen_before all_before stolen_after all_after
    read -r stolen_before all_before < <(stolen_of_all)
    rm -rf "$data"
    read -ra prefix <<<"$(prefix_of "$1" 0)"
    "${prefix[@]}" "$persik" profile -q --no-evictions --plain-runs=1 -o "$data" -- "$scratch/program0" "$1" >"$data.log" 2>&1 &&
        "$persik" build-model -q -i "$data" >>"$data.log" 2>&1 &&
        "$persik" bottleneck -q -i "$data" --format csv >"$data.csv" 2>>"$data.log" || return 1
    measure "$1" >"$data.times"
    read -r stolen_after all_after < <(stolen_of_all)
    stolen=$(number %.3f "($stolen_after - $stolen_before) / ($all_after - $all_before)")
}

status=0
echo "act,limit,subject,right,predicted_gain,gain_half_width,real_gain,predicted_s,real_s,error,stolen"
for act; do
    data=$scratch/$act
    for ((try = 1; try <= tries; try++)); do
        stolen=
        attempt "$act" || continue
        [ "$(number %d "$stolen > $undisturbed")" = 1 ] || break
    done
    [ -n "$stolen" ] || fail "$act: see $data.log"
    before=$(awk '$1 == 0 { print $2 }' "$data.times" | median)
    after=$(awk '$1 == 1 { print $2 }' "$data.times" | median)
    limit=$(column limit <"$data.csv")
    subject=$(column subject <"$data.csv")
    gain=$(column gain <"$data.csv")
    half=$(column gain_half_width <"$data.csv")
    case "$limit $subject" in
        "$(right_limit "$act" | sed 's/ [^ ]*$//') "*"$(right_limit "$act" | sed 's/.* //')"*) right=yes ;;
        *) right=no status=1 ;;
    esac
    error=$(number %.4f "$before * (1 - $gain) / $after - 1")
    [ "$(number %d "$error > $most || $error < -$most")" = 0 ] || status=1
    echo "$act,$limit,\"$subject\",$right,$(number %.3f "$gain"),$(number %.3f "$half")," \
        "$(number %.3f "1 - $after / $before"),$(number %.3f "$before * (1 - $gain)"),$after,$error,$stolen" | sed 's/, /,/g'
done
exit $status
