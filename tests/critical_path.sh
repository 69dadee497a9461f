#!/bin/sh
# The critical path and what-if, from outside: recordings of programs that sleep, whose running time follows from their
# numbers, are asked what it would be with other numbers. What the programs then really took was measured beside the
# recordings (tests/golden, bench/golden.list). Usage: tests/critical_path.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

# recorded NAME: what is asked from now on.
recorded() {
    recording=$scratch/$1
    [ -e "$recording" ] || kept "$1"
}

# ---- what is asked of a recording ----

# field KEY ROW-PATTERN: that column of the row of the path's CSV.
field() {
    "$persik" critical-path -q -i "$recording" --format csv 2>/dev/null | awk -F , -v key="$1" -v row="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) column = i; next }
        $0 ~ row { print $column; found = 1; exit }
        END { if (!found) print 0 }'
}

# holds NUMBER RELATION NUMBER
holds() { awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }" || { echo "$1 is not $2 $3" && return 1; }; }

# explains_itself: as recorded, nothing is missing, and next to all waiting is explained.
explains_itself() {
    "$persik" critical-path -q -i "$recording" --format json >"$scratch/json" || return 1
    awk -F '[:,]' '
        /"traced_ns"/ { traced = $2 } /"as_recorded_ns"/ { found = $2 } /"explained_share"/ { explained = $2 }
        END { print "as recorded " found " of " traced ", explained " explained
              exit !(traced > 0 && found >= traced * 0.999 && found <= traced * 1.001 && explained >= 0.99) }' \
        "$scratch/json"
}

# predicts CHANGE REAL-MS PER-CENT: so changed, the program really took so long.
predicts() {
    option=--scale
    case $1 in *.capacity=* | *.permits=*) option=--set ;; esac
    "$persik" what-if -q -i "$recording" "$option" "$1" --format csv 2>/dev/null |
        awk -F , -v change="$1" -v real="$2" -v limit="$3" 'NR == 2 {
            error = 100 * ($2 / 1e6 / real - 1)
            printf "%s: predicted %.1f ms, really %.1f ms: %+.1f %%\n", change, $2 / 1e6, real, error
            good = error < limit && error > -limit }
            END { exit !good }'
}

pipeline_path() {
    recorded stages && explains_itself &&
        holds "$(field share 'sleeping,second')" '>=' 0.96 &&
        holds "$(field share 'sleeping,first')" '<' 0.02 && holds "$(field share 'sleeping,third')" '<' 0.02
}
# curve FACTOR: gain of the second stage's sleep.
curve() {
    "$persik" critical-path -q -i "$recording" --curve sleep:second --format csv 2>/dev/null |
        awk -F , -v factor="$1" 'NR > 1 && $1 == factor { print $2; found = 1 } END { if (!found) print "none" }'
}
# Half its time is half of the run; then the first stage limits, and nothing more is gained.
pipeline_curve() {
    recorded stages && holds "$(curve 1)" == 0 && holds "$(curve 0.5)" '>' 0.47 && holds "$(curve 0.5)" '<' 0.51 &&
        holds "$(curve 0.75)" '>' 0.23 && holds "$(curve 0.75)" '<' 0.27 &&
        holds "$(curve 0)" '>' 0.47 && holds "$(curve 0)" '<' 0.51
}
pipeline_faster() { recorded stages && predicts sleep:second=0.5 1036 4; }
pipeline_next() { recorded stages && predicts sleep:second=0.2 1033 4; }

