#!/bin/sh
# The command from outside: exit statuses, messages, files. Usage: tests/cli.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails. Texts to the letter are in tests/expected/; UPDATE=1 writes
# them anew.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
here=$root/tests
model=$here/data/two-pools.json
mounted=
end() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$scratch"
}
trap end EXIT
cd "$scratch" || exit 1
export LC_ALL=C.UTF-8

# ---- helpers ----

explain_failure() {
    head -n 15 out err
}

# run ARGUMENT...: runs persik; leaves out, err and $status.
run() {
    timeout 120 "$persik" "$@" >out 2>err </dev/null
    status=$?
}

# says NAME ARGUMENT...: stdout is the expected text, exit status 0.
says() {
    name=$1
    shift
    run "$@"
    [ -z "${UPDATE:-}" ] || cp out "$here/expected/$name.txt"
    [ $status -eq 0 ] && diff -u "$here/expected/$name.txt" out >difference
    result=$?
    [ $result -eq 0 ] || sed 's/^/# /' difference
    report $result "persik $* prints tests/expected/$name.txt"
}

# refuses STATUS PATTERN ARGUMENT...: that exit status, nothing on stdout, and one line on stderr
# that starts with "persik: " and matches the pattern.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    run "$@"
    [ $status -eq "$wanted" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
        grep -q '^persik: ' err && grep -qe "$pattern" err
    report $? "persik $* exits $wanted: $pattern"
}

# succeeds NAME ARGUMENT...
succeeds() {
    name=$1
    shift
    run "$@"
    [ $status -eq 0 ]
    report $? "$name"
}

# ---- words and options ----

check_words() {
    says help help
    says version --version
    for command in profile sample analyze trace build-model predict sensitivity bottleneck recommend validate load graph critical-path what-if diff compare-trace report export; do
        run $command --help
        [ $status -eq 0 ] && grep -q '^Examples:' out && grep -q "persik $command" out
        report $? "persik $command --help gives examples"
        missing=$(grep -o -e '--[a-z][a-z-]*' out | sort -u | while read -r option; do
            [ "$option" = --usage ] || [ "$option" = --version ] || [ "$option" = --threads ] ||
                tr -d '\\' <"$here/../docs/man/persik-$command.1" | grep -qe "$option" || echo "$option"
        done)
        [ -z "$missing" ]
        report $? "persik-$command(1) knows every option${missing:+, but not $missing}"
        tr -s ' \n' '  ' <out >line
        ! grep -qE '\(([0-9.]+%?[a-z]*\)|as |no end|table|poisson|when|until|found|persik\.|DIR/)' line && grep -q '(default: ' line
        report $? "and says which values are defaults"
        sed -n '/^Examples:/,$p' out | grep -vE '^(Examples:|  +.*|)$' >line
        [ ! -s line ]
        report $? "none of its examples is wrapped"
    done
    run
    [ $status -eq 2 ] && [ ! -s out ] && grep -q '^Usage: persik' err
    report $? "persik alone exits 2 with its usage on stderr"
    refuses 2 "unknown command 'predicts'" predicts
    refuses 2 "unknown command 'nothing'" help nothing
}

check_numbers() {
    for bad in 0 -1 abc 99999999999999999999 2x '' 1, 4:1; do
        refuses 2 "threads" predict --model "$model" "--threads=$bad"
        refuses 2 "cores" predict --model "$model" "--cores=$bad"
    done
    refuses 2 "--seed" predict --model "$model" --seed -1
    refuses 2 "--precision" predict --model "$model" --precision 0
    refuses 2 "--arrivals" predict --model "$model" --arrivals fast
    refuses 2 "--arrivals" predict --model "$model" --arrivals 1/s:9/s
    refuses 2 "poisson, constant or recorded" predict --model "$model" --arrivals-kind bursts
    refuses 2 "with --arrivals" predict --model "$model" --arrivals-kind constant
    refuses 2 "with --arrivals" predict --model "$model" --requests 10
    refuses 2 "--clients" predict --model "$model" --clients 0
    refuses 2 "--think" predict --model "$model" --think never
    refuses 2 "leave one out" predict --model "$model" --clients 4 --arrivals 10/s
    refuses 2 "only clients think" predict --model "$model" --arrivals 10/s --think 5ms
    refuses 2 "several loads" sensitivity --model "$model" --arrivals 10/s,20/s
    refuses 2 "--assert" predict --model "$model" --assert 'run<5'
    refuses 2 "--format" predict --model "$model" --format xml
    refuses 2 "--rate" profile --rate 0 /bin/true
    refuses 2 "--runs" validate --runs 0 /bin/true
    refuses 2 "{threads}" validate --threads 1,2 /bin/true
    refuses 2 "no program" profile
    refuses 2 "no program" validate --threads 1
    refuses 2 "cannot export" export --what trace --format dot
}

# ---- prediction from a model written by hand ----

check_prediction() {
    says predict-one predict --model "$model" --threads 2 --cores 2 -q
    says predict-sweep predict --model "$model" --threads 1:3 --cores 1,4 --format csv
    says predict-pools predict --model "$model" --threads worker=3,helper=2 --cores 4 --format json
    says graph graph --model "$model"
    "$persik" predict --model "$model" --threads 1:4 --format json --workers 2 >other 2>err
    run predict --model "$model" --threads 1:4 --format json --workers 1
    [ -s out ] && cmp -s out other
    report $? "predictions do not depend on the number of workers"
    refuses 1 "no pool 'nobody'.*main, worker, helper" predict --model "$model" --threads nobody=2
    refuses 1 "from outside" predict --model "$model" --arrivals 10/s
    run predict --model "$model" --threads 1,2 --cores 2 --assert 'run<500ms'
    [ $status -eq 3 ] && grep -q "'run<500ms' fails with threads 1, cores 2" err
    report $? "a failed --assert exits 3 and names the configuration"
    succeeds "a kept --assert exits 0" predict --model "$model" --assert 'run<500ms'
}

