#!/bin/sh
# `persik load` from outside, against a small server of tests/programs: what it prints, what it refuses, and that a
# server's stall is seen. Usage: tests/load.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
server=
stop() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
    server=
}
trap 'stop; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export LC_ALL=C.UTF-8
unset PERSIK_LOAD_RESULT

explain_failure() { head -n 25 out err; }

gcc -g -O2 "$root/tests/programs/load_server.c" -o load_server -lm || exit 1

# start KIND OPTION...: another server; its port is in $port.
start() {
    stop
    rm -f port.txt
    ./load_server "$@" >port.txt 2>served.txt &
    server=$!
    tries=0
    until [ -s port.txt ] || [ $tries -ge 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    port=$(cat port.txt)
}

# load ARGUMENT...: leaves out, err and $status.
load() {
    timeout 60 "$persik" load "$@" >out 2>err </dev/null
    status=$?
}

# is FILTER: holds for the JSON that was printed, and nothing failed.
is() { [ $status -eq 0 ] && jq -e "$1" out >/dev/null; }

# refuses STATUS PATTERN ARGUMENT...: nothing on stdout, and one line on stderr beside warnings.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    load "$@"
    [ $status -eq "$wanted" ] && [ ! -s out ] && [ "$(grep -vc '^persik: warning: ' err)" -eq 1 ] &&
        grep -v '^persik: warning: ' err | grep -q "^persik: .*$pattern"
    report $? "persik load $* exits $wanted: $pattern"
}

check_protocols() {
    for kind in http chunked endless; do
        start $kind
        load --rate 1000/s --requests 200 --format json "http://127.0.0.1:$port/a"
        is '.requests == 200 and .errors == 0 and .response_ns.mean > 0'
        report $? "all requests of $kind are answered"
    done
    start http
    load --clients 3 --requests 300 --format json "http://127.0.0.1:$port"
    is '.requests == 300 and .connections == 3'
    report $? "each client keeps its connection"
    load --clients 3 --requests 300 --no-keep-alive --format json "http://127.0.0.1:$port"
    is '.requests == 300 and .connections == 300'
    report $? "with --no-keep-alive each request has its own"
    start http --each 5
    load --clients 3 --requests 300 --format json "http://127.0.0.1:$port"
    is '.requests == 300 and .errors == 0'
    report $? "a server that closes connections after five replies loses no request"
    start lines
    load --clients 2 --requests 100 --send 'get k\r\n' --until 'END\r\n' --format json "tcp://127.0.0.1:$port"
    is '.requests == 100 and .errors == 0'
    report $? "replies of a line protocol end with --until"
    start udp
    load --clients 2 --requests 100 --send 'hello' --format json "udp://127.0.0.1:$port"
    is '.requests == 100 and .errors == 0'
    report $? "a datagram is answered by one"
}

check_what_is_sent() {
    start http
    printf '/a\n/b\t2\n' >paths
    printf '0\n0.1\n0.15\n0.4\n' >times
    load --arrivals recorded:times --urls paths --format json "http://127.0.0.1:$port"
    is '.requests == 4 and .seconds >= 0.4'
    report $? "requests are sent at recorded times"
    printf '0\n10\n15\n40\n' >times
    load --arrivals recorded:times --rate 100/s --format json "http://127.0.0.1:$port"
    is '.requests == 4 and .seconds < 20'
    report $? "and at the rate that is asked for"
    load --rate 50/s --arrivals constant --warmup 500ms --duration 1s --format json "http://127.0.0.1:$port"
    is '.requests == 50'
    report $? "what is sent in the warm-up does not count"
}

# 40 of 200 requests are due while the server stands still.
check_stalls() {
    start http --stall 400 --stall-at 50
    load --rate 100/s --arrivals constant --requests 200 --connections 1 --format json "http://127.0.0.1:$port"
    is '.response_ns.p90 > 1e8 and .response_ns.max >= 4e8'
    report $? "a stall of 400 ms is seen in the response times of a fifth of the requests"
    is '.service_ns.p90 < .response_ns.p90 / 2'
    report $? "and in few of the service times"
}

