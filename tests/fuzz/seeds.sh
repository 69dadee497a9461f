#!/bin/sh
# Seed files for the fuzz targets, one folder per kind of file, from small recordings made here and now.
# usage: tests/fuzz/seeds.sh BUILD-FOLDER OUT        (bench/fuzz.sh and tests/readers.sh)
set -eu
build=$(realpath "$1")
out=$2
mkdir -p "$out/trace" "$out/model" "$out/facts" "$out/sample" "$out/catalog" "$out/measurements" \
    "$out/client_result" "$out/disk_calibration" "$out/dependencies" "$out/blktrace" "$out/block_text" "$out/segment" "$out/replies"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PERSIK_CACHE="$work/cache"

# record NAME PROGRAM...: profiled once, and what that gives.
record() {
    name=$1
    shift
    folder=$work/$name
    program=$1
    # None of this must succeed altogether: what it leaves is enough, and a machine may forbid parts.
    "$build/persik" sample -q -o "$folder" -- "$@" >/dev/null 2>&1 || true
    "$build/persik" analyze -q -o "$folder" "$program" >/dev/null 2>&1 || true
    "$build/persik" trace -q --plain-runs 0 --no-evictions -o "$folder" -- "$@" >/dev/null 2>&1 || true
    "$build/persik" build-model -q -i "$folder" >/dev/null 2>&1 || true
    "$build/persik" critical-path -q -i "$folder" >/dev/null 2>&1 || true
    for kind in trace:trace.persik dependencies:dependencies.persik model:model.json facts:static.json sample:sample.json; do
        [ ! -s "$folder/${kind#*:}" ] || cp "$folder/${kind#*:}" "$out/${kind%%:*}/$name"
    done
}
record bank "$build/samples/bank" --size 503 --threads 2
record pipeline "$build/samples/pipeline" --size 40 --threads 2
record renderer "$build/samples/renderer" --size 115