# The stages allow 2, then 1, 0.8 and 0.2 s: their sleeps times 200 items.
pipeline_best() {
    recorded stages && "$persik" critical-path -q -i "$recording" --best 2 --format csv >"$scratch/best" 2>/dev/null &&
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "gain_50_share") half = i }
                  NR == 2 { print; good = $1 == "sleep:second" && $half > 0.47 && $half < 0.51 &&
                                          $(half + 1) < $half && $(half + 2) > $half }
                  END { exit !(good && NR == 3) }' "$scratch/best"
}
pipeline_chain() {
    recorded stages && "$persik" critical-path -q -i "$recording" --chain 3 --to 0.1 --format csv >"$scratch/chain" 2>/dev/null &&
        awk -F , 'BEGIN { name[1] = "second"; name[2] = "first"; name[3] = "third"; ms[1] = 1000; ms[2] = 800; ms[3] = 200 }
                  NR > 2 { print; if ($2 != "sleep:" name[$1] || $4 / 1e6 < ms[$1] || $4 / 1e6 > ms[$1] + 50) wrong = 1 }
                  END { exit wrong || NR != 5 }' "$scratch/chain"
}
# What is made already is not found again.
pipeline_chain_from() {
    recorded stages && "$persik" critical-path -q -i "$recording" --best 1 --scale sleep:second=0.1 --format csv 2>/dev/null |
        grep -q '^sleep:first,'
}
# More permits are a candidate, and with all of them nothing is left to wait for.
credits_best() {
    recorded what-if-credits && "$persik" critical-path -q -i "$recording" --best 3 --format csv 2>/dev/null |
        grep -q '\.permits'
}
# All pieces of the path are the run.
folded() {
    recorded stages && "$persik" critical-path -q -i "$recording" --format folded 2>/dev/null >"$scratch/folded" &&
        grep -q '^second;\[sleeping\] [0-9]*$' "$scratch/folded" &&
        all=$(awk '{ all += $NF } END { printf "%.0f", all }' "$scratch/folded") &&
        traced=$("$persik" critical-path -q -i "$recording" --format json 2>/dev/null |
            awk -F '[:,]' '/"traced_ns"/ { print $2 }') &&
        holds "$(awk "BEGIN { print $all / $traced }")" '>' 0.9999 &&
        holds "$(awk "BEGIN { print $all / $traced }")" '<' 1.0001
}
page() {
    recorded stages && "$persik" critical-path -q -i "$recording" --format html >"$scratch/path.html" &&
        grep -q '<svg class="flame"' "$scratch/path.html" && grep -q '<title>second: 2' "$scratch/path.html" &&
        ! grep -q '<script' "$scratch/path.html" || return 1
    ! command -v xmllint >/dev/null || xmllint --noout "$scratch/path.html"
}

# What Perfetto shows: all pieces of the path are the run, also beside the trace, and arrows have two ends.
chrome() {
    recorded stages && "$persik" critical-path -q -i "$recording" --format chrome 2>/dev/null >"$scratch/path.json" &&
        "$persik" export -q -i "$recording" >"$scratch/export.json" || return 1
    command -v jq >/dev/null || return 0
    for file in path export; do
        jq -e '[.traceEvents[] | select(.pid == 3 and .ph == "X") | .dur] | add / 1e6 | . > 2.0398 and . < 2.0400' \
            "$scratch/$file.json" && jq -e '[.traceEvents[] | select(.cat == "path")] |
            (map(select(.ph == "s")) | length) as $from | $from > 50 and $from * 2 == length' "$scratch/$file.json" || return 1
    done
}
# The slow stage takes 10 ms, four wait before it: a job that is put waits for those, and then for its own.
jobs_path() {
    recorded stages && "$persik" critical-path -q -i "$recording" --of p95 --format json 2>/dev/null >"$scratch/jobs" || return 1
    command -v jq >/dev/null || return 0
    jq -e '.tasks.all.tasks == 199 and .tasks.slowest.tasks == 10 and
        (.tasks | [.all, .slowest] | all(.path_ns / .response_ns - 1 | . < 1e-6 and . > -1e-6)) and
        (.tasks.all.response_ns / 1e6 | . > 49 and . < 52) and (.tasks.all.until_taken_ns / 1e6 | . > 39 and . < 41) and
        (.path[0] | .what == "sleeping" and .when == "waits" and (.where | startswith("second")))' "$scratch/jobs"
}
# Of a server: what build-model measures as response times (recorded: 300 requests).
requests_path() {
    recorded server-epoll && "$persik" critical-path -q -i "$recording" --of p99 --format json 2>/dev/null >"$scratch/jobs" || return 1
    command -v jq >/dev/null || return 0
    jq -e '.tasks.what == "requests" and .tasks.all.tasks == 300 and .tasks.slowest.tasks == 3 and
        (.tasks.all.response_ns / 1e6 | . > 1.1 and . < 1.3) and
        .tasks.slowest.response_ns >= .tasks.slowest_from_ns and .tasks.slowest_from_ns > .tasks.all.response_ns' "$scratch/jobs"
}
# A queue of four, and two permits: the path comes through these limits.
closed_loops() {
    recorded what-if-credits && "$persik" critical-path -q -i "$recording" --format json 2>/dev/null >"$scratch/loops" || return 1
    command -v jq >/dev/null || return 0
    jq -e '[.objects[] | select(.limit == 2)] | length == 1 and .[0].closed > 20 and (.[0].object | startswith("permits"))' \
        "$scratch/loops"
}
# "queue.mutex" are two queues' mutexes, and both are meant; the whole name of one is that one.
several() {
    recorded stages && "$persik" what-if -q -i "$recording" --scale lock:queue.mutex=0 >"$scratch/out" 2>/dev/null &&
        grep -q '2 are called so' "$scratch/out" &&
        "$persik" what-if -q -i "$recording" --scale 'lock:struct queue.mutex=0' >"$scratch/out" 2>/dev/null &&
        ! grep -q 'are called so' "$scratch/out"
}