# Two workers of 2 ms on two cores: 1000 requests per second at most.
check_load() {
    server=$here/data/server.json
    run predict --model "$server" --arrivals 200/s,1200/s --format csv
    # column NAME of the last line
    column() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } { last = $c } END { print last }' out; }
    [ "$(column load)" = "above saturation" ] && [ -z "$(column response_ns)" ] && [ -z "$(column response_p99_ns)" ]
    report $? "above saturation there is no response time"
    awk -v most="$(column saturation_hz)" -v grows="$(column growth_hz)" \
        'BEGIN { exit !(most > 980 && most < 1020 && grows > 150 && grows < 250) }'
    report $? "the saturation point is found, and how fast the queue grows beyond it"
    run predict --model "$server" --arrivals 200/s,1200/s
    grep -q "threads own, cores 2: 10[0-9][0-9] /s\|threads own, cores 2: 99[0-9] /s" out &&
        grep -q "1200 /s: requests grows by" out
    report $? "people are told the saturation and what grows"
    run predict --model "$server" --clients 1,16 --think 10ms --format csv
    awk -v hz="$(column throughput_hz)" 'BEGIN { exit !(hz > 900 && hz < 1000) }'
    report $? "clients come back when they have their reply"
    run predict --model "$server" --arrivals 200/s,1500/s --assert 'p99<50ms'
    [ $status -eq 3 ] && grep -q "'p99<50ms' cannot be checked with threads own, cores 2, 1500 /s" err &&
        ! grep -q "200 /s" err
    report $? "an assertion on a response time fails above saturation and names the load"
    succeeds "an assertion is kept below saturation" predict --model "$server" --arrivals 200/s --assert 'p99<50ms'
    run predict --model "$server" --assert 'run<5s'
    [ $status -eq 3 ] && grep -q "without an end" err
    report $? "a load without an end has no running time to assert"
    succeeds "constant arrivals" predict --model "$server" --arrivals 500/s --arrivals-kind constant
    succeeds "recorded arrivals at another rate" predict --model "$server" --arrivals 500/s --arrivals-kind recorded
    succeeds "so many requests" predict --model "$server" --arrivals 500/s --requests 100
    "$persik" predict --model "$server" --arrivals 900/s --format json --workers 3 >other 2>err
    run predict --model "$server" --arrivals 900/s --format json --workers 1
    [ -s out ] && cmp -s out other
    report $? "figures under load do not depend on the number of workers"
    run sensitivity --model "$server" --arrivals 500/s --format csv
    [ $status -eq 0 ] && grep -q "^worker,.*seen" out
    report $? "sensitivity under load"
    refuses 1 "more load than" sensitivity --model "$server" --arrivals 5000/s
    refuses 1 "from outside" predict --model "$model" --clients 10
}

# ---- what a user would change, what limits, what is enough ----

check_changes() {
    says predict-changed predict -q --model "$model" --threads 2 --scale 'lock:log.mutex=0' --set 'jobs.permits=300'
    run predict --model "$model" --format json --scale 'worker begins=0.5'
    [ $status -eq 0 ] && grep -q '"part": "worker begins a task"' out && grep -q '"change": "computing x 0.5"' out
    report $? "what was changed is in JSON, too"
    refuses 2 "is no factor" predict --model "$model" --scale 'worker=-1'
    refuses 2 "is no factor" predict --model "$model" --scale 'worker=fast'
    refuses 2 "give NAME=FACTOR" predict --model "$model" --scale worker
    refuses 2 "NAME.PARAMETER=VALUE" predict --model "$model" --set 'jobs=4'
    refuses 2 "a whole number from 1 up" predict --model "$model" --set 'jobs.permits=0'
    for command in predict sensitivity bottleneck; do
        refuses 1 "no lock is called 'logmutex': nearest: 'log.mutex" $command --model "$model" --scale 'lock:logmutex=0'
        refuses 1 "nearest: 'worker'" $command --model "$model" --scale 'wroker=0'
    done
    refuses 1 "the model has no barrier" predict --model "$model" --set 'jobs.parties=4'
    run predict --model "$model" --threads 4 --cores 2 --format csv --scale 'lock:log.mutex=0'
    "$persik" sensitivity -q --model "$model" --threads 4 --cores 2 --scale 'lock:log.mutex=0' >other 2>err
    grep -q "running time 300 ms" other && grep -q '^4,2,300' out
    report $? "sensitivity sees the same change"
}

# No wider than a screen: fits FILE.
fits() { awk 'length($0) > 80 { print; wide = 1 } END { exit wide }' "$1"; }

