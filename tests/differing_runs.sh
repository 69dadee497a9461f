#!/bin/sh
# Checks that persik says when the runs it makes of a program differ, and concludes nothing from those that
# did other work, on tests/programs/differs.c. Usage: tests/differing_runs.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
program=$scratch/differs
${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror "$root/tests/programs/differs.c" \
    -o "$program" -lpthread || exit 2
cd "$scratch" || exit 2
data=$scratch/data

# status_of COMMAND...: what it prints is in $scratch/said, its exit status in $status.
status_of() {
    rm -rf runs data data.old
    status=0
    "$@" >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
}

one_line() { [ "$(grep '^persik: ' said | grep -vc '^persik: warning\|^persik: [^:]*$')" -eq 1 ]; }
said() { tr '\n' ' ' <said | grep -q -- "$1"; }
profile() { status_of "$persik" profile -q --no-source -o "$data" "$@"; }
trace() { status_of "$persik" trace -o "$data" "$@"; }

ends_with_its_status() {
    profile -- "$program" exits 1 && [ "$status" -eq 3 ] && one_line && said 'failed in its first run: exit status 3' &&
        [ ! -e data ] && [ "$(cat runs)" -eq 1 ]
}
ends_with_its_signal() {
    profile -- "$program" aborts 1 && [ "$status" -eq 134 ] && one_line && said 'killed by signal 6' && [ ! -e data ]
}
trace_ends_with_its_status() {
    trace -- "$program" exits 1 && [ "$status" -eq 3 ] && one_line && [ ! -e data ] &&
        trace --plain-runs 0 --no-evictions -- "$program" exits 1 && [ "$status" -eq 3 ] && one_line
}
sample_ends_with_its_status() {
    status_of "$persik" sample -o "$data" -- "$program" exits 1 && [ "$status" -eq 3 ] && one_line && [ ! -e data ]
}
goes_on_when_told() {
    profile --ignore-failure --plain-runs 1 --no-evictions -- "$program" exits 1 && [ "$status" -eq 0 ] &&
        [ -e data/trace.persik ] && "$persik" report -i "$data" | grep -q 'exit status 3'
}
refuses_a_failing_traced_run() {
    profile -- "$program" exits 2 && [ "$status" -eq 1 ] && one_line && said 'did other work when traced.*--prepare' && [ ! -e data ]
}
prepare_makes_them_alike() {
    profile --prepare 'rm -f runs' --plain-runs 2 -- "$program" exits 2 && [ "$status" -eq 0 ] && ! said 'did other work\|does not count'
}
leaves_out_a_failing_plain_run() {
    trace --plain-runs 1 -- "$program" exits 2 && [ "$status" -eq 0 ] && said 'ended otherwise than the first' && ! said perturbation
}
leaves_out_an_idle_plain_run() {
    trace --plain-runs 1 --no-evictions -- "$program" idles 2 && [ "$status" -eq 0 ] && said '1 of 1 runs did other work' &&
        ! said perturbation && "$persik" build-model -i "$data" | tee model.txt && ! grep -q 'without probes  ' model.txt
}
keeps_equal_plain_runs() {
    trace --plain-runs 3 --no-evictions -- "$program" exits 99 && [ "$status" -eq 0 ] && said perturbation && ! said 'other work\|does not count'
}
says_other_threads_when_sampled() {
    profile --plain-runs 0 --no-evictions -- "$program" shrinks 2 && [ "$status" -eq 0 ] && said 'sampled run had 5 threads and the traced one 2'
}

# The runs with evictions: root only, and only of programs that run long enough.
may_evict() {
    trace --thorough --plain-runs 0 -- "$program" exits 99 >/dev/null && [ -e data/evictions-2.persik ]
}
leaves_out_an_evicted_run() {
    trace --thorough --plain-runs 0 -- "$program" "$1" 2 && [ "$status" -eq 0 ] && said "$2" && [ ! -e data/evictions-1.persik ]
}
says_an_aborted_one() {
    trace --thorough --plain-runs 0 -- "$program" aborts 3 && [ "$status" -eq 0 ] && said 'killed by signal 6.*does not count' &&
        [ -e data/evictions-1.persik ] && [ ! -e data/evictions-2.persik ]
}

runs_commands_around_every_run() {
    : >prepared && : >cleaned
    profile --prepare 'echo out && echo x >>prepared' --cleanup 'echo x >>cleaned' --plain-runs 2 -- "$program" exits 99 &&
        [ "$status" -eq 0 ] && n=$(cat runs) && [ "$n" -ge 4 ] && [ "$(wc -l <prepared)" -eq "$n" ] && [ "$(wc -l <cleaned)" -eq "$n" ]
}
a_failing_prepare_ends_all() {
    profile --prepare 'exit 7' -- "$program" exits 99 && [ "$status" -eq 1 ] && one_line && said "'exit 7' failed: exit status 7" && [ ! -e runs ] &&
        profile --prepare 'test ! -e runs' -- "$program" exits 99 && [ "$status" -eq 1 ] && one_line && [ "$(cat runs)" -eq 1 ] && [ ! -e data ]
}

validate_alike() {
    trace --plain-runs 0 --no-evictions -- "$program" exits 99 && "$persik" build-model -q -i "$data" && mv data model &&
        status_of "$persik" validate -i model --runs 1 -- "$program" exits 1 && [ "$status" -eq 3 ] && one_line &&
        status_of "$persik" validate -i model --runs 2 -- "$program" exits 2 && [ "$status" -eq 1 ] && said 'after runs that did not' &&
        status_of "$persik" validate -i model --runs 2 --prepare 'rm -f runs' -- "$program" exits 2 && [ "$status" -eq 0 ] &&
        status_of "$persik" validate -i model --runs 1 --ignore-failure -- "$program" exits 1 && [ "$status" -eq 0 ]
}

static_is_refused_first() {
    echo 'int main(void) { return 0; }' >static.c && ${CC:-gcc} -static static.c -o static && for command in profile trace; do
        status_of "$persik" $command -o "$data" -- ./static && [ "$status" -eq 1 ] && one_line && said 'static binary' || return 1
    done
}
a_script_is_recorded() {
    printf '#!/bin/sh\ni=0\nwhile [ $i -lt 20000 ]; do i=$((i + 1)); done\n' >script && chmod +x script &&
        profile --plain-runs 1 --no-evictions -- ./script && [ "$status" -eq 0 ] && ! said 'other work'
}

check "a first run that fails ends profile with its status" ends_with_its_status
check "one that a signal ends, with 128 and its number" ends_with_its_signal
check "so with trace, whether its first run is plain or traced" trace_ends_with_its_status
check "so with sample" sample_ends_with_its_status
check "--ignore-failure records it all the same" goes_on_when_told
check "a traced run that ends otherwise than the first is no recording" refuses_a_failing_traced_run
check "--prepare makes runs alike" prepare_makes_them_alike
check "a plain run that fails does not count, and that is said" leaves_out_a_failing_plain_run
check "a plain run that did nothing corrects nothing" leaves_out_an_idle_plain_run
check "equal runs all count" keeps_equal_plain_runs
check "a sampled run with other threads is said" says_other_threads_when_sampled
if may_evict; then
    check "a run with evictions that has other threads is left out" leaves_out_an_evicted_run shrinks '2 threads, not 5'
    check "one that makes other calls is left out" leaves_out_an_evicted_run hurries 'calls of pthread_mutex_lock, not 8000'
    check "one that is aborted is said and left out" says_an_aborted_one
else
    skip "runs with evictions that did other work are left out" "cores cannot be held here"
fi
check "--prepare and --cleanup are run around every run" runs_commands_around_every_run
check "a failing --prepare ends persik" a_failing_prepare_ends_all
check "validate judges runs alike" validate_alike
check "a static program is refused before any run" static_is_refused_first
check "a script is recorded as its interpreter" a_script_is_recorded

finish
