#!/bin/bash
# How well block logs of other clocks and without thread numbers are matched by cross-correlation: pairs of logs
# whose truth is known, disturbed by up to 10 s, by up to 100 ppm, with other numbers of threads (correlation.c).
#
# usage: bench/correlation.sh [RECORDINGS [SEEDS]]      (default: 20 recordings, each disturbed 5 times)
#
# Recorded pairs: correlation_reader on a loop device, while another process makes some 20 % of the requests; the log
# is that of ftrace's block events, of all devices. Needs root and loop devices, else only made up pairs are measured.
# As many pairs are made up, with slow and fast disks. Recordings are kept in bench/scratch/correlation and used again.
#
#   SECONDS_EACH   how long a recording is (6)
#
# Exit status 1: fewer than 95 of 100 pairs of logs are paired rightly and within 1 ms, fewer than 97 % of the requests
# come to the right call, logs that have nothing to do with each other are matched, or a request is not accounted for.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

recordings=${1:-20}
seeds=${2:-5}
each=${SECONDS_EACH:-6}
kept=$work/correlation
tracing=/sys/kernel/tracing
instance=$tracing/instances/correlation-$$
device=

clean_up() {
    if [ -d "$instance" ]; then
        for event in "$instance"/events/block/block_*/enable; do echo 0 >"$event"; done
        rmdir "$instance"
    fi
    [ -z "$device" ] || losetup -d "$device"
}
trap clean_up EXIT

can_record() { [ "$(id -u)" = 0 ] && [ -d $tracing/events/block ] && command -v losetup >/dev/null; }

# pick NUMBER WORD...: one of the words, in turn.
pick() {
    local n=$(($1 % ($# - 1)))
    shift $((n + 1))
    echo "$1"
}

# Threads, computing and blocks differ from one recording to the next.
record() {
    local n=$1 folder=$kept/$1 threads compute block mode
    [ ! -s "$folder/log" ] || return 0
    threads=$(pick "$n" 1 2 4 8 3)
    compute=$(pick $((n / 2)) 200 1000 5000 3000)
    block=$(pick "$n" 65536 4096 262144)
    mode=$(pick $((n / 3)) direct direct cached)
    say "recording $n: $threads threads, $compute us, blocks of $block bytes, $mode"
    mkdir -p "$instance"
    echo mono >"$instance/trace_clock"
    echo 16384 >"$instance/buffer_size_kb"
    for event in block_bio_queue block_rq_issue block_rq_complete; do
        echo 1 >"$instance/events/block/$event/enable"
    done
    # A fourth of the requests of the threads.
    "$kept/reader" "$device" 1 "$((each + 3))" "$(number %d "4 * $compute / $threads + 300")" 16384 direct &
    local other=$!
    "$persik" trace --no-block-io --no-evictions --plain-runs 0 -o "$folder" -- \
        "$kept/reader" "$device" "$threads" "$each" "$compute" "$block" "$mode" >"$folder.out" 2>&1 ||
        { cat "$folder.out" >&2; fail "no recording"; }
    kill "$other" 2>/dev/null || true
    wait "$other" 2>/dev/null || true
    grep ': block_' "$instance/trace" >"$folder/log"
    for event in "$instance"/events/block/block_*/enable; do echo 0 >"$event"; done
    rmdir "$instance"
}

# trials FILE [OPTION] -- what is disturbed...: a line for each seed.
trials() {
    local file=$1 first=$2 n=$3 option=$4
    shift 4
    for ((seed = first; seed < first + n; seed++)); do
        # shellcheck disable=SC2086 # no option is none
        "$kept/correlation" $option "$seed" "$@" >>"$file"
    done
}

# summary NAME FILE: the figures, and on standard error what is too bad.
summary() {
    awk -v name="$1" '
        { n++; lag[n] = $4; share[n] = $6 ? $7 / $6 : 1
          good += $1 && $2 == $3 && $4 <= 1000; calls += $6; right += $7; near += $8; others += $9; taken += $10
          found += $1; lost += $11 != $12; cpu += $16 }
        function at(values, n, part,    i, j, v) {
            for (i = 2; i <= n; i++) { v = values[i]; for (j = i - 1; j > 0 && values[j] > v; j--) values[j + 1] = values[j]; values[j + 1] = v }
            i = int(part * (n - 1) + 0.5) + 1
            return values[i]
        }
        END {
            printf "| %s | %d | %d | %d | %.0f / %.0f / %.0f | %.2f %% | %.2f / %.2f / %.2f %% | %.2f %% | %.2f |\n", name, n, found, good,
                at(lag, n, 0.5), at(lag, n, 0.95), at(lag, n, 1), 100 * right / (calls ? calls : 1),
                100 * at(share, n, 0), 100 * at(share, n, 0.05), 100 * at(share, n, 0.5),
                100 * taken / (others ? others : 1), cpu / n
            if (lost) exit 2
            if (name ~ /unrelated/) exit found > 0
            if (name !~ /untold/) exit good < 0.95 * n || right < 0.97 * calls
        }' "$2" || bad="$bad, $1"
}

need_persik
mkdir -p "$kept"
build=$(dirname "$persik")
for name in correlation correlation_reader; do
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -I. "bench/$name.c" "$build/libpersik.a" -o "$kept/${name#correlation_}" \
        -ljansson -lzstd -ldw -lelf -lcapstone -lunwind-ptrace -lunwind-generic -lunwind -lgsl -lgslcblas -lm -lpthread
done
rm -f "$kept"/*.rows
if can_record; then
    [ -s "$kept/disk" ] || head -c 256M /dev/urandom >"$kept/disk"
    device=$(losetup -f --show --direct-io=on "$kept/disk")
    for ((i = 0; i < recordings; i++)); do
        record "$i"
        trials "$kept/recorded.rows" $((i * seeds + 1)) "$seeds" "" "$kept/$i/trace.persik" "$kept/$i/log"
        trials "$kept/recorded-untold.rows" $((i * seeds + 1)) 1 -s "$kept/$i/trace.persik" "$kept/$i/log"
        trials "$kept/recorded-unscheduled.rows" $((i * seeds + 1)) 1 -w "$kept/$i/trace.persik" "$kept/$i/log"
        trials "$kept/unrelated.rows" $((i * seeds + 1)) 1 -n "$kept/$i/trace.persik" "$kept/$i/log"
    done
else
    say "no recordings: they need root, tracefs and loop devices"
fi
trials "$kept/made-up.rows" 1 $((recordings * seeds)) "" synthetic
trials "$kept/made-up-untold.rows" 1 "$recordings" -s synthetic
trials "$kept/unrelated.rows" 1 "$recordings" -n synthetic

bad=
echo "| pairs of logs | number | matched | rightly paired and within 1 ms | lag error, us: median / 95 % / worst | requests to the right call | by log: worst / 5 % / median | others' requests taken | CPU s |"
echo "|---|---|---|---|---|---|---|---|---|"
for name in recorded recorded-unscheduled recorded-untold made-up made-up-untold unrelated; do
    [ ! -s "$kept/$name.rows" ] || summary "$name" "$kept/$name.rows"
done
[ -z "$bad" ] || fail "not good enough:${bad#,}"
