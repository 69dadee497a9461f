#!/bin/sh
# Monitors simulated by their own statements: those that no counter and no pattern explains, and those
# of which the user wants it, which must then give what their recognised models give. Of kept recordings.
# Usage: tests/statements.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export COLUMNS=1000 # a sentence is one line
cd "$scratch" || exit 1

# again NAME FROM WORD: the recording FROM once more, whose monitors are WORD by the user.
again() {
    cp -r "$2" "$1"
    rm -f "$1"/model.*
    jq -r '[.monitors[].mutex] | unique | .[]' "$1/static.json" |
        sed "s/.*/monitor \"&\" is $3/" >"$1/catalog"
}

# built NAME: its model, without a drawing.
built() { PATH='' "$persik" build-model -q -i "$1"; }

kinds_of() { jq -r '[.objects[].kind] | unique | join(" ")' "$1/model.json"; }

# By how many percent the simulated run needs more or less CPU time than the recorded one: it does all the
# work, or not. Unlike the running time that is the same on a machine where others work, too.
miss_of() {
    jq '[.checks[] | {(.what): .}] | add |
        [."running time".simulated * ."CPU utilisation".simulated,
         ."running time".measured * ."CPU utilisation".measured] |
        (100 * (.[0] / .[1] - 1)) | fabs | round' "$1/model.json"
}

# is_recognised_as KIND RECORDING: its model, with such an object in it.
is_recognised_as() { kept "$2" && built "$2" && kinds_of "$2" | grep -w "$1"; }

# is_simulated_as KIND RECORDING: and nothing in it as a flag.
is_simulated_as() {
    kinds_of "$2"
    kinds_of "$2" | grep -qw "$1" && ! kinds_of "$2" | grep -qw flag
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

# ---- what nothing else explains ----

for program in assembly budget barrier_serial; do
    kept $program
    again $program.flag $program ignored
    built $program >$program.log 2>&1
    built $program.flag >$program.flag.log 2>&1
    [ $program = barrier_serial ] && kind=barrier || kind=monitor
    check "$program: it is simulated as a $kind" is_simulated_as $kind $program
    check "$program: its waiting is modelled exactly" is_exact $program
    check "$program: that does all the work, as a flag does at best" \
        is_better $program $program.flag
    check "$program: nobody waits in vain with other thread counts" goes_on $program
done
PATH='' "$persik" build-model -q -i budget --explain budget >explained 2>&1
check "a person can read the statements" \
    grep -q 'wait for struct budget.changed while .*draining' explained
"$persik" graph -i budget >listed 2>&1
check "the variables are listed" grep -q 'monitor .*struct budget.used = 0' listed
check "it is known from the replay" \
    grep -q 'source statements replayed: [0-9]* decisions, [0-9]* waits, [0-9]* violations' listed
"$persik" graph -i budget --dot >drawn 2>&1
check "it is drawn" grep -q 'monitor struct budget.*struct budget.draining' drawn

# ---- by the user's word ----

for program in bounded_counter:queue barrier_generation:barrier semaphore_limit:tokens \
    latch_countdown:tokens; do
    kind=${program#*:}
    program=${program%:*}
    check "$program: it is a $kind" is_recognised_as "$kind" "$program"
    again "$program.statements" "$program" statements
    built "$program.statements" >"$program.log" 2>&1
    check "$program: its statements are simulated where the user wants it" \
        is_simulated_as monitor "$program.statements"
    check "$program: they predict what the recognised object does" are_alike "$program" "$program.statements"
done

check "who counts a latch down tells only when all have" \
    jq -e '[.objects[] | select(.wakes_all)] | length == 1 and all(.when_enough)' \
    latch_countdown/model.json

kept handover_turn turns
again turns.statements turns statements
PATH='' "$persik" build-model -i turns.statements >turns.log 2>&1
check "what cannot be simulated so is said" \
    grep -q 'statements of "round_robin" cannot be simulated: they depend on what' turns.log
built turns >turns.plain.log 2>&1
check "and is modelled as without the user's word" are_alike turns turns.statements

finish
