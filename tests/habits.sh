#!/bin/sh
# Programs with habits that an injected library could disturb (tests/programs/habits.c): what they print and
# how they end is the same with probes, and what they did is recorded. Usage: tests/habits.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2
# shellcheck source=raw_run.inc
. "$root/tests/raw_run.inc"
build_raw_run "$scratch/raw_run"
probe=$build/libpersik-probe.so
hang_s=120

${CC:-gcc} -std=gnu17 -D_GNU_SOURCE -g -O1 -mno-red-zone -Wall -Wextra tests/programs/habits.c \
    -o "$scratch/habits" -lpthread || exit 2

# compare PROGRAM...: bare and under the probes; records as text in $scratch/records
compare() {
    timeout $hang_s "$@" >"$scratch/bare" 2>&1 </dev/null
    bare_status=$?
    rm -rf "$scratch/raw"
    timeout $hang_s "$scratch/raw_run" "$probe" "$scratch/raw" "$scratch/records" "$@" \
        >"$scratch/probed" 2>&1 </dev/null
    probed_status=$?
    [ $bare_status -eq $probed_status ] && cmp "$scratch/bare" "$scratch/probed"
}

count() { awk -v api="$1" '$1 == "record" && $4 == api' "$scratch/records" | wc -l; }
lost() { awk '$1 == "process" { n += $5 } END { print n + 0 }' "$scratch/records"; }
recorded() { [ $(($(count pthread_mutex_lock) + $(lost))) -ge "$1" ]; }

while read -r habit locks promise; do
    case $habit in
    drop_user | own_root)
        if [ "$(id -u)" -ne 0 ]; then
            skip "$promise" "only root can do that"
            continue
        fi
        ;;
    esac
    compare "$scratch/habits" "$habit"
    report $? "$promise"
    check "$habit: at least $locks calls of it are recorded" recorded "$locks"
done <<'END'
strict 40 strict seccomp: no system call of ours, and no use of the clock that it takes away
filter 80000 a seccomp filter that allows what the program needs lets it live
drop_user 80000 a server that drops its privileges is recorded as before
no_clock 40 a thread that gives up its clock, what it makes, and what it becomes
own_root 80000 a server that goes into a root of its own is recorded as before
errno_at_start 0 errno is 0 at the start
close_all 80000 a program that closes all that it did not open
small_space 80000 a limit on the address space
last_descriptor 30000 open gives the lowest free descriptor, also the last one
lock_memory 80000 locked memory
small_files 80000 a limit on the size of files
least_stack 20000 a thread with the least stack
switch_stacks 20000 coroutines, each on a stack of its own
small_stack 3 a thread with little stack left
raw_fork 100000 a child made by the system call alone does not write into its parent's records
raw_clone 100000 a child made by clone neither
wrong_table 100 wrong unwind tables and a misaligned stack
leaps 1000 handlers that leave by siglongjmp
END

compare "$scratch/habits" raw_fork
check "of a child behind our back nothing is recorded" \
    [ "$(($(count pthread_mutex_lock) + $(lost)))-$(grep -c '^process' "$scratch/records")" = 100000-1 ]
check "its parent is recorded whole" [ "$(count pthread_create)-$(count pthread_join)" = 4-4 ]

# Whatever the collector makes of it: a trace, or one line that says why not.
for seed in 1 2 3 4 5 6 7 8; do
    timeout $hang_s "$persik" trace -q --plain-runs 0 --no-evictions --no-block-io -o "$scratch/data" \
        -- "$scratch/habits" scribble $seed >"$scratch/log" 2>&1
    status=$?
    check "a program that overwrites what it shares with us cannot harm the collector ($seed)" \
        [ $status -le 1 ]
done

# ---- what a program becomes ----

for chain in "env HABIT=1" "nice -n 1" "sh -c 'exec \"\$0\" \"\$@\"'"; do
    eval "compare $chain \"\$scratch/habits\" small_files"
    report $? "$chain: the program behaves as before"
    check "$chain: what it becomes is recorded" recorded 80000
done

# ---- allocators ----

for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    path=$(ldconfig -p | awk -v name="$allocator" '$1 == name { print $NF; exit }')
    if [ -z "$path" ]; then
        skip "preloaded $allocator" "not installed"
        continue
    fi
    LD_PRELOAD=$path
    export LD_PRELOAD
    compare "$scratch/habits" small_files
    status=$?
    unset LD_PRELOAD
    report $status "preloaded $allocator: the program runs as before"
    check "preloaded $allocator: it is recorded" recorded 80000
done

finish
