#!/bin/sh
# Limits that nobody met in the recorded run are known all the same, from the source or, where that does not tell,
# from what the recording holds of the program's memory. Of kept recordings: tests/live_models.sh records it.
# Usage: tests/limits.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# has_room ROOM: the model's one queue
has_room() {
    jq -e --argjson room "$1" '[.monitors[] | select(.kind == "bounded queue") | .amount] == [$room]' \
        "roomy-$1/model.json"
}

# limits NUMBER: nobody can put more
limits() {
    jq -e --argjson room "$1" '[.objects[] | select(.kind == "tokens" and .amount == $room)] | length == 1' \
        "roomy-$1/model.json"
}

for room in 3 70; do
    check "a queue with room for $room has a model" kept_model roomy-$room
    check "it is a bounded queue for $room" has_room $room
    check "and the model limits it so" limits $room
done

# How many each takes at a time is not in the source: it is what the counter lost and got back.
check "a budget of which each takes some has a model" kept_model semaphore_units
check "in which they take one, two or five" jq -e '[.nodes[] | select(.kind == "acquire") | .counts] |
    length == 1 and .[0].values[0] == 1 and .[0].values[-1] == 5 and .[0].mean > 2.5 and .[0].mean < 2.8' \
    semaphore_units/model.json
check "and give that back" jq -e '[.nodes[] | select(.kind == "release") | .gives_back] == [true]' semaphore_units/model.json

finish
