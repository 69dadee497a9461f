#!/bin/sh
# A program that divides its work by halves among threads which create each other, and then take from a
# queue that they fill themselves: however many threads, the work is the same.
# Usage: tests/halves.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# tells FILTER: what jq says of the model is true.
tells() { jq -e "$1" data/model.json; }

${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror "$root/tests/programs/halves.c" \
    -o halves -lpthread || exit 1
"$persik" profile -q --plain-runs 0 --no-block-io --no-evictions -o data -- ./halves 2 >profile.log 2>&1 || {
    cat profile.log >&2
    exit 1
}
check "a model is built" "$persik" build-model -q -i data
check "the threads divide what there is to do" \
    tells '.pools[] | select(.scales) | .rule | contains("a part of its work")'
check "the queue ends with the last of all items" \
    tells '[.objects[] | select(.kind == "queue")] | length == 1 and .[0].items_in_all == 400'

# With one core, the running time is the CPU time of all threads.
seconds() { awk -F, -v threads="$1" 'NR > 1 && $1 == threads {print $3}' predicted.csv; }
same_work() {
    "$persik" predict -q -i data --threads 1,8 --cores 1 --format=csv >predicted.csv || return 1
    cat predicted.csv
    awk -v one="$(seconds 1)" -v eight="$(seconds 8)" \
        'BEGIN {exit !(one > 0 && eight > 0.95 * one && eight < 1.05 * one)}'
}
check "eight threads do as much as one" same_work

finish
