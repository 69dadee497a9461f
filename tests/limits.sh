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

# Where the source is not read nothing tells what the variables are.
check "without the source it is recorded, too" "$persik" profile -q --no-evictions --no-source --plain-runs 0 -o bare \
    -- ./roomy 3 60
check "and has a model" "$persik" build-model -q -i bare
check "which knows no limit" jq -e '[.objects[] | select(.amount == 3)] == []' bare/model.json

finish
