#!/bin/bash
# Whether persik's readers stand whatever a file holds: mutated inputs, then coverage-guided ones.
#
# usage: bench/fuzz.sh [SECONDS [READER...]]      SECONDS of libFuzzer for each reader (default 60, 0: none)
#        READER: trace, sections (a trace's insides), dependencies, model, facts, sample, catalog, measurements, client_result,
#        disk_calibration, blktrace, block_text,
#        segment (the memory shared with the program)
# INPUTS=N mutations for each (20000), SEED=N (1).
#
# A reader passes with no crash, no input that takes over 10 s, and no more memory held than 16 times the
# file's size and 64 MB. AddressSanitizer and UndefinedBehaviorSanitizer watch, leaks count as crashes. What
# fails is kept in bench/scratch/fuzz/READER/; libFuzzer's corpus stays there for the next time. Needs
# clang-14 and libclang-rt-14-dev for the second part. Another target is a file tests/fuzz/target_NAME.c and
# its seeds in tests/fuzz/seeds.sh.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
seconds=${1:-60}
[ $# -eq 0 ] || shift
inputs=${INPUTS:-20000}
seed=${SEED:-1}
work=$root/bench/scratch/fuzz
readers=("$@")
[ $# -gt 0 ] || readers=(trace sections dependencies model facts sample catalog measurements client_result disk_calibration blktrace block_text segment replies)

make -s -C "$root" -j2 build/release/persik build/release/libpersik-probe.so build/release/persik-analyze \
    samples >&2
make -s -C "$root" -j2 VARIANT=asan mutators >&2
[ "$seconds" = 0 ] || make -s -C "$root" -j2 VARIANT=fuzz fuzzers >&2
mkdir -p "$work"
rm -rf "$work/seeds"
"$root/tests/fuzz/seeds.sh" "$root/build/release" "$work/seeds"

failed=0
mutations() {
    local row
    row=$("$root/build/asan/fuzz/mutate-$1" "$inputs" "$seed" "$work/seeds/$1" 2>mutations.log) || failed=1
    read -r done_inputs accepted crashes hangs slowest_ms peak share <<<"$row"
    echo "| $1 | mutations | ${done_inputs:-0} | ${accepted:-} | ${crashes:-?} | ${hangs:-?} |" \
        "${slowest_ms:-} ms | $(awk -v b="${peak:-0}" -v s="${share:-0}" \
            'BEGIN { printf "%.1f MB, %.0f %% of the bound", b / 1048576, 100 * s }') |"
}

# libFuzzer ends at the first defect; the statistics are on its standard error.
coverage_guided() {
    local status=0 runs slowest
    mkdir -p corpus
    "$root/build/asan/fuzz/mutate-$1" --seeds corpus "$work/seeds/$1"
    "$root/build/fuzz/fuzz/fuzz-$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=200000 \
        -print_final_stats=1 -artifact_prefix=./ corpus >libfuzzer.log 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' libfuzzer.log)
    slowest=$(sed -n 's/^stat::slowest_unit_time_sec: *//p' libfuzzer.log)
    [ "$status" -eq 0 ] || failed=1
    echo "| $1 | libFuzzer, $seconds s | ${runs:-?} | | $([ "$status" -eq 0 ] && echo 0 || echo "1: see" \
        "bench/scratch/fuzz/$1/libfuzzer.log") | | ${slowest:-?} s | within the bound |"
}

echo "| reader | kind | inputs | accepted | crashes | over 10 s | slowest | memory |"
echo "|---|---|--:|--:|--:|--:|--:|---|"
for reader in "${readers[@]}"; do
    mkdir -p "$work/$reader"
    cd "$work/$reader"
    mutations "$reader"
    [ "$seconds" = 0 ] || coverage_guided "$reader"
done
exit $failed
