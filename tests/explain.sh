#!/bin/sh
# What persik tells of its decisions: build-model --explain, of the recordings in tests/golden, and sensitivity, of a
# model written by hand. Usage: tests/explain.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
export LC_ALL=C.UTF-8
model=$root/tests/data/two-pools.json

explain() { "$persik" build-model -q -i "$1" --explain "$2" >out 2>err; }
sensitivity() { "$persik" sensitivity -q --model "$model" "$@"; }

explain_failure() { head -n 40 out err; }

# has TEXT...: each is in what was explained.
has() {
    for text; do
        grep -qF -e "$text" out || { echo "not there: $text" && return 1; }
    done
}

# refuses STATUS TEXT COMMAND...: that exit status and one line that has the text, and nothing else.
refuses() {
    wanted=$1
    text=$2
    shift 2
    "$persik" "$@" >out 2>err
    [ $? -eq "$wanted" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$text" err
}

# ---- build-model --explain ----

for name in event_gate countdown tokens_free_list rwlock_writer_first; do
    kept "$name"
done

explains_hand_made() {
    explain tokens_free_list "token pool struct buffer_pool, buffers_init (tokens_free_list.c:25)" &&
        has "is a        token pool of 4" "operations  acquire buffer_get; release buffer_put" "decided" \
            "  on mutex 0x" \
            "    monitor_search: tokens: a counter from 4 explains 330 of 330 decisions" "    lower: tokens: replayed: 330 evaluations" "  recognised_objects: token pool: modelled exact"
}
check "a hand-made object is explained with what each pass decided on its mutex and its parts" explains_hand_made
explains_part() {
    explain tokens_free_list "free slots struct buffer_pool.lock, buffers_init (tokens_free_list.c:25) [struct buffer_pool]" &&
        has "is a        tokens, count 4" "used by     encode" "part of     token pool struct buffer_pool" \
            "  monitor_search: tokens: a counter from 4" && ! has "operations  " >/dev/null
}
check "an object by its own name, with what was decided on the mutex that it came of" explains_part
explains_contradictions() {
    explain rwlock_writer_first StartRead && has "is a        rwlock" \
        "    monitor_search: rwlock: a pattern explains 550 of 550 decisions, 82 of them waits" \
        "    monitor_search: no barrier: 56 of the first 56 decisions contradict it: at 0.009844 s thread 1 (Session) went on in StartWrite (line 43)"
}
check "candidates are told with how much they explain, and what contradicts them with its time, thread and place" explains_contradictions
explains_by_function() { explain tokens_free_list buffer_get && has "token pool struct buffer_pool"; }
check "a function of a hand-made object will do" explains_by_function
explains_pool() {
    explain countdown carry_out &&
        has "is a        thread pool of " ", which follows --threads" "origin      created in " "rule        shared, confidence " \
            "  thread_pools: follows --threads: " "  partition_rule: shared: confidence "
}
check "a pool is explained with its rule and what decided it" explains_pool
explains_rewritten() {
    explain countdown completion && has "  completion_countdowns: shown as: " "calls on object 0x"
}
check "an object that a filter made is explained by the filter" explains_rewritten
names_nearest() {
    refuses 1 "--explain carry_ou1: the model has no such object or pool: there are 'carry_out'" \
        build-model -q -i countdown --explain carry_ou1
}
check "of a name that does not exist the nearest ones are told" names_nearest

# ---- sensitivity ----

same_text() {
    sensitivity "$@" >out 2>err || return 1
    [ -z "${UPDATE:-}" ] || cp out "$root/tests/expected/sensitivity.txt"
    diff -u "$root/tests/expected/sensitivity.txt" out
}
check "sensitivity prints tests/expected/sensitivity.txt" same_text --threads 2 --cores 2
# Two workers do 600 jobs of 1.1 ms on two cores; the helper sleeps 1 ms beside them.
finds_effects() {
    sensitivity --format json >out 2>err &&
        jq -e '.variations as $all | def of($s; $c): $all[] | select(.subject == $s and .change == $c);
            of("worker"; "CPU +10 %") as $cpu | of("helper"; "sleeps +10 %") as $sleep |
            ($cpu.run_change - 0.1 | fabs) < 0.005 and $cpu.effect == "seen" and $all[0].effect == "seen" and
            ($cpu.throughput_change - (1 / 1.1 - 1) | fabs) < 0.005 and
            $sleep.run_change == 0 and $sleep.effect == "no effect seen" and .no_figures == null' out
}
check "the demand of the pool that computes is what the time hangs on, not another's sleep" finds_effects
is_ordered() {
    sensitivity --format json >out 2>err &&
        jq -e '[.variations[] | select(.effect == "seen") | .run_change | fabs] | . == (sort | reverse) and length > 1' out
}
check "the largest effect comes first" is_ordered
jq '(.nodes[].edges[]?.cpu_ns | select(.kind == "constant")).kind = "exponential"' "$model" >random.json
is_the_same() {
    for run in "1 --workers 1" "1 --workers 2" "2 --workers 1"; do
        # shellcheck disable=SC2086 # words
        "$persik" sensitivity -q --model random.json --format csv --seed $run >"${run% --*}-${run##* }.csv" 2>err || return 1
    done
    [ "$(wc -l <1-1.csv)" -gt 4 ] && cmp 1-1.csv 1-2.csv && ! cmp -s 1-1.csv 2-1.csv
}
check "the same seed gives the same bytes, with any number of workers, and another one others" is_the_same
has_csv() { head -n 1 1-1.csv | grep -q '^subject,change,run_change,run_change_low,run_change_high,'; }
check "CSV has its columns" has_csv
follows_configuration() {
    sensitivity --threads 8 --cores 4 >out 2>err && has "threads 8, cores 4: running time"
}
check "of the configuration that is asked for" follows_configuration

jq '.pools[1].partition = "unknown" | .pools[1].rule = "nobody knows"' "$model" >unknown.json
lacks_figures() {
    "$persik" sensitivity -q --model unknown.json --threads 4 >out 2>err
    [ $? -eq 4 ] && [ ! -s out ] && grep -q 'no figures: worker: how its work follows its threads is unknown' err
}
check "a configuration without figures exits 4 with the reason" lacks_figures
says_so_in_json() {
    "$persik" sensitivity -q --model unknown.json --threads 4 --format json >out 2>err
    [ $? -eq 4 ] && jq -e '.run_ns == null and (.no_figures | contains("unknown")) and .variations == []' out
}
check "which JSON has, too" says_so_in_json
tries_rules() {
    "$persik" sensitivity -q --model unknown.json --format json >out 2>err &&
        jq -e '[.variations[] | select(.change | startswith("rule ")) | .subject] | length >= 2 and (unique == ["worker"])' out &&
        "$persik" sensitivity -q --model unknown.json --threads 4 --partition worker=shared --format json >out 2>err &&
        jq -e '[.variations[] | select(.change | startswith("rule "))] == []' out
}
check "a rule that is not known is replaced by others, one that the user gives is not" tries_rules
check "several configurations are a usage error" refuses 2 "--threads 1,2: these are 2 configurations" \
    sensitivity --model "$model" --threads 1,2
check "so for cores" refuses 2 "--cores 1:2: these are 2 configurations" sensitivity --model "$model" --cores 1:2
check "and no change at all" refuses 2 "--by 0%" sensitivity --model "$model" --by 0%
check "a model that is not there is refused" refuses 1 "nowhere.json" sensitivity --model nowhere.json
check "a pool that is not there is refused" refuses 1 "no pool 'nobody'" sensitivity --model "$model" --threads nobody=2

finish
