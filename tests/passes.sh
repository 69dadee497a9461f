#!/bin/sh
# What persik build-model shows of its passes: what each wrote, a model without one of them, the decisions. Of the
# recordings in tests/golden. Usage: tests/passes.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# Without a drawing, which would take longest.
build_model() { PATH='' "$persik" build-model -q "$@"; }
passes() { "$persik" build-model --list-passes | grep -o '^[a-z_]*'; }
optional() { "$persik" build-model --list-passes | sed -n 's/^\([a-z_]*\) (optional)$/\1/p'; }

# refuses TEXT OPTION...: exit status 2 with one line that has the text, and nothing else.
refuses() {
    text=$1
    shift
    "$persik" build-model "$@" >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$text" err
}

# decides PASS SUBJECT VERDICT: is there such a decision in countdown? The subject may be a part of it.
decides() {
    jq -e --arg pass "$1" --arg subject "$2" --arg verdict "$3" \
        '[.decisions[] | select(.pass == $pass and (.subject | contains($subject)) and .verdict == $verdict)] | length > 0' \
        "$in/decisions.json"
}

kept countdown
kept pool_posts
kept event_gate

# A pass that models can do without is known by what it does alone: tests/unit/test_NAME.c.
has_unit_tests() {
    for pass in $(optional); do
        [ -e "$root/tests/unit/test_$pass.c" ] || echo "no tests/unit/test_$pass.c"
    done >missing
    cat missing && [ -n "$(optional)" ] && [ ! -s missing ]
}
check "each optional pass has a unit test of its own name" has_unit_tests

check "a pass that does not exist is refused by --stop-after" refuses "--stop-after nothing: no such pass" --stop-after nothing
check "by --dump-after" refuses "--dump-after nothing: no such pass" --dump-after nothing
check "by --without" refuses "--without nothing: no such pass" --without nothing
check "a pass that every model needs cannot be left out" refuses "no model without this pass" --without thread_pools
check "what is not run cannot be printed" refuses "comes behind" --dump-after lower --stop-after pipes

# ---- --evidence ----

check "a threshold that does not exist is refused" refuses "--evidence nothing=1: there is no such threshold" --evidence nothing=1
check "so is one that is no number above 0" refuses "give it as recall=NUMBER" --evidence recall=-1
lists_evidence() { "$persik" build-model --list-evidence | grep -q '^recall  *0.8  of the waits'; }
check "--list-evidence prints the thresholds" lists_evidence
kept handover_group
is_in_groups() { grep -q '"in_groups": true' handover_group/model.json; }
asks_for_more() {
    build_model -i handover_group >/dev/null && is_in_groups &&
        build_model -i handover_group --evidence convincing_turns=10000 >/dev/null && ! is_in_groups
}
check "--evidence asks for more of it" asks_for_more

# ---- --dump-after, --stop-after ----

stops() {
    build_model -i countdown --stop-after completion_countdowns --dump-after completion_countdowns >after &&
        [ ! -e countdown/model.json ] && [ ! -e countdown/decisions.json ] &&
        build_model -i countdown --stop-after parked_workers --dump-after parked_workers >before && [ ! -e countdown/model.json ]
}
check "--stop-after leaves no model" stops
rewrites() { ! grep -q 'user:release 0xf' before && grep -q '^  [0-9]* +[0-9]* user:release 0xf.* in main (countdown.c:' after; }
check "--dump-after prints the events that a filter rewrote, with their places" rewrites
lists_edits() {
    grep -q '^completion_countdowns inserted event [0-9]*$' after && ! grep -q '^completion_countdowns ' before &&
        grep -q '^completion_countdowns dropped event [0-9]*, recorded as .* sem_post ' after &&
        id=$(sed -n 's/^completion_countdowns inserted event //p' after | head -1) && grep -q "^  .*, event $id\$" after
}
check "and which events it inserted, changed, dropped" lists_edits

