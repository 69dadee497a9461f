#!/bin/sh
# A program whose threads and queue are in a shared library of its own: the source of both is read.
# Usage: tests/libraries.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

CC=${CC:-gcc}
options="-std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror"
echo 'int run_halves(int argc, char **argv);
int main(int argc, char **argv) {
    return run_halves(argc, argv);
}' >caller.c
# shellcheck disable=SC2086 # several options
$CC $options -Wno-missing-prototypes -fPIC -shared -Dmain=run_halves "$root/tests/programs/halves.c" \
    -o libhalves.so -lpthread &&
    $CC $options caller.c -o caller -L. -lhalves -Wl,-rpath,"$scratch" || exit 1
"$persik" sample -q -o data -- ./caller 2 >sample.log 2>&1 &&
    "$persik" analyze -q -o data ./caller >>sample.log 2>&1 || {
    cat sample.log >&2
    exit 1
}

# tells FILTER: what jq says of the facts is true.
tells() { jq -e "$1" data/static.json; }

check "the sample names the library" \
    jq -e --arg path "$(realpath libhalves.so)" '.libraries | index([$path])' data/sample.json
check "the library's source is read, and the program's" \
    tells '[.files[] | sub(".*/"; "")] | sort == ["caller.c", "halves.c"]'
check "its threads are found" tells '[.creations[] | select(.object == "thread")] | length > 0'
check "what is not there is no problem" tells '.problems == []'

# The system's libraries, too, come without.
strip --strip-debug libhalves.so
check "a library without debug information is passed over" "$persik" analyze -q -o data ./caller
check "the program's source is read still" tells '[.files[] | sub(".*/"; "")] == ["caller.c"]'

finish
