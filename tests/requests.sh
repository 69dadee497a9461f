#!/bin/sh
# Servers: their requests are tasks that come from outside. Of the recordings in tests/golden, servers of
# tests/programs/server.c with 2 threads at 400 requests a second, one with 1 at 800. Usage: tests/requests.sh
# BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# check_of NAME WHAT: simulated over measured.
check_of() { jq --arg what "$2" '.checks[] | select(.what | startswith($what)) | .simulated / .measured' "$1/model.json"; }
# near RATIO SHARE: no further from 1.
near() { awk -v ratio="$1" -v share="$2" 'BEGIN { exit !(ratio > 1 - share && ratio < 1 + share) }'; }
reproduces() {
    for what in throughput "CPU utilisation" "mean response"; do
        ratio=$(check_of "$1" "$what")
        echo "$what: $ratio"
        near "$ratio" 0.1 || return 1
    done
}
# predict NAME FIGURE OPTION...: the figure, one line a configuration.
predict() {
    in=$1 figure=$2
    shift 2
    "$persik" predict -q -i "$in" --format json "$@" | jq --arg figure "$figure" '.configurations[][$figure]'
}
# ratio NAME FIGURE OPTION...: that of the second configuration to the first.
ratio() { predict "$@" | awk '{ value[NR] = $1 } END { print value[2] / value[1] }'; }

for name in server-queue server-epoll server-shared server-busy; do
    kept_model "$name"
    check "$name: its own throughput, utilisation and response time come out" reproduces "$name"
    has_queue() { [ "$(jq '[.objects[] | select(.interarrival_ns)] | length' "$name/model.json")" = 1 ]; }
    check "$name: one queue is filled from outside" has_queue
    asks_no_more() { near "$(ratio "$name" throughput_hz --threads 2,4 --cores 2 --arrivals 300/s)" 0.05; }
    check "$name: more threads make no more requests" asks_no_more
    follows() {
        awk -v low="$(predict "$name" throughput_hz --threads 2 --cores 2 --arrivals 200/s)" \
            -v high="$(predict "$name" throughput_hz --threads 2 --cores 2 --arrivals 600/s)" 'BEGIN { print low, high; exit !(low > 180 && low < 220 && high > 540 && high < 660) }'
    }
    check "$name: it answers as many as come" follows
    is_exact() { jq -e '[.pools[].partition // "none"] - ["none", "shared"] == []' "$name/model.json"; }
    check "$name: threads take what comes" is_exact
done

# By M/M/1, 0.9 ms at 800/s: one thread takes some 3 ms, two hardly wait.
needs_threads() {
    of_two=$(ratio server-busy response_ns --threads 1,2 --cores 2 --arrivals 800/s)
    awk -v ratio="$of_two" 'BEGIN { print ratio; exit !(ratio > 0.2 && ratio < 0.6) }'
}
check "a second thread shortens the waits of a busy server" needs_threads

# M/M/2 against two M/M/1, both at 0.7 of what two threads can do.
waits_longer() {
    own=$(predict server-epoll response_ns --threads 2 --cores 2 --arrivals 1500/s)
    shared=$(predict server-shared response_ns --threads 2 --cores 2 --arrivals 1500/s)
    awk -v own="$own" -v shared="$shared" 'BEGIN { print own / shared; exit !(own > 1.2 * shared) }'
}
check "loops with connections of their own wait longer than those that share them" waits_longer

says_arrivals() { jq -r '.notes[]' server-queue/model.json | grep -q 'requests came from outside, .*(Poisson)'; }
check "a note says what the arrivals were taken for" says_arrivals

warns() { "$persik" predict -i server-queue --threads 2 --cores "$1" --arrivals 300/s 2>&1 >/dev/null | grep -q 'kept 0[.0-9]* cores busy'; }
check "where one core was hardly busy, figures for more are warned of" warns 2
is_quiet() { ! warns 1; }
check "and those for one are not" is_quiet

dumps() { "$persik" build-model -i server-busy --dump-after requests --stop-after requests >dump && grep -q '^queue 0: of connections, 300 requests' dump; }
check "--dump-after requests shows them" dumps

kept server-queue without
PATH='' "$persik" build-model -q -i without --without requests >/dev/null 2>&1
refuses() {
    "$persik" predict -i without --threads 2 --cores 2 --arrivals 300/s >out 2>err
    [ $? -eq 1 ] && grep -q 'no queue of the model gets its tasks from outside' err
}
check "without the pass there are no arrivals" refuses

# ---- datagrams, and a thread for each connection: recorded while others used the machine, so that response times in
# the recording have waits for cores that the model does not know of

has_queue() { [ "$(jq '[.objects[] | select(.interarrival_ns)] | length' "$1/model.json")" = 1 ]; }
# 300 random arrivals take more or less than their mean by 6 % in a run, and a model's check is the mean of few.
has_own_load() { near "$(check_of "$1" throughput)" 0.1 && near "$(check_of "$1" "CPU utilisation")" 0.1; }
answers_in_time() {
    response=$(predict "$1" response_ns --cores 2 --arrivals 300/s)
    awk -v ns="$response" 'BEGIN { print ns; exit !(ns > 0.7e6 && ns < 1.5e6) }'
}
for name in server-udp server-udp-poll server-udp-own server-thread server-limited server-kept; do
    kept_model "$name"
    check "$name: one queue is filled from outside" has_queue "$name"
    check "$name: its own throughput and utilisation come out" has_own_load "$name"
    check "$name: a request takes as long as it computes, 0.9 ms" answers_in_time "$name"
done
for name in server-udp server-udp-poll server-udp-own; do
    asks_no_more() { near "$(ratio "$name" throughput_hz --threads 2,4 --cores 2 --arrivals 300/s)" 0.05; }
    check "$name: more threads make no more requests" asks_no_more
done
deals() { [ "$(jq '[.objects[] | select(.dealt_to != null)] | length' "$1/model.json")" = "$2" ]; }
check "datagrams are dealt to threads with a socket each" deals server-udp-own 1
check "datagrams are for all threads that share a socket" deals server-udp 0

makes_for_tasks() { jq -e '[.pools[] | select(.per_task) | .scales] == [null]' "$1/model.json"; }
check "threads are made for connections" makes_for_tasks server-thread
check "threads are made for connections, up to a limit" makes_for_tasks server-limited
follows_load() {
    "$persik" predict -i server-thread --threads 4 --cores 2 --arrivals 300/s >out 2>err
    [ $? -eq 1 ] && grep -q 'their number follows the load' err
}
check "how many threads are made for connections is no parameter" follows_load
is_for_connections() { jq -e '[.pools[] | select(.scales)] == []' server-kept/model.json; }
check "nor is how many are made for connections that are kept" is_for_connections

finish
