#!/bin/bash
# What persik recognises in memcached: starts it on a free port of the loopback interface, loads it with
# memcached_load.c while it is profiled, builds the model and prints its thread pools, the locks that matter,
# the objects it made itself and how much of the waiting they explain. How well a server is predicted is
# not measured here.
#
# usage: bench/memcached.sh      (the recording stays in bench/scratch/memcached.data)
# $THREADS (default 4): worker threads; $REQUESTS (default 200000): of one run.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

threads=${THREADS:-4}
requests=${REQUESTS:-200000}
connections=50
limit_s=180 # for profiling: three runs, seconds each
data=$work/memcached.data
loader=

need_persik
memcached=$("$root/bench/memcached-fetch")
scratch=$(mktemp -d)
trap '[ -z "$loader" ] || kill "$loader" 2>/dev/null || true; rm -rf "$scratch"' EXIT
gcc -std=c17 -D_GNU_SOURCE -O2 "$root/bench/memcached_load.c" -o "$scratch/load"

# memcached writes its port there when it listens. Each run of the server is loaded once and ended.
port_file=$scratch/port
load_every_run() {
    local port
    while :; do
        until [ -s "$port_file" ]; do sleep 0.05; done
        port=$(sed -n 's/^TCP INET: //p' "$port_file")
        rm "$port_file"
        "$scratch/load" "$port" $connections "$requests" >&2 || return 1
    done
}
load_every_run &
loader=$!

MEMCACHED_PORT_FILENAME=$port_file timeout $limit_s "$persik" profile --no-evictions -o "$data" -- \
    "$memcached" -A -u "$(id -un)" -l 127.0.0.1 -p -1 -t "$threads" >/dev/null ||
    fail "memcached was not profiled: what it said is above"
"$persik" build-model -i "$data" >&2
"$persik" graph -i "$data"
echo
waiting_shares "$data"
