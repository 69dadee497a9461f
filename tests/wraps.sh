#!/bin/sh
# Functions of the user's catalog, wrapped, watched by the kernel or hooked: the program does what it
# does without us, and every call is recorded once. Usage: tests/wraps.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
programs=$root/tests/programs

explain_failure() {
    head -n 20 log err
}

# trace CATALOG PROGRAM: both ways; the outputs in bare and traced, the records in calls.
trace() {
    catalog=$1
    shift
    "$@" >bare 2>bare.err
    echo "status $?" >>bare
    "$persik" trace --no-evictions --plain-runs 0 --catalog "$catalog" -o data "$@" >traced 2>err
    echo "status $?" >>traced
    "$persik" export -i data --what trace --format csv | tail -n +2 >calls
}

same() {
    diff bare traced
}

# count CALL [FLAGS [LINE]]
count() {
    awk -F, -v call="$1" -v flags="${2:-}" -v line="${3:-}" \
        '$4 == call && (flags == "" || $7 == flags) && (line == "" || $10 == line)' calls | wc -l
}

watched() {
    grep -q "$scratch/$1:" /sys/kernel/tracing/uprobe_events
}

unwatched() {
    ! watched "$1"
}

is_root=$([ "$(id -u)" -eq 0 ] && [ -e /sys/kernel/tracing/uprobe_events ] && echo yes)

# ---- every shape of function ----

cat >wrapped.catalog <<'END'
get give_pair
create-queue give_large object=result amount=arg1
put take_large
put many
put add_all
try-put fail_with_errno fails=negative
get jump_out
get end_thread
try-get is_odd fails=false
ignore start_one
get wait_for_cancel
END
for flags in -O0 -O2 '-O2 -fpatchable-function-entry=5' '-O2 -pg -mfentry' '-O2 -fcf-protection=full' \
    '-O2 -fno-pie -no-pie'; do
    # shellcheck disable=SC2086 # several words
    gcc -g -D_GNU_SOURCE $flags "$programs/wrapped.c" -o wrapped -lm -lpthread || exit 1
    trace wrapped.catalog ./wrapped
    check "results are the program's own: $flags" same
    check "struct of two registers, 5 calls: $flags" [ "$(count user:get 1 166)" -eq 5 ]
    check "arguments on the stack, 15 calls: $flags" [ "$(count user:put 1)" -eq 15 ]
    check "errno, 5 failures: $flags" [ "$(count user:tryput 2)" -eq 5 ]
    check "left by longjmp, 3 unfinished: $flags" [ "$(count user:get 9 148)" -eq 3 ]
    check "locks inside are hidden, those after a longjmp are not: $flags" \
        [ "$(count pthread_mutex_lock)" -eq 18 ]
    check "threads are followed from inside: $flags" [ "$(count pthread_create)" -eq 3 ]
done

# ---- watched by the kernel ----

g++ -g -O2 "$programs/throws.cpp" -o throws -lpthread || exit 1
printf 'try-get take fails=zero\nget drain\n' >throws.catalog
if [ "$is_root" ]; then
    trace throws.catalog ./throws
    check "exceptions pass through" same
    check "locks after an exception are seen" [ "$(count pthread_mutex_lock)" -gt 0 ]
    gcc -g -O2 -D_GNU_SOURCE "$programs/wrapped.c" -o wrapped -lm -lpthread
    printf 'try-get give_long_double fails=null\nget recurse\n' >kernel.catalog
    trace kernel.catalog ./wrapped
    check "results under uprobes are the program's own" same
    check "5 calls that only the kernel can watch" [ "$(count user:tryget)" -eq 5 ]
    check "a recursive function is one call" [ "$(count user:get)" -eq 1 ]
    check "the kernel's list knows nothing of it any more" unwatched wrapped
    gcc -g -O2 -pg -mno-fentry -D_GNU_SOURCE "$programs/wrapped.c" -o counted -lm -lpthread
    rm -f gmon.out
    trace wrapped.catalog ./counted
    check "results of a program with mcount are its own" same
    check "its calls are seen" [ "$(count user:put)" -eq 15 ]
    check "its own profile is written" [ -s gmon.out ]

    printf 'get pause_inside\n' >paused.catalog
    gcc -g -O2 "$programs/paused.c" -o paused || exit 1
    for signal in INT KILL; do
        # A shell's background jobs ignore SIGINT.
        rm -rf paused.out paused.data
        env --default-signal=INT "$persik" trace -q --no-evictions --plain-runs 0 --catalog paused.catalog \
            -o paused.data ./paused >paused.out 2>err &
        tracer=$!
        while [ ! -s paused.out ] && kill -0 $tracer 2>/dev/null; do sleep 0.05; done
        check "watched while it runs, before SIG$signal" watched paused
        kill -$signal $tracer
        [ $signal = INT ] || kill "$(cat paused.out)"
        wait $tracer 2>/dev/null
        # What was killed cannot clean up; the next one does.
        [ $signal = INT ] || "$persik" trace -q --no-evictions --plain-runs 0 -o next.data true 2>err
        check "not watched after SIG$signal" unwatched paused
    done
else
    skip "functions watched by the kernel" "only root may"
fi

# ---- hooks ----

gcc -g -O2 -finstrument-functions "$programs/hooked.c" -o hooked -lpthread || exit 1
cat >hooked.catalog <<'END'
put jobs_put object=jobs
get jobs_get object=jobs
close jobs_flush object=jobs
acquire jobs_leave object=gate
END
trace hooked.catalog ./hooked
check "hooked: results are the program's own" same
check "11 inlined puts" [ "$(count user:put)" -eq 11 ]
check "101 inlined gets" [ "$(count user:get)" -eq 101 ]
check "a function that is both wrapped and hooked is one call" [ "$(count user:close_queue)" -eq 1 ]
check "left by longjmp and by the thread's end, 4 unfinished" [ "$(count user:acquire 9)" -eq 4 ]
check "locks inside are hidden, the one after them is not" [ "$(count pthread_mutex_lock)" -eq 1 ]
printf 'put jobs_put\n' >blind.catalog
trace blind.catalog ./hooked
check "inlined calls whose arguments are needed are counted" grep -q '11 calls of jobs_put: it was inlined' err

# ---- without root ----

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 . wrapped kernel.catalog
    mkdir -m 777 plain.data
    cp "$persik" "$(dirname "$persik")/libpersik-probe.so" . && chmod 755 persik libpersik-probe.so
    setpriv --reuid=65534 --regid=65534 --clear-groups ./persik trace --no-evictions --plain-runs 0 \
        --catalog kernel.catalog -o plain.data/trace ./wrapped >traced 2>err
    check "without root, what could be done is said" \
        grep -q 'give_long_double.*only root may have the kernel watch it: compile it with -fpatch' err
else
    skip "functions watched by the kernel, without root" "is not root, or has no setpriv"
fi

# ---- slips ----

refused() {
    printf '%s\n' "$1" >bad.catalog
    rm -rf fresh ran
    ! "$persik" trace --catalog bad.catalog -o fresh -- sh -c 'touch ran' 2>err &&
        [ "$(wc -l <err)" -eq 1 ] && grep -q "$2" err && [ ! -e fresh ] && [ ! -e ran ]
}
check "an unknown function, before anything runs" refused 'put no_such_function' \
    'bad.catalog:1: no_such_function: no such function'
check "an unknown role, before anything runs" refused 'push f' "bad.catalog:1: unknown role 'push'"

finish
