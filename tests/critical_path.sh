#!/bin/sh
# The critical path and what-if, from outside: programs that sleep, whose running time follows from their numbers, are
# recorded once, and what is predicted for other numbers is compared with the program run with these, in the same
# moments. Usage: tests/critical_path.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

attempts=3     # a machine that was disturbed once gets another chance; a wrong path fails every time
patience_s=100 # but not for ever: from then on each test has one attempt
start_s=$(date +%s)
for source in three_stages what_if; do
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror "tests/programs/$source.c" \
        -o "$scratch/$source" -lpthread || exit 2
done

is_patient() { [ $(($(date +%s) - start_s)) -lt $patience_s ]; }

# record NAME PROGRAM NUMBER...
record() {
    recording=$scratch/$1
    program=$scratch/$2
    shift 2
    rm -rf "$recording"
    "$persik" trace -q --plain-runs 0 --no-evictions -o "$recording" -- "$program" "$@"
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

real_ns() {
    from=$(date +%s%N)
    "$@"
    echo $(($(date +%s%N) - from))
}

# predicts CHANGE PER-CENT PROGRAM NUMBER...: the real run is the middle one of three.
predicts() {
    change=$1
    within=$2
    program=$scratch/$3
    shift 3
    predicted=$("$persik" what-if -q -i "$recording" --scale "$change" --format csv 2>/dev/null |
        awk -F , 'NR == 2 { print $2 }')
    real=$(for _ in 1 2 3; do real_ns "$program" "$@"; done | sort -n | sed -n 2p)
    awk -v p="$predicted" -v r="$real" -v limit="$within" -v what="$(basename "$program") $*" 'BEGIN {
        error = 100 * (p / r - 1)
        printf "%s: predicted %.1f ms, really %.1f ms: %+.1f %%\n", what, p / 1e6, r / 1e6, error
        exit !(error < limit && error > -limit) }'
}

# tried NAME FUNCTION: it may fail where others disturb.
tried() {
    for _ in $(seq $attempts); do
        "$2" >"$scratch/log" 2>&1 && report 0 "$1" && return
        is_patient || break
    done
    if busy_now; then
        skip "$1" "others have the cores: $(tail -n 1 "$scratch/log")"
    else
        report 1 "$1"
    fi
}

# Do others want cores, while nothing of ours runs? Then sleeps end late, and here alone it is no fault of ours.
busy_now() {
    { head -n 1 /proc/stat && sleep 0.5 && head -n 1 /proc/stat; } | awk '
        { idle[NR] = $5 + $6; for (i = 2; i <= NF; i++) all[NR] += $i }
        END { exit !(idle[2] - idle[1] < 0.9 * (all[2] - all[1])) }'
}

pipeline_path() {
    record stages three_stages 5000 10000 4000 100 && explains_itself &&
        holds "$(field share 'sleeping,second')" '>=' 0.96 &&
        holds "$(field share 'sleeping,first')" '<' 0.01 && holds "$(field share 'sleeping,third')" '<' 0.01
}
pipeline_faster() { predicts sleep:second=0.5 5 three_stages 5000 5000 4000 100; }
pipeline_next() { predicts sleep:second=0.2 5 three_stages 5000 2000 4000 100; }

credits() {
    record credits what_if credits 10000 12000 2 80 8 && explains_itself &&
        predicts sleep:send_all=0.1 6 what_if credits 1000 12000 2 80 8
}

held() {
    record mutex what_if mutex 2000 8000 30 4 && explains_itself &&
        predicts lock:use_lock=0.5 5 what_if mutex 2000 4000 30 4
}

slack() {
    record barrier what_if barrier 7000 10000 60 && explains_itself &&
        holds "$(field mean_slack_ns 'sleeping,first')" '>' 2700000 &&
        holds "$(field mean_slack_ns 'sleeping,first')" '<' 3300000 &&
        predicts sleep:first=1.357 5 what_if barrier 9500 10000 60 &&
        predicts sleep:first=1.714 5 what_if barrier 12000 10000 60
}

decoy() {
    record decoy three_stages 2000 5000 1000 60 burn && explains_itself &&
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

make_newer() { printf '\002' | dd of=dependencies.persik bs=1 seek=8 conv=notrunc 2>/dev/null; }
make_foreign() { cp "$scratch/barrier_serial/trace.persik" .; }
make_cyclic() { printf '\377\377\377\177' | dd of=dependencies.persik bs=1 seek=$(($(wc -c <dependencies.persik) - 12)) conv=notrunc 2>/dev/null; }

kept bounded_counter counter
kept barrier_serial
check "a trace of an older persik has a path" "$persik" critical-path -q -i "$scratch/counter"
"$persik" critical-path -q -i "$scratch/counter" --format csv >"$scratch/again" 2>/dev/null
"$persik" critical-path -q -i "$scratch/counter" --format csv 2>/dev/null | cmp -s - "$scratch/again"
report $? "what was kept gives the same answer"
recording=$scratch/counter
check "it explains itself" explains_itself
spoilt "a truncated file" truncated truncate -s -100 dependencies.persik
spoilt "a newer file" 'format version 2' make_newer
spoilt "a file with a cycle" cycle make_cyclic
spoilt "a file of another trace" 'another trace' make_foreign
check "a name that nothing has is refused with the nearest" refused "'main'" what-if --scale mian=0.5 -i "$scratch/counter"
check "a negative factor is refused" refused 'from 0 up' what-if --scale main=-1 -i "$scratch/counter"
check "a factor that is no number is refused" refused 'from 0 up' what-if --scale main=half -i "$scratch/counter"
check "a what-if without a change is refused" refused 'what if what' what-if -i "$scratch/counter"
check "a folder without a trace is refused" refused 'persik profile' critical-path -i "$scratch/nowhere"

# ---- programs that sleep ----

if ! "$persik" trace -q --plain-runs 0 --no-evictions -o "$scratch/tried" -- "$scratch/what_if" mutex 100 100 2 2 \
    >"$scratch/log" 2>&1 || ! "$persik" critical-path -q -i "$scratch/tried" --format json | grep -q '"wakers_recorded": true'; then
    skip "programs that sleep" "who wakes whom may not be seen here"
    finish
    exit
fi
tried "of three stages the slow one is the path" pipeline_path
tried "with that one at half its time, the first limits" pipeline_faster
tried "beyond that nothing is gained" pipeline_next
tried "a limit on what is under way holds though nobody waited for it" credits
tried "a lock that is held half as long" held
tried "a thread that others wait for has its slack, and beyond that it costs" slack
tried "a thread that computes beside is not on the path" decoy
finish
