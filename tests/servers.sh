#!/bin/sh
# Checks that servers are recorded and validated: started, asked, told to end, and nothing left of them, whatever
# goes wrong and whoever is killed. With tests/programs/serve_*.c and their client ask.c.
# Usage: tests/servers.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 2
for program in serve_threads serve_epoll serve_udp ask; do
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror "$root/tests/programs/$program.c" -o $program \
        -lpthread || exit 2
done
here=$(pwd -P)
port=$(./ask free)
load="$here/ask tcp $port 100"

explain_failure() { tail -n 30 log err out 2>/dev/null; }

# record ARGUMENT...: runs persik; leaves out, err and $status.
record() {
    rm -f out err
    status=0
    timeout 100 "$persik" "$@" >out 2>err </dev/null || status=$?
}

# An earlier recording, and whether it is there still, and no new one, or the one before.
make_old() {
    rm -rf persik.data* && record trace -q --no-evictions --plain-runs 0 /bin/true && old=$(stat -c %i persik.data/trace.persik)
}
is_old() { [ "$(stat -c %i "$1/trace.persik")" = "$old" ]; }
has_old() { is_old persik.data && [ ! -e persik.data.old ] && [ -z "$(find . -name 'persik.data.new.*')" ]; }

# Processes of this test: its programs lie in a folder of their own.
left() { ps -eo pid,args | grep -F -e "$here/serve" -e "$here/ask" -e "sleep $port" | grep -v grep; }
nothing_left() { ! left; }
# Of what is told to end, but not waited for.
nothing_left_soon() {
    for _ in $(seq 300); do
        nothing_left >/dev/null && return 0
        sleep 0.1
    done
    left
    return 1
}

said() { grep -qe "$1" err; }
# wait_for PATTERN [TIMES]: in what the persik in the background says.
wait_for() {
    for _ in $(seq 300); do
        [ "$(grep -ce "$1" err)" -ge "${2:-1}" ] && return 0
        sleep 0.1
    done
    return 1
}
# in_background ARGUMENT...: a persik that takes SIGINT, which a shell's background jobs do not; $pid.
in_background() {
    : >err
    env --default-signal=INT "$persik" "$@" >out 2>err </dev/null &
    pid=$!
}
# Its end, or that of our patience.
ended() {
    for _ in $(seq 600); do
        case $(ps -o stat= -p "$pid") in Z* | '') break ;; esac
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null
    status=0
    wait "$pid" || status=$?
}
# traced_at_least RECORDS: what the last trace holds, as persik says.
traced_at_least() {
    [ "$(sed -n 's/.*persik: traced .*: \([0-9]*\) records.*/\1/p' err | tail -n 1)" -ge "$1" ]
}

# ---- with a load ----

threads() {
    record profile --load "$load" "$here/serve_threads" "$port" && [ $status -eq 0 ] && said '^persik: 2 runs of the server' &&
        traced_at_least 200 && [ -s persik.data/sample.json ] && "$persik" build-model -q && nothing_left
}
an_event_loop() {
    record profile --no-source --load "$load" "$here/serve_epoll" "$port" && [ $status -eq 0 ] && traced_at_least 200 &&
        [ "$(grep -c '^ended$' out)" -eq 1 ] && "$persik" build-model -q # the sampled run's output is not shown
}
udp() {
    record trace --load "$here/ask udp $port 100" "$here/serve_udp" "$port" && [ $status -eq 0 ] && traced_at_least 200
}
plain_runs_when_asked() {
    record trace --plain-runs 1 --load "$load" "$here/serve_epoll" "$port" && [ $status -eq 0 ] &&
        said '^persik: 2 runs of the server.*1 without probes' && said 'perturbation'
}
what_ends_with_a_status() { record trace -q --load "$load" "$here/serve_threads" "$port" fails && [ $status -eq 0 ]; }
what_ignores_the_signal() {
    record trace --load "$load" "$here/serve_threads" "$port" deaf && [ $status -eq 0 ] && said 'was killed: name another' &&
        nothing_left && record trace -q --stop-signal INT --load "$load" "$here/serve_threads" "$port" deaf &&
        [ $status -eq 0 ] && ! said 'was killed'
}
another_user() { record trace --load "$load" "$here/serve_threads" "$port" leaves && [ $status -eq 0 ] && traced_at_least 200; }
through_env() {
    record profile --no-source --load "$load" env A=b "$here/serve_threads" "$port" && [ $status -eq 0 ] && traced_at_least 200
}
through_a_script() {
    printf '#!/bin/sh\nexec "%s/serve_threads" "$@"\n' "$here" >start && chmod +x start &&
        record profile --no-source --load "$load" ./start "$port" && [ $status -eq 0 ] && traced_at_least 200
}
a_child_needs_follow() {
    printf '#!/bin/sh\n"%s/serve_threads" "$@"\n' "$here" >start && chmod +x start && make_old &&
        record trace -q --load "$load" ./start "$port" && [ $status -eq 1 ] && said 'by `exec` in the script, or use --follow' &&
        has_old && nothing_left && record trace --follow --load "$load" ./start "$port" && [ $status -eq 0 ] &&
        traced_at_least 200 && nothing_left
}
children_that_serve_are_said() {
    record trace --load "$load" "$here/serve_threads" "$port" prefork && [ $status -eq 0 ] &&
        said '2 child processes .* are not recorded: use --follow' && nothing_left &&
        record trace --follow --load "$load" "$here/serve_threads" "$port" prefork && [ $status -eq 0 ] &&
        ! said 'child processes' && traced_at_least 200 && nothing_left
}
told_when_ready() {
    record trace --ready "$here/ask tcp $port 1" --load "$load" "$here/serve_threads" "$port" && [ $status -eq 0 ] &&
        traced_at_least 202
}
# One second of CPU time, however busy the machine is.
a_load_that_computes() {
    record trace --load "$load; (ulimit -t 1; while :; do :; done) 2>/dev/null; true" "$here/serve_epoll" "$port" &&
        [ $status -eq 0 ] && said '% of the CPU time: the load had it'
}
what_the_load_prints_is_apart() {
    record trace -q --load "echo said-by-load; $load" "$here/serve_epoll" "$port" && [ $status -eq 0 ] && said said-by-load &&
        [ "$(cat out)" = ended ]
}

