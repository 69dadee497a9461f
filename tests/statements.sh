#!/bin/sh
# Monitors simulated by their own statements: those that no counter and no pattern explains, and those
# of which the user wants it, which must then give what their recognised models give.
# Usage: tests/statements.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
programs=$root/tests/programs

# recorded NAME COMMAND...: a recording of the program in NAME.
recorded() {
    name=$1
    shift
    "$persik" profile -q --plain-runs 0 --no-block-io --no-evictions -o "$name" -- "$@" >"$name.log" 2>&1 || {
        cat "$name.log" >&2
        exit 1
    }
}

# again NAME FROM WORD: the recording FROM once more, whose monitors are WORD by the user.
again() {
    cp -r "$2" "$1"
    rm -f "$1"/model.*
    jq -r '[.monitors[].mutex] | unique | .[]' "$1/static.json" |
        sed "s/.*/monitor \"&\" is $3/" >"$1/catalog"
}

# built NAME: its model.
built() { "$persik" build-model -q -i "$1"; }

kinds_of() { jq -r '[.objects[].kind] | unique | join(" ")' "$1/model.json"; }

# By how many percent the simulated run needs more or less CPU time than the recorded one: it does all the
# work, or not. Unlike the running time that is the same on a machine where others work, too.
miss_of() {
    jq '[.checks[] | {(.what): .}] | add |
        [."running time".simulated * ."CPU utilisation".simulated,
         ."running time".measured * ."CPU utilisation".measured] |
        (100 * (.[0] / .[1] - 1)) | fabs | round' "$1/model.json"
}

# is_simulated_as KIND RECORDING: and nothing in it as a flag.
is_simulated_as() {
    kinds_of "$2"
    kinds_of "$2" | grep -qw "$1" && ! kinds_of "$2" | grep -qw flag
}

# is_a_barrier RECORDING: by name, and as one; or, if somebody came back while another one was still leaving, which
# is more than meeting, by its statements.
is_a_barrier() {
    jq -e '[.monitors[].kind] == ["barrier"]' "$1/model.json" &&
        { is_simulated_as barrier "$1" || is_simulated_as monitor "$1"; }
}

is_exact() {
    jq -r '.waiting[] | select(.how != "exact")' "$1/model.json"
    ! jq -e '[.waiting[] | select(.how != "exact" and .wait_ns > 1e6)] | length > 0' "$1/model.json"
}

# is_better NAME THAN: does its work, and no worse than the other one.
is_better() {
    mine=$(miss_of "$1") others=$(miss_of "$2")
    echo "CPU time off by $mine % and $others %"
    [ "$mine" -le 10 ] && [ "$mine" -le $((others + 3)) ]
}

# goes_on NAME: nobody waits in vain, with any number of threads.
goes_on() {
    "$persik" predict -i "$1" --threads 1,3,8 --cores 1,2 2>&1 | tee predicted
    ! grep -q 'waited for nothing' predicted
}

times_of() {
    "$persik" predict -q -i "$1" --threads 1,4,8 --cores 2 --format csv |
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run_ns") column = i; next }
                  { print $column }'
}

# are_alike A B: predict the same within a few percent.
are_alike() {
    times_of "$1" >a
    times_of "$2" >b
    paste a b | awk '{ print; miss = $2 / $1 - 1; if (miss > 0.06 || miss < -0.06) bad = 1 }
                     END { exit bad || NR < 3 }'
}

${MAKE:-make} -s -C "$root" "B=$build" monitors >make.log 2>&1 || {
    cat make.log >&2
    exit 1
}

# ---- what nothing else explains ----

for program in assembly budget; do
    gcc -std=gnu11 -g -O2 "$programs/$program.c" -o $program.bin -lpthread || exit 1
    recorded $program ./$program.bin 2
done
recorded barrier_serial "$build/monitors/barrier_serial" --threads 2
# Whose threads hardly met, because others had the cores, may look like something simpler.
for program in assembly budget barrier_serial; do
    again $program.flag $program ignored
    built $program >$program.log 2>&1
    built $program.flag >$program.flag.log 2>&1
    if [ $program = barrier_serial ]; then # they are those of a barrier
        check_undisturbed $program "$program: it is simulated as what it is" is_a_barrier $program
    else
        check_undisturbed $program "$program: its statements are simulated" \
            is_simulated_as monitor $program
    fi
    check_undisturbed $program "$program: its waiting is modelled exactly" is_exact $program
    check_undisturbed $program "$program: that does all the work, as a flag does at best" \
        is_better $program $program.flag
    check_undisturbed $program "$program: nobody waits in vain with other thread counts" goes_on $program
done
"$persik" build-model -q -i budget --explain budget >explained 2>&1
check_undisturbed budget "a person can read the statements" \
    grep -q 'wait for struct budget.changed while .*draining' explained
"$persik" graph -i budget >listed 2>&1
check_undisturbed budget "the variables are listed" grep -q 'monitor .*struct budget.used = 0' listed
check_undisturbed budget "it is known from the replay" \
    grep -q 'source statements replayed: [0-9]* decisions, [0-9]* waits, [0-9]* violations' listed
"$persik" graph -i budget --dot >drawn 2>&1
check_undisturbed budget "it is drawn" grep -q 'monitor struct budget.*struct budget.draining' drawn

# ---- by the user's word ----

# Where others use the machine threads may meet too seldom to be recognised: once more then.
recognised() {
    for _ in 1 2 3; do
        rm -rf "$1"
        recorded "$1" "$build/monitors/$1" --threads 2
        built "$1" >"$1.log" 2>&1
        kinds_of "$1" | grep -qw "$2" && return
    done
}

for program in bounded_counter:queue barrier_generation:barrier semaphore_limit:tokens \
    latch_countdown:tokens; do
    kind=${program#*:}
    program=${program%:*}
    recognised "$program" "$kind"
    again "$program.statements" "$program" statements
    built "$program.statements" >"$program.log" 2>&1
    check "$program: its statements are simulated where the user wants it" \
        is_simulated_as monitor "$program.statements"
    name="$program: they predict what the recognised object does"
    if kinds_of "$program" | grep -qw "$kind"; then
        check "$name" are_alike "$program" "$program.statements"
    else
        skip "$name" "it was not recognised in this run"
    fi
done

check "who counts a latch down tells only when all have" \
    jq -e '[.objects[] | select(.wakes_all)] | length == 1 and all(.when_enough)' \
    latch_countdown/model.json

recorded turns "$build/monitors/handover_turn" --threads 2
again turns.statements turns statements
"$persik" build-model -i turns.statements >turns.log 2>&1
check "what cannot be simulated so is said" \
    grep -q 'statements of "round_robin" cannot be simulated: they depend on what' turns.log
built turns >turns.plain.log 2>&1
check "and is modelled as without the user's word" are_alike turns turns.statements

finish
