#!/bin/sh
# Checks that GLib's thread pools, queues, locks and conditions are recorded as what they are, on
# tests/programs/glib_work.c, and modelled so, on a kept recording of it. Usage: tests/glib.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

# ---- what is recorded ----

# count API [THREAD]: how many such records
count() {
    awk -v api="$1" -v thread="${2:-}" \
        '$1 == "record" && $4 == api && (thread == "" || $3 == thread)' "$scratch/records" | wc -l
}

check_records() {
    # shellcheck disable=SC2046 # options
    set -- $(pkg-config --cflags --libs glib-2.0)
    ${CC:-gcc} -std=c17 -g -O2 -Wall -Wextra tests/programs/glib_work.c "$@" \
        -o "$scratch/glib_work" || exit 2
    # shellcheck source=raw_run.inc
    . "$root/tests/raw_run.inc"
    build_raw_run "$scratch/raw_run"

    "$scratch/glib_work" 3 300 shared >"$scratch/bare"
    for kind in exclusive shared; do
        rm -rf "$scratch/raw"
        "$scratch/raw_run" "$build/libpersik-probe.so" "$scratch/raw" "$scratch/records" \
            "$scratch/glib_work" 3 300 $kind >"$scratch/probed"
        check "$kind pool: the program does not notice" cmp "$scratch/bare" "$scratch/probed"
        check "$kind pool: every task is put once" [ "$(count g_thread_pool_push 0)" -eq 300 ]
        # What the tasks put, and the last one; taken by the collector, the rest by the pool's threads,
        # whose last wait is in vain.
        check "$kind pool: every task is taken once" [ "$(awk '
            $1 == "record" && $3 > 1 && $4 == "g_async_queue_pop" && int($5 / 8) % 2 == 0' \
            "$scratch/records" | wc -l)" -eq 300 ]
        check "$kind pool: every result is put and taken once" \
            [ "$(count g_async_queue_push)-$(count g_async_queue_pop 1)" = 301-301 ]
        check "$kind pool: locks and unlocks, nothing that GLib does inside" \
            [ "$(count g_mutex_lock)-$(count g_mutex_unlock)-$(count g_rec_mutex_lock)-$(count \
                g_rw_lock_reader_lock)-$(count g_rw_lock_writer_lock)-$(count \
                pthread_mutex_lock)-$(count pthread_rwlock_rdlock)" = 302-302-600-300-18-0-0 ]
        check "$kind pool: threads that worked are made and joined by GLib's functions" \
            [ "$(awk '$4 == "g_thread_new" { made[$9] = 1 } $4 == "g_thread_join" { joined[$9] = 1 }
                $4 == "g_async_queue_pop" { ran[$3] = 1 }
                END { for (i in ran) good = good (made[i] && joined[i]); print good ~ /^11+$/ }' \
                "$scratch/records")-$(count pthread_create)-$(count pthread_join)" = 1-0-0 ]
        check "$kind pool: what timed out says so" \
            [ "$(awk '$4 == "g_async_queue_timeout_pop" || $4 == "g_cond_wait_until" {
                printf "%d ", int($5 / 2) % 4 }' "$scratch/records")" = "3 3 " ]
    done
}

if pkg-config --exists glib-2.0 2>/dev/null; then
    check_records
else
    skip "programs that use GLib" "no GLib to build one with: install libglib2.0-dev"
fi

# ---- what is modelled ----

data=$scratch/glib-shared
# asks FILTER: is that true of the model?
asks() { jq -e "$1" "$data/model.json" >/dev/null; }

check "a model is built" kept_model glib-shared
check "the pool's threads take their tasks from a queue" asks '
    [.objects[].kind] as $kinds | any(.nodes[]; .kind == "get" and (.name | startswith("task"))
        and $kinds[.object] == "queue")'
check "the pool follows the thread count and shares its work" asks '
    any(.pools[]; .name == "task" and .profiled_threads == 2 and .scales and .partition == "shared")'
check "the collector is a pool of one, fed by the tasks" asks '
    any(.pools[]; .name == "collect" and .profiled_threads == 1 and .scales != true) and
    any(.nodes[]; .kind == "put" and (.name | startswith("task")))'
check "waiting for half of the tasks is a completion" asks '
    any(.monitors[]; .kind == "completion" and any(.operations[]; .function == "task"))'
check "a wait that may time out has its limit" asks '
    any(.nodes[]; .kind == "get" and .timeout_ns == 1000000)'
runs_through() {
    "$persik" predict -i "$data" --threads 1,4 --cores 2 2>"$scratch/err" &&
        ! grep "waited for nothing" "$scratch/err"
}
check "the model runs with other numbers of threads, and nobody waits for ever" runs_through

finish
