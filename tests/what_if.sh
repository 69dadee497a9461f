#!/bin/sh
# Numbers changed by hand in the model file must predict the program that was really changed: a model is
# recorded once from tests/programs/what_if.c, a capacity or a service time is edited in its text, and the
# prediction is compared with the program run with the other number, in the same moments.
# Usage: tests/what_if.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

program=$scratch/what_if
attempts=3     # a machine that was disturbed once gets another chance; a wrong model fails every time
patience_s=120 # but not for ever: from then on each test has one attempt
disturbed=2 # a status: the real runs differ by more than the prediction may, or others computed beside them
hang_s=60
start_s=$(date +%s)

${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror tests/programs/what_if.c \
    -o "$program" -lpthread || exit 2

is_patient() { [ $(($(date +%s) - start_s)) -lt $patience_s ]; }

# stolen: did others disturb the recording? Such a model is no judge.
# record ACT NUMBER...: one run, one model, in $scratch/data; again when it was disturbed.
record() {
    recorded=$*
    for _ in $(seq $attempts); do
        rm -rf "$scratch/data"
        "$persik" profile -q --no-evictions -o "$scratch/data" -- "$program" "$@" >"$scratch/log" 2>&1 || return 1
        was_disturbed "$scratch/log" && stolen=true || stolen=false
        $stolen && is_patient || break
    done
    "$persik" build-model -q -i "$scratch/data" >>"$scratch/log" 2>&1
}

# change NAME KEY DIFFERENCE: what a person does in an editor. The object or node whose name begins with
# NAME gets "KEY": its mean + DIFFERENCE (at least 0) instead of what stood there.
change() {
    awk -v name="$1" -v key="$2" -v difference="$3" '
        function put(mean) {
            mean += difference
            printf("            \"%s\": %.0f,\n", key, mean > 0 ? mean : 0)
            changed++
        }
        replacing && /^                "mean": / { put($2) }
        replacing { if (/^            [}]/) replacing = 0; next }
        /^        [{]/ { inside = 0 }
        index($0, "            \"name\": \"" name) == 1 { inside = 1 }
        inside && index($0, "            \"" key "\": ") == 1 {
            if (/[{]$/) replacing = 1
            else put($2)
            next
        }
        { print }
        END { exit changed != 1 }' "$scratch/model.json" >"$scratch/model.new" || {
        echo "not one of the names beginning with '$1' has '$2'" >>"$scratch/log"
        return 1
    }
    mv "$scratch/model.new" "$scratch/model.json"
}

# line_of COMMENT: where it stands in the program
line_of() { grep -n "/\* $1 \*/" tests/programs/what_if.c | cut -d : -f 1; }

# Nothing, with the reason in the log, where there is no figure
predicted_ns() {
    "$persik" predict -q -i "$scratch/data" --model "$scratch/model.json" --format csv 2>>"$scratch/log" |
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run_ns") at = i }
                  NR == 2 && $at != "" { printf "%.0f", $at }'
}

# What all cores of the machine did so far, and what the programs run by this shell did, in ms.
busy_ms() { awk '/^cpu / { print 10 * ($2 + $3 + $4 + $7 + $8 + $9) }' /proc/stat; }
own_ms() {
    times >"$scratch/times" # not in a subshell, which would have times of its own
    awk 'NR == 2 { gsub(/[ms]/, " "); print 1000 * (60 * ($1 + $3) + $2 + $4) }' "$scratch/times"
}

# Three lines: the running time of a run in ns, and the share of the machine that others took, in %.
real_runs() {
    for _ in 1 2 3; do
        own_ms >"$scratch/own"
        busy=$(busy_ms)
        start=$(date +%s%N)
        timeout $hang_s "$program" "$@" || return 1
        ns=$(($(date +%s%N) - start))
        busy=$(($(busy_ms) - busy))
        own_ms >>"$scratch/own"
        awk -v ns="$ns" -v busy="$busy" -v cores="$(nproc)" '{ own[NR] = $1 }
            END { print ns, 100 * (busy - own[2] + own[1]) / (ns / 1e6 * cores) }' "$scratch/own"
    done | sort -n
}

# compare PERCENT ACT NUMBER...: the model file as it stands against the program with these numbers
compare() {
    limit=$1
    shift
    predicted=$(predicted_ns) && real=$(real_runs "$@") && [ -n "$predicted" ] || return 1
    echo "$real" | awk -v p="$predicted" -v limit="$limit" -v what="$*" -v disturbed=$disturbed '
        { run[NR] = $1; others += $2 / 3 }
        END {
            if (NR != 3) exit 1
            error = 100 * (p / run[2] - 1)
            printf "%s: predicted %.3f s, really %.3f s (%.3f to %.3f; others took %.0f %%): %+.1f %%\n",
                what, p / 1e9, run[2] / 1e9, run[1] / 1e9, run[3] / 1e9, others, error
            if (error <= limit && error >= -limit) exit 0
            exit run[3] > run[1] * (1 + limit / 100) || others > limit ? disturbed : 1
        }' >>"$scratch/log"
}

# attempt NAME STEPS: runs the function STEPS; again if it fails, with a new recording, since how long a core
# takes to wake up may be another by now. Skipped if the machine never was quiet.
attempt() {
    wrong=0
    for i in $(seq $attempts); do
        # shellcheck disable=SC2086 # its words
        [ "$i" -eq 1 ] || record $recorded
        "$2"
        case $? in
            0)
                report 0 "$1"
                tail -n 1 "$scratch/log" | sed 's/^/# /'
                return
                ;;
            "$disturbed") ;;
            *) $stolen || wrong=1 ;;
        esac
        is_patient || break
    done
    if [ $wrong -eq 0 ]; then
        why="the machine is too busy"
        $stolen && why="others disturbed the recording"
        skip "$1" "$why: $(tail -n 1 "$scratch/log")"
    else
        report 1 "$1"
    fi
}

