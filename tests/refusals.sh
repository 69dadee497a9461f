#!/bin/sh
# Checks that persik gives no figures where it is unknown how work follows the threads, and where the simulated
# threads come to wait for nothing, but says why. Of kept recordings.
# Usage: tests/refusals.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

# predict NAME OPTIONS...: what is printed is in $scratch/out, the exit status in $status.
predict() {
    name=$1
    shift
    status=0
    "$persik" predict -i "$scratch/$name" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    cat "$scratch/out" "$scratch/err"
}

rows_without() { awk '$1 ~ /^[0-9]+$/ && $3 == "-"' "$scratch/out" | wc -l; }

refused() {
    kept_model "$1" && predict "$1" --threads 1,2,4 --cores 1,2 && [ "$status" -eq 4 ] && [ "$(rows_without)" -eq 4 ] &&
        grep -q 'No figures' "$scratch/out" && grep -q -- '--partition [^ ]*=shared|fixed|perthread' "$scratch/out"
}
recorded_threads_have_figures() {
    predict together --threads 2 --cores 1,2,4 && [ "$status" -eq 0 ] && [ "$(rows_without)" -eq 0 ]
}
told_rules_have_figures() {
    predict together --threads 1,2,4 --partition together=shared && [ "$status" -eq 0 ] && [ "$(rows_without)" -eq 0 ]
}
files_say_why() {
    predict together --threads 2,4 --format json && [ "$status" -eq 4 ] && [ "$(grep -c '"run_ns": null' "$scratch/out")" -eq 1 ] &&
        [ "$(grep -c '"no_figures": "together: ' "$scratch/out")" -eq 1 ] && grep -q '"no_figures": null' "$scratch/out" &&
        predict together --threads 4 --format csv && [ "$status" -eq 4 ] && tail -n 1 "$scratch/out" | grep -q '^4,[0-9]*,,,.*--partition'
}
bounds_are_not_kept() {
    predict together --threads 4 --assert 'run<1000s' && [ "$status" -eq 3 ] && grep -q 'no figures' "$scratch/err"
}

# Its threads make each other; limits of those alive are told from the number in all.
trees_have_no_thread_count() {
    kept_model halving_sum && predict halving_sum --threads 4 && [ "$status" -ne 0 ] &&
        grep -q 'make each other, each for a part of its work, in add_up (halving_sum.c:' "$scratch/err"
}
limits_are_the_thread_count() {
    kept_model alive_limit && predict alive_limit --threads 1,8 --cores 2 && [ "$status" -eq 0 ] &&
        [ "$(rows_without)" -eq 0 ] && grep -q 'how many may live at a time' "$scratch/err"
}

# With measurements that were made up: where the program ran, two and four threads took a second.
validate_says_why() {
    printf '%s\n' threads,cores,round,run_ns,cpu_ns,foreign_ns,stolen_ns,delay_ns,longest_cpu_ns,reference \
        2,2,1,1000000000,2000000000,0,0,0,0,0 4,2,1,1000000000,2000000000,0,0,0,0,0 >"$scratch/runs.csv"
    status=0
    "$persik" validate -q -i "$scratch/together" --reuse "$scratch/runs.csv" >"$scratch/out" 2>&1 || status=$?
    cat "$scratch/out"
    [ "$status" -eq 4 ] && grep -q 'No figures' "$scratch/out" && grep -q 'absolute error: mean [0-9]' "$scratch/out"
}
each_is_known() {
    kept_model each && predict each --threads 1,2,4 && [ "$status" -eq 0 ] && [ "$(rows_without)" -eq 0 ] && grep -q 'each thread does the same' "$scratch/err"
}

check "threads that make each other have no thread count" trees_have_no_thread_count
check "how many threads may live at a time is the thread count" limits_are_the_thread_count
check "a total that all threads count up together is not each thread's work" refused together
check "the recorded number of threads has figures" recorded_threads_have_figures
check "a rule that is told gives figures" told_rules_have_figures
check "JSON and CSV hold nothing, and why" files_say_why
check "a bound on what has no figures is not kept" bounds_are_not_kept
check "validate compares what has figures" validate_says_why
check "batches of threads until a total is done are not each thread's work" refused open-batches
check "what each thread does is known from the source" each_is_known
finish