credits() { recorded what-if-credits-slow && explains_itself && predicts sleep:send_all=0.1 369.4 3; }

# A limit that the program keeps itself, under a mutex: recorded with 2.
limits() {
    recorded what-if-credits && explains_itself && predicts credits.permits=2 383 5 &&
        predicts credits.permits=1 750 5 && predicts credits.permits=4 199 6 &&
        predicts credits.permits=8 106 5 && predicts credits.permits=64 104 5
}

held() {
    recorded what-if-mutex && explains_itself && predicts lock:hot=0.5 336.0 5 &&
        predicts lock:hot=0.25 177.8 5
}

slack() {
    recorded what-if-barrier && explains_itself &&
        holds "$(field mean_slack_ns 'sleeping,first')" '>' 29000000 &&
        holds "$(field mean_slack_ns 'sleeping,first')" '<' 31000000 &&
        predicts sleep:first=3.9 804.8 3 && predicts sleep:first=4.5 905.1 3
}

decoy() {
    recorded stages-decoy && explains_itself &&
        holds "$(field total_ns 'computing,burn')" '>' 30000000 &&
        holds "$(field share 'computing,burn')" '<' 0.01 &&
        holds "$(field share 'sleeping,second')" '>' 0.9
}

# ---- files that are wrong ----

# refused PATTERN COMMAND...: one line that says so, status 1 or 2, and nothing else.
refused() {
    pattern=$1
    shift
    "$persik" "$@" >"$scratch/out" 2>"$scratch/log"
    status=$?
    [ $status -ge 1 ] && [ $status -le 2 ] && [ ! -s "$scratch/out" ] &&
        [ "$(wc -l <"$scratch/log")" -eq 1 ] && grep -q -e "$pattern" "$scratch/log"
}

# spoilt NAME PATTERN EDIT...: of a file so edited; it stays as it is.
spoilt() {
    named=$1
    pattern=$2
    shift 2
    rm -rf "$scratch/spoilt"
    cp -r "$scratch/counter" "$scratch/spoilt"
    (cd "$scratch/spoilt" && "$@")
    before=$(cksum <"$scratch/spoilt/dependencies.persik")
    refused "$pattern" critical-path -i "$scratch/spoilt" &&
        refused "$pattern" what-if --scale main=1 -i "$scratch/spoilt" &&
        [ "$before" = "$(cksum <"$scratch/spoilt/dependencies.persik")" ]
    report $? "$named is refused in one line, and stays"
}