for file in "$out"/dependencies/*; do
    "$(dirname "$0")/../unpack-dependencies" "$file" >"$work/unpacked"
    cp "$work/unpacked" "$file-unpacked"
done

cat >"$out/catalog/functions" <<'END'
# what the program's own functions do
put      ring_push  object=arg0 fails=false
try-get  ring_pop   object=arg0 fails=null
create-queue  ring_new  object=result amount=arg1
lock     my_lock    object=arg1 spins
unlock   my_unlock  object="big lock"
barrier  wait_all   object=meeting amount=4
ignore   note
monitor  "struct pool.lock" is bounded queue amount=8
monitor  "cache.mutex" is statements
END
printf '%s\n' 'threads,cores,round,run_ns,cpu_ns' '2,1,1,2000000,1500000' '"2,4",2,1,1000000,1900000' \
    >"$out/measurements/old"
header=threads,cores,round,run_ns,cpu_ns,foreign_ns
header=$header,computing_ns,memory_ns,fastest_computing_ns,fastest_memory_ns,sharing
printf '%s\n' "$header" '1,1,1,4000000,3900000,10,100.5,200,99,180.25,1' \
    '4,2,1,1100000,2000000,0,101,210,99,180.25,1.25' '4,2,2,1200000,2100000,0,0,0,0,0,0' \
    >"$out/measurements/new"
printf '%s\n' '{"requests": 2000, "errors": 1, "seconds": 4.5, "throughput_per_s": 444.2,
    "response_ns": {"mean": 210000, "p50": 180000, "p95": 400000, "p99": 900000, "max": 1.5e6}}' >"$out/client_result/one"

times=$(printf '1000.5, %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)2e3
printf '%s\n' '{"format": "persik disk calibration", "version": 1, "device": "7:0", "date": "2026-11-28",' \
    '"file_bytes": 67108864, "points": [{"kind": "read", "order": "random", "bytes": 4096, "parallel": 2,' \
    "\"requests\": 30, \"mean_ns\": 1062.5, \"times_ns\": [$times]}," \
    '{"kind": "flush", "order": "random", "bytes": 0, "parallel": 1,' \
    "\"requests\": 3, \"mean_ns\": 1062.5, \"times_ns\": [$times]}]}" >"$out/disk_calibration/two"

printf 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello' >"$out/replies/length"
printf 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' >"$out/replies/chunked"
printf '3;x\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX: y\r\n\r\n' >>"$out/replies/chunked"

# As blktrace(8) writes them: struct blk_io_trace of linux/blktrace_api.h, and a message with the time.
perl -e '
    sub event {
        my ($time, $sector, $bytes, $action, $pid, $data) = @_;
        print pack("LLQQLLLLLSS", 0x65617407, 1, $time, $sector, $bytes, $action, $pid, 8 << 20, 0, 0,
            length $data), $data;
    }
    event(0, 0, 0, 1 << 26 | 1, 0, pack("LL", 1700000000, 5));
    event(0, 0, 0, 1 << 26, 101, "kworker/0:1");
    for my $i (1 .. 40) {
        my $class = ($i % 3 ? 1 : 2) << 16;
        event(1000 * $i, 64 * $i, 4096, $class | 15, 100, pack("NNQ>", 8 << 20 | 1, 8 << 20, 64 * $i - 32));
        event(1000 * $i, 64 * $i, 4096, $class | 1, 100 + $i % 2, "");
        event(1000 * $i + 300, 64 * $i, 4096, $class | 7, 100, "");
        event(1000 * $i + 900, 64 * $i, 4096, $class | 8, 0, "");
    }' >"$out/blktrace/log"

# As the blk tracer, the block events and blkparse print them.
cat >"$out/block_text/log" <<'END'
# tracer: blk
          reader-15940   [000] d..1. 40580.761186:   7,0    Q  RS 0 + 128 [reader]
          reader-15940   [000] d..1. 40580.761347:   7,0    D  RS 0 + 128 [reader]
             cc1-15791   [001] d.s1. 40580.761762:   7,0    C  RS 0 + 128 [0]
    kworker/0:0H-10      [000] d..1. 40580.773750:   7,0    D  FN [kworker/0:0H]
          reader-15941   ( 15940) [001] d..1. 40580.8:   8,0    A  RA 34 + 8 <- (8,1) 2
          reader-15941   [001] ..... 40580.900000: block_bio_queue: 254,0 RA 354096328 + 24 [reader]
    kworker/1:2H-29199   [001] ..... 40580.900100: block_rq_issue: 254,0 RA 12288 () 354096328 + 24 be,0,4 [kworker/1:2H]
             cc1-15791   [001] ..s.. 40580.900200: block_rq_complete: 254,0 RA () 354096328 + 24 be,0,4 [0]
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  D   W 223490 + 8 [kjournald]
  8,0    3       11     0.009507758     0  C   W 223490 + 8 [0]
END

# As the probes leave it (tracer/raw.h, target_segment.c): a program whose two threads share a mutex and a
# condition, and its forked child.
perl -e '
    sub record {
        my ($start, $duration, $api, $object, $flags, $context, $value) = @_;
        print pack("QQQLl", $start, $duration | $api << 48, $object | $flags << 48, $context, $value);
    }
    print pack("LLLCCCC", 2, 2, 2, 2, 2, 2, 12);
    print pack("LLllLLQQQQQ", 3, 1, 100, 1, 0, 2, 10, 90000, 0, 9000, 18000);
    print pack("LLllLLQQQQQ", 3, 5, 101, 100, 0, 1, 50000, 80000, 3, 9000, 18000);
    print pack("QQLLa488", 0x1000, 0x9000, 0, 0, "/bin/true");
    print pack("QQLLa488", 0x10000, 0x90000, 0, 0, "/nowhere/libq.so");
    print pack("LLQ16", 2, 0, 0x1100, 0x1200, (0) x 14), pack("LLQ16", 1, 0, 0x11000, (0) x 15);
    for my $thread (0 .. 2) {
        my $image = $thread == 2 ? 1 : 0;
        my $index = $thread == 1 ? 1 : 0;
        record(1, 0, 0xff00, 0, 0, $image, $index);
        record(100 + $thread, 100 + $thread, 0xff01, $thread ? 0x1300 : 0xffffffffffff, 0, 0, $index - 1);
        record(110, 20, 0xff02, 0, 0, 0, 0);
        record(1000 * $_, $_ % 2 ? 400 : 0, $_, 0x7000, $_ == 5 ? 1 : 0, $_ % 2, $_ % 3) for 1 .. 6;
        record(7000, 10, 0xff05, 0x7000, 0, 0, 5);
        record(5000, 900, 0xff04, 0x7000, 0, 0, 0);
        record(80000, 0, 0xff03, 0, 0, 0, 0);
    }' >"$out/segment/two"
cp -r "$out/trace" "$out/sections"
for kind in trace model facts sample; do
    [ -n "$(ls "$out/$kind")" ] || { echo "seeds: no recording gave a $kind" >&2; exit 1; }
done
