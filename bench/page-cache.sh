#!/bin/bash
# How well a page cache of another size is predicted: programs that read files of a slow disk (bench/slow-disk.sh) are
# recorded once, in a control group whose memory holds S of them, and predicted and run with S/2 and 2S. Root only.
#
#   reader        bench/page_reader.c: a fixed job, which reads blocks of one file, each as often as the others
#   reader-skewed ... by Zipf's law
#   server        samples/tornado: files of all sizes, asked for by Zipf's law, at a rate beyond saturation
#
# usage: bench/page-cache.sh KIND [run|compare]      (default: run, then compare)
#
# Each run begins with an empty cache. Its time (reader), or its throughput (server), by the program or the client; the
# requests to the disk by its own log; what the cache held at the end by the control group, and for so much it is
# predicted. Of each size $RUNS runs, in turn with
# the others; their medians. All is kept in bench/scratch/page-cache/KIND/: delete the folder to measure anew, give more
# $RUNS to add some. No run begins after $LIMIT seconds: start it again.
#
#   SIZES         of the cache, in MB: the first is recorded (24 12 48)
#   RUNS, LIMIT   3, 100000
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=memory-group.sh
. "$(dirname "$0")/memory-group.sh"
# shellcheck source=kept-runs.sh
. "$(dirname "$0")/kept-runs.sh"

kind=${1:-}
read -ra sizes <<<"${SIZES:-24 12 48}"
runs=${RUNS:-3}
limit=${LIMIT:-100000}
kept=$work/page-cache/$kind
port=18091
rate=800
requests=3000
disk=(--mb 512 --turn 2000 --seek-least 200 --seek-most 2000) # faster ones are no disks of their own any more: cores decide

case $kind in
reader) skew=0 reads=8000 ;;
reader-skewed) skew=0.9 reads=16000 ;;
server) ;;
*) fail "which program? see the head of this script" ;;
esac

# ------------------------------------------------------------------------- runs

set_command() {
    if [ "$kind" = server ]; then
        command=("$scratch/within" "$built/samples/tornado" --port "$port" --threads 4 --root "$SLOW_DISK/www")
    else
        command=("$scratch/within" "$kept/page_reader" "$SLOW_DISK/data" 2 "$reads" 16384 "$skew")
    fi
}

load() {
    "$persik" load -q --format json --rate "$rate/s" --requests "$requests" --seed 1 --no-keep-alive \
        --urls "$kept/urls" "http://127.0.0.1:$port"
}

record() {
    local size=${sizes[0]}
    [ ! -s "$kept/recording/trace.persik" ] || return 0
    group_make "$size"
    group_empty "$scratch/prepare"
    if [ "$kind" = server ]; then
        "$persik" profile -q -o "$kept/recording" --prepare "$scratch/prepare" --load "$0 $kind recorded-load" -- \
            "${command[@]}" >&2
    else
        "$persik" profile -q -o "$kept/recording" --prepare "$scratch/prepare" -- "${command[@]}" >&2
    fi
    group_remove
}

# run MB: the time in seconds, or the requests answered in one, and what was in the cache in the end.
run() {
    local start end figure before
    "$SLOW_DISK_DROP"
    group_make "$1"
    before=$(wc -l <"$kept/log")
    if [ "$kind" = server ]; then
        group_serve
        load >"$scratch/result" || fail "the load failed"
        figure=$(jq .throughput_per_s "$scratch/result")
    else
        start=$EPOCHREALTIME
        "${command[@]}" >"$scratch/out"
        end=$EPOCHREALTIME
        figure=$(number %.4f "${end/,/.} - ${start/,/.}")
    fi
    echo "$figure,$(group_cached),$(($(wc -l <"$kept/log") - before))"
    [ -z "$pid" ] || { kill -TERM "$pid" && wait "$pid"; }
    pid=
    group_remove
}

measure() {
    set_command
    record
    runs_in_turn mb,figure "${sizes[@]}"
}

# ------------------------------------------------------------------------- predicted against measured

asked_of_disk='\([.objects[] | select(.kind == "disk").operations] | add)'
# predicted BYTES: the figure, and the requests to the disk.
predicted() {
    if [ "$kind" = server ]; then
        "$persik" predict -q -i "$kept/recording" --page-cache "$1" --arrivals "$rate/s" --requests "$requests" \
            --format json | jq -r ".configurations[0] | \"\(.throughput_hz) $asked_of_disk\""
    else
        "$persik" predict -q -i "$kept/recording" --page-cache "$1" --format json |
            jq -r ".configurations[0] | \"\(.run_ns / 1e9) $asked_of_disk\""
    fi
}

compare() {
    "$persik" build-model -q -i "$kept/recording" >&2
    jq -r '.page_cache | "recorded with \(.size_bytes / 1e6) MB, by its reads (\(100 * .agreement) % alike); \(.read_bytes / 1e6) MB read"' \
        "$kept/recording/model.json"
    echo "MB  cached MB  measured: median (least .. most)  predicted  error %  requests to the disk: mean, predicted, error %"
    local size found cached told
    for size in "${sizes[@]}"; do
        found=$(runs_summary "$size")
        [ -n "$found" ] || continue
        cached=$(runs_cached "$found")
        read -ra told < <(predicted "$cached")
        runs_against "$size $(number %.1f "$cached / 1e6")" "$found" "${told[@]}"
    done
}

need_persik
case ${2:-all} in
recorded-load) load ;;
inside)
    group_begin
    measure
    ;;
compare) ;;
run | all)
    mkdir -p "$kept"
    prepare="head -c 64M /dev/urandom >\"\$SLOW_DISK/data\""
    if [ "$kind" = server ]; then
        prepare="$built/samples/pages --files 2500 --typical 20000 --largest 500000 --zipf 0.8 \"\$SLOW_DISK/www\" >$kept/urls"
    else
        gcc -O2 "$root/bench/page_reader.c" -o "$kept/page_reader" -lm -lpthread
    fi
    rm -f "$kept/log"
    "$root/bench/slow-disk.sh" "${disk[@]}" --log "$kept/log" --prepare "$prepare" -- "$0" "$kind" inside
    ;;
*) fail "what is '$2'? see the head of this script" ;;
esac
case ${2:-all} in
compare | all) compare ;;
esac
