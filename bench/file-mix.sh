#!/bin/bash
# How well another mix of files is predicted: samples/tornado on the slow disk (bench/slow-disk.sh), in a control group
# whose memory holds a part of its files, is recorded once while half of the requests are for each of two folders, one with
# many files and one with few; predicted with other mixes (`build-model --file-mix`), and run with them. Root only.
#
# usage: bench/file-mix.sh [run|compare]      (default: both; predictions are made by both, as files are told by the disk)
#
# Each run begins with an empty cache, its throughput is the clients', beyond saturation; the requests to the disk are
# those of its own log. Of each mix $RUNS runs, in turn with the others; their medians. All is kept in
# bench/scratch/file-mix/: delete the folder to measure anew, give more $RUNS to add some. No run begins after $LIMIT
# seconds: start it again.
#
#   MIXES         requests to /many and to /few: the first is recorded (1:1 2:1 1:2)
#   MB            of the cache (24, with which it is recorded; another one is predicted with --page-cache besides)
#   RUNS, LIMIT   3, 100000
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=memory-group.sh
. "$(dirname "$0")/memory-group.sh"
# shellcheck source=kept-runs.sh
. "$(dirname "$0")/kept-runs.sh"

read -ra mixes <<<"${MIXES:-1:1 2:1 1:2}"
recorded_mb=24
mb=${MB:-$recorded_mb}
runs=${RUNS:-3}
limit=${LIMIT:-100000}
kept=$work/file-mix
port=18092
rate=1000
requests=3000
recorded_requests=4500 # of which two thirds at least are left by the other mixes
disk=(--mb 512 --turn 2000 --seek-least 200 --seek-most 2000)

# urls MIX: the files of both folders, each with its weight in the mix.
urls() {
    awk -v mix="$1" 'BEGIN {FS = OFS = "\t"; split(mix, of, ":")}
        {sum[FILENAME] += $2; path[NR] = "/" (FILENAME ~ /few$/ ? "few" : "many") $1; weight[NR] = $2; from[NR] = FILENAME}
        END {for (i = 1; i <= NR; i++) print path[i], weight[i] / sum[from[i]] * of[from[i] ~ /few$/ ? 2 : 1]}' \
        "$kept/many" "$kept/few"
}

# load MIX REQUESTS SEED
load() {
    urls "$1" >"$kept/urls-$1"
    "$persik" load -q --format json --rate "$rate/s" --requests "$2" --seed "$3" --no-keep-alive \
        --urls "$kept/urls-$1" "http://127.0.0.1:$port"
}

set_command() {
    command=("$scratch/within" "$built/samples/tornado" --port "$port" --threads 4 --root "$SLOW_DISK/www")
}

record() {
    [ ! -s "$kept/recording/trace.persik" ] || return 0
    group_make "$recorded_mb"
    group_empty "$scratch/prepare"
    "$persik" profile -q -o "$kept/recording" --prepare "$scratch/prepare" --load "$0 recorded-load" -- "${command[@]}" >&2
    group_remove
}

# run MIX,MB ROUND: the requests answered in a second, what was in the cache in the end, requests to the disk.
run() {
    local figure before
    "$SLOW_DISK_DROP"
    group_make "${1#*,}"
    before=$(wc -l <"$kept/log")
    group_serve
    load "${1%,*}" "$requests" $(($2 + 1)) >"$scratch/result" || fail "the load failed"
    figure=$(jq .throughput_per_s "$scratch/result")
    echo "$figure,$(group_cached),$(($(wc -l <"$kept/log") - before))"
    kill -TERM "$pid" && wait "$pid"
    pid=
    group_remove
}

measure() {
    record
    runs_in_turn mix,mb,per_s "${mixes[@]/%/,$mb}"
}

# predicted MIX BYTES: requests a second, and requests to the disk; with a cache of so much, if it is not the recorded one.
predicted() {
    local first=${mixes[0]} mix=() cache=() factor
    [ "$mb" -eq "$recorded_mb" ] || cache=(--page-cache "$2")
    factor=$(number %.6g "(${1%:*} / ${1#*:}) / (${first%:*} / ${first#*:})")
    [ "$1" = "$first" ] || mix=(--file-mix "$SLOW_DISK/www/many=$factor")
    "$persik" build-model -q -i "$kept/recording" "${mix[@]}" >"$kept/model-$1"
    "$persik" predict -q -i "$kept/recording" --arrivals "$rate/s" --requests "$requests" "${cache[@]}" --format json |
        jq -r '.configurations[0] | "\(.throughput_hz) \([.objects[] | select(.kind == "disk").operations] | add)"'
}

compare() {
    local mix found told
    echo "mix  measured, 1/s: median (least .. most)  predicted  error %  requests to the disk: mean, predicted, error %"
    for mix in "${mixes[@]}"; do
        found=$(runs_summary "$mix,$mb")
        [ -n "$found" ] || continue
        read -ra told < <(predicted "$mix" "$(runs_cached "$found")")
        runs_against "$mix" "$found" "${told[@]}"
    done
}

need_persik
case ${1:-all} in
recorded-load) load "${mixes[0]}" "$recorded_requests" 1 ;;
inside)
    group_begin
    set_command
    [ "$2" = compare ] || measure
    [ "$2" = run ] || compare
    ;;
run | compare | all)
    mkdir -p "$kept"
    folders="mkdir \"\$SLOW_DISK/www\"
        $built/samples/pages --files 2500 --typical 20000 --largest 500000 --zipf 0.8 \"\$SLOW_DISK/www/many\" >$kept/many
        $built/samples/pages --files 300 --typical 40000 --largest 500000 --zipf 0.5 --seed 2 \"\$SLOW_DISK/www/few\" >$kept/few"
    rm -f "$kept/log"
    "$root/bench/slow-disk.sh" "${disk[@]}" --log "$kept/log" --prepare "$folders" -- "$0" inside "${1:-all}"
    ;;
*) fail "what is '$1'? see the head of this script" ;;
esac
