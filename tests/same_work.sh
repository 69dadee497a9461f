#!/bin/sh
# Programs whose threads share out a fixed amount of work in ways of their own: however many threads, the
# work is the same. Of kept recordings, with two threads.
# Usage: tests/same_work.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# tells PROGRAM FILTER: what jq says of its model is true.
tells() { jq -e "$2" "$1/model.json"; }

# With one core, the running time is the CPU time of all threads.
seconds() { awk -F, -v threads="$1" 'NR > 1 && $1 == threads {print $3}' predicted.csv; }
same_work() {
    "$persik" predict -q -i "$1" --threads 1,8 --cores 1 --format=csv >predicted.csv || return 1
    cat predicted.csv
    awk -v one="$(seconds 1)" -v eight="$(seconds 8)" \
        'BEGIN {exit !(one > 0 && eight > 0.95 * one && eight < 1.05 * one)}'
}

# The number it reads lies between the two.
is_between() { awk -v least="$1" -v most="$2" 'BEGIN {out = 1} {out = !($1 > least && $1 < most)} END {exit out}'; }

# four_against_one PROGRAM LEAST MOST: what four threads on four cores take, in parts of what one takes, lies between
# the two.
four_against_one() {
    "$persik" predict -q -i "$1" --threads 1,4 --cores 4 --format=csv >predicted.csv || return 1
    cat predicted.csv
    awk -v one="$(seconds 1)" -v four="$(seconds 4)" 'BEGIN {print four / one}' | is_between "$2" "$3"
}

# Threads that create each other hand on a part of the work, and then take from a queue that they fill
# themselves.
check "a model is built" kept_model halves
check "the threads divide what there is to do" \
    tells halves '.pools[] | select(.scales) | .rule | contains("a part of its work")'
check "the queue ends with the last of all items" \
    tells halves '[.objects[] | select(.kind == "queue")] | length == 1 and .[0].items_in_all == 400'
check "eight threads do as much as one" same_work halves

# The first lock of a round is not the one under which a thread learns that there are no more.
check "a model is built of threads that pass a gate in each round" kept_model gated
check "the rounds are what the threads share" \
    tells gated '[.objects[] | select(.kind == "tokens" and .amount == 60)] | length == 1'
check "eight threads read and compress as much as one" same_work gated

# Threads that create the next one like themselves, and go on.
check "a model is built of threads that start each other" kept_model chain
check "they are one pool" tells chain '[.pools[] | select(.name != "main") | .threads] == [2]'
check "eight such threads do as much as one" same_work chain

# Threads each with a semaphore of its own, woken by whoever finds both work and a thread without any.
check "a model is built of threads that park" kept_model parked
check "what they wait for is one thing" tells parked '[.objects[] | select(.kind == "tokens")] | length == 1'
check "eight of them do as much as one" same_work parked

# A semaphore that the last of several threads releases, as a count tells them: main waits for all.
for countdown in countdown countdown-atomic; do
    check "a model is built of a $countdown" kept_model $countdown
    check "main waits until nothing is outstanding" tells $countdown \
        '[.objects[] | select(.kind == "tokens" and .amount == 1 and .condition)] | length == 1'
    check "eight threads do as much as one" same_work $countdown
done

# Threads that are created anew in every step, all but one, whose part main does.
check "a model is built of threads that are created in every step" kept_model steps
check "main's part is one of theirs in each step" tells steps \
    '[.pools[] | select(.scales)] | length == 1 and .[0].profiled_threads == 2 and .[0].partition == "fixed"'
check "all of them meet, however many" tells steps \
    '[.objects[] | select(.kind == "barrier") | .amount.per_thread[0].factor] == [1]'
check "eight of them do as much as one" same_work steps
check "on four cores four take a quarter of the time" four_against_one steps 0.2 0.35

# Lambdas, on threads in a vector that has as many elements as there are threads: two stages with a lock
# around what they share out, and one with an atomic counter and no call that could be recorded.
check "a model is built of threads that run lambdas" kept_model lambdas
check "each stage's items are shared out" tells lambdas \
    '([.objects[] | select(.kind == "tokens") | .amount] | sort) == [120, 150]'
check "so are those of threads that make no call, or only hand over a result" tells lambdas \
    '[.pools[] | select(.scales) | .partition] | length == 4 and all(. != "perthread" and . != "unknown")'
check "eight threads do as much as one" same_work lambdas

# A pool of packaged tasks whose results are fetched as futures.
check "a model is built of a pool with futures" kept_model futures
check "main waits for each result" tells futures \
    '[.objects[] | select(.kind == "tokens" and (.name | startswith("results")))] | length == 1'
check "and the run is as long as it was" tells futures '.checks[0] | .simulated / .measured | . > 0.9 and . < 1.1'
check "eight threads do as much as one" same_work futures

# Items are counted off by an atomic variable; what is done with them could write a message, but does not.
# They come in batches that always two threads read, by a constant.
check "a model is built of threads that never make the calls they could" kept_model batches
check "the items are shared out" tells batches \
    '[.pools[] | select(.scales) | .partition] == ["fixed"]'
check "a constant number of threads stays" tells batches \
    '.pools[] | select(.name == "read_batches") | .rule | contains("always 2 threads")'
check "eight threads do as much as one" same_work batches

# Slots with commands, used anew by the threads of a second pass; their creator is one of them in both. Rows
# are taken until there is none, for each frame anew.
check "a model is built of two passes of slots" kept_model passes
check "both passes have their creator among them" tells passes \
    '[.pools[] | select(.scales) | [.threads, .asked_factor]] == [[2, null], [2, null]]'
check "each frame's rows are shared out" tells passes \
    '[.objects[] | select(.amount == 30 and .refilled_after.per_thread[0].factor == 1)] | length == 2'
check "eight threads do as much as one" same_work passes

# A barrier of the program's own that looks before it sleeps; all threads go round equally often.
check "a model is built of threads that go round together" kept_model converge
check "they meet at one barrier" tells converge \
    '.objects | length == 1 and .[0].kind == "barrier" and .[0].amount.per_thread[0].factor == 1'
check "they take the same course" tells converge '[.nodes[] | select(.course)] | length >= 1'
check "nobody waits for ever" tells converge '.checks[0] | .simulated < 1.25 * .measured'
check "eight threads do as much as one" same_work converge

# More threads than it is asked for, which take turns at working.
check "a model is built of more threads than were asked for" kept_model standby
check "how many there are follows what is asked for" tells standby \
    '.pools[] | select(.scales) | .threads == 3 and .asked_factor == 2 and .asked_offset == -1'
check "as many as were asked for work at a time" tells standby \
    '[.objects[] | select(.kind == "tokens") | .amount | objects | [.base, .per_thread[0].factor]] == [[0.5, 0.5]]'
check "eight threads do as much as one" same_work standby
check "four threads on four cores take a quarter of one's time" four_against_one standby 0.24 0.27

# The rows of a triangle, as many for each thread: in two threads one has three times as much to do as the
# other, in four the last one 7/16 of all.
check "a model is built of threads whose parts cost more or less" kept_model triangle
check "the parts are as large as they are" tells triangle \
    '[.nodes[].edges[]? | .cpu_by_place | select(.) | .[1]] | length >= 2 and all(. > 1.3 and . < 1.7)'
check "eight threads do as much as one" same_work triangle
check "four threads on four cores take as long as the last one" four_against_one triangle 0.4 0.47

finish
