#!/bin/sh
# The critical path and what-if, from outside: recordings of programs that sleep, whose running time follows from their
# numbers, are asked what it would be with other numbers. What the programs then really took was measured beside the
# recordings (tests/golden, bench/golden.list). Usage: tests/critical_path.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

# recorded NAME: what is asked from now on.
recorded() {
    recording=$scratch/$1
    [ -e "$recording" ] || kept "$1"
}

# ---- what is asked of a recording ----

# field KEY ROW-PATTERN: that column of the row of the path's CSV.
field() {
    "$persik" critical-path -q -i "$recording" --format csv 2>/dev/null | awk -F , -v key="$1" -v row="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) column = i; next }
        $0 ~ row { print $column; found = 1; exit }
        END { if (!found) print 0 }'
}

# holds NUMBER RELATION NUMBER
holds() { awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }" || { echo "$1 is not $2 $3" && return 1; }; }

# explains_itself: as recorded, nothing is missing, and next to all waiting is explained.
explains_itself() {
    "$persik" critical-path -q -i "$recording" --format json >"$scratch/json" || return 1
    awk -F '[:,]' '
        /"traced_ns"/ { traced = $2 } /"as_recorded_ns"/ { found = $2 } /"explained_share"/ { explained = $2 }
        END { print "as recorded " found " of " traced ", explained " explained
              exit !(traced > 0 && found >= traced * 0.999 && found <= traced * 1.001 && explained >= 0.99) }' \
        "$scratch/json"
}

# predicts CHANGE REAL-MS PER-CENT: so changed, the program really took so long.
predicts() {
    option=--scale
    case $1 in *.capacity=* | *.permits=*) option=--set ;; esac
    "$persik" what-if -q -i "$recording" "$option" "$1" --format csv 2>/dev/null |
        awk -F , -v change="$1" -v real="$2" -v limit="$3" 'NR == 2 {
            error = 100 * ($2 / 1e6 / real - 1)
            printf "%s: predicted %.1f ms, really %.1f ms: %+.1f %%\n", change, $2 / 1e6, real, error
            good = error < limit && error > -limit }
            END { exit !good }'
}

pipeline_path() {
    recorded stages && explains_itself &&
        holds "$(field share 'sleeping,second')" '>=' 0.96 &&
        holds "$(field share 'sleeping,first')" '<' 0.02 && holds "$(field share 'sleeping,third')" '<' 0.02
}
# curve FACTOR: gain of the second stage's sleep.
curve() {
    "$persik" critical-path -q -i "$recording" --curve sleep:second --format csv 2>/dev/null |
        awk -F , -v factor="$1" 'NR > 1 && $1 == factor { print $2; found = 1 } END { if (!found) print "none" }'
}
# Half its time is half of the run; then the first stage limits, and nothing more is gained.
pipeline_curve() {
    recorded stages && holds "$(curve 1)" == 0 && holds "$(curve 0.5)" '>' 0.47 && holds "$(curve 0.5)" '<' 0.51 &&
        holds "$(curve 0.75)" '>' 0.23 && holds "$(curve 0.75)" '<' 0.27 &&
        holds "$(curve 0)" '>' 0.47 && holds "$(curve 0)" '<' 0.51
}
pipeline_faster() { recorded stages && predicts sleep:second=0.5 1036 4; }
pipeline_next() { recorded stages && predicts sleep:second=0.2 1033 4; }

credits() { recorded what-if-credits-slow && explains_itself && predicts sleep:send_all=0.1 369.4 3; }

# A limit that the program keeps itself, under a mutex: recorded with 2.
limits() {
    recorded what-if-credits && explains_itself && predicts credits.permits=2 383 5 &&
        predicts credits.permits=1 750 5 && predicts credits.permits=4 199 6 &&
        predicts credits.permits=8 106 5 && predicts credits.permits=64 104 5
}

held() {
    recorded what-if-mutex && explains_itself && predicts lock:hot=0.5 336.0 5 &&
        predicts lock:hot=0.25 177.8 5
}

slack() {
    recorded what-if-barrier && explains_itself &&
        holds "$(field mean_slack_ns 'sleeping,first')" '>' 29000000 &&
        holds "$(field mean_slack_ns 'sleeping,first')" '<' 31000000 &&
        predicts sleep:first=3.9 804.8 3 && predicts sleep:first=4.5 905.1 3
}

decoy() {
    recorded stages-decoy && explains_itself &&
        holds "$(field total_ns 'computing,burn')" '>' 30000000 &&
        holds "$(field share 'computing,burn')" '<' 0.01 &&
        holds "$(field share 'sleeping,second')" '>' 0.9
}

