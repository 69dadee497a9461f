#!/bin/bash
# How well a web server is predicted whose files are on a slow disk and not in memory, as Tarvo and Reiss (2017, section
# 5.1) did with theirs: samples/tornado is recorded once, with one worker at a middle rate, and predicted with other
# numbers of workers at other rates. Root only; the disk is made by bench/slow-disk.sh.
#
# usage: bench/tornado.sh [run|compare]    (default: run, then compare)
#
# Each run begins with an empty page cache and has the same requests: same files, same order, and the same times between
# them, stretched to the rate. Throughput and response times are the client's, from when a request was to be sent; the
# disk's utilisation is by its own log, for the time from the first request to the last answer. Of each configuration
# $RUNS runs, in turn with all others; their medians. The recording and every run are kept in bench/scratch/tornado/:
# delete the folder to measure anew, give more $RUNS to add some. No run begins after $LIMIT seconds: start it again.
#
#   THREADS, RATES   the configurations (1 2 4 8, 25 50 70 85 100 120 requests a second)
#   RUNS, LIMIT      3, 100000
#   REQUESTS         of each run (600); FILES on the disk (20000)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
read -ra rates <<<"${RATES:-25 50 70 85 100 120}"
runs=${RUNS:-3}
limit=${LIMIT:-100000}
requests=${REQUESTS:-600}
files=${FILES:-20000}
recorded_rate=50
recorded_port=18087
kept=$work/tornado
server=$built/samples/tornado
disk=(--turn 6000 --seek-least 600 --seek-most 8000) # a disk of 10,000 turns a minute

load() { # RATE PORT
    "$persik" load -q --format json --rate "$1/s" --requests "$requests" --seed 1 --no-keep-alive --urls "$kept/urls" \
        "http://127.0.0.1:$2"
}

# ------------------------------------------------------------------------- with the slow disk

record() {
    [ ! -s "$kept/recording/trace.persik" ] || return 0
    "$persik" profile -q -o "$kept/recording" --prepare "$SLOW_DISK_DROP" \
        --load "$0 load $recorded_rate $recorded_port" -- \
        "$server" --port "$recorded_port" --threads 1 --root "$SLOW_DISK/www" >&2
    # Which of the disks of this machine it was.
    stat -c '%Hr:%Lr' "$SLOW_DISK_DEVICE" >"$kept/recording.device"
}

# run THREADS RATE: "ROUND THREADS RATE" and what was measured, a line of the CSV file.
run() {
    local port before
    "$SLOW_DISK_DROP"
    rm -f "$scratch/out"
    "$server" --port 0 --threads "$1" --root "$SLOW_DISK/www" >"$scratch/out" &
    pid=$!
    until grep -qs '^listening' "$scratch/out"; do sleep 0.02; done
    port=$(sed -n 's/^listening on port //p' "$scratch/out")
    before=$(wc -l <"$kept/log")
    load "$2" "$port" >"$scratch/result" || fail "the load failed"
    tail -n +$((before + 1)) "$kept/log" |
        awk '{busy += $2 - $1; bytes += $5} END {print NR, bytes + 0, busy + 0}' >"$scratch/busy"
    kill -TERM "$pid"
    wait "$pid"
    pid=
    jq -r --arg c "$3,$1,$2" --arg disk "$(tr ' ' ',' <"$scratch/busy")" \
        '[$c, .requests, .errors, .seconds, .throughput_per_s, .response_ns.mean / 1e6, .response_ns.p50 / 1e6,
          .response_ns.p95 / 1e6, .lateness_ns.mean / 1e6, $disk] | join(",")' "$scratch/result"
}

measure() {
    local round t r
    record
    [ -s "$kept/runs.csv" ] ||
        echo "round,threads,rate,requests,errors,seconds,throughput,mean_ms,p50_ms,p95_ms,late_ms,disk_requests,disk_bytes,disk_busy_s" \
            >"$kept/runs.csv"
    for ((round = 1; round <= runs; round++)); do
        for t in "${threads[@]}"; do
            for r in "${rates[@]}"; do
                ! grep -q "^$round,$t,$r," "$kept/runs.csv" || continue
                [ $SECONDS -lt "$limit" ] || return 0
                run "$t" "$r" "$round" >>"$kept/runs.csv"
            done
        done
    done
}

need_persik
case ${1:-all} in
load) load "$2" "$3" ;;
inside)
    scratch=$(mktemp -d)
    pid=
    trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$scratch"' EXIT
    measure
    ;;
run | all)
    mkdir -p "$kept"
    rm -f "$kept/log"
    "$root/bench/slow-disk.sh" "${disk[@]}" --log "$kept/log" \
        --prepare "$built/samples/pages --files $files \"\$SLOW_DISK/www\" >$kept/urls" -- "$0" inside
    ;;
esac