prints_each() {
    for pass in $(passes); do
        build_model -i countdown --stop-after "$pass" --dump-after "$pass" >dump && grep -q "^== .*$pass" dump ||
            { echo "$pass" && return 1; }
    done
}
check "each pass has something to print" prints_each
prints_pools() {
    build_model -i countdown --dump-after thread_pools >dump && grep -q '^pool 1: carry_out, 2 at a time' dump &&
        [ -s countdown/model.json ] && ! grep -q self-check dump
}
check "without --stop-after the model is written, and the text stands in the summary's place" prints_pools

# ---- decisions.json ----

in=countdown
check "decisions.json is JSON" jq -e '.version == 1 and (.decisions | length > 5)' countdown/decisions.json
is_private() { [ "$(stat -c %a countdown/decisions.json)" = 600 ]; }
check "and private" is_private
check "it names what a filter rewrote" decides completion_countdowns records rewritten
check "the pools" decides thread_pools carry_out "follows --threads"
check "the objects" decides lower "completion global:work, main" tokens
check "and the rules" decides partition_rule carry_out shared
build_model -i event_gate >out
in=event_gate
check "it names what explains the waits of a mutex" decides monitor_search "mutex 0x" level
check "and what it is to people" decides recognised_objects "event" event

kept_model tutorial-hits
in=tutorial-hits
check "and what was decided by simulating the model" decides one_core "CPU time" differs

# ---- --without ----

leaves_out() {
    build_model -i pool_posts >out && cp pool_posts/model.json with.json &&
        build_model -i pool_posts --without semaphore_mailboxes >out && ! cmp -s with.json pool_posts/model.json &&
        jq -e '[.monitors[]?.kind] | index("thread pool")' with.json &&
        ! jq -e '[.monitors[]?.kind] | index("thread pool")' pool_posts/model.json &&
        jq -e '.notes[] | select(contains("built without the pass semaphore_mailboxes"))' pool_posts/model.json
}
check "without its filter the idiom is not in the model, which says so" leaves_out
in=pool_posts
check "and so do the decisions" decides semaphore_mailboxes "the whole pass" "left out"
does_without_each() {
    for pass in $(optional); do
        build_model -i countdown --without "$pass" >out 2>err || { echo "$pass" && cat err && return 1; }
    done
}
check "each optional pass can be left out" does_without_each
does_without_all() {
    all=$(optional | sed 's/^/--without /')
    # shellcheck disable=SC2086 # words
    build_model -i countdown $all >out && [ "$(jq '.notes | map(select(startswith("built without"))) | length' countdown/model.json)" -gt 10 ]
}
check "and all of them" does_without_all

candidates() { "$persik" build-model --list-passes | sed -n 's/^  \([a-z_]*\) (candidate of monitor_search)$/\1/p'; }
seeks_no_groups() {
    build_model -i handover_group >out && is_in_groups &&
        build_model -i handover_group --without group_commit >out && ! is_in_groups &&
        jq -e '.notes[] | select(contains("built without the candidate group_commit"))' handover_group/model.json
}
check "without its candidate the waits have another explanation, and the model says so" seeks_no_groups
in=handover_group
check "and so do the decisions" decides monitor_search group_commit "not sought"
seeks_without_each() {
    for candidate in $(candidates); do
        build_model -i handover_group --without "$candidate" >out 2>err || { echo "$candidate" && cat err && return 1; }
    done
    [ "$(candidates | wc -l)" -gt 8 ]
}
check "each candidate can be left out" seeks_without_each

# The recording that a decision log lies in makes room for the next one.
records_again() {
    for _ in 1 2; do
        "$persik" trace -q --no-block-io --no-evictions --plain-runs 0 -o again -- "$build/samples/bank" --size 503 >out 2>err &&
            build_model -i again >out 2>err && [ -s again/decisions.json ] || { cat err && return 1; }
    done
}
check "the decision log goes with its recording" records_again

finish
