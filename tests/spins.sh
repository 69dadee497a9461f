#!/bin/sh
# Spinning: what the user's catalog names is modelled, what nobody names is listed. Usage: tests/spins.sh
# BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
programs=$root/tests/programs

explain_failure() {
    cat log err summary
}

# model CATALOG PROGRAM...: the model's data in data, what it says of itself in summary and graph.
model() {
    catalog=$1
    shift
    rm -rf data
    "$persik" profile -q --plain-runs 0 --no-evictions ${catalog:+--catalog "$catalog"} -o data -- "$@" >out 2>err &&
        "$persik" build-model -i data >summary 2>>err && "$persik" graph -i data >graph 2>>err || {
        cat err >&2
        exit 1
    }
}

listed() {
    grep "of the CPU time is burnt spinning in $1" summary
}

unlisted() {
    ! grep 'burnt spinning' summary
}

# goes_on THREADS...: every simulated thread gets what it waits for, to the end.
goes_on() {
    for threads in "$@"; do
        # Without a sample in its loops a pool's rule is unknown, which is not what is asked here.
        for rule in '' --partition=run=perthread; do
            "$persik" predict -i data --threads "$threads" --cores 2 $rule >predicted 2>prediction.err && break
        done || return 1
        cat prediction.err
        ! grep 'waited for nothing' prediction.err || return 1
    done
}

gcc -g -O2 -fpatchable-function-entry=5 "$programs/spinners.c" -o spinners -lpthread &&
    gcc -g -O2 "$programs/ring.c" -o ring -lpthread || exit 1

# ---- nothing named ----

model '' ./spinners flag 2 50
check "a flag that nobody names is listed, with who sets it" \
    listed 'run (spinners.c:[0-9]*) on global:ready, which main changes'
model '' ./spinners barrier 3 500
check "a spinning barrier is listed, with the line for it" \
    listed "spin_barrier .*'barrier spin_barrier amount=PARTIES spins'"
model '' ./spinners permits 2 1000
check "repeated attempts are listed, with the functions to name" \
    listed "run .*'try-get try_permit fails=RESULT', 'put give_permit'"

# ---- named ----

cat >spinners.catalog <<'END'
barrier spin_barrier object=rendezvous amount=arg0 spins
lock spin_lock spins
unlock spin_unlock
END
model spinners.catalog ./spinners barrier 3 100
check "a named barrier is not listed" unlisted
check "it is a barrier" grep -q '^barrier.* barrier ' graph
check "any number of threads meets at it" goes_on 1 2 4
model spinners.catalog ./spinners lock 2 100
check "a named lock is not listed" unlisted
check "it is a spin lock, taken 200 times" grep -q '^spin lock.* spin .*200 operations' graph
check "any number of threads gets it" goes_on 1 2 4
printf 'try-acquire try_permit object=permits fails=false\nrelease give_permit object=permits\n' \
    >permits.catalog
model permits.catalog ./spinners permits 2 100
check "named attempts are not listed" unlisted
check "any number of threads gets permits" goes_on 1 2
printf 'put ring_push fails=false\ntry-get ring_pop fails=null\n' >ring.catalog
model ring.catalog ./ring 2 300
check "a named ring is not listed" unlisted
check "it is a queue" grep -q '^.*queue.* queue ' graph
check "any number of threads polls it" goes_on 1 2 4

finish
