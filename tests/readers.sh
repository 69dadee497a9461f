#!/bin/sh
# What persik reads may come from anybody: mutated files of each kind, read with AddressSanitizer and
# UndefinedBehaviorSanitizer, and files made to take memory. Usage: tests/readers.sh BUILD-FOLDER
# The readers built so are in ../asan beside the build folder: make VARIANT=asan mutators, part of `make check`.
# Prints TAP; exits 1 if a test fails. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
mutators=$(dirname "$build")/asan/fuzz
inputs=2000
readers="trace sections dependencies model facts sample catalog measurements client_result disk_calibration blktrace block_text segment replies"

explain_failure() {
    cat "$scratch/row"
    tail -n 40 "$scratch/log"
}

# mutated READER: none of its inputs crashed it, hung, or took too much memory; some were accepted.
mutated() {
    "$mutators/mutate-$1" "$inputs" 1 "$scratch/seeds/$1" >"$scratch/row" 2>"$scratch/log" || return 1
    read -r read_inputs accepted _ <"$scratch/row"
    [ "$read_inputs" -eq "$inputs" ] && [ "$accepted" -gt 0 ]
}

# Runs persik with no more memory than 16 times the file and 64 MB, and what it needs for itself (libraries).
# refused FILE COMMAND...: one line, exit status 1.
refused() {
    bytes=$(wc -c <"$1")
    shift
    (
        ulimit -v $((16 * bytes / 1024 + 65536 + own_kb))
        "$@" >"$scratch/row" 2>"$scratch/log"
    )
    [ $? -eq 1 ] && [ "$(grep -c . "$scratch/log")" -eq 1 ] && ! grep -q 'out of memory' "$scratch/log"
}

# The address space of a persik that only says what it is.
own_kb=32768
while ! (ulimit -v "$own_kb" && "$persik" --version) >/dev/null 2>&1; do own_kb=$((own_kb + 4096)); done

# head KIND ITEMS BYTES STORED, little-endian.
head_of() { perl -e 'print pack("LLQQQ", $ARGV[0], 0, @ARGV[1..3])' "$@"; }

# packed_trace FILE: a trace whose header is the text on standard input.
packed_trace() {
    cat >"$scratch/text"
    zstd -q -19 --check -c "$scratch/text" >"$scratch/frame"
    {
        perl -e 'print "PERSIKT1", pack("LL", 1, 0)'
        head_of 1 1 "$(wc -c <"$scratch/text")" "$(wc -c <"$scratch/frame")"
        cat "$scratch/frame"
    } >"$1"
}

mkdir "$scratch/data"
named="a trace of a few KB whose header unpacks to 50 MB of lists is refused within bounds"
if command -v zstd >/dev/null; then
    perl -e 'print "{\"a\":[", "[]," x 17e6, "0]}"' | packed_trace "$scratch/data/trace.persik"
    check "$named" refused "$scratch/data/trace.persik" "$persik" report -i "$scratch/data"
else
    skip "$named" "no zstd command here"
fi

perl -e 'print "{\"version\":1,\"nodes\":[", "{}," x 3e6, "{}]}"' >"$scratch/objects.json"
check "a model of three million empty objects is refused within bounds" \
    refused "$scratch/objects.json" "$persik" predict --model "$scratch/objects.json"

perl -e 'print "[" x 1e7' >"$scratch/deep.json"
check "a model nested ten million deep is refused within bounds" \
    refused "$scratch/deep.json" "$persik" predict --model "$scratch/deep.json"

if [ ! -x "$mutators/mutate-trace" ]; then
    for reader in $readers; do
        skip "mutated inputs: $reader" "not built: make VARIANT=asan mutators"
    done
elif ! "$root/tests/fuzz/seeds.sh" "$build" "$scratch/seeds" >"$scratch/log" 2>&1; then
    touch "$scratch/row"
    report 1 "seed files are recorded"
else
    cd "$scratch" || exit 1
    for reader in $readers; do
        check_mutated="$inputs mutated inputs neither crash, hang nor swell the reader: $reader"
        mutated "$reader"
        report $? "$check_mutated"
    done
fi
finish
