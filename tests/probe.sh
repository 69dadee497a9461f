#!/bin/sh
# Checks the probe library on small programs (tests/programs/probe_*.c): nothing is lost or invented, and
# the programs do not notice. Usage: tests/probe.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

trap 'umount "$scratch/full" 2>/dev/null; rm -rf "$scratch"' EXIT
probe=$build/libpersik-probe.so
raw=$scratch/raw
hang_s=120 # a run takes milliseconds: one that takes this long is in a deadlock

compile() {
    ${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -g -O1 -Wall -Wextra -Werror "$@" -lpthread || exit 2
}

# bare PROGRAM...: plain run; its output and status in $scratch/bare.*
bare() {
    timeout $hang_s "$@" >"$scratch/bare.out" 2>"$scratch/bare.err" </dev/null
    echo $? >"$scratch/bare.status"
}

# probed [-f] PROGRAM...: the same under the probe; records as text in $scratch/records. -f: children too
probed() {
    following=
    [ "$1" = -f ] && { following=-f; shift; }
    rm -rf "$raw"
    # shellcheck disable=SC2086 # none or one
    timeout $hang_s "$scratch/raw_run" $following -k "$probe" "$raw" "$scratch/records" "$@" \
        >"$scratch/probed.out" 2>"$scratch/probed.err" </dev/null
    echo $? >"$scratch/probed.status"
}

same_behaviour() {
    cmp "$scratch/bare.out" "$scratch/probed.out" && cmp "$scratch/bare.err" "$scratch/probed.err" &&
        cmp "$scratch/bare.status" "$scratch/probed.status"
}

# count API [THREAD]: how many such records
count() {
    awk -v api="$1" -v thread="${2:-}" \
        '$1 == "record" && $4 == api && (thread == "" || $3 == thread)' "$scratch/records" | wc -l
}

# shellcheck source=raw_run.inc
. "$root/tests/raw_run.inc"
build_raw_run "$scratch/raw_run"
for program in count window semantics signals sends ends children threads secret streams; do
    compile tests/programs/probe_$program.c -o "$scratch/$program"
done
compile -shared -fPIC tests/programs/probe_plugin.c -o "$scratch/probe_plugin.so"
# shellcheck disable=SC2016 # $ORIGIN is the loader's
compile tests/programs/probe_load.c -o "$scratch/load" -Wl,--enable-new-dtags,-rpath,'$ORIGIN'

compile tests/programs/probe_files.c -o "$scratch/files"
compile -shared -fPIC tests/programs/probe_early.c -o "$scratch/libprobe_early.so"
# shellcheck disable=SC2016
compile tests/programs/probe_late.c -o "$scratch/late" -L"$scratch" -lprobe_early \
    -Wl,--enable-new-dtags,-rpath,'$ORIGIN'

# ---- the catalog ----

exports_catalog() {
    nm -D --defined-only "$probe" | awk '$2 == "T" { print $3 }' | sort >"$scratch/exported"
    {
        sed -n 's/^API(\([A-Za-z0-9_]*\),.*/\1/p' formats/catalog.def |
            grep -v -e '^std_future_wait$' -e '^syscall_futex_'
        echo syscall # by which that is called
        sed -n 's/^FUTURE(\(.*\))$/\1/p' tracer/probe/variants.def # what that is called by
    } | sort >"$scratch/catalog"
    [ -s "$scratch/catalog" ] && [ -z "$(comm -13 "$scratch/exported" "$scratch/catalog")" ]
}
check "every function of the catalog is interposed" exports_catalog

# ---- before our constructor ----

bare "$scratch/late"
probed "$scratch/late"
check "streams are written before we are ready, and handlers around fork run" same_behaviour
check "what comes after the fork is recorded as before" [ "$(count pthread_mutex_lock)" -eq 24 ]
check "nothing of the child is" [ "$(count pthread_mutex_unlock)" -eq 24 ]

# ---- no descriptor left ----

bare "$scratch/files"
probed "$scratch/files"
check "a program that has no descriptor left does not notice" same_behaviour
recorded_after() { awk '$1 == "record" && $4 == "pthread_mutex_lock"' "$scratch/records" | wc -l; }
check "it is recorded all the same" [ "$(recorded_after)" -eq "$(count pthread_mutex_unlock)" ]
check "short threads share what they write to" [ "$(du -k "$raw/records" | cut -f 1)" -lt 2000 ]

# ---- counts and call sites ----

bare "$scratch/count"
probed "$scratch/count"
check "output and status are the program's own" same_behaviour
for thread in 1 2 3; do
    check "thread $thread: all 1009 locks" [ "$(count pthread_mutex_lock $thread)" -eq 1009 ]
    check "thread $thread: all 1009 unlocks" [ "$(count pthread_mutex_unlock $thread)" -eq 1009 ]
done

# Return addresses of a position-independent program: subtract where it was loaded.
base=$(awk -v program="$scratch/count" '$1 == "module" && $5 == program { print $3; exit }' \
    "$scratch/records")
callers=$(awk '$1 == "record" && $4 == "pthread_mutex_lock" && $3 == 1 { print $10, $11, $12 }' \
    "$scratch/records" | sort | uniq -c | while read -r times a b c; do
    names=
    for address in $a $b $c; do
        name=$(addr2line -f -e "$scratch/count" "$(printf '0x%x' $((0x$address - 0x$base - 1)))" | head -1)
        names="$names $name"
    done
    echo "$times$names"
done | sort)
check "call chains by either path, each as often as taken, up to the start routine" \
    [ "$callers" = "504 add right run
505 add left run" ]

sections_in_order() {
    awk '$4 == "pthread_mutex_lock" { printf "%.0f lock %d\n", $6 + $7, $3 }
         $4 == "pthread_mutex_unlock" { print $6, "unlock", $3 }' "$scratch/records" |
        sort -n | awk '
        $2 == "lock" { if (held) exit bad = 1; held = 1; owner = $3; n++ }
        $2 == "unlock" { if (!held || owner != $3) exit bad = 1; held = 0 }
        END { exit bad || n != 3027 }'
}
check "critical sections of one mutex never overlap in time" sections_in_order

waits_are_waits() { # flag 1: the first attempt failed; only then there is a duration
    awk '$4 == "pthread_mutex_lock" && ($5 % 2 == 1) != ($7 > 0) { exit bad = 1 } END { exit bad }' \
        "$scratch/records"
}
check "a lock has a duration exactly if it was contended" waits_are_waits
check "pthread_create and pthread_join name the other thread" \
    [ "$(awk '$4 == "pthread_create" || $4 == "pthread_join" { printf "%s ", $9 }' \
        "$scratch/records")" = "1 2 3 1 2 3 " ]
check "every thread's start and end are seen" \
    [ "$(awk '$1 == "thread" && $5 == 1' "$scratch/records" | wc -l)" -eq 4 ]
check "files are the user's alone" \
    [ "$(find "$raw" -type f ! -perm 600 | wc -l)-$(find "$raw" -type f | wc -l)" = 0-2 ]

probed "$scratch/window"
check "nothing is lost between chunks" \
    [ "$(count pthread_mutex_lock)-$(count pthread_mutex_unlock)" = 10007-10007 ]
check "a call that outlives its chunk is completed: flags, and a duration over all it contains" \
    [ "$(awk '$4 == "pthread_once" { n++; flags = $5; end = $6 + $7 } $6 + $7 > last { last = $6 + $7 }
        END { print n, flags, end == last }' "$scratch/records")" = "1 1 1" ]

# ---- the program's own behaviour ----

bare "$scratch/semantics"
probed "$scratch/semantics"
check "results, errno, cancellation and descriptors are as without" same_behaviour
# Three waits, which fail, and three wakes, of which one does; an operation that does not exist is none.
check "futexes by syscall are recorded" \
    [ "$(count syscall_futex_wait) $(count syscall_futex_wake)" = "3 3" ]
check "the last record of a cancelled thread is unfinished" \
    [ "$(awk '$4 == "pthread_cond_wait" && int($5 / 8) % 2 == 1' "$scratch/records" | wc -l)" -eq 1 ]
check "calls of destructors of thread-specific keys are recorded" \
    [ "$(awk '$4 == "pthread_exit" { thread = $3 }
        thread != "" && $3 == thread && $4 == "pthread_mutex_unlock"' \
        "$scratch/records" | wc -l)" -eq 1 ]

# libstdc++ waits for a future by one, inside of the call that is recorded.
future_is_one_wait() {
    ${CXX:-g++} -std=c++17 -g -O1 tests/programs/futures.cpp -o "$scratch/futures" -lpthread || return
    probed "$scratch/futures"
    [ "$(count std_future_wait)" -gt 0 ] && [ "$(count syscall_futex_wait)" = 0 ]
}
check "a wait for a std::future is one record" future_is_one_wait

probed "$scratch/signals"
lost=$(awk '$1 == "process" { print $5 }' "$scratch/records")
check "a storm of signals breaks nothing, and what handlers lose inside a slow path is counted: $lost" \
    [ $(($(count write 0) + lost)) -eq "$(cat "$scratch/probed.out")" ]
check "every lock has its unlock under the storm" \
    [ "$(count pthread_mutex_lock)" -eq "$(count pthread_mutex_unlock)" ]

bare "$scratch/sends"
probed "$scratch/sends"
check "signals are sent, waited for and handled as before, and the last one kills" same_behaviour
check "sends that do something are recorded, also that of a handler and the last one" \
    [ "$(count kill)-$(count sigqueue)-$(count pthread_kill)-$(count pthread_sigqueue)" = 5-2-2-1 ]
check "waits for signals are recorded" \
    [ "$(count sigwait 1)-$(count sigwaitinfo 1)-$(count sigtimedwait 1)-$(count sigsuspend 1)" = \
    1-1-2-1 ]
check "the record of a send to a process says to which, and what" \
    [ "$(awk '$4 == "kill" { print $9 }' "$scratch/records" | tr '\n' ' ')" = "10 12 1 99 15 " ]
check "that of a send to a thread says to which" \
    [ "$(awk '$4 == "pthread_kill" || $4 == "pthread_sigqueue" { print $9 }' "$scratch/records" |
        tr '\n' ' ')" = "1 1 0 " ]

# ---- ends of the process ----

for way in return exit _exit _Exit quick_exit pthread_exit abort kill crash; do
    bare "$scratch/ends" $way
    probed "$scratch/ends" $way
    check "$way: same status" same_behaviour
    check "$way: all records are kept" \
        [ "$(count pthread_mutex_lock)-$(count pthread_mutex_unlock)" = 7-7 ]
    case $way in abort | kill | crash) exited=0 ;; *) exited=1 ;; esac
    check "$way: known as $([ $exited = 1 ] && echo an exit || echo cut off)" \
        [ "$(awk '$1 == "process" { print $3 % 2 }' "$scratch/records")" = $exited ]
done

# ---- children ----

for way in fork vfork spawn exec; do
    bare "$scratch/children" $way
    probed "$scratch/children" $way
    check "$way: same behaviour, and the child sees none of our variables" same_behaviour
    [ $way = exec ] && expected=18-2 || expected=14-1
    check "$way: the child is not recorded, what the process becomes is" \
        [ "$(count pthread_mutex_lock)-$(grep -c '^process' "$scratch/records")" = "$expected" ]
    probed -f "$scratch/children" $way
    [ $way = exec ] && expected=18-2 || expected=25-2
    check "$way: the child is recorded on request" \
        [ "$(count pthread_mutex_lock)-$(grep -c '^process' "$scratch/records")" = "$expected" ]
done

# ---- libraries, many threads ----

bare "$scratch/load"
probed "$scratch/load"
check "dlopen works as before" same_behaviour
check "calls of a loaded library are recorded" [ "$(count pthread_mutex_lock)" -eq 13 ]
in_plugin() {
    address=$(awk '$4 == "pthread_mutex_lock" { print $10; exit }' "$scratch/records")
    while read -r _ _ low high file; do
        [ "$file" = "$scratch/probe_plugin.so" ] && [ $((0x$address)) -ge $((0x$low)) ] &&
            [ $((0x$address)) -lt $((0x$high)) ] && return 0
    done <<END
$(grep '^module' "$scratch/records")
END
    return 1
}
check "the map knows the loaded library, even after dlclose" in_plugin

bare "$scratch/threads"
probed "$scratch/threads"
check "200 threads run as before" same_behaviour
check "200 threads each have their record and their end" \
    [ "$(awk '$1 == "thread" && $5 == 1 && $6 == 1' "$scratch/records" | wc -l)" -eq 200 ]
joined() {
    awk '$4 == "pthread_join" { print $9 }' "$scratch/records" | cmp - "$scratch/expected"
}
awk 'BEGIN { for (i = 200; i > 0; i--) print i }' >"$scratch/expected"
check "pthread_join knows which of 200 threads it was" joined

# ---- secrets, and places where nothing can be written ----

rm -rf "$raw"
echo "open-sesame-4711" | "$scratch/raw_run" -k "$probe" "$raw" "$scratch/records" "$scratch/secret" \
    >"$scratch/out"
check "the program passed its secret on" [ "$(cat "$scratch/out")" = "17 17 0" ]
check "its calls were recorded" [ "$(count read)-$(count fgets)" = 2-1 ]
check "the secret is in no file" [ "$(grep -rl sesame "$raw" | wc -l)" -eq 0 ]

# ---- streams ----

bare "$scratch/streams"
probed "$scratch/streams"
check "a stream's lines come back as before" same_behaviour
transfers=$(($(count fwrite) + $(count fputs) + $(count fread) + $(count fgets) + $(count getline)))
check "only calls that move a stream's buffer are recorded: $transfers of 20000" \
    [ "$transfers" -ge 100 -a "$transfers" -le 1000 ]

bare "$scratch/count"
mkdir "$scratch/empty" "$scratch/strange"
dd if=/dev/urandom of="$scratch/strange/segment" bs=64k count=1 2>/dev/null
for place in missing empty strange relative count; do
    folder=$scratch/$place
    [ $place = relative ] && folder=relative
    timeout $hang_s env PERSIK_PROBE_DIR="$folder" LD_PRELOAD="$probe" "$scratch/count" \
        >"$scratch/probed.out" 2>"$scratch/probed.err" </dev/null
    echo $? >"$scratch/probed.status"
    check "no segment to be had ($place): the program runs as before" same_behaviour
done

mkdir "$scratch/full"
if mount -t tmpfs -o size=24m,mode=700 none "$scratch/full" 2>/dev/null; then
    raw=$scratch/full/raw
    dd if=/dev/zero of="$scratch/full/filler" bs=64k 2>/dev/null
    probed "$scratch/count"
    check "full disk: it is said before the program runs" \
        [ "$(cat "$scratch/probed.status")-$(grep -c 'make room' "$scratch/probed.err")" = 125-1 ]
    umount "$scratch/full"
else
    skip "full disk" "may not mount a tmpfs"
fi
finish