check_bottleneck() {
    says bottleneck bottleneck -q --model "$model" --threads 4 --cores 2
    fits out
    report $? "the bottlenecks fit 80 columns"
    run bottleneck -q --model "$model" --threads 4 --cores 2 --format json
    [ $status -eq 0 ] && grep -q '"limit": "cores"' out && grep -q '"of": "run_ns"' out
    report $? "bottlenecks in JSON"
    run bottleneck -q --model "$model" --threads 2 --cores 2
    [ $status -eq 0 ] && grep -q "33.3 %.*cores and threads" out
    report $? "cores and threads that help together only are named together"
    run bottleneck -q --model "$model" --threads 4 --cores 2 --scale 'worker=0' --assert 'run<1ns'
    [ $status -eq 3 ] && grep -q "'run<1ns' fails with threads 4, cores 2" err && grep -q '^Changed:' out
    report $? "bottleneck keeps --assert and says what was changed"
    "$persik" bottleneck -q --model "$model" --threads 3 --format csv --workers 2 >other 2>err
    run bottleneck -q --model "$model" --threads 3 --format csv --workers 1
    [ -s out ] && cmp -s out other
    report $? "bottlenecks do not depend on the number of workers"
    run bottleneck -q --model "$here/data/server.json"
    [ $status -eq 0 ] && grep -q "throughput, at most," out
    report $? "of a load without an end it is the throughput"
    refuses 2 "these are 2 configurations" bottleneck --model "$model" --threads 1,2
}

check_diff() {
    run diff -q "$model" "$model" --format json
    [ $status -eq 0 ] && grep -q '"change": 0.0' out && grep -q '"causes": \[\]' out
    report $? "a model does not differ from itself"
    run diff -q "$model" "$model" --markdown
    [ $status -eq 0 ] && grep -q '^| running time |' out
    report $? "differences in Markdown"
    run diff -q "$model" "$model" --assert 'run<100%' --assert 'run<=100%'
    [ $status -eq 3 ] && grep -q "assertion 'run<100%' fails: 100.0 %" err && ! grep -q "run<=100%" err
    report $? "diff keeps --assert, in per cent"
    kept bounded_counter after && kept bounded_counter before
    for side in before after; do PATH='' "$persik" build-model -q -i "$scratch/$side" >/dev/null 2>&1; done
    run diff -q "$scratch/before" "$scratch/after" --format json
    [ $status -eq 0 ] && jq -e '.functions | length > 0' out >/dev/null &&
        jq -e '[.calls[] | select(.call == "ring_put: pthread_cond_wait" and .calls_before == 46)] | length == 1' out >/dev/null
    report $? "diff of recordings has functions and calls"
    refuses 1 "no such recording or model" diff "$scratch/nowhere" "$model"
    refuses 2 "BEFORE and AFTER" diff "$model" "$model" "$model"
    refuses 2 "write 105%" diff "$model" "$model" --assert 'run<5s'
    refuses 2 "several tables" diff "$model" "$model" --format csv
}

check_recommendation() {
    says recommend recommend -q --model "$model" --goal 'time<200ms' --cores 1:4
    fits out
    report $? "the recommendation fits 80 columns"
    says recommend-more recommend -q --model "$model" --goal 'time<170ms' --cores 1:6
    run recommend -q --model "$model" --goal 'time<200ms'
    [ $status -eq 3 ] && grep -q "^Nothing that may be chosen meets it" out && grep -q "^What limits it there: cores" out
    report $? "where nothing meets the goal, exit 3 and what limits"
    run recommend -q --model "$here/data/server.json" --goal 'p99<30ms' --rate 800/s --threads 1:4 --cores 1:4 --format json
    [ $status -eq 0 ] && grep -q '"recommended": \[' out
    report $? "a response time at a rate"
    run recommend -q --model "$here/data/server.json" --goal 'p99<30ms' --rate 9000/s --threads 1,2 --cores 1,2
    [ $status -eq 3 ] && grep -q "too much comes" out
    report $? "more load than anything that may be chosen can do"
    run recommend -q --model "$model" --goal 'time<200ms' --cores 1:4 --assert 'cpu<10%'
    [ $status -eq 3 ] && grep -q "'cpu<10%' fails with threads 4, cores 4" err
    report $? "recommend keeps --assert"
    refuses 2 "no goal" recommend --model "$model"
    refuses 2 "--goal 'time<2'" recommend --model "$model" --goal 'time<2'
    refuses 2 "--rate 1/s,2/s: these are several loads" recommend --model "$here/data/server.json" --goal 'p99<1s' --rate 1/s,2/s
    refuses 2 "--rate 0: give a rate" recommend --model "$here/data/server.json" --goal 'p99<1s' --rate 0
}

# edit_model FROM TO: the hand-written model with one text replaced.
edit_model() {
    sed "s/$1/$2/" "$model" >edited.json
    ! cmp -s "$model" edited.json || echo "# edit_model: nothing replaced by s/$1/$2/"
}

check_bad_models() {
    refuses 1 "no model in persik.data: run" predict
    refuses 1 "no model in persik.data: run" graph
    refuses 1 "nowhere.json" predict --model nowhere.json
    head -c 500 "$model" >cut.json
    refuses 1 "cut.json" predict --model cut.json
    edit_model '"version": 1,' '"version": 99,'
    refuses 1 "version.*99" predict --model edited.json
    edit_model '"target_pool": 1' '"target_pool": 7'
    refuses 1 "target_pool" predict --model edited.json
    edit_model '"entry": 6' '"entry": 66'
    refuses 1 "entry" predict --model edited.json
    echo '[]' >edited.json
    refuses 1 "edited.json" predict --model edited.json
}

# ---- programs that cannot be recorded ----

