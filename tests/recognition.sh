#!/bin/sh
# Builds the models of some programs of the labelled corpus, from kept recordings, and holds what they list as
# hand-made against the labels: kind, amount and operations of objects, nothing in look-alikes. All of the
# corpus, recorded anew: bench/recognition.sh.
# Usage: tests/recognition.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
corpus=$root/tests/monitors

# One of each kind, in different styles.
programs="bounded_counter bounded_goto bounded_c11 bounded_by_kind bounded_stages unbounded_heap
    semaphore_limit event_gate completion_outstanding pool_ordered pool_slots pool_posts pool_commands pool_hooks pool_relay
    unbounded_exchange unbounded_per_worker handover_wavefront handover_outqueue tokens_spaces pool_idle
    completion_race completion_conductor completion_muster semaphore_waiters bounded_slot_flag handover_ticket barrier_creator barrier_spelled_out
    none_overwriting_ring none_histogram none_filled_list"

# verdict_on PROGRAM MODEL-OF: the line of verdict.jq.
verdict_on() {
    jq -r --rawfile labels "$corpus/labels.csv" --arg program "$1" -f "$corpus/verdict.jq" \
        "$scratch/$2/model.json"
}

# never_stalls PROGRAM: nobody waits for ever, with other numbers of threads than the recorded one.
never_stalls() {
    "$persik" predict -i "$scratch/$1" --threads 1,2,4,8 --cores 2 >"$scratch/log" 2>&1 &&
        ! grep -q "waited for nothing" "$scratch/log"
}

# follows PROGRAM RULE: its workers' work follows their number so.
follows() {
    "$persik" predict -i "$scratch/$1" --threads 4 2>&1 | tee "$scratch/log" | grep -q ": $2"
}

is_right() { cut -f 4-6 "$1" | grep -qx 'yes	\(yes\|-\)	\(yes\|-\)'; }

# shellcheck disable=SC2086 # split into names on purpose
set -- $programs
for program; do
    kept_model "$program" >"$scratch/log" 2>&1 &&
        verdict_on "$program" "$program" >"$scratch/log" && is_right "$scratch/log"
    report $? "$program is what its label says"
done

# It waits for three things under one mutex, one of them for two that must be there together.
jq -e '.waiting | length > 0 and all(.how == "exact")' "$scratch/pool_ordered/model.json" \
    >"$scratch/log" 2>&1
report $? "all waiting of a pool with ordered results is modelled exactly"

# Who puts and who takes wait on the same condition variable, and every broadcast is for both.
jq -e '.objects as $all | any($all[]; .kind == "tokens" and .wakes_all and .condition_of != null and
    $all[.condition_of].kind == "queue" and $all[.condition_of].wakes_all)' \
    "$scratch/bounded_slot_flag/model.json" >"$scratch/log" 2>&1
report $? "one condition for both sides of a queue is one in the model"

# Two threads alternate at it, whoever comes first; three must not wait for one that is not there.
jq -e '.nodes as $all | [$all[] | select(.kind == "draw") | .edges[].to | $all[.].kind] == ["turn"]' \
    "$scratch/handover_ticket/model.json" >"$scratch/log" 2>&1
report $? "a ticket is drawn where one waits with it"

# One line of code fills both of its queues.
jq -e '[.monitors[] | select(.kind == "bounded queue" and .how == "exact")] | length == 2' \
    "$scratch/bounded_by_kind/model.json" >"$scratch/log" 2>&1
report $? "queues that only their consumers tell apart are two"

# The same function serves all stages.
jq -e '(.pools | length) == 4 and all(.waiting[]; .how == "exact")' "$scratch/bounded_stages/model.json" >"$scratch/log" 2>&1
report $? "the stages of a pipeline are pools of their own"

# The source proposes an object for each of its two rings, in all of its functions.
[ -z "$(verdict_on unbounded_exchange unbounded_exchange | cut -f 7)" ] >"$scratch/log" 2>&1
report $? "two rings that are the two sides of one object are named once"

# Its reader puts an empty block for each worker in the loop that puts the full ones: more threads than
# were recorded must not wait for ever for theirs.
never_stalls unbounded_exchange
report $? "workers that get their end in the loop of the work end, however many there are"

# What ends a worker is taken by a call: a semaphore that counts work is posted once more for each of them,
# a pipe gets a null pointer. Who is faster takes more of the work.
for program in handover_outqueue tokens_spaces; do
    never_stalls "$program" && follows "$program" "takes work from a common supply"
    report $? "$program: workers take what there is until they are told to end"
done

# One item stays in the queue, and each worker that finds it ends.
never_stalls pool_idle
report $? "workers that all find the same last item end, however many there are"

# Each worker has a queue of its own, and puts away its last item in one more section.
never_stalls unbounded_per_worker && follows unbounded_per_worker "takes work from a common supply (created"
report $? "unbounded_per_worker: each worker's last item ends it"

# The macro that takes a permit hides a wait loop in one line, which is no loop around the lock.
never_stalls semaphore_waiters
report $? "no thread decides to go home with a permit in its hands"

# The loop over the columns of a row contains both ends of the way to the next row, too.
follows handover_wavefront "splits a fixed total among its threads"
report $? "the rows of a wavefront are shared among the threads"

# Each row follows the one above, which must be further, under a mutex of its own.
jq -e 'any(.objects[]; .in_steps and .lead > 0)' "$scratch/handover_wavefront/model.json" \
    >"$scratch/log" 2>&1
report $? "rows that follow each other are modelled in steps"

# Its creator meets its threads at the barrier, and paints as they do; the last call of what they do is a
# jump. What the creator does alone, one thread of any number does.
follows barrier_creator "splits a fixed total among its threads" &&
    jq -e 'any(.pools[]; .profiled_threads == 2)' "$scratch/barrier_creator/model.json" >"$scratch/log"
report $? "barrier_creator: its creator is one of its threads"
jq -e '[.nodes[].edges[]? | select(.taker == "leader")] | length > 0' \
    "$scratch/barrier_creator/model.json" >"$scratch/log" 2>&1
report $? "barrier_creator: what one does alone is not done by all"

# Who starts a race holds the mutex through two waits; who conducts gives the sign for the next bar to
# all, and who is early does not play another one's.
jq -e '[.monitors[].kind] | index("event") and ([.[] | select(. == "completion")] | length == 2)' \
    "$scratch/completion_race/model.json" >"$scratch/log" 2>&1
report $? "a mutex held through waits for two things is three objects"
never_stalls completion_conductor && jq -e 'any(.objects[]; .in_rounds)' \
    "$scratch/completion_conductor/model.json" >"$scratch/log" 2>&1
report $? "each bar is for every player"
follows completion_conductor "each thread does the same work"
report $? "the conductor waits for as many as there are players"
never_stalls completion_muster &&
    follows completion_muster "takes work from a common supply" >"$scratch/log"
report $? "all muster before each loop, however many there are"

# The judge itself: a queue is not a semaphore, nor another number of places, nor nothing at all.
verdict_on semaphore_limit bounded_counter >"$scratch/log" && ! is_right "$scratch/log"
report $? "a queue does not pass for a semaphore"
verdict_on bounded_goto bounded_counter >"$scratch/log" && ! is_right "$scratch/log"
report $? "a queue of 8 does not pass for one of 3"
verdict_on none_histogram bounded_counter >"$scratch/log" && ! is_right "$scratch/log"
report $? "a queue does not pass for a look-alike"
finish
