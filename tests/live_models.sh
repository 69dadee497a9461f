#!/bin/sh
# Whether live recordings still give the models that the kept ones give, which all other tests of models work from:
# the same pools and rules, hand-made objects with their operations, and kinds of objects. Made as the kept ones are,
# by bench/golden.sh. Few programs, as each shows another way for a recording to come about:
#   bounded_counter   calls of the C library, and the source of a hand-made object
#   pool_slots-3      a creator that takes part, as its calls and the samples tell
#   futures           the C++ library, whose frames and threads are taken for the program's
#   omp_constructs    libgomp's calls
#   glib-shared       GLib's, and threads that a library makes
#   named-lock        functions of the user's catalog
#   signal_done       signals between threads
#   licences          System V semaphores, several in one kernel object
#   roomy-70          a variable that is read in the program's memory
# What threads do hangs on the machine: of up to three recordings one must agree. The last one is made with a
# priority that keeps others off, where that is permitted, so that a difference is not put down to them.
# Usage: tests/live_models.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
export GOLDEN_DIR="$scratch/golden" PLACE="$scratch/place" PERSIK_BUILD="$build"
unset PERSIK
chrt -r 1 true 2>/dev/null && undisturbed="chrt -r 1" || undisturbed=

# verdicts_of NAME FILE: but for how many objects of a kind there are, as of some it hangs on who met whom; and for
# mutexes, of which a model has those that somebody had to wait for.
verdicts_of() { sed -n "s|^$1/as-recorded: ||p" "$2" | sed 's/^[0-9]* x //' | grep -vx mutex; }

# recorded NAME WITH
recorded() { rm -rf "${GOLDEN_DIR:?}/$1" && TRIES=1 WITH=$2 "$root/bench/golden.sh" record "$1"; }

# agrees NAME: shows what differs.
agrees() {
    verdicts_of "$1" "$root/tests/golden/verdicts" >expected
    verdicts_of "$1" "$GOLDEN_DIR/verdicts" >found
    [ -s expected ] && diff -u expected found
}

# gives_the_kept_model NAME
gives_the_kept_model() {
    for with in '' '' "$undisturbed"; do
        recorded "$1" "$with" && agrees "$1" && return
    done
    return 1
}

try() {
    name="$1: a live recording gives the kept model"
    gives_the_kept_model "$1" >log 2>&1
    status=$?
    if [ $status -ne 0 ] && was_disturbed "$GOLDEN_DIR/$1/accepted/as-recorded.model"; then
        skip "$name" "something else had the cores during each recording"
    else
        report $status "$name"
    fi
}

for program in bounded_counter pool_slots-3 futures named-lock signal_done licences roomy-70; do
    try $program
done
if echo 'int main(void) { return 0; }' | ${CC:-gcc} -fopenmp -x c - -o has_openmp 2>log; then
    try omp_constructs
else
    skip "omp_constructs: a live recording gives the kept model" "the compiler has no OpenMP"
fi
if pkg-config --exists glib-2.0 2>log; then
    try glib-shared
else
    skip "glib-shared: a live recording gives the kept model" "no GLib to build one with: install libglib2.0-dev"
fi

# Where the source is not read nothing tells what the variables are.
bare() {
    g++ -std=c++17 -g -O1 "$root/tests/programs/roomy.cpp" -o roomy -lpthread &&
        "$persik" profile -q --no-evictions --no-source --plain-runs 0 -o bare -- ./roomy 3 60 &&
        PATH='' "$persik" build-model -q -i bare
}
check "a program whose source is not read has a model" bare
check "which knows no limit" jq -e '[.objects[] | select(.amount == 3)] == []' bare/model.json

finish