check_bad_programs() {
    for command in profile sample trace; do
        refuses 1 "no such program: ./nothing" $command ./nothing
        refuses 1 "no program 'no-such-program' in PATH" $command no-such-program
    done
    refuses 1 "no such program: ./nothing" validate --model "$model" --threads 1 --cores 1 ./nothing
    refuses 3 "threads 1, cores 1.*exit status 3" validate --model "$model" --threads 1 --cores 1 \
        sh -c 'exit 3'
    refuses 2 "only [0-9]* can be measured" validate --model "$model" --cores 5000 sh -c true
    echo "data" >data-file
    refuses 1 "not an executable file" profile ./data-file
    refuses 1 "not an executable file" profile /tmp
    refuses 1 "cannot create /proc/nowhere/x.new" trace -o /proc/nowhere/x /bin/true
    mkdir -p home && echo precious >home/file
    refuses 1 "holds other things" trace -o home /bin/true
    [ "$(cat home/file)" = precious ] && [ ! -e home.old ]
    report $? "a folder that is not persik's is left alone"
    echo 'int main(void) { return 0; }' >static.c
    if gcc -static -O2 static.c -o static 2>/dev/null; then
        refuses 1 "static" trace ./static
    else
        skip "a static binary is refused" "no static libc here"
    fi
    [ ! -e persik.data ] && ! ls -d persik.data.new* >/dev/null 2>&1
    report $? "refused runs leave no folder behind"
}

# ---- recording ----

bank="$build/samples/bank --threads 2 --size 2003"

# Two outputs of a sample are the same but for its running time.
same_result() {
    [ -n "$(grep '^checksum' "$1")" ] && [ "$(grep '^checksum' "$1")" = "$(grep '^checksum' "$2")" ]
}

check_recording() {
    # shellcheck disable=SC2086 # program and arguments
    $bank >plain
    # shellcheck disable=SC2086
    run trace --no-block-io --no-evictions $bank
    [ $status -eq 0 ] && same_result out plain
    report $? "tracing leaves the program's output alone"
    grep -q '[0-9]* records of 3 threads' err && grep -q 'perturbation: ' err
    report $? "trace says how much it recorded and what that cost"
    [ "$(stat -c %a persik.data)" = 700 ] && [ "$(stat -c %a persik.data/trace.persik)" = 600 ]
    report $? "the recording is private to the user"
    succeeds "report reads the trace" report
    grep -q '^program .*bank' out && grep -q 'pthread_mutex_lock' out
    report $? "report names the program and its locks"
    run export
    [ $status -eq 0 ] && grep -q '"ph":"X"' out &&
        { ! command -v python3 >/dev/null || python3 -m json.tool out >/dev/null; }
    report $? "export gives the trace as JSON events"
    run export --format csv
    [ $status -eq 0 ] && [ "$(wc -l <out)" -gt 100 ]
    report $? "export gives the trace as CSV"
}

# The simulated run has the form of the recorded one, as long as predicted, and a configuration without figures none.
check_simulated_export() {
    kept_model pigz >log 2>&1
    run export -i pigz --what simulated
    [ $status -eq 0 ] && jq -e '.traceEvents | map(select(.ph == "X" and .pid == 1)) | length > 100 and all(.args.place) and
        any(.args.object)' out >log && jq -e '.traceEvents | (map(select(.ph == "s")) | length) as $starts |
        $starts > 0 and $starts == (map(select(.ph == "f")) | length)' out >log
    report $? "export gives a simulated run with places, objects and arrows"
    cp out simulated.json
    run export -i pigz --what simulated --from 100ms --to 101ms
    [ $status -eq 0 ] && jq -e '.traceEvents | map(select(.ph == "X")) | length > 0 and
        all(.ts <= 101000 and .ts + .dur >= 100000)' out >log
    report $? "and a part of it"
    run export -i pigz --what simulated --seed 2
    [ $status -eq 0 ] && ! cmp -s out simulated.json
    report $? "another seed is another run"
    refuses 2 "leave them out" export -i pigz --threads 2
    kept_model open-batches >log 2>&1
    run export -i open-batches --what simulated --threads 4 --cores 4
    [ $status -eq 4 ] && grep -q 'no simulated run' err && [ ! -s out ]
    report $? "export gives no simulated run of a configuration without figures"
}

