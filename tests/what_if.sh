#!/bin/sh
# Numbers changed by hand in the model file must predict the program that was really changed: in the models of
# recordings of tests/programs/what_if.c a capacity or a service time is edited in their text. What the program
# really took with the other number was measured beside the recordings (tests/golden, bench/golden.list).
# Usage: tests/what_if.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

# recorded NAME: the model of tests/golden/NAME, as it is until something is changed.
recorded() {
    data=$scratch/$1
    [ -e "$data/model.json" ] || kept_model "$1" || return 1
    cp "$data/model.json" "$scratch/model.json"
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
    "$persik" predict -q -i "$data" --model "$scratch/model.json" --format csv 2>>"$scratch/log" |
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run_ns") at = i }
                  NR == 2 && $at != "" { printf "%.0f", $at }'
}

# takes REAL-MS PER-CENT: with the model file as it stands.
takes() {
    predicted=$(predicted_ns) && [ -n "$predicted" ] || return 1
    awk -v p="$predicted" -v real="$1" -v limit="$2" 'BEGIN {
        error = 100 * (p / 1e6 / real - 1)
        printf "predicted %.1f ms, really %.1f ms: %+.1f %%\n", p / 1e6, real, error
        exit !(error < limit && error > -limit) }'
}

# ---- two threads, sleeps and a barrier: what Coz mispredicts (its issue 231) ----

barrier_as_it_is() { recorded what-if-barrier && takes 805.7 3; }
barrier_without_the_short_sleep() {
    recorded what-if-barrier && change "first: first (what_if.c:$(line_of 'the first sleeps'))" wait_ns -40000000 &&
        takes 805.7 3
}
barrier_with_a_quarter_of_the_long_sleep() {
    recorded what-if-barrier && change "second: second (what_if.c:$(line_of 'the second sleeps'))" wait_ns -30000000 &&
        takes 205.1 3
}
check "two threads, sleeps and a barrier: as it is, within 3 %" barrier_as_it_is
check "without the sleep that nobody waits for, within 3 %" barrier_without_the_short_sleep
check "with a quarter of the sleep that is waited for, within 3 %" barrier_with_a_quarter_of_the_long_sleep

# ---- a sender with credits: the limit moves from credits to the sender ----

credits_as_it_is() { recorded what-if-credits && takes 369.4 3; }
credits_doubled() { recorded what-if-credits && change "free slots global:credits" amount 2 && takes 188.4 3; }
credits_for_every_worker() {
    recorded what-if-credits && change "free slots global:credits" amount 6 && takes 103.9 3
}
credits_without_limit() {
    recorded what-if-credits && change "free slots global:credits" amount 62 && takes 103.7 3
}
credits_slow_sender() {
    recorded what-if-credits &&
        change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns 9000000 && takes 623.2 3
}
check "a sender with 2 credits: as it is, within 3 %" credits_as_it_is
check "with 4 credits, within 3 %" credits_doubled
check "with as many credits as workers, within 3 %" credits_for_every_worker
check "with more credits than ever are taken, within 3 %" credits_without_limit
check "with a slow sender, within 3 %" credits_slow_sender

# Recorded where the sender is so slow that nobody waits for a credit: how many there are does not show in who
# waits, only in the variable.
credits_that_nobody_met() {
    recorded what-if-credits-slow &&
        change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns -9000000 && takes 369.4 3
}
more_credits_that_nobody_met() {
    recorded what-if-credits-slow &&
        change "send_all: send_all (what_if.c:$(line_of 'the sender takes'))" wait_ns -9000000 &&
        change "free slots global:credits" amount 2 && takes 188.4 3
}
check "a limit that nobody met, once the sender is fast, within 3 %" credits_that_nobody_met
check "and with 4 credits, within 3 %" more_credits_that_nobody_met

# ---- a hot mutex ----

held="use_lock: use_lock (what_if.c:$(line_of 'holding the lock'))"
mutex_as_it_is() { recorded what-if-mutex && takes 655.9 3; }
mutex_half() { recorded what-if-mutex && change "$held" wait_ns -8000000 && takes 336.0 3; }
mutex_quarter() { recorded what-if-mutex && change "$held" wait_ns -12000000 && takes 177.8 5; }
mutex_eighth() { recorded what-if-mutex && change "$held" wait_ns -14000000 && takes 110.2 5; }
check "a hot mutex: as it is, within 3 %" mutex_as_it_is
check "held half as long, within 3 %" mutex_half
check "held a quarter as long, within 5 %" mutex_quarter
check "held an eighth, when it is no longer the limit, within 5 %" mutex_eighth

# ---- four threads that mostly sleep: without the sleep two cores are the limit ----

asleep="compute_and_sleep: pass_time (" # its only caller there: no wrapper
cpu_without_sleep() { recorded what-if-cpu && change "$asleep" wait_ns -80000000 && takes 164.1 5; }
check "without sleeping the cores are the limit, within 5 %" cpu_without_sleep

finish
