#!/bin/bash
# How well `persik predict --network-latency --network-bandwidth` tells what clients far away measure: a small server
# (reply_server.c) is recorded once over loopback, and asked through a link with a latency and a bandwidth (slow_link.c: TCP
# of the kernel between two network namespaces). Root only; all of it is in network namespaces of its own, which go with
# the script.
#
# usage: bench/network.sh [KIND...]      (default: kept each)
#
#   kept     event loops; connections are kept
#   each     threads that accept; each request has a connection of its own
#
# The same requests in the same order and, stretched to the rate, at the same times in each run and in the prediction, so
# that no luck of arrivals is compared. The server has the first core, the client and the link the second one.
#
#   REQUESTS     of each run (1500)
#   CONGESTION   how the server's TCP avoids jams (cubic); bbr spreads what it sends over a part of the way to and fro
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

requests=${REQUESTS:-1500}
threads=2
compute_us=400
reply_bytes=8000 # less than TCP sends before it waits for the client
congestion=${CONGESTION:-cubic}
recorded=400 # a second
port=8000
# Latency, bandwidth (bytes a second; 0: no limit), requests a second. A megabyte a second carries some 120 replies.
links=("5ms 0 200" "5ms 0 800" "5ms 1000000 40" "5ms 1000000 80" "5ms 1000000 100" "20ms 5000000 200" "20ms 5000000 400")

server=
link=
awake=
ended() {
    local job
    for job in $link $server $awake; do kill "$job" 2>/dev/null && wait "$job" || true; done
    rm -rf "$scratch"
}

asks() {
    asks=(--requests "$requests" --seed 1 --until '\n' --send 'go\n' "tcp://$1:$port")
    [ "$kind" = kept ] || asks=(--no-keep-alive "${asks[@]}")
}

record() {
    local load
    asks 127.0.0.1
    printf -v load '%q ' env "PERSIK_LOAD_RESULT=$scratch/recorded" taskset -c 1 "$persik" load -q --rate "$recorded/s" "${asks[@]}"
    taskset -c 0 "$persik" profile -q --no-evictions --plain-runs 1 -o "$scratch/$kind" --load "$load" -- \
        "$scratch/reply_server" "$kind" "$port" "$threads" "$compute_us" "$reply_bytes" "$congestion" \
        >/dev/null 2>"$scratch/log" || fail "not recorded: $(<"$scratch/log")"
    # The rate of so many arrivals drawn at random is not quite the one that was asked for, and all runs draw the same.
    drawn=$(jq ".throughput_per_s / $recorded" "$scratch/recorded")
    "$persik" build-model -q -i "$scratch/$kind" >/dev/null
}

# row LATENCY BYTES_PER_S RATE
row() {
    local network=(--network-latency "$1") options=(--latency "$(number %.0f "1000 * ${1%ms}")") measured predicted
    if [ "$2" != 0 ]; then
        network+=(--network-bandwidth "${2}B/s")
        options+=(--bandwidth "$2")
    fi
    rm -f "$scratch/up"
    taskset -c 0 "$scratch/reply_server" "$kind" "$port" "$threads" "$compute_us" "$reply_bytes" "$congestion" &
    server=$!
    taskset -c 1 "$scratch/slow_link" "${options[@]}" >"$scratch/up" &
    link=$!
    until [ -s "$scratch/up" ]; do kill -0 "$link" && sleep 0.05; done
    asks 10.77.0.1
    PERSIK_LOAD_RESULT=$scratch/result taskset -c 1 nsenter "--net=/proc/$link/ns/net" \
        "$persik" load -q --remote --rate "$3/s" "${asks[@]}" >/dev/null 2>&1 || fail "the load failed"
    kill "$server" "$link"
    wait "$server" "$link" || true
    server='' link=''
    measured=$(jq -r '"\(.throughput_per_s) \(.response_ns.mean / 1e6) \(.response_ns.p95 / 1e6)"' "$scratch/result")
    predicted=$("$persik" predict -q -i "$scratch/$kind" --cores 1 --arrivals "$(number %.4f "$3 * $drawn")/s" --arrivals-kind recorded \
        --requests "$requests" "${network[@]}" --format json | jq -r '.configurations[0] |
        "\(.throughput_hz) \(.response_ns / 1e6) \(.response_p95_ns / 1e6)"')
    echo "$measured $predicted" | awk -v kind="$kind" -v latency="$1" -v bandwidth="$2" -v rate="$3" -v late="$(tail -n 1 "$scratch/up")" '
        function cell(i) { return sprintf("%8.2f %8.2f %+6.1f", $i, $(3 + i), 100 * ($(3 + i) / $i - 1)) }
        { printf "%-5s %7s %9s %5d %s %s %s %6.0f\n", kind, latency, bandwidth ? bandwidth / 1e6 " MB/s" : "-", rate,
            cell(1), cell(2), cell(3), late }'
}

case ${1:-} in
inside) shift ;;
*)
    [ "$(id -u)" -eq 0 ] && [ -c /dev/net/tun ] && unshare --net true 2>/dev/null || {
        say "skipped: only root may make network namespaces and interfaces (TUN), and not everywhere"
        exit 77
    }
    exec unshare --net "$0" inside "$@"
    ;;
esac
need_persik
scratch=$(mktemp -d)
trap ended EXIT
ip link set lo up
for name in reply_server slow_link; do gcc -O2 "$root/bench/$name.c" -o "$scratch/$name" -lpthread; done
for core in 0 1; do
    taskset -c "$core" chrt -i 0 bash -c 'while :; do :; done' &
    awake="$awake $!"
done
[ $# -gt 0 ] || set -- kept each
echo "$(machine); $requests requests a run"
echo "kind  latency bandwidth  rate measured/predicted, 1/s  %    mean response, ms      %   95th percentile, ms    % late, us"
for kind; do
    record
    for link_and_rate in "${links[@]}"; do
        read -r latency bandwidth rate <<<"$link_and_rate"
        row "$latency" "$bandwidth" "$rate"
    done
done
