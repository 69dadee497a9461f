#!/bin/bash
# How well servers under an open load are predicted: each kind of tests/programs/server.c is recorded once with 2
# threads on all cores at a middle rate, predicted over threads, cores and rates, and run there.
#
# usage: bench/servers.sh [KIND...]      (default: queue accept epoll shared helped thread limited kept udp udp-poll udp-own; server.c tells)
#
# Response times are the client's, from when a request was to be sent; the model's are the server's, from a request's
# arrival: what connecting and the way take, some 0.1 ms, is not in them. With one core the server has the first, the
# client the second one; with two both have both. Of each configuration $RUNS runs (3), in turn with all others; their
# medians. Recordings and measurements are kept in bench/scratch/servers/KIND/; delete the folder to measure anew, give
# more $RUNS to add some.
#
#   THREADS, CORES, RATES   the configurations (1 2 4, 1 2, 300 600 800 requests a second)
#   REQUESTS                of each run (2000); ROUNDS: of one request's computation, mean (750000: some 0.9 ms)
#   WITH                    a command that starts server and client: on a busy machine, as root, "chrt -r 1"
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

read -ra with <<<"${WITH:-}"
read -ra threads <<<"${THREADS:-1 2 4}"
read -ra cores <<<"${CORES:-1 2}"
read -ra rates <<<"${RATES:-300 600 800}"
runs=${RUNS:-3}
requests=${REQUESTS:-2000}
rounds=${ROUNDS:-750000}
recorded_threads=2
recorded_rate=400
kept=$work/servers
loader=
scratch=$(mktemp -d)
trap '[ -z "$loader" ] || kill "$loader" 2>/dev/null || true; rm -rf "$scratch"' EXIT

connections_of() {
    case $1 in
    queue | accept | helped | thread | limited) echo 0 ;;
    *) echo 32 ;;
    esac
}

# load KIND RATE [PREFIX...]: waits until the server listens, loads it and ends it. Prints what the client prints.
load() {
    local port pid protocol
    until [ -s "$scratch/port" ]; do sleep 0.02; done
    read -r port pid protocol <"$scratch/port"
    rm "$scratch/port"
    "${with[@]}" "${@:3}" "$scratch/load" "$port" "$2" "$requests" "$rounds" "$(connections_of "$1")" "$protocol"
    kill -TERM "$pid"
}

load_every_run() { while :; do load "$1" "$recorded_rate" >&2 || return 1; done; }

record() {
    [ ! -s "$kept/$1/recording/trace.persik" ] || return 0
    mkdir -p "$kept/$1"
    load_every_run "$1" &
    loader=$!
    "${with[@]}" "$persik" profile -q --no-evictions --plain-runs 1 -o "$kept/$1/recording" -- \
        "$scratch/server" "$1" "$recorded_threads" "$scratch/port" >&2 || fail "$1 was not recorded"
    kill "$loader"
    loader=
}

# run KIND THREADS CORES RATE: throughput per second, mean and 95th percentile of the response time in ms.
run() {
    local server pinned=() beside=()
    if [ "$3" = 1 ]; then
        pinned=(taskset -c 0)
        beside=(taskset -c 1)
    fi
    "${with[@]}" "${pinned[@]}" "$scratch/server" "$1" "$2" "$scratch/port" &
    server=$!
    load "$1" "$4" "${beside[@]}"
    wait "$server"
}

# Where a thread is made for each connection, their number is no parameter; nor is a limit of it, of the model.
makes_threads() { [ "$1" = thread ] || [ "$1" = limited ] || [ "$1" = kept ]; }

# configurations KIND
configurations() {
    local t c r numbers=("${threads[@]}")
    ! makes_threads "$1" || numbers=("$recorded_threads")
    for t in "${numbers[@]}"; do
        for c in "${cores[@]}"; do
            for r in "${rates[@]}"; do echo "$t $c $r"; done
        done
    done
}

# Adds lines "THREADS CORES RATE THROUGHPUT MEAN P95" to KIND/measured, one a run, until there are enough.
measure() {
    local i t c r
    touch "$kept/$1/measured"
    for ((i = 1; i <= runs; i++)); do
        while read -r t c r; do
            [ "$(grep -cs "^$t $c $r " "$kept/$1/measured")" -ge "$i" ] ||
                echo "$t $c $r $(run "$1" "$t" "$c" "$r")" >>"$kept/$1/measured"
        done < <(configurations "$1")
    done
}

# median KIND THREADS CORES RATE COLUMN
median() {
    awk -v t="$2" -v c="$3" -v r="$4" -v column="$5" '$1 == t && $2 == c && $3 == r {print $column}' "$kept/$1/measured" |
        sort -g | awk '{value[NR] = $1} END {print value[int((NR + 1) / 2)]}'
}

predicted() {
    local threads=(--threads "$2")
    ! makes_threads "$1" || threads=()
    "$persik" predict -q -i "$kept/$1/recording" "${threads[@]}" --cores "$3" --arrivals "$4/s" --format json |
        jq -r 'def ms: if . then . / 1e6 else "-" end; # next to saturation nobody knows
            .configurations[0] | "\(.throughput_hz) \(.response_ns | ms) \(.response_p95_ns | ms)"'
}

# Prints a row a configuration, and appends the three errors in percent to $scratch/errors.
compare() {
    local t c r x mean p95 measured
    while read -r t c r; do
        read -r x mean p95 < <(predicted "$1" "$t" "$c" "$r")
        measured="$(median "$1" "$t" "$c" "$r" 4) $(median "$1" "$t" "$c" "$r" 5) $(median "$1" "$t" "$c" "$r" 6)"
        if [ "$mean" = - ]; then
            printf '%-8s %7d %5d %5d %8.1f %8.1f  no response times next to saturation\n' "$1" "$t" "$c" "$r" "${measured%% *}" "$x"
            continue
        fi
        echo "$1 $t $c $r $measured $x $mean $p95" | awk -v errors="$scratch/errors" '{
            for (i = 0; i < 3; i++) error[i] = 100 * ($(8 + i) / $(5 + i) - 1)
            printf "%-8s %7d %5d %5d %8.1f %8.1f %+6.1f %8.2f %8.2f %+6.1f %8.2f %8.2f %+6.1f\n",
                $1, $2, $3, $4, $5, $8, error[0], $6, $9, error[1], $7, $10, error[2]
            print $1, error[0], error[1], error[2] >>errors}'
    done < <(configurations "$1")
}

need_persik
gcc -std=gnu17 -D_GNU_SOURCE -g -O2 "$root/tests/programs/server.c" -o "$scratch/server" -lpthread
gcc -std=gnu17 -D_GNU_SOURCE -O2 "$root/tests/programs/server_load.c" -o "$scratch/load" -lm
[ $# -gt 0 ] || set -- queue accept epoll shared helped thread limited kept udp udp-poll udp-own
for kind; do
    say "$kind"
    record "$kind"
    "$persik" build-model -q -i "$kept/$kind/recording" >&2
    measure "$kind"
done
echo "kind     threads cores  rate   measured/predicted, 1/s    %   mean response, ms      %   95th percentile, ms    %"
for kind; do compare "$kind"; done
awk '{n++; for (i = 2; i <= 4; i++) {error = $i < 0 ? -$i : $i; sum[i] += error; if (error > most[i]) most[i] = error}}
    END {printf "%d configurations; mean error (largest): throughput %.1f %% (%.1f), mean response %.1f %% (%.1f), 95th percentile %.1f %% (%.1f)\n",
        n, sum[2] / n, most[2], sum[3] / n, most[3], sum[4] / n, most[4]}' "$scratch/errors"
