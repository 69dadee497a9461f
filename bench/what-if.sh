#!/bin/bash
# How good is persik what-if? Programs are recorded once, a change is asked for, and the program really so changed is
# run, in turn with the unchanged one.
#
# usage: bench/what-if.sh closed [CASE...]       programs whose times follow from their numbers (5 runs of each)
#        bench/what-if.sh real [PROGRAM...]      a function made slower by a known factor is recorded, the inverse asked
#        bench/what-if.sh identity [FOLDER...]   unchanged: recordings that are there, or real programs and samples,
#                                                recorded now; how far as recorded and rescheduled are from the traced time
#
# A line for each change: the real time, then the error of each way to predict, and whether the real time lies in the
# interval. Errors are of times, in per cent: to be measured on a machine without other load.
#
#   RUNS   of the changed program (5)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

runs=${RUNS:-5}
need_persik
scratch=$work/what-if
mkdir -p "$scratch"

compiled() { # SOURCE: gives the program
    local name
    name=$scratch/$(basename "$1" .c)
    [ "$name" -nt "$root/$1" ] || gcc -std=gnu17 -O1 -g -Wall -Wextra -Werror "$root/$1" -o "$name" -lpthread
    echo "$name"
}

record() { # FOLDER COMMAND...
    rm -rf "$1"
    "$persik" trace -q --plain-runs 0 --no-evictions -o "$1" -- "${@:2}" >"$1.log" 2>&1 || fail "$1.log: not recorded"
}

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }
real_s() {
    local i
    for ((i = 0; i < runs; i++)); do echo "$(seconds_of "$@")"; done | median
}

# compare CASE CHANGE FOLDER RECORDED-S REAL-S: one line. The recorded program without probes took RECORDED-S: what the
# probes cost is not what is looked at.
compare() {
    local options=()
    read -ra options <<<"$2"
    "$persik" what-if -q -i "$3" "${options[@]}" --format csv 2>/dev/null >"$scratch/answer" || return 1
    python3 - "$1" "$2" "$4" "$5" "$scratch/answer" <<'PYTHON'
import csv, sys
case, change, plain, real = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
row = next(csv.DictReader(open(sys.argv[5])))
def number(key):
    try: return float(row[key]) / 1e9
    except ValueError: return float("nan")
recorded, half = number("recorded_ns"), number("half_width_ns")
fair = real * recorded / plain  # the real one, had it been recorded
error = lambda s: f"{100 * (s / fair - 1):+.1f}"
inside = "yes" if abs(number("rescheduled_ns") - fair) <= half else "no"
print(f"{case},{change},{recorded / plain:.3f},{real:.4f},{error(number('as_recorded_ns'))},"
      f"{error(number('rescheduled_ns'))},{error(number('model_ns'))},{100 * half / fair:.1f},{inside}")
PYTHON
}
header() { echo "case,change,traced/plain,real_s,as_recorded_%,rescheduled_%,model_%,half_width_%,inside"; }

# ---- closed forms ----

# changes NAME PROGRAM "UNCHANGED NUMBERS" then pairs "CHANGE" "CHANGED NUMBERS".
changes() {
    local name=$1 program=$2 numbers plain folder=$scratch/$1
    read -ra numbers <<<"$3"
    shift 3
    record "$folder" "$program" "${numbers[@]}"
    "$persik" build-model -q -i "$folder" >>"$folder.log" 2>&1 || true # a refusal is an answer, too
    plain=$(real_s "$program" "${numbers[@]}")
    while [ $# -gt 0 ]; do
        read -ra numbers <<<"$2"
        compare "$name" "$1" "$folder" "$plain" "$(real_s "$program" "${numbers[@]}")" || echo "$name,$1,not predicted"
        shift 2
    done
}

closed_case() {
    case $1 in
    stages) changes stages "$stages" '5000 10000 4000 100' \
        '--scale sleep:second=0.5' '5000 5000 4000 100' \
        '--scale sleep:second=0.2' '5000 2000 4000 100' \
        '--scale sleep:second=0.1 --scale sleep:first=0.1' '500 1000 4000 100' ;;
    credits) changes credits "$what_if" 'credits 10000 12000 2 80 8' \
        '--scale sleep:send_all=0.1' 'credits 1000 12000 2 80 8' ;;
    mutex) changes mutex "$what_if" 'mutex 2000 4000 50 4' \
        '--scale lock:use_lock=0.5' 'mutex 2000 2000 50 4' \
        '--scale lock:use_lock=0.25' 'mutex 2000 1000 50 4' \
        '--scale lock:use_lock=0.125' 'mutex 2000 500 50 4' ;;
    hot) changes hot "$cases" 'hot 10 20 10000 4' \
        '--scale lock:use_lock=0.5' 'hot 10 10 10000 4' \
        '--scale lock:use_lock=0.25' 'hot 10 5 10000 4' \
        '--scale lock:use_lock=0.1' 'hot 10 2 10000 4' \
        '--scale lock:use_lock=2' 'hot 10 40 10000 4' \
        '--scale use_lock=2 --scale lock:use_lock=0.5' 'hot 20 20 10000 4' \
        '--scale use_lock=0.5 --scale lock:use_lock=2' 'hot 5 20 10000 4' \
        '--scale use_lock=0.5' 'hot 5 10 10000 4' ;;
    cpu) changes cpu "$what_if" 'cpu 1000 9000 50 4' \
        '--scale sleep:compute_and_sleep=0' 'cpu 1000 0 50 4' ;;
    *) fail "no case is called '$1'" ;;
    esac
}