# The old recording must survive whatever goes wrong.
check_nothing_is_lost() {
    cp persik.data/trace.persik kept
    refuses 1 "no such program" trace ./nothing
    cmp -s kept persik.data/trace.persik
    report $? "a failing run keeps the old recording"
    # shellcheck disable=SC2086
    run trace --no-block-io --no-evictions --plain-runs 0 $bank
    [ $status -eq 0 ] && cmp -s kept persik.data.old/trace.persik
    report $? "a succeeding run keeps the old recording as persik.data.old"
    cp persik.data/trace.persik kept
    "$persik" profile --no-source "$build/samples/bank" --threads 2 --size 2000000 \
        >/dev/null 2>&1 </dev/null &
    child=$!
    sleep 1
    orphans=$(cat /proc/$child/task/*/children) # the program itself goes on, as it should
    kill -KILL $child
    wait $child 2>/dev/null
    # shellcheck disable=SC2086
    kill $orphans
    cmp -s kept persik.data/trace.persik
    report $? "profile killed half-way keeps the old recording"
}

check_bad_traces() {
    mkdir -p bad
    head -c 1000 persik.data/trace.persik >bad/trace.persik
    refuses 1 "trace" build-model -i bad
    size=$(stat -c %s persik.data/trace.persik)
    cp persik.data/trace.persik bad/trace.persik
    printf 'XXXXXXXX' | dd of=bad/trace.persik bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
    refuses 1 "trace" build-model -i bad
    echo "not a trace" >bad/trace.persik
    refuses 1 "trace" report -i bad
    refuses 1 "no trace in nowhere: run" build-model -i nowhere
    refuses 1 "no files nowhere.blktrace" build-model -i persik.data --blktrace nowhere
    refuses 1 "no trace in nowhere: run" report -i nowhere
}

check_dying_programs() {
    cat >dying.c <<'END'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        for (volatile int j = 0; j < 1000; j++)
            ;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    raise(SIGKILL);
}
END
    gcc -g -O1 dying.c -o dying -lpthread
    run trace --no-block-io --no-evictions --plain-runs 0 -o dead ./dying
    [ $status -eq 137 ] && [ ! -e dead ]
    report $? "a program that is killed ends trace with 128 and the signal"
    run trace --ignore-failure --no-block-io --no-evictions --plain-runs 0 -o dead ./dying
    [ $status -eq 4 ] && [ "$(grep -c 'killed by signal 9' err)" -eq 1 ] && [ -s dead/trace.persik ]
    report $? "with --ignore-failure it leaves a recording, and trace says so and exits 4"
    run profile --ignore-failure --no-block-io --no-evictions --plain-runs 0 -o dead ./dying
    [ $status -eq 4 ] && grep -q 'while sampled, the program ended: killed by signal 9' err &&
        grep -q 'while traced, the program ended: killed by signal 9' err
    report $? "so does profile, after it has been killed twice"
    run build-model -i dead
    [ $status -eq 0 ] && [ -s dead/model.json ] && grep -q 'the traced run was cut off' out
    report $? "a killed program's recording gives a model, and that says so"
    run predict -i dead
    [ $status -eq 0 ] && [ "$(wc -l <out)" -gt 3 ]
    report $? "which predicts what ran until then"
    run report -i dead
    [ $status -eq 0 ] && grep -q 'killed by signal 9' out
    report $? "report says that the program was killed"
}

# What is written goes to a small file system, which is full before the program runs, or fills up while it
# does; then the program itself must not notice.
check_full_disk() {
    name="tracing onto a full disk"
    mkdir -p small
    "$build/samples/bank" --threads 2 --size 20003 >plain
    for size in 64k 400k 19500k 20000k; do
        if ! mount -t tmpfs -o "size=$size" tmpfs small 2>/dev/null; then
            skip "$name of $size is refused with a clear line" "cannot mount a tmpfs"
            skip "$name of $size leaves the program unharmed" "cannot mount a tmpfs"
            continue
        fi
        mounted=$scratch/small
        run trace --no-block-io --no-evictions --plain-runs 0 -o small/data "$build/samples/bank" --threads 2 \
            --size 20003
        [ $status -eq 1 ] && grep -Eq '^persik: .*(full|No space left).*make room' err &&
            [ ! -e small/data ]
        report $? "$name of $size is refused with a clear line"
        case $size in ?????k) same_result out plain ;; *) [ ! -s out ] ;; esac
        report $? "$name of $size leaves the program unharmed"
        umount "$mounted" && mounted=
    done
}

# ---- what recordings share ----

# analyses NAME [VARIABLE=VALUE...]: static.json of the sample bank in a recording of its own.
analyses() {
    recording=$1
    shift
    timeout 120 env "$@" "$persik" analyze -o "$recording" "$build/samples/bank" >out 2>err </dev/null
    status=$?
    [ $status -eq 0 ] && [ -s "$recording/static.json" ]
}

check_shared_results() {
    analyses cache-1 PERSIK_CACHE="$scratch/shared/results"
    [ $status -eq 0 ] && [ "$(stat -c %a shared/results)" = 700 ] && [ ! -e cache-1/analyze-cache ] &&
        [ "$(stat -c %a shared/results/*.ir | sort -u)" = 600 ]
    report $? "results per file are kept for the user alone"
    before=$(stat -c '%i %n' shared/results/*)
    analyses cache-2 PERSIK_CACHE="$scratch/shared/results"
    [ $status -eq 0 ] && [ "$before" = "$(stat -c '%i %n' shared/results/*)" ] &&
        cmp -s cache-1/static.json cache-2/static.json
    report $? "another recording takes them from there"
    analyses cache-3 PERSIK_CACHE=off && [ ! -e off ] && [ ! -e cache-3/analyze-cache ] &&
        cmp -s cache-1/static.json cache-3/static.json
    report $? "PERSIK_CACHE=off keeps nothing"
    analyses cache-4 -u PERSIK_CACHE XDG_CACHE_HOME="$scratch/xdg" &&
        [ "$(stat -c %a xdg/persik)" = 700 ] && [ -n "$(ls xdg/persik)" ]
    report $? "results are kept in XDG_CACHE_HOME by default"
    analyses cache-5 -u PERSIK_CACHE -u XDG_CACHE_HOME HOME="$scratch" && [ -n "$(ls .cache/persik)" ]
    report $? "results are kept in ~/.cache without XDG_CACHE_HOME"
    analyses cache-6 PERSIK_CACHE=/dev/null/no && [ -n "$(ls cache-6/analyze-cache)" ] &&
        grep -q '^persik: .*PERSIK_CACHE' err
    report $? "where no cache can be made the recording keeps the results"
    mkdir -m 777 everybodys
    chmod 777 everybodys
    analyses cache-7 PERSIK_CACHE="$scratch/everybodys" && [ -z "$(ls everybodys)" ]
    report $? "a folder that others can write to is no cache"
    for i in 1 2 3; do
        PERSIK_CACHE=$scratch/at-once timeout 120 "$persik" analyze -o "at-once-$i" \
            "$build/samples/bank" >"out-$i" 2>&1 </dev/null &
    done
    wait
    cmp -s cache-1/static.json at-once-1/static.json &&
        cmp -s cache-1/static.json at-once-2/static.json &&
        cmp -s cache-1/static.json at-once-3/static.json &&
        [ -z "$(find at-once -name '*.ir.*')" ]
    report $? "several analyses can use it at once"
}

# ---- the whole way ----

# asked FILE: the measurements of the configurations that were asked for, without the recorded one's in between.
asked() { awk -F , 'NR > 1 && $10 == 0' "$1"; }

# column NAME FILE: of a CSV.
column() { awk -F , -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR > 1 { print $at }' "$2"; }

check_pipeline() {
    # shellcheck disable=SC2086
    run profile -o whole $bank
    [ $status -eq 0 ] && [ -s whole/sample.json ] && [ -s whole/trace.persik ]
    report $? "profile samples and traces"
    [ "$(stat -c %a whole/static.json)" = 600 ]
    report $? "profile finds the source by itself"
    run build-model -i whole
    [ $status -eq 0 ] && grep -q 'running time' out && grep -q 'explains' out
    report $? "build-model prints its self-check"
    grep -q '<svg' whole/model.svg
    report $? "build-model draws the model"
    run predict -i whole --threads 1,4 --cores 1,2 --format csv
    [ $status -eq 0 ] && [ "$(wc -l <out)" -eq 5 ]
    report $? "predict sweeps over the built model"
    run validate -i whole --threads 1,2 --cores 1 --runs 2 --measurements runs.csv --format csv -- \
        "$build/samples/bank" --threads '{threads}' --size 2003
    [ $status -eq 0 ] && [ "$(wc -l <out)" -eq 3 ] && [ "$(asked runs.csv | wc -l)" -eq 4 ]
    report $? "validate measures every configuration"
    cp out first
    run validate -i whole --reuse runs.csv --format csv
    [ $status -eq 0 ] && cmp -s out first
    report $? "validate --reuse gives the same comparison without running"
    [ "$(awk -F , 'NR > 1 && $9 > 0 && $9 <= $5' runs.csv | wc -l)" -eq "$(($(wc -l <runs.csv) - 1))" ] &&
        head -n 1 first | grep -q ',error,.*,own_error,.*,equal_speed_error,'
    report $? "validate looks at each thread"
    run validate -i whole --threads 1,2 --cores 1 --runs 1 --steady --measurements steady.csv --format csv -- \
        "$build/samples/bank" --threads '{threads}' --size 2003
    [ $status -eq 0 ] && [ "$(wc -l <out)" -eq 3 ] &&
        [ "$(asked steady.csv | wc -l)" -eq 2 ]
    report $? "validate --steady waits for a quiet moment"
    cp out first
    run validate -i whole --reuse steady.csv --format csv
    [ $status -eq 0 ] && cmp -s out first
    report $? "a file of such measurements can be reused"
    awk -F , 'NR == 1 || $10 == 0' steady.csv | cut -d , -f 1-6 >older.csv && cut -d , -f 1-5 older.csv >oldest.csv
    run validate -i whole --reuse older.csv --format csv
    [ $status -eq 0 ] && [ "$(column error out)" = "$(column error first)" ] && grep -q "older.csv is an older persik's" err
    report $? "one of an older persik, too, which is said"
    run validate -i whole --reuse oldest.csv --format csv
    [ $status -eq 0 ] && [ "$(column error out)" = "$(column error first)" ]
    report $? "and one from before others were counted"
    sed 's/,foreign_ns,stolen_ns/,stolen_ns/' steady.csv >strange.csv
    refuses 1 "not a measurement" validate -i whole --reuse strange.csv
    sed 's/^2,/02,/' steady.csv >strange.csv
    refuses 1 "'02' is not how" validate -i whole --reuse strange.csv
    cp steady.csv kept.csv
    run validate -q -i whole --threads 1 --cores 1 --runs 1 --measurements kept.csv -- "$build/samples/bank" \
        --threads '{threads}' --nonsense
    [ $status -eq 2 ] && grep -q '^persik: threads 1, cores 1: .*bank failed in its first run: exit status 2' err &&
        cmp -s steady.csv kept.csv
    report $? "a program that does not run costs no measurements"
    run predict -i whole --assert 'p99<5ms'
    [ $status -eq 3 ] && grep -q "assertion 'p99<5ms' cannot be checked" err
    report $? "a bound on what the model does not have is not kept"
    run trace --steady --plain-runs 2 --no-block-io --no-evictions -o steady "$build/samples/bank" --threads 2 --size 2003
    [ $status -eq 0 ] && [ "$(grep -c '^bank' out)" -eq 1 ] && [ -s steady/trace.persik ]
    report $? "trace --steady shows the output of one run, however many it makes"
    run build-model -i steady
    [ $status -eq 0 ] && grep -q 'without probes' out
    report $? "what it recorded becomes a model"
    { head -n 1 runs.csv && printf '%s,1,%s,%s,9,0,0,-1,0,0\n' 1 1 100000000 1 2 110000000 2 1 200000000 2 2 200000000; } >known.csv
    run validate --wide -i whole --reuse known.csv
    [ $status -eq 0 ] &&
        grep -q 'differ by 4.8 % (standard deviation): the median of 2 is known within 3.4 %' out
    report $? "validate says how well it knows the times itself"
    { head -n 1 known.csv && grep ',1,1,' known.csv; } >once.csv
    run validate -i whole --reuse once.csv
    [ $status -eq 0 ] && ! grep -q 'differ by' out
    report $? "and nothing of it where nothing was run twice"
    run validate -i whole --reuse runs.csv --format svg
    [ $status -eq 0 ] && grep -q '<svg' out
    report $? "validate draws"
}

check_without_debug_information() {
    cp "$build/samples/bank" stripped && strip stripped
    run profile -o bare ./stripped --threads 2 --size 2003
    [ $status -eq 0 ] && grep -q 'warning: no facts from the source' err
    report $? "profile warns when there is no debug information"
    run build-model -i bare
    [ $status -eq 0 ] && [ -s bare/model.json ]
    report $? "a model comes from the trace alone"
    refuses 1 "no debug information.*compile it with -g" analyze -q -o unseen ./stripped
    cp "$root/tests/programs/forks.c" gone.c
    gcc -g -O1 gone.c -o gone -lpthread && rm gone.c
    refuses 1 "source not found.*gone.c" analyze -q -o unseen ./gone
    [ ! -e unseen/static.json ]
    report $? "and nothing is written of what was not analysed"
}

# Each of the runs must read what the first one read. Validate adds one for each configuration.
check_standard_files() {
    echo first >input
    echo second >>input
    reader='read line && echo "$line" >>seen && echo "$line"'
    { read -r _ && "$persik" profile --no-source --no-evictions --plain-runs 2 -o read -- sh -c "$reader"; } \
        <input >out 2>err
    [ $? -eq 0 ] && [ "$(sort seen | uniq -c)" = "      4 second" ]
    report $? "all runs of a recording read the same of a file, from where it stood"
    [ "$(sort out | uniq -c)" = "      1 second" ]
    report $? "and the output appears once"
    rm seen
    "$persik" validate -i whole --threads 2 --cores 1 --runs 2 -- sh -c "$reader" <input >out 2>err
    [ "$(sort -u seen)" = first ] && [ "$(wc -l <seen)" -ge 2 ] && ! grep -q first out # disturbed: again
    report $? "all runs that validate measures read the same"
    rm seen
    { echo first; sleep 1; echo rest; } | "$persik" profile --no-source -o pipe -- sh -c "$reader; cat >>seen" >out 2>err
    [ $? -eq 0 ] && [ "$(sort -u seen)" = "first
rest" ] && [ "$(wc -l <seen)" -ge 4 ] && [ "$(cat out)" = first ] && grep -q '^persik: .*a pipe.* 11 bytes' err
    report $? "what comes from a pipe is read to its end before the first run, and all runs get it"
    rm seen
    echo first | "$persik" profile --once --no-source -o pipe -- sh -c "$reader" >out 2>err
    [ $? -eq 0 ] && [ "$(cat seen)" = first ] && ! grep -q 'a pipe' err
    report $? "the only run of --once reads from the pipe itself"
    { sleep 2; echo first; } | "$persik" profile --no-source -o late -- sh -c "$reader; sleep 1" >out 2>err
    [ $? -eq 1 ] && [ ! -e late ] && grep -q '^persik: .*a pipe.*< FILE' err
    report $? "what comes later is read by the first run, which cannot be made again: that is said"
    mkfifo silent
    "$persik" profile --no-source -o pipe -- sh -c : 9<>silent <silent >out 2>err
    report $? "a pipe that nobody reads from does no harm"
}

runs_of() { wc -l <"$scratch/runs"; }

check_number_of_runs() {
    counts="echo x >>'$scratch/runs'; echo out"
    profile_counting() { rm -f runs && "$persik" profile --no-source -o counted "$@" -- sh -c "$counts" >out 2>err; }
    profile_counting --once && [ "$(runs_of)" -eq 1 ] && [ "$(cat out)" = out ] && ! grep -q ' runs' err
    report $? "--once is one run"
    profile_counting && [ "$(runs_of)" -ge 2 ] && [ "$(runs_of)" -le 4 ] && [ "$(cat out)" = out ]
    report $? "by default there are at most four, and the output appears once"
    grep -q '^persik: at most 4 runs of about [0-9.]* [mu]*s$' err
    report $? "which is said with their time"
    profile_counting --thorough --no-evictions && [ "$(runs_of)" -ge 4 ] && [ "$(cat out)" = out ] && grep -q '^persik: about [0-9]* runs of about ' err
    report $? "--thorough makes more"
    profile_counting -q && ! grep -q ' runs\| run:' err
    report $? "--quiet says nothing of them"
    refuses 2 "--once.*--plain-runs" profile --once --plain-runs 1 /bin/true
    refuses 2 "--once and --thorough" trace --once --thorough /bin/true
    if script -qec true /dev/null >/dev/null 2>&1; then
        script -qec "'$persik' profile --no-source -o counted -- sleep 0.4" /dev/null >terminal </dev/null
        grep -q 'run 1 of 4' terminal && ! grep -q 'run 1 of' err
        report $? "a terminal shows which run goes on"
    fi
}

nodes_of() { jq '.nodes | length' whole/model.json; }

check_what_models_keep() {
    cat >naps.c <<'END'
#include <unistd.h>
int main(void) {
    usleep(100000);
    usleep(3000);
    return 0;
}
END
    gcc -g -O1 naps.c -o naps
    run trace -q --no-block-io --no-evictions --plain-runs 0 -o naps.data ./naps
    for share in 0.1% 10%; do
        run build-model -q -i naps.data --insignificant $share
        jq '[.nodes[] | select(.kind == "sleep")] | length' naps.data/model.json
    done >kept
    [ "$(tr '\n' ' ' <kept)" = "2 1 " ]
    report $? "build-model --insignificant drops what is below the share"
    run build-model -q -i whole
    usual=$(nodes_of)
    run build-model -q -i whole --max-nodes 10
    [ $status -eq 0 ] && [ "$(nodes_of)" -le "$usual" ]
    report $? "build-model --max-nodes limits how far nodes are told apart by what came before"
    run build-model -q -i whole
    [ "$(nodes_of)" -eq "$usual" ]
    report $? "the usual model has as many nodes again"
}

check_explanations() {
    kept bounded_counter
    run build-model -i bounded_counter --explain "struct ring"
    [ $status -eq 0 ] && grep -Eq '^is a +bounded queue of 8$' out && grep -q '^operations .*put ring_put' out &&
        grep -q '^operations .*get ring_get' out && grep -Eq '^replayed +[0-9]+ decisions, 0 of them against it' out &&
        grep -q 'the source: ring_put waits for struct ring.not_full while struct ring.count == CAPACITY' out
    report $? "build-model --explain says what an object is, and why"
    refuses 1 "no such object or pool: there are '.*struct ring" build-model -q -i bounded_counter \
        --explain nonsense
    run graph --wide -i bounded_counter
    [ $status -eq 0 ] && grep -Eq '^bounded queue struct ring.* bounded queue +8 +put ring_put; get ring_get' out
    report $? "graph lists it with its capacity and operations"
}

# All runs of a program have the cores that are asked for, in turn, and the limits that persik was started with.
check_conditions_of_runs() {
    run profile -q --no-source --no-evictions --plain-runs 2 -o limits -- sh -c 'ulimit -n >>limits.seen'
    [ $status -eq 0 ] && [ "$(sort -u limits.seen)" = "$(ulimit -n)" ] && [ "$(wc -l <limits.seen)" -eq 4 ]
    report $? "all runs of a recording may have as many files as without persik"
    if [ "$(nproc)" -lt 2 ]; then
        skip "validate measures configurations in turn, each on its cores" "a single core"
    else
        run validate -q -i whole --threads 1,2 --cores 1,2 --runs 2 -- sh -c 'echo $(nproc)x{threads} >>cores.seen'
        # before and after each other one what was recorded, 2 threads on all cores;
        # a run that was disturbed is repeated at once
        round=$(for configuration in 1x1 1x2 2x1 2x2; do printf '%s\n' "$configuration" "$(nproc)x2"; done)
        [ $status -eq 0 ] &&
            [ "$(uniq cores.seen)" = "$(printf '%s\n' 1x1 "$(nproc)x2" "$round" "$round" | uniq)" ]
        report $? "validate measures configurations in turn, each on its cores"
    fi
    run trace --follow --no-block-io --no-evictions --plain-runs 0 -o family -- \
        sh -c "'$build/samples/bank' --threads 2 --size 2003; '$build/samples/bank' --threads 2 --size 2003"
    [ $status -eq 0 ] && grep -Eq 'traced .* records of [7-9] threads' err
    report $? "trace --follow records the children, too"
    run build-model -q -i family
    [ $status -eq 0 ] && jq -e '[.pools[] | select(.name | startswith("teller_run"))] | length >= 1' family/model.json >/dev/null
    report $? "and their threads are in the model"
}

# What is not permitted is said, and a model is built of the rest.
check_without_root() {
    if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
        skip "without root persik says what it lacks" "is not root, or has no setpriv"
        return
    fi
    chmod 755 .
    mkdir -m 777 anyone
    cp "$persik" "$build/libpersik-probe.so" "$build/persik-analyze" "$build/samples/bank" anyone && chmod 755 anyone/*
    PERSIK_CACHE=$scratch/anyone/cache timeout 120 setpriv --reuid=65534 --regid=65534 --clear-groups \
        anyone/persik profile -o anyone/data -- anyone/bank --threads 2 --size 20003 >out 2>err
    status=$?
    [ $status -eq 0 ] && grep -q 'not recorded: block I/O: only root may see it' err
    report $? "without root persik says what it lacks"
    [ "$(stat -c '%u %a' anyone/data/trace.persik)" = "65534 600" ]
    report $? "its recording is the user's own"
    run build-model -i anyone/data
    [ $status -eq 0 ] && jq -e '.explained_share > 0.9' anyone/data/model.json >/dev/null
    report $? "and gives a model"
}

check_words
check_numbers
check_prediction
check_load
check_changes
check_bottleneck
check_diff
check_recommendation
check_bad_models
check_bad_programs
check_recording
check_nothing_is_lost
check_bad_traces
check_dying_programs
check_full_disk
check_shared_results
check_pipeline
check_what_models_keep
check_simulated_export
check_explanations
check_conditions_of_runs
check_without_root
check_standard_files
check_number_of_runs
check_without_debug_information
finish