# Nothing is promised of a recording that lacks something; what is known of it is still told.
lost() {
    rm -rf "$scratch/lost"
    cp -r "$scratch/counter" "$scratch/lost"
    sed -i 's/"lost":0/"lost":7/' "$scratch/lost/dependencies.persik" || return 1
    for question in '--best 1' '--chain 1' '--curve main'; do
        # shellcheck disable=SC2086 # words
        "$persik" critical-path -i "$scratch/lost" $question >"$scratch/out" 2>"$scratch/log" && return 1
        [ ! -s "$scratch/out" ] && grep -q '7 records or scheduling events were lost, so no gain' "$scratch/log" || return 1
    done
    "$persik" critical-path -i "$scratch/lost" >"$scratch/out" 2>"$scratch/log" && grep -q 'were lost' "$scratch/log"
}

make_newer() { printf '\007' | dd of=dependencies.persik bs=1 seek=8 conv=notrunc 2>/dev/null; }
make_foreign() { cp "$scratch/barrier_serial/trace.persik" .; }
make_cyclic() {
    "$root/tests/unpack-dependencies" dependencies.persik >unpacked && mv unpacked dependencies.persik
    printf '\377\377\377\177' | dd of=dependencies.persik bs=1 seek=$(($(wc -c <dependencies.persik) - 20)) conv=notrunc 2>/dev/null
}

kept bounded_counter counter
kept barrier_serial
check "a trace of an older persik has a path" "$persik" critical-path -q -i "$scratch/counter"
"$persik" critical-path -q -i "$scratch/counter" --format csv >"$scratch/again" 2>/dev/null
"$persik" critical-path -q -i "$scratch/counter" --format csv 2>/dev/null | cmp -s - "$scratch/again"
report $? "what was kept gives the same answer"
recording=$scratch/counter
check "it explains itself" explains_itself
spoilt "a truncated file" truncated truncate -s -100 dependencies.persik
spoilt "a newer file" 'format version 7' make_newer
spoilt "a file with a cycle" cycle make_cyclic
spoilt "a file of another trace" 'another trace' make_foreign
check "a name that nothing has is refused with the nearest" refused "'main'" what-if --scale mian=0.5 -i "$scratch/counter"
check "a negative factor is refused" refused 'from 0 up' what-if --scale main=-1 -i "$scratch/counter"
check "a factor that is no number is refused" refused 'from 0 up' what-if --scale main=half -i "$scratch/counter"
check "of a recording that lost records no gain is promised" lost
check "no best parts at all are refused" refused 'from 1 to' critical-path --best 0 -i "$scratch/counter"
check "two questions at once are refused" refused 'one of them' critical-path --best 1 --chain 1 -i "$scratch/counter"
check "a factor without a chain is refused" refused 'give both' critical-path --to 0.5 -i "$scratch/counter"
check "a factor above 1 is refused" refused 'from 0 to 1' critical-path --chain 1 --to 2 -i "$scratch/counter"
check "a change of the path itself is refused" refused 'what-if' critical-path --scale main=0.5 -i "$scratch/counter"
check "a change to start from that nothing has is refused" refused "'main'" critical-path --best 1 --scale mian=0.5 -i "$scratch/counter"
check "a form that is none is refused" refused 'chrome or html' critical-path --format dot -i "$scratch/counter"
check "a flame graph of gains is refused" refused 'of the path' critical-path --best 1 --format folded -i "$scratch/counter"
check "a percentile that is none is refused" refused 'such as p99' critical-path --of p100 -i "$scratch/counter"
check "tasks and gains at once are refused" refused 'one of them' critical-path --of p99 --curve main -i "$scratch/counter"
check "tasks as a flame graph are refused" refused 'of the path' critical-path --of p99 --format folded -i "$scratch/counter"
check "of a run without tasks that is said" refused 'task-begin' critical-path --of p99 -q -i "$scratch/barrier_serial"
check "a what-if without a change is refused" refused 'what if what' what-if -i "$scratch/counter"
check "a folder without a trace is refused" refused 'persik profile' critical-path -i "$scratch/nowhere"

# ---- programs that sleep ----