closed() {
    local stages what_if cases
    stages=$(compiled tests/programs/three_stages.c)
    what_if=$(compiled tests/programs/what_if.c)
    cases=$(compiled bench/what_if_cases.c)
    [ $# -gt 0 ] || set -- stages credits mutex hot cpu
    header
    for name; do closed_case "$name"; done
}

# ---- real changes ----

# slowed NAME FACTOR FIRST SECOND ROUNDS THREADS: the slower one is recorded, the inverse asked for.
slowed() {
    local inverse
    inverse=$(number %.6f "1 / $2")
    changes "$1 x$2" "$cases" "slow $2 ${*:3}" "--scale first=$inverse" "slow 1 ${*:3}"
}

real() {
    local cases
    cases=$(compiled bench/what_if_cases.c)
    header
    for factor in 1.5 2 4; do
        slowed "one of two parts" $factor 1000 1000 200 2
        slowed "four threads" $factor 500 1000 200 4
    done
}

# ---- identity ----

identity_of() { # NAME FOLDER
    "$persik" critical-path -q -i "$2" --format json 2>/dev/null | python3 -c '
import json, sys
checks = json.load(sys.stdin)["checks"]
error = lambda key: "" if checks[key] is None else f"{100 * (checks[key] / checks[sys.argv[2]] - 1):+.2f}"
print(sys.argv[1], f"{checks[sys.argv[2]] / 1e6:.1f}", error("as_recorded_ns"), error("rescheduled_ns"), sep=",")
' "$1" traced_ns || echo "$1,no path"
}

identity() {
    local name folder=$scratch/identity threads=2 corpus
    {
        if [ $# -gt 0 ]; then
            for name; do identity_of "$(basename "$name")" "$name"; done
        else
            corpus=$("$root/bench/corpus" 60000000 what-if.corpus)
            for name in zstd pigz xz pbzip2; do
                command -v $name >/dev/null || continue
                case $name in
                zstd) command=(zstd -q -f -T$threads -5 "$corpus" -o /dev/null) ;;
                pigz) command=(pigz -k -c -p $threads "$corpus") ;;
                xz) command=(xz -k -c -1 -T$threads "$corpus") ;;
                pbzip2) command=(pbzip2 -k -c -p$threads "$corpus") ;;
                esac
                record "$folder" "${command[@]}"
                identity_of $name "$folder"
            done
            for name in "${sample_programs[@]}"; do
                record "$folder" "$built/samples/$name" --threads $threads
                identity_of "$name" "$folder"
            done
        fi
    } | tee "$scratch/identity.csv"
    python3 - "$scratch/identity.csv" <<'PYTHON'
import csv, sys
rows = [row for row in csv.reader(open(sys.argv[1])) if len(row) == 4 and row[3]]
for column, name in ((2, "as recorded"), (3, "rescheduled")):
    errors = sorted(abs(float(row[column])) for row in rows)
    if errors:
        print(f"{name}: {len(errors)} recordings, median {errors[len(errors) // 2]:.2f} %, "
              f"of ten nine within {errors[int(len(errors) * 0.9)]:.2f} %, worst {errors[-1]:.2f} %")
PYTHON
}

what=${1:-}
shift $(($# > 0))
case $what in
closed | real) "$what" "$@" ;;
identity)
    echo "program,traced_ms,as_recorded_%,rescheduled_%"
    identity "$@"
    ;;
*) fail "closed, real or identity?" ;;
esac
