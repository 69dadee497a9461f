#!/bin/sh
# Does `persik load` measure what queueing theory says? A server of one thread that sleeps for each request
# (tests/programs/load_server.c), with service times that are all the same (M/D/1) or exponential (M/M/1), under Poisson
# arrivals at utilisations of 0.5 and 0.8. Expected is the mean response time by Pollaczek and Khinchine,
#     E[S] + rate E[S^2] / (2 (1 - rate E[S])),
# with the service times that the server itself measured in that run. Runs with seeds 1, 2, ... take turns.
#
# usage: bench/load.sh [BUILD-FOLDER]        RUNS (5) and SECONDS_EACH (20): per queue and utilisation
#
# Prints, for each queue: the mean over its runs of expected and measured response time, their ratio with the
# half width of its 95 % confidence interval (t), least and most, and how late requests were sent, which is part of what is measured.
set -eu
cd "$(dirname "$0")/.."
persik=$(realpath "${1:-build/release}")/persik
runs=${RUNS:-5}
seconds=${SECONDS_EACH:-20}
service_us=2000
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
# Both sleep nearly all of the time. Where that is permitted they go before everything else on the machine, so that others
# who use its cores do not decide.
first=
chrt -f 10 true 2>/dev/null && first='chrt -f 10'
gcc -O2 tests/programs/load_server.c -o "$scratch/server" -lm

# measure OPTION...: the server's options in $options; result in result.json, the server's own figures in served.
measure() {
    rm -f "$scratch/port"
    # shellcheck disable=SC2086 # several words
    $first "$scratch/server" http --service $service_us $options >"$scratch/port" 2>"$scratch/served" &
    server=$!
    until [ -s "$scratch/port" ]; do sleep 0.05; done
    $first "$persik" load -q --format json "$@" "http://127.0.0.1:$(cat "$scratch/port")/" >"$scratch/result.json" 2>"$scratch/err" ||
        { cat "$scratch/err" >&2 && exit 1; }
    kill "$server"
    wait "$server"
    server=
}

# As sleeping takes longer than it is told to, the rate for a utilisation is found from a short run.
options=
measure --clients 1 --duration 2s
per_service=$(awk '{ print $2 }' "$scratch/served")

run=1
while [ "$run" -le "$runs" ]; do
    for queue in M/D/1 M/M/1; do
        options=
        [ $queue = M/D/1 ] || options=--exponential
        for utilisation in 0.5 0.8; do
            rate=$(awk -v u=$utilisation -v s="$per_service" 'BEGIN { printf "%.3f", u / s }')
            measure --rate "$rate" --seed "$run" --duration "${seconds}s"
            echo "$queue $utilisation $rate $(cat "$scratch/served") $(jq -r '.response_ns.mean, .lateness_ns.mean' "$scratch/result.json" | tr '\n' ' ')"
        done
    done
    run=$((run + 1))
done >"$scratch/runs"

echo "real-time priority: ${first:-no}"
echo "queue  aimed at  utilisation  expected, ms  measured, ms  ratio (least .. most)  sent late, us"
sort -s -k 1,2 "$scratch/runs" | awk '
    function t95(n) { # Student, two-sided
        split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26", t, " ")
        return n == 1 ? 0 : n > 10 ? 2.1 : t[n - 1]
    }
    function line(    mean, deviation) {
        if (!n) return
        mean = ratios / n
        deviation = n > 1 ? sqrt((squares - n * mean * mean) / (n - 1)) : 0
        printf "%-5s  %8s  %11.3f  %12.3f  %12.3f  %.3f +-%.3f (%.3f .. %.3f)  %d\n", queue, aim, used / n, \
            expected / n * 1e3, measured / n / 1e6, mean, t95(n) * deviation / sqrt(n), least, most, late / n / 1e3
        n = used = expected = measured = ratios = squares = late = 0
    }
    $1 != queue || $2 != aim { line(); queue = $1; aim = $2; least = 1e9; most = 0 }
    {
        n++
        wait = $3 * $6 / (2 * (1 - $3 * $5))
        ratio = $7 / 1e9 / ($5 + wait)
        used += $3 * $5; expected += $5 + wait; measured += $7; late += $8
        ratios += ratio; squares += ratio * ratio
        if (ratio < least) least = ratio
        if (ratio > most) most = ratio
    }
    END { line() }'
