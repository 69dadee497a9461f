#!/bin/sh
# Limits that nobody met in the recorded run are known all the same, from the source or, where that does not tell,
# from the program's memory.
# Usage: tests/limits.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

g++ -std=c++17 -g -O1 -Wall -Wextra -Werror "$root/tests/programs/roomy.cpp" -o roomy -lpthread || exit 1

# record ROOM: a model of the program with so much room in its queue
record() {
    rm -rf data
    "$persik" profile -q --no-evictions --plain-runs 0 -o data -- ./roomy "$1" 60 >log 2>&1 &&
        "$persik" build-model -q -i data >>log 2>&1
}

# has_room ROOM: the model's one queue
has_room() {
    jq -e --argjson room "$1" '[.monitors[] | select(.kind == "bounded queue") | .amount] == [$room]' \
        data/model.json
}

# limits NUMBER: nobody can put more
limits() {
    jq -e --argjson room "$1" '[.objects[] | select(.kind == "tokens" and .amount == $room)] | length == 1' \
        data/model.json
}

for room in 3 70; do
    check "a queue with room for $room is recorded" record $room
    check "it is a bounded queue for $room" has_room $room
    check "and the model limits it so" limits $room
done

# How many each takes at a time is not in the source: it is what the counter lost and got back.
${MAKE:-make} -s -C "$root" "B=$build" monitors >make.log 2>&1 || {
    cat make.log >&2
    exit 1
}
check "a budget of which each takes some is recorded" "$persik" profile -q --no-evictions --plain-runs 0 -o budget \
    -- "$build/monitors/semaphore_units" --threads 2
check "it has a model" "$persik" build-model -q -i budget
check "in which they take one, two or five" jq -e '[.nodes[] | select(.kind == "acquire") | .counts] |
    length == 1 and .[0].values[0] == 1 and .[0].values[-1] == 5 and .[0].mean > 2.5 and .[0].mean < 2.8' \
    budget/model.json
check "and give that back" jq -e '[.nodes[] | select(.kind == "release") | .gives_back] == [true]' budget/model.json

# Where the source is not read nothing tells what the variables are.
check "without the source it is recorded, too" "$persik" profile -q --no-evictions --no-source --plain-runs 0 -o bare \
    -- ./roomy 3 60
check "and has a model" "$persik" build-model -q -i bare
check "which knows no limit" jq -e '[.objects[] | select(.amount == 3)] == []' bare/model.json

finish