check "a server with a thread per connection is recorded and modelled" threads
check "a server with an event loop ends in an orderly way, and what it prints appears once" an_event_loop
check "a UDP server is ready when its socket is bound" udp
check "there are runs without probes when asked for" plain_runs_when_asked
check "an exit status after the stop signal is no failure" what_ends_with_a_status
check "who ignores the stop signal is killed, and recorded" what_ignores_the_signal
check "a server may change its user" another_user
check "env becomes the server that is recorded" through_env
check "so does a start script that ends in exec" through_a_script
check "a server below its start script needs --follow" a_child_needs_follow
check "what the load has of the cores is said, as its own" a_load_that_computes
check "children that serve, too, are said or followed" children_that_serve_are_said
check "--ready says when the load may begin" told_when_ready
check "what the load prints goes to standard error" what_the_load_prints_is_apart

# ---- without ----

for_a_time() {
    in_background profile --duration 1s --no-source "$here/serve_epoll" "$port"
    wait_for 'send requests now' && "$here/ask" tcp "$port" 10 && wait_for 'send requests now' 2 &&
        "$here/ask" tcp "$port" 10 && ended && [ $status -eq 0 ] && traced_at_least 20 && said '2 runs of the server, each 1 s'
}
by_hand() {
    make_old && in_background profile --no-source "$here/serve_threads" "$port" && wait_for 'send requests now; Ctrl-C' &&
        "$here/ask" tcp "$port" 100 && kill -INT "$pid" && ended && [ $status -eq 0 ] && traced_at_least 200 &&
        said 'it is started again' && is_old persik.data.old && nothing_left && "$persik" build-model -q
}
by_hand_from_the_start() {
    in_background profile --no-source "$here/serve_threads" "$port"
    for _ in $(seq 300); do "$here/ask" tcp "$port" 1 && break; sleep 0.02; done 2>/dev/null
    # Somebody is there all the time.
    while kill -0 "$pid"; do "$here/ask" tcp "$port" 200; sleep 0.01; done 2>/dev/null &
    wait_for 'the next one, with probes' && kill -INT "$pid" && wait_for 'and keeps it, twice aborts' && sleep 0.5 &&
        kill -INT "$pid" && ended && [ $status -eq 0 ] && traced_at_least 20 && [ -s persik.data/sample.json ] && nothing_left_soon
}
children_by_hand() {
    in_background profile --follow --no-source "$here/serve_threads" "$port" prefork && wait_for 'keeps it, twice aborts' &&
        "$here/ask" tcp "$port" 100 && kill -INT "$pid" && ended && [ $status -eq 0 ] && traced_at_least 200 && nothing_left &&
        printf '#!/bin/sh\n"%s/serve_threads" "$@"\n' "$here" >start && chmod +x start &&
        in_background trace --plain-runs 0 ./start "$port" && wait_for 'keeps it, twice aborts' &&
        said 'warning: process .* by `exec` in the script, or use --follow' && kill -INT "$pid" && ended && nothing_left
}
# The terminal's signal goes to the server, too, which has an end of its own for it.
# `exec`: a shell above persik would get it as well, and end as killed.
at_a_terminal() {
    rm -f keys && mkfifo keys && : >err
    env --default-signal=INT script -qec "exec $persik profile --no-source $here/serve_epoll $port" /dev/null <keys >err 2>&1 &
    pid=$!
    exec 9>keys
    wait_for 'keeps it, twice aborts' && "$here/ask" tcp "$port" 100 && printf '\003' >&9 && ended
    exec 9>&-
    [ "$status" -eq 0 ] && traced_at_least 200 && ! said 'ended: killed' && nothing_left
}
by_hand_sampled_or_traced() {
    for command in sample trace; do
        in_background $command "$here/serve_epoll" "$port" && wait_for 'keeps it, twice aborts' && "$here/ask" tcp "$port" 100 &&
            kill -TERM "$pid" && ended && [ $status -eq 0 ] && nothing_left || return 1
    done
    traced_at_least 200
}
twice_aborts() {
    make_old && in_background trace --plain-runs 0 "$here/serve_threads" "$port" deaf && wait_for 'send requests now' &&
        kill -INT "$pid" && sleep 0.3 && kill -INT "$pid" && ended && [ $status -eq 130 ] && has_old && nothing_left_soon
}
others_are_left_alone() {
    record profile --no-source --no-evictions --plain-runs 1 "$here/serve_threads" "$port" itself && [ $status -eq 0 ] &&
        [ -s persik.data/sample.json ] && said perturbation && ! said 'started again'
}
busy_ones_are_left_alone() {
    record profile --no-source --no-evictions --plain-runs 1 "$here/serve_threads" "$port" busy && [ $status -eq 0 ] &&
        [ -s persik.data/sample.json ] && said perturbation && ! said 'started again'
}