original() { cp "$scratch/data/model.json" "$scratch/model.json"; }

# ---- two threads, sleeps and a barrier: what Coz mispredicts (its issue 231) ----
# An idle core wakes the later the longer it has idled, by some 0.1 ms on some virtual machines: the sleeps
# are long enough for that to be little.

barrier_as_it_is() { record barrier 10000 40000 80 && original && compare 3 barrier 10000 40000 80; }
barrier_without_the_short_sleep() {
    original && change "first: first (what_if.c:$(line_of 'the first sleeps'))" wait_ns -40000000 &&
        compare 3 barrier 0 40000 80
}
barrier_with_a_quarter_of_the_long_sleep() {
    original && change "second: second (what_if.c:$(line_of 'the second sleeps'))" wait_ns -30000000 &&
        compare 3 barrier 10000 10000 80
}
attempt "two threads, sleeps and a barrier: as it is, within 3 %" barrier_as_it_is
attempt "without the sleep that nobody waits for, within 3 %" barrier_without_the_short_sleep
attempt "with a quarter of the sleep that is waited for, within 3 %" \
    barrier_with_a_quarter_of_the_long_sleep

# ---- a sender with credits: the limit moves from credits to the sender ----

credits_as_it_is() { record credits 1000 12000 2 300 8 && original && compare 5 credits 1000 12000 2 300 8; }
credits_doubled() {
    original && change "free slots global:credits" amount 2 && compare 5 credits 1000 12000 4 300 8
}
credits_for_every_worker() {
    original && change "free slots global:credits" amount 6 && compare 5 credits 1000 12000 8 300 8
}
credits_without_limit() {
    original && change "free slots global:credits" amount 62 && compare 5 credits 1000 12000 64 300 8
}
credits_slow_sender() {
    original && change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns 9000000 &&
        compare 5 credits 10000 12000 2 300 8
}
attempt "a sender with 2 credits: as it is, within 5 %" credits_as_it_is
attempt "with 4 credits, within 5 %" credits_doubled
attempt "with as many credits as workers, within 5 %" credits_for_every_worker
attempt "with more credits than ever are taken, within 5 %" credits_without_limit
attempt "with a slow sender, within 5 %" credits_slow_sender

# Recorded where the sender is so slow that nobody waits for a credit: how many there are does not show in who
# waits, only in the variable.
credits_that_nobody_met() {
    record credits 10000 12000 2 150 8 && original &&
        change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns -9000000 &&
        compare 5 credits 1000 12000 2 150 8
}
attempt "a limit that nobody met, once the sender is fast, within 5 %" credits_that_nobody_met
more_credits_that_nobody_met() {
    original && change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns -9000000 &&
        change "free slots global:credits" amount 2 && compare 5 credits 1000 12000 4 150 8
}
attempt "and with 4 credits, within 5 %" more_credits_that_nobody_met

# ---- a hot mutex ----

# These sleeps, and those below, are long against the 0.1 to 0.2 ms that waking up takes: how long depends on how
# long the core was idle, which is the machine's doing and changes with the sleeps.
held="use_lock: use_lock (what_if.c:$(line_of 'holding the lock'))"
mutex_as_it_is() { record mutex 8000 16000 40 4 && original && compare 5 mutex 8000 16000 40 4; }
mutex_half() { original && change "$held" wait_ns -8000000 && compare 5 mutex 8000 8000 40 4; }
mutex_quarter() { original && change "$held" wait_ns -12000000 && compare 5 mutex 8000 4000 40 4; }
mutex_eighth() { original && change "$held" wait_ns -14000000 && compare 5 mutex 8000 2000 40 4; }
attempt "a hot mutex: as it is, within 5 %" mutex_as_it_is
attempt "held half as long, within 5 %" mutex_half
attempt "held a quarter as long, within 5 %" mutex_quarter
attempt "held an eighth, when it is no longer the limit, within 5 %" mutex_eighth

# ---- four threads that mostly sleep: without the sleep two cores are the limit ----

asleep="compute_and_sleep: pass_time (" # its only caller there: no wrapper
cpu_without_sleep() {
    record cpu 4000 36000 80 4 && original && change "$asleep" wait_ns -80000000 &&
        compare 5 cpu 4000 0 80 4
}
if [ "$(nproc)" -ge 2 ]; then
    attempt "without sleeping the cores are the limit, within 5 %" cpu_without_sleep
else
    skip "without sleeping the cores are the limit, within 5 %" "a single core"
fi

finish
