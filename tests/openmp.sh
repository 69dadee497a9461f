#!/bin/sh
# Checks what is recorded of OpenMP's constructs, one region each, in tests/programs/omp_constructs.c, and what a model
# of a kept recording says of them.
# Usage: tests/openmp.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2
program=$scratch/program

# ---- what is recorded ----

# count API: how many such records
count() { awk -v api="$1" '$1 == "record" && $4 == api' "$scratch/records" | wc -l; }

check_records() {
    # shellcheck source=raw_run.inc
    . "$root/tests/raw_run.inc"
    build_raw_run "$scratch/raw_run"
    export OMP_WAIT_POLICY=passive # beside other tests, threads that spin only slow each other down
    "$program" 3 >"$scratch/bare"
    "$scratch/raw_run" "$build/libpersik-probe.so" "$scratch/raw" "$scratch/records" "$program" 3 \
        >"$scratch/probed"
    check "the program does not notice" cmp "$scratch/bare" "$scratch/probed"
    check "every task is run once, and seen" [ "$(awk '$4 == "GOMP_task" && int($5 / 32) % 2 == 1' \
        "$scratch/records" | wc -l)-$(count GOMP_task)" = 288-576 ]
    check "critical sections, named or not, are locks (unnamed ones are in two regions)" \
        [ "$(count GOMP_critical_start)-$(count GOMP_critical_end)-$(count \
            GOMP_critical_name_start)-$(count GOMP_critical_name_end)" = 576-576-288-288 ]
    check "two names are two locks" [ "$(awk '$4 == "GOMP_critical_name_start" { print $8 }' \
        "$scratch/records" | sort -u | wc -l)" -eq 2 ]
    check "an atomic that needs a lock is one" \
        [ "$(count GOMP_atomic_start)-$(count GOMP_atomic_end)" = 288-288 ]
    check "OpenMP's own locks are locks" \
        [ "$(count omp_set_lock)-$(count omp_unset_lock)" = 288-288 ]
}

if ${CC:-gcc} -std=gnu17 -g -O2 -Wall -Wextra -fopenmp tests/programs/omp_constructs.c \
    -o "$program" 2>"$scratch/log"; then
    check_records
else
    skip "programs that use OpenMP" "the compiler has no OpenMP: $(head -1 "$scratch/log")"
fi

# ---- what is modelled ----

asks() { jq -e "$1" "$scratch/omp_constructs/model.json" >/dev/null; }
# pool NAME CONDITION: that region's pool
pool() { asks "any(.pools[]; .name == \"$1._omp_fn.0\" and .profiled_threads == 2 and .scales and ($2))"; }
# node NAME KIND OBJECT-KIND: a step of that region
node() {
    asks "[.objects[].kind] as \$kinds | any(.nodes[]; (.name | startswith(\"$1._omp_fn.0\"))
        and .kind == \"$2\" and \$kinds[.object] == \"$3\")"
}
notes() { asks "any(.notes[]; contains(\"$1\"))"; }

check "a model is built" kept_model omp_constructs
check "only the first thread and the teams are pools: libgomp's threads are not" asks '
    [.pools[] | select(.name | endswith("_omp_fn.0") | not) | .name] == ["main"]'
for loop in static_loop static_chunks; do
    check "$loop: a total is split" pool $loop '.partition == "fixed"'
done
for loop in dynamic_loop runtime_loop; do
    check "$loop: the team takes from a common supply" pool $loop '.partition == "shared"'
    check "$loop: as many chunks as there are" asks "
        any(.nodes[]; .kind == \"release\" and .count == 24 and
            (.object_name | contains(\"$loop\")))"
done
for loop in guided_loop guided_region; do
    check "$loop: the team takes from a common supply" pool $loop '.partition == "shared"'
    check "$loop: two hundred pieces" asks "
        any(.nodes[]; .kind == \"release\" and .count >= 195 and .count <= 205 and
            (.object_name | contains(\"$loop\")))"
done
check "sections: a supply of three" asks '
    any(.nodes[]; .kind == "release" and .count == 3 and
        (.object_name | contains("three_sections")))'
check "single: one member takes it" asks '
    any(.nodes[]; .kind == "release" and (.count // 1) == 1 and
        (.object_name | contains("single_part")))'
check "tasks: a supply of as many as there are" asks '
    any(.nodes[]; .kind == "release" and .count == 24 and (.object_name | contains("tasks")))'
check "critical: a mutex" node critical_section lock mutex
check "named critical: mutexes" node named_sections lock mutex
check "omp_set_lock: a mutex" node locked lock mutex
check "barrier: its parties are the team" asks '
    .pools as $pools | any(.objects[]; .kind == "barrier" and
        ($pools[.amount.per_thread[0].pool].name | startswith("explicit_barrier")))'
check "a team that asks for as many threads as OpenMP has follows them" pool asked_size true
check "what is not followed is said: ordered parts" notes "ordered_loop._omp_fn.0: the order"
check "what is not followed is said: tasks" notes "tasks._omp_fn.0: its OpenMP tasks are modelled as if"
check "what is not followed is said: nested regions" notes "parallel regions inside others"
check "threads that sleep between regions are no spinning ones" asks 'all(.pools[]; .awake != true)'

finish