check "without a load a server is asked from elsewhere for a time" for_a_time
check "or by hand until SIGINT, which keeps the one traced run" by_hand
check "who asks from the start asks in both runs" by_hand_from_the_start
check "children that serve are followed by hand, or said" children_by_hand
check "Ctrl-C at a terminal does so, too" at_a_terminal
check "sample and trace are ended by hand, too" by_hand_sampled_or_traced
check "the second SIGINT aborts and keeps an earlier recording" twice_aborts
check "a program that talks to itself and ends is no server" others_are_left_alone
check "nor is one that computes, though it could be asked" busy_ones_are_left_alone

# ---- what goes wrong ----

# refused PATTERN ARGUMENT...: exit status not 0, one line of persik's, nothing left, the old recording kept.
refused() {
    pattern=$1
    shift
    make_old && record "$@" && [ $status -ne 0 ] && { [ $status -lt 124 ] || [ $status -eq 139 ]; } &&
        [ "$(grep -c '^persik: ' err)" -eq 1 ] && said "$pattern" && has_old && nothing_left
}
refused_by_all() {
    pattern=$1
    shift
    for command in sample profile trace; do refused "$pattern" $command -q "$@" || return 1; done
}
port_in_use() {
    "$here/serve_epoll" "$port" >/dev/null &
    other=$!
    for _ in $(seq 100); do "$here/ask" tcp "$port" 1 && break; sleep 0.05; done 2>/dev/null
    make_old && record profile -q --load "$load" "$here/serve_threads" "$port" && [ $status -eq 1 ] &&
        said 'ended before it was ready to serve: exit status 1.*port is free' && has_old && kill -0 "$other"
    result=$?
    kill "$other"
    wait "$other"
    return $result
}
# Whoever starts a daemon without a word to persik wants it, perhaps, to go on.
unbidden_daemon() {
    make_old && record trace -q "$here/serve_threads" "$port" background
    left=$(sed -n 's/.*in the background, as process \([0-9]*\),.* still runs: run it in the foreground.*/\1/p' err)
    [ "$status" -eq 1 ] && [ -n "$left" ] && has_old && kill "$left" &&
        for _ in $(seq 100); do kill -0 "$left" 2>/dev/null || break; sleep 0.05; done && nothing_left
}
its_status() { refused 'exit status 3' trace -q --load "$load" "$here/serve_threads" "$port" refuses && [ $status -eq 3 ]; }
its_signal() {
    refused 'ended during the load: killed by signal 11' profile -q --load "$load" "$here/serve_threads" "$port" dies &&
        [ $status -eq 139 ]
}
usage() {
    for words in '--load x --duration 3s' '--stop-signal NOSUCH' '--load-timeout 3s' '--ready-timeout 3s' '--duration soon'; do
        # shellcheck disable=SC2086 # words
        record profile $words /bin/true && [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || return 1
    done
}

check "a server that ends before it is ready is refused with its status" its_status
check "so is one that dies during the load" its_signal
check "and one whose port is in use, which stays as it is" port_in_use
check "one that never listens" refused_by_all 'is not ready after 1 s: it listens on no' --ready-timeout 1s --load "$load" \
    "$here/serve_threads" "$port" silent
check "a program that is none and ends by itself" refused_by_all 'ended by itself, and it never listened: .* without --duration' \
    --duration 1s true
check "one that is never said to be ready" refused "'false' has not exited with 0" trace -q --ready false --ready-timeout 1s \
    --load "$load" "$here/serve_threads" "$port"
check "one that goes into the background" refused 'went on in the background.*run it in the foreground' profile -q \
    --load "$load" "$here/serve_threads" "$port" background
check "also where nobody said that it is one, and left alone there" unbidden_daemon
check "a load that fails" refused_by_all "'false' failed: exit status 1" --load false "$here/serve_epoll" "$port"
check "a load that cannot connect" refused 'failed: exit status 1: correct' trace -q --load "$here/ask tcp 1 1" \
    "$here/serve_epoll" "$port"
check "a load that never ends" refused 'did not end within 1 s.*--load-timeout' trace -q --load-timeout 1s \
    --load "sleep $port" "$here/serve_epoll" "$port"
check "options that say nothing, or too much" usage

# ---- who is killed ----

# killed SIGNAL STATUS ARGUMENT...: persik gets it during the load, and nothing is left of what it started.
killed() {
    signal=$1
    wanted=$2
    shift 2
    rm -f began && make_old && in_background "$@" || return 1
    for _ in $(seq 300); do [ -e began ] && break; sleep 0.1; done
    [ -e began ] && kill "-$signal" "$pid" && ended && [ $status -eq "$wanted" ] && nothing_left_soon
}
long="touch $here/began; exec sleep $port"

by_kill() { killed KILL 137 profile --load "$long" "$here/serve_threads" "$port" && is_old persik.data; }
by_kill_and_deaf() { killed KILL 137 trace --load "$long" "$here/serve_threads" "$port" deaf; }
by_kill_and_another_user() { killed KILL 137 trace --load "$long" "$here/serve_threads" "$port" leaves; }
by_kill_below_a_script() {
    printf '#!/bin/sh\n"%s/serve_threads" "$@"\n' "$here" >start && chmod +x start &&
        killed KILL 137 trace --follow --load "$long" ./start "$port"
}
by_term() { killed TERM 143 profile --load "$long" "$here/serve_epoll" "$port" && has_old; }
keeps_the_traced_run() { killed INT 0 trace --load "$long" "$here/serve_epoll" "$port" && is_old persik.data.old; }

check "when persik is killed, server and load end" by_kill
check "also a server that ignores the stop signal" by_kill_and_deaf
check "one that runs as another user" by_kill_and_another_user
check "and one below a start script" by_kill_below_a_script
check "SIGTERM during the sampled run ends all and keeps the earlier recording" by_term
check "SIGINT during the traced run cuts the load short and keeps the run" keeps_the_traced_run

# ---- validate ----

validates() {
    rm -rf persik.data* && record trace -q --load "$load" "$here/serve_threads" "$port" && "$persik" build-model -q &&
        record validate --runs 2 --clients 10,20 --format csv --load "$here/ask tcp $port {clients}" "$here/serve_threads" "$port" &&
        { [ $status -eq 0 ] || [ $status -eq 4 ]; } && awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            NR > 1 && $at["runs"] == 2 && $at["measured_throughput_hz"] > 0 && $at["measured_response_ns"] > 0 &&
                $at["clients"] == 10 * (NR - 1) { good++ }
            END { exit !(NR == 3 && good == 2) }' out && nothing_left
}
validates_without_a_result() {
    record validate --runs 1 --load true "$here/serve_threads" "$port" && [ $status -eq 0 ] && said PERSIK_LOAD_RESULT
}
validate_refuses() {
    record validate -q --runs 1 --load false "$here/serve_threads" "$port" && [ $status -eq 1 ] && [ ! -s out ] && [ "$(grep -vc 'persik: warning' err)" -eq 1 ] &&
        record validate -q --runs 1 --load "$load" "$here/serve_threads" "$port" refuses && [ $status -eq 3 ] &&
        record validate --clients 1,2 --load "$load" "$here/serve_threads" && [ $status -eq 2 ] && said '{clients}' &&
        record validate --arrivals 5 "$here/serve_threads" && [ $status -eq 2 ] && nothing_left
}
validate_is_killed() {
    mkdir -p tmp && export TMPDIR="$here/tmp" && killed KILL 137 validate -i "$here/model" --load "$long" "$here/serve_threads" "$port" &&
        for _ in $(seq 100); do [ -n "$(ls -A tmp)" ] || break; sleep 0.1; done && [ -z "$(ls -A tmp)" ]
}

check "validate measures a server at its clients in each configuration" validates
check "and says when the load measured nothing" validates_without_a_result
check "and refuses what goes wrong" validate_refuses
cp -r persik.data model
check "and leaves nothing when it is killed" validate_is_killed

finish