check_output() {
    start http
    PERSIK_LOAD_RESULT=$scratch/result.json
    export PERSIK_LOAD_RESULT
    load --rate 500/s --requests 100 --histogram "http://127.0.0.1:$port/"
    [ $status -eq 0 ] && grep -q '^response .* [um]s' out && grep -q '^failures *none' out &&
        grep -q '100.0000 % *100$' out
    report $? "the table has response times, failures and, when asked for, quantiles"
    jq -e '.requests == 100 and .errors == 0 and .seconds > 0 and .throughput_per_s > 0 and
        (.response_ns | .mean > 0 and .p50 > 0 and .p95 >= .p50 and .p99 >= .p95 and .max >= .p99)' result.json >/dev/null
    report $? "PERSIK_LOAD_RESULT names a file that gets the result"
    PERSIK_LOAD_RESULT=$scratch/no/folder
    load --rate 500/s --requests 10 "http://127.0.0.1:$port/"
    [ $status -eq 1 ] && grep -q '^persik: cannot write .*no/folder' err
    report $? "where it cannot be written that is an error"
    unset PERSIK_LOAD_RESULT
    load --rate 500/s --requests 100 --format csv "http://127.0.0.1:$port/"
    [ $status -eq 0 ] && [ "$(wc -l <out)" -eq 2 ] && [ "$(awk -F, '{ print NF }' out | uniq | wc -l)" -eq 1 ]
    report $? "CSV is a line of titles and one of figures"
    load --rate 500/s --requests 100 --assert 'p99<1us' "http://127.0.0.1:$port/"
    [ $status -eq 3 ] && grep -q "'p99<1us' fails: " err
    report $? "a bound that is not kept ends it with status 3"
    load --rate 500/s --requests 100 --assert 'mean<20s' "http://127.0.0.1:$port/"
    report $status "one that is kept does not"
    "$persik" load --rate 100/s --duration 50s --format json "http://127.0.0.1:$port/" >out 2>err &
    child=$!
    sleep 1
    kill -TERM $child
    wait $child
    status=$?
    is '.requests > 10 and .interrupted and .seconds < 40'
    report $? "what ends it early loses nothing that was measured"
}

check_failures() {
    for case in 'early closed early 20' 'silent timed out 20' 'error refused by status 20 (503)' 'noise malformed 20'; do
        start "${case%% *}"
        refuses 1 "all 20 requests failed: ${case#* }" --rate 500/s --requests 20 --timeout 1s "http://127.0.0.1:$port/"
    done
    stop
    refuses 1 "cannot connect: Connection refused" --rate 10/s "http://127.0.0.1:$port/"
    refuses 1 "cannot connect: Connection refused" --rate 10/s --send x "udp://127.0.0.1:$port"
    start http
    "$persik" load --clients 4 --think 5ms --duration 50s --format json "http://127.0.0.1:$port/" >out 2>err &
    child=$!
    sleep 1
    stop
    wait $child
    [ $? -eq 1 ] && grep -q 'takes no connections any more' err && jq -e '.requests > 10' out >/dev/null
    report $? "a server that dies ends it, and what was measured is printed"
    start http --service 20000
    load --rate 500/s --requests 200 --max-in-flight 10 --format json "http://127.0.0.1:$port/"
    is '.errors_by_kind["not sent"] > 50 and .requests + .errors == 200' && grep -q 'warning: .*--max-in-flight' err
    report $? "what is not sent is counted and warned of"
}

check_refusals() {
    start http
    refuses 2 "no target" --rate 10/s
    refuses 2 "one target" --rate 10/s "http://127.0.0.1:$port/" "http://127.0.0.1:$port/"
    refuses 2 "either --rate .* or --clients" "http://127.0.0.1:$port/"
    refuses 2 "either --rate .* or --clients" --rate 10/s --clients 2 "http://127.0.0.1:$port/"
    refuses 2 "--think is for --clients" --rate 10/s --think 1ms "http://127.0.0.1:$port/"
    for bad in 0 -1/s 0/s x 5ms 1e9/s; do
        refuses 2 "--rate $bad" "--rate=$bad" "http://127.0.0.1:$port/"
    done
    refuses 2 "--duration 0s" --rate 10 --duration 0s "http://127.0.0.1:$port/"
    refuses 2 "--duration 5" --rate 10 --duration 5 "http://127.0.0.1:$port/"
    refuses 2 "--duration 1e300s" --rate 10 --duration 1e300s "http://127.0.0.1:$port/"
    refuses 2 "--clients 0" --clients 0 "http://127.0.0.1:$port/"
    refuses 2 "--arrivals fast" --rate 10 --arrivals fast "http://127.0.0.1:$port/"
    refuses 2 "--assert" --rate 10 --assert 'p99<5' "http://127.0.0.1:$port/"
    refuses 2 "how busy" --rate 10 --assert 'cpu<50%' "http://127.0.0.1:$port/"
    refuses 1 "is no target" --rate 10 "ftp://127.0.0.1/"
    refuses 1 "is no target" --rate 10 "tcp://127.0.0.1"
    refuses 1 "--remote" --rate 10 "http://192.0.2.1/"
    refuses 1 "no address of 'no-such-host.invalid'" --rate 10 "http://no-such-host.invalid/"
    refuses 1 "give --send" --rate 10 "tcp://127.0.0.1:$port"
    refuses 1 "are for tcp" --rate 10 --send x "http://127.0.0.1:$port/"
    refuses 1 "one datagram" --rate 10 --send x --until y "udp://127.0.0.1:$port"
    refuses 1 "backslash" --rate 10 --send 'x\' "tcp://127.0.0.1:$port"
    refuses 1 "leave '/a' out" --rate 10 --urls times "http://127.0.0.1:$port/a"
    refuses 1 "cannot read nothing" --rate 10 --urls nothing "http://127.0.0.1:$port/"
    refuses 1 "cannot read nothing" --arrivals recorded:nothing "http://127.0.0.1:$port/"
    printf '1\n0\n' >times
    refuses 1 "times:2: " --arrivals recorded:times "http://127.0.0.1:$port/"
}

check_protocols
check_what_is_sent
check_stalls
check_output
check_failures
check_refusals
stop
finish