# ---- files that are wrong ----

# refused PATTERN COMMAND...: one line that says so, status 1 or 2, and nothing else.
refused() {
    pattern=$1
    shift
    "$persik" "$@" >"$scratch/out" 2>"$scratch/log"
    status=$?
    [ $status -ge 1 ] && [ $status -le 2 ] && [ ! -s "$scratch/out" ] &&
        [ "$(wc -l <"$scratch/log")" -eq 1 ] && grep -q -e "$pattern" "$scratch/log"
}

# spoilt NAME PATTERN EDIT...: of a file so edited; it stays as it is.
spoilt() {
    named=$1
    pattern=$2
    shift 2
    rm -rf "$scratch/spoilt"
    cp -r "$scratch/counter" "$scratch/spoilt"
    (cd "$scratch/spoilt" && "$@")
    before=$(cksum <"$scratch/spoilt/dependencies.persik")
    refused "$pattern" critical-path -i "$scratch/spoilt" &&
        refused "$pattern" what-if --scale main=1 -i "$scratch/spoilt" &&
        [ "$before" = "$(cksum <"$scratch/spoilt/dependencies.persik")" ]
    report $? "$named is refused in one line, and stays"
}

make_newer() { printf '\005' | dd of=dependencies.persik bs=1 seek=8 conv=notrunc 2>/dev/null; }
make_foreign() { cp "$scratch/barrier_serial/trace.persik" .; }
make_cyclic() { printf '\377\377\377\177' | dd of=dependencies.persik bs=1 seek=$(($(wc -c <dependencies.persik) - 20)) conv=notrunc 2>/dev/null; }

kept bounded_counter counter
kept barrier_serial
check "a trace of an older persik has a path" "$persik" critical-path -q -i "$scratch/counter"
"$persik" critical-path -q -i "$scratch/counter" --format csv >"$scratch/again" 2>/dev/null
"$persik" critical-path -q -i "$scratch/counter" --format csv 2>/dev/null | cmp -s - "$scratch/again"
report $? "what was kept gives the same answer"
recording=$scratch/counter
check "it explains itself" explains_itself
spoilt "a truncated file" truncated truncate -s -100 dependencies.persik
spoilt "a newer file" 'format version 5' make_newer
spoilt "a file with a cycle" cycle make_cyclic
spoilt "a file of another trace" 'another trace' make_foreign
check "a name that nothing has is refused with the nearest" refused "'main'" what-if --scale mian=0.5 -i "$scratch/counter"
check "a negative factor is refused" refused 'from 0 up' what-if --scale main=-1 -i "$scratch/counter"
check "a factor that is no number is refused" refused 'from 0 up' what-if --scale main=half -i "$scratch/counter"
check "a what-if without a change is refused" refused 'what if what' what-if -i "$scratch/counter"
check "a folder without a trace is refused" refused 'persik profile' critical-path -i "$scratch/nowhere"

# ---- programs that sleep ----

check "of three stages the slow one is the path" pipeline_path
check "with that one at half its time, the first limits" pipeline_faster
check "beyond that nothing is gained" pipeline_next
check "a limit on what is under way holds though nobody waited for it" credits
check "with other limits the program takes what it really took" limits
check "a limit that nothing has is refused with those there are" refused "credits.mutex" what-if --set credit.permits=4 -i "$scratch/what-if-credits"
check "a queue that is none is refused" refused "nothing of the kind" what-if --set credits.capacity=4 -i "$scratch/what-if-credits"
check "no permits at all are refused" refused "from 1 up" what-if --set credits.permits=0 -i "$scratch/what-if-credits"
check "parties are the model's to change" refused "predict --set" what-if --set meeting.parties=3 -i "$scratch/what-if-credits"
check "its curve rises as far as the next one limits" pipeline_curve
check "a curve of what nothing has is refused with the nearest" refused "'second'" critical-path --curve sleep:secnod -i "$scratch/stages"
check "a lock that is held half and a quarter as long" held
check "a thread that others wait for has its slack, and beyond that it costs" slack
check "a thread that computes beside is not on the path" decoy

# ---- a run of today ----

# Whether all of it is explained is nothing to test on a machine that others crowd: bench/what-if.sh identity tells.
three_now() {
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror tests/programs/three_stages.c \
        -o "$scratch/three_stages" -lpthread &&
        "$persik" trace -q --plain-runs 0 --no-evictions -o "$scratch/now" -- "$scratch/three_stages" 500 1000 400 20
}
check "three stages are recorded" three_now
recording=$scratch/now
check "and the run has a path" "$persik" critical-path -q -i "$recording"
finish
