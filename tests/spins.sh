#!/bin/sh
# Spinning: what the user's catalog names is modelled, what nobody names is listed. Of kept recordings, with the
# catalogs that they were made with. Usage: tests/spins.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export COLUMNS=1000 # a sentence is one line
cd "$scratch" || exit 1

explain_failure() {
    cat log err summary
}

# model RECORDING: the model's data in data, what it says of itself in summary and graph.
model() {
    rm -rf data
    kept "$1" data && PATH='' "$persik" build-model -i data >summary 2>err && "$persik" graph -i data >graph 2>>err || {
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

# ---- nothing named ----

model spin-flag
check "a flag that nobody names is listed, with who sets it" \
    listed 'run (spinners.c:[0-9]*) on global:ready, which main changes'
model spin-barrier
check "a spinning barrier is listed, with the line for it" \
    listed "spin_barrier .*'barrier spin_barrier amount=PARTIES spins'"
model spin-permits
check "repeated attempts are listed, with the functions to name" \
    listed "run .*'try-get try_permit fails=RESULT', 'put give_permit'"

# ---- named ----

model named-barrier
check "a named barrier is not listed" unlisted
check "it is a barrier" grep -q '^barrier.* barrier ' graph
check "any number of threads meets at it" goes_on 1 2 4
model named-lock
check "a named lock is not listed" unlisted
check "it is a spin lock, taken 200 times" grep -q '^spin lock.* spin .*200 operations' graph
check "any number of threads gets it" goes_on 1 2 4
model named-permits
check "named attempts are not listed" unlisted
check "any number of threads gets permits" goes_on 1 2
model named-ring
check "a named ring is not listed" unlisted
check "it is a queue" grep -q '^.*queue.* queue ' graph
check "any number of threads polls it" goes_on 1 2 4

finish
