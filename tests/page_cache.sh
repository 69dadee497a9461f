#!/bin/sh
# persik predict --page-cache, and a model of another mix of files: of a model written by hand, whose times follow from its numbers, and of recordings that
# do not tell what was read. Usage: tests/page_cache.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

# A thread reads two pages, two others, the first two again, and asks its disk for something else; each request takes a
# millisecond. $1: what is said of the page cache besides.
write_model() {
    mkdir -p "$scratch/readers"
    cat >"$scratch/readers/model.json" <<END
{"version": 1, "program": "readers", "measured_run_ns": 3e6, "explained_share": 1,
 "machine": {"cores": 1, "quantum_ns": 3e6, "wake_latency_ns": 0},
 "page_cache": {"read_bytes": 16384, "rule": "least recently used", "agreement": 1, $1
    "groups": [2, 0, 800, 2, 0, 1600], "calls": [1, 0, 2, 0, 1, 2, 2, 0, 1, 0, 2, 0]},
 "objects": [{"name": "disk 8:0", "kind": "disk", "service_ns": 1e6, "servers": 1}],
 "pools": [{"name": "main", "origin": "start", "threads": 1, "profiled_threads": 1, "at_start": true, "entry": 0}],
 "nodes": [
    {"name": "start", "kind": "start", "edges": [{"to": 1}]},
    {"name": "read", "kind": "io", "object": 0, "calls": [1, 800, 16, 0, 1, 1600, 16, 0, 0, 1, 4000, 8, 0],
     "reads": [0, 1, 2, -1], "course": [0, 3, 1, 1], "edges": [{"to": 1, "probability": 3}, {"to": 2}]},
    {"name": "end", "kind": "end"}]}
END
}

# takes MILLISECONDS OPTIONS...
takes() {
    wanted=$1
    shift
    "$persik" predict -q --model "$scratch/readers/model.json" --format csv "$@" >"$scratch/out" 2>"$scratch/err" &&
        awk -F, -v ms="$wanted" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "run_ns") column = i}
            NR == 2 {exit !($column > ms * 0.98e6 && $column < ms * 1.02e6)}' "$scratch/out" && return 0
    cat "$scratch/out" "$scratch/err"
    return 1
}

# refused TEXT COMMAND...: one line, with that in it.
refused() {
    wanted=$1
    shift
    ! "$@" >"$scratch/out" 2>"$scratch/err" && [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -qF -e "$wanted" "$scratch/err" &&
        return 0
    cat "$scratch/out" "$scratch/err"
    return 1
}

changes_are_listed() {
    "$persik" predict -q --model "$scratch/readers/model.json" --page-cache 8K >"$scratch/out" &&
        tr -s ' \n' ' ' <"$scratch/out" | grep -q 'page cache: .* 16.4 kB, to 8.19 kB: what comes from disks, from 16.4 kB to 24.6 kB'
}

no_pages_are_no_figures() {
    kept_model disk_readers &&
        refused "does not tell what was read of it" "$persik" predict -i "$scratch/disk_readers" --page-cache 1G
}

mix_is_listed() {
    sed 's,"version": 1\,,"version": 1\, "file_mix": "those for /srv/video 2 times as often"\,,' "$scratch/readers/model.json" \
        >"$scratch/mixed.json"
    "$persik" predict -q --model "$scratch/mixed.json" >"$scratch/out" &&
        tr -s ' \n' ' ' <"$scratch/out" | grep -q 'Changed: mix of requests: those for /srv/video 2 times as often'
}

no_factor_is_a_usage_error() {
    refused "is no factor" "$persik" build-model --file-mix '/=-1' -i "$scratch" || return 1
    "$persik" build-model --file-mix /=-1 -i "$scratch" 2>/dev/null
    [ $? -eq 2 ]
}

write_model ''
check "a model of another mix of requests says so" mix_is_listed
check "a mix needs a factor" no_factor_is_a_usage_error
check "as recorded without --page-cache" takes 3
check "as recorded where it held all and still does" takes 3 --page-cache 16K
check "what went is read again" takes 4 --page-cache 8K
check "a cache that holds nothing misses all" takes 4 --page-cache 4K
check "what it changes is listed" changes_are_listed
check "a size must be one" refused "give a value" "$persik" predict --model "$scratch/readers/model.json" --page-cache some
write_model '"unknown": "nobody knows",'
check "a model that says why it is unknown" refused "nobody knows" \
    "$persik" predict --model "$scratch/readers/model.json" --page-cache 8K
check "a recording without pages says what to do" no_pages_are_no_figures
sed -i 's/"groups": \[2,/"groups": [0,/' "$scratch/readers/model.json"
check "groups without pages are refused" refused "page_cache.groups" \
    "$persik" predict --model "$scratch/readers/model.json"
finish
