#!/bin/sh
# Workers with a slot each, for a command and for the news that it is done: some whose creator takes a
# share of each round itself, some whose creator only waits. And workers that get one command all together.
# However many threads, the work is the same. Of kept recordings.
# Usage: tests/slots.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# tells PROGRAM FILTER: what jq says of its model is true.
# What it says instead is shown with what was found of the pools.
tells() {
    jq -e "$2" "$1/model.json" ||
        { jq -c '[.pools[] | {name, profiled_threads, partition, rule}], .checks, .notes' "$1/model.json"; false; }
}

# With one core, the running time is the CPU time of all threads. same_work PROGRAM [OPTION...]
seconds() { awk -F, -v threads="$1" 'NR > 1 && $1 == threads {print $3}' predicted.csv; }
same_work() {
    "$persik" predict -i "$@" --threads 1,8 --cores 1 --format=csv >predicted.csv 2>log || return 1
    cat predicted.csv log
    ! grep "waited for nothing" log &&
        awk -v one="$(seconds 1)" -v eight="$(seconds 8)" \
            'BEGIN {exit !(one > 0 && eight > 0.9 * one && eight < 1.1 * one)}'
}

for program in pool_slots pool_posts pool_commands pool_hooks; do
    check "$program: a model is built" kept_model $program-3 $program
    check "$program: the slots are one queue and its completion" tells $program \
        '[.objects[].kind] | sort == ["queue", "tokens"]'
    check "$program: three threads share the work" tells $program \
        '.pools[] | select(.scales) | .profiled_threads == 3 and .partition == "fixed"'
    check "$program: all waiting is modelled exactly" tells $program \
        '.waiting | length > 0 and all(.how == "exact")'
    check "$program: eight threads do as much as one" same_work $program
done
for program in pool_slots pool_posts; do
    check "$program: one of the three is who created the others" tells $program \
        '.pools[] | select(.scales) | .origin | contains("one of them is the creator itself")'
done
check "a creator that only waits is not one of them" tells pool_commands \
    '.pools[] | select(.scales) | .origin | contains("creator itself") | not'
check "the heavy and the light commands are told apart" tells pool_hooks \
    '[.nodes[] | select(.kind == "put") | .item_kind] | unique == [1, 2]'
check "and lead their takers to one of two computations" tells pool_hooks \
    '[.nodes[] | select(.kind == "step" and .item_kind > 0)
        | .edges[0].cpu_ns | if type == "object" then .mean else . end] | length == 2 and max > 3 * min'

# All get their commands at once, and who gives them does a part, too.
for program in forks taken pool_class; do
    [ $program = taken ] && recording=forks-taken || recording=$program
    check "$program: a model is built" kept_model "$recording" $program
    check "$program: main is one of the four" tells $program '.pools[] | select(.scales) |
        .threads == 4 and (.origin | contains("one of them is the creator itself"))'
    # But for microseconds at a mutex that does not matter.
    check "$program: the waiting is modelled exactly" tells $program '.waiting |
        (map(select(.how == "exact") | .wait_ns) | add) > 0.99 * (map(.wait_ns) | add)'
    check "$program: eight threads do as much as one" same_work $program
    # Nobody begins the next round before all have done the last: two of three share a core meanwhile. But
    # what these do not get done, others take.
    "$persik" predict -q -i $program --threads 2,3,4 --cores 2 --format=csv >predicted.csv
    [ $program = taken ] && late=0 || late=1
    check "$program: of three threads on two cores one is $([ $late = 1 ] || echo not) waited for" \
        awk -v two="$(seconds 2)" -v three="$(seconds 3)" -v four="$(seconds 4)" -v late=$late \
        'BEGIN {exit !(two > 0 && (three > 1.1 * two) == late && (three > 1.1 * four) == late)}'
done
check "forks: so they do as the user says that the work is shared out" \
    same_work forks --partition serve=fixed
check "taken: so they do as the user says that it is taken" same_work taken --partition serve=shared
# With a core for each, all are busy to the end.
"$persik" predict -q -i taken --threads 1,8 --cores 8 --format=csv >predicted.csv
check "taken: eight threads on eight cores are eight times as fast, nearly" \
    awk -v one="$(seconds 1)" -v eight="$(seconds 8)" 'BEGIN {exit !(one > 6 * eight && eight > 0)}'
check "taken: each round's work is there anew" tells taken '[.objects[] |
    select(.kind == "tokens" and (.name | contains("work taken")))] | length == 1 and
    (.[0].refilled_after.per_thread[0].factor == 1)'

finish