check "of three stages the slow one is the path" pipeline_path
check "with that one at half its time, the first limits" pipeline_faster
check "beyond that nothing is gained" pipeline_next
check "a limit on what is under way holds though nobody waited for it" credits
check "with other limits the program takes what it really took" limits
check "a limit that nothing has is refused with those there are" refused "credits.mutex" what-if --set credit.permits=4 -i "$scratch/what-if-credits"
check "a queue that is none is refused" refused "nothing of the kind" what-if --set credits.capacity=4 -i "$scratch/what-if-credits"
check "no permits at all are refused" refused "from 1 up" what-if --set credits.permits=0 -i "$scratch/what-if-credits"
check "parties are the model's to change" refused "predict --set" what-if --set meeting.parties=3 -i "$scratch/what-if-credits"
check "the slow stage is the best part" pipeline_best
check "one after the other, its bottlenecks come in their order" pipeline_chain
check "what is made already is where the next search begins" pipeline_chain_from
check "a limit that threads wait for is one of the best parts" credits_best
check "the path by call chains is as long as the run" folded
check "the page has the flame graph" page
check "the path for Perfetto is as long as the run, and its arrows have two ends" chrome
check "what the slowest jobs of a queue hang on" jobs_path
check "what the slowest requests hang on" requests_path
check "a limit that closes the path's loops is named" closed_loops
check "a name that several have means all of them" several
check "its curve rises as far as the next one limits" pipeline_curve
check "a curve of what nothing has is refused with the nearest" refused "'second'" critical-path --curve sleep:secnod -i "$scratch/stages"
check "a lock that is held half and a quarter as long" held
check "a thread that others wait for has its slack, and beyond that it costs" slack
check "a thread that computes beside is not on the path" decoy

# ---- a run of today ----

# Whether all of it is explained is nothing to test on a machine that others crowd: bench/what-if.sh identity tells.
three_now() {
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror tests/programs/three_stages.c \
        -o "$scratch/three_stages" -lpthread &&
        "$persik" trace -q --plain-runs 0 --no-evictions -o "$scratch/now" -- "$scratch/three_stages" 500 1000 400 20
}
check "three stages are recorded" three_now
recording=$scratch/now
check "and the run has a path" "$persik" critical-path -q -i "$recording"

# What a program did until it was killed is a run like others.
killed_now() {
    cat >"$scratch/killed.c" <<'END_OF_C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        usleep(1000);
        pthread_mutex_unlock(&lock);
    }
    kill(getpid(), SIGKILL);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    return 0;
}
END_OF_C
    ${CC:-gcc} -g -O1 "$scratch/killed.c" -o "$scratch/killed" -lpthread || return 1
    "$persik" trace -q --plain-runs 0 --no-evictions --ignore-failure -o "$scratch/dead" -- "$scratch/killed"
    [ $? -eq 4 ] && "$persik" critical-path -q -i "$scratch/dead" && "$persik" what-if -q -i "$scratch/dead" --scale sleep:work=0.5
}
check "a program that was killed has a path, up to then" killed_now

# Without rights nothing tells when threads had a core.
without_root() {
    chmod 755 "$scratch" && mkdir -m 777 "$scratch/anyone" &&
        cp "$persik" "$build/libpersik-probe.so" "$scratch/three_stages" "$scratch/anyone" && chmod 755 "$scratch"/anyone/* &&
        (cd "$scratch/anyone" && setpriv --reuid=65534 --regid=65534 --clear-groups env PERSIK_CACHE=off \
            ./persik trace -q --plain-runs 0 --no-evictions -o data -- ./three_stages 500 1000 400 20) &&
        "$persik" critical-path -q -i "$scratch/anyone/data" >"$scratch/out" 2>"$scratch/err" &&
        { grep -q 'for want of rights' "$scratch/err" || grep -q 'who woke whom was not recorded' "$scratch/out"; }
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    check "without rights it says what is not known" without_root
else
    skip "without rights it says what is not known" "is not root, or has no setpriv"
fi
finish
