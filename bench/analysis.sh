#!/bin/bash
# What source analysis costs for the real programs: time and memory from nothing, and time again when
# every file's result is in the cache.
# usage: bench/analysis.sh [PROGRAM...]     (default: those of programs.sh, and memcached)
# Exits 1 when a program takes a minute or more, or 4 GiB.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

limit_s=60
limit_mib=4096

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

set_command() {
    command=("$built/persik-analyze" --verbose --binary "$1" --cache "$folder/cache"
        --output "$folder/static.json")
}

# Largest sum over the analyser and its workers, in MiB. What they share counts for each of them.
watch_memory() {
    local pid=$1 kib peak=0
    while kill -0 "$pid" 2>/dev/null; do
        kib=$(ps -o rss= --pid "$pid" --ppid "$pid" | awk '{ sum += $1 } END { print sum + 0 }')
        [ "$kib" -le "$peak" ] || peak=$kib
        sleep 0.05
    done
    echo $((peak / 1024))
}

cost_of() {
    local program=$1 binary from_nothing cached peak files
    binary=$("$root/bench/$program-fetch") || fail "$program: no binary (see above)"
    set_command "$binary"
    from_nothing=$(seconds_of "${command[@]}") || exit 1
    cached=$(seconds_of "${command[@]}") || exit 1
    files=$("${command[@]}" 2>&1 | awk '/taken from the cache/ { print $1 + $4 }')
    rm -rf "$folder/cache"
    "${command[@]}" 2>/dev/null &
    peak=$(watch_memory $!)
    wait $!
    rm -rf "$folder/cache"
    printf '| %s | %d | %.1f | %d | %.1f |\n' "$program" "$files" "$from_nothing" "$peak" "$cached"
    [ "$(number %d "$from_nothing < $limit_s && $peak < $limit_mib")" = 1 ] || too_much+=("$program")
}

need_persik
[ $# -gt 0 ] || set -- "${real_programs[@]}" memcached
too_much=()
echo "| program | files | seconds | MiB | seconds, all from the cache |"
echo "|---|--:|--:|--:|--:|"
for program; do
    cost_of "$program"
done
[ "${#too_much[@]}" = 0 ] || fail "more than $limit_s s or $limit_mib MiB: ${too_much[*]}"
