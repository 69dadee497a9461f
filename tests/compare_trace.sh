#!/bin/sh
# persik compare-trace on kept recordings: a run is like itself, a run of other work is not, a model that reproduces its run
# is close to it, and one that was changed is found out at the place of the change. Usage: tests/compare_trace.sh
# BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 2
for name in tutorial-words pool_slots pool_slots-3; do kept_model "$name" >log 2>&1; done

compares() { "$persik" compare-trace -q "$@" >out 2>err; }
is_like_itself() { compares pool_slots pool_slots --assert 0% && grep -q 'no place differs' out; }
finds_other_runs() { compares pool_slots pool_slots-3 --assert 0%; [ $? -eq 3 ] && grep -q '^first that differs: ' out; }
repeats() {
    compares -i tutorial-words --format json && cp out first && compares -i tutorial-words --format json && cmp out first
}
# Threads of the simulated run come to each place as often as in the recorded one.
has_numbers() {
    compares -i tutorial-words --format json &&
        jq -e '[.fragments[] | select(.part == "computes" and .n_before > 900)] | length >= 3 and
            all((.n_after - .n_before | fabs) <= 2)' out >log
}
in_80_columns() { compares -i tutorial-words --least 0 --all && ! LC_ALL=C.UTF-8 awk 'length($0) > 80' out | grep .; }
# A model whose threads compute 1.3 times what was recorded.
slows() {
    cp -r tutorial-words slow
    jq '(.nodes[].edges[]?.cpu_ns | objects | (.mean, .values[])) |= . * 1.3' \
        slow/model.json >model && mv model slow/model.json
}
finds_the_change() {
    compares -i slow --format json &&
        jq -e '.run_after_ns > 1.1 * .run_before_ns and
            any(.fragments[]; .part == "computes" and .differs and .mean_after_ns > 1.2 * .mean_before_ns)' out >log
}
wants() {
    compares "$@"
    [ $? -eq 2 ]
}

check "a run does not differ from itself" is_like_itself
check "one with other threads does" finds_other_runs
check "a simulated run is the same each time" repeats
check "the model comes to each place as often" has_numbers
check "it fits 80 columns" in_80_columns
if command -v jq >/dev/null; then
    check "a model is changed" slows
    check "and found out" finds_the_change
fi
check "one recording is not enough" wants pool_slots
check "nor are there three" wants pool_slots pool_slots-3 pool_slots
finish
