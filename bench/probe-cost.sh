#!/bin/bash
# What a record costs: a free mutex locked and unlocked, bare and under `persik trace` in turn; with a revision, also
# under the persik of that commit, in the same rounds.
# usage: bench/probe-cost.sh [-r REVISION] [build folder [rounds [pairs]]]       (build/release, 11, 500000)
# Exits 1 when the median cost of a record is above 25 ns, or above 1.05 times that of the other commit.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
revision=
if [ "${1:-}" = -r ]; then
    revision=$(git -C "$root" rev-parse --verify --quiet --short "${2:-}^{commit}") ||
        { echo "probe-cost: no revision '${2:-}'" >&2; exit 1; }
    shift 2
fi
cd "$root"
build=${1:-build/release}
rounds=${2:-11}
pairs=${3:-500000}
new=$build/persik
[ -x "$new" ] || { echo "probe-cost: no $new: run make first" >&2; exit 1; }

# The other commit's persik and probe library; kept in bench/scratch/.
old=
if [ -n "$revision" ]; then
    source=bench/scratch/compare/$revision
    old=$source/build/release/persik
    if [ ! -x "$old" ] || [ ! -f "$source/build/release/libpersik-probe.so" ]; then
        echo "probe-cost: building persik of $revision" >&2
        mkdir -p "$source"
        git archive "$revision" | tar -x -C "$source"
        make -C "$source" -j "$(nproc)" build/release/persik build/release/libpersik-probe.so \
            >"$source.log" 2>&1 || { echo "probe-cost: no build of $revision: see $source.log" >&2; exit 1; }
    fi
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I. bench/probe_cost.c -o "$folder/probe_cost" -lpthread

# Nanoseconds of CPU that a pair takes under this persik.
traced() {
    local printed
    printed=$("$1" trace -q --plain-runs 0 --no-evictions --no-block-io -o "$folder/recording" -- \
        "$folder/probe_cost" "$pairs" 2>"$folder/log") || { cat "$folder/log" >&2; exit 1; }
    echo "${printed% *}"
}

for round in $(seq "$rounds"); do
    read -r bare stamps <<<"$("$folder/probe_cost" "$pairs")"
    if [ -n "$old" ] && [ $((round % 2)) -eq 0 ]; then # who goes first takes turns
        before=$(traced "$old")
        after=$(traced "$new")
    else
        after=$(traced "$new")
        before=$([ -z "$old" ] || traced "$old")
    fi
    echo "$bare $stamps $after ${before:-0}"
done | awk -v pairs="$pairs" -v revision="$revision" '
function sort_row(row, n,   i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && row[j - 1] > row[j]; j--) { t = row[j]; row[j] = row[j - 1]; row[j - 1] = t }
}
function say(what, row) {
    sort_row(row, n)
    printf "%-22s %6.1f ns  (%.1f to %.1f)\n", what, row[middle], row[1], row[n]
}
{
    bare[NR] = $1 / 2; stamp[NR] = $2 / 2; probed[NR] = $3 / 2; cost[NR] = ($3 - $1) / 2
    other[NR] = ($4 - $1) / 2; ratio[NR] = $4 > 0 ? cost[NR] / other[NR] : 0
}
END {
    n = NR; middle = int((n + 1) / 2)
    say("bare call", bare); say("probed call", probed); say("cost of a record", cost)
    say("of it the stamp", stamp)
    if (revision != "") {
        say("cost at " revision, other)
        sort_row(ratio, n)
        printf "%-22s %6.3f     (%.3f to %.3f over %d pairs)\n", "new / old", ratio[middle], ratio[1], ratio[n], n
    }
    printf "at full speed          %6.1f million records/s, %.0f MB/s\n", 1e3 / probed[middle], 32e3 / probed[middle]
    exit cost[middle] > 25 || ratio[middle] > 1.05
}'
