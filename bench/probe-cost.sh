#!/bin/sh
# What a record costs: a free mutex locked and unlocked, bare and probed in turn.
# usage: bench/probe-cost.sh [build folder [rounds [pairs]]]
# Exits 1 when the median cost of a record is above 25 ns.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
rounds=${2:-11}
pairs=${3:-500000}
probe=$PWD/$build/libpersik-probe.so
[ -f "$probe" ] || { echo "probe-cost: no $build/libpersik-probe.so: run make first" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -I. bench/probe_cost.c -o "$folder/probe_cost" -lpthread

round=0
while [ "$round" -lt "$rounds" ]; do
    read -r bare stamps <<END
$("$folder/probe_cost" "$pairs")
END
    mkdir "$folder/raw"
    probed=$(PERSIK_PROBE_DIR="$folder/raw" LD_PRELOAD="$probe" "$folder/probe_cost" "$pairs")
    probed=${probed% *}
    bytes=$(cat "$folder"/raw/*.records | wc -c)
    rm -rf "$folder/raw"
    echo "$bare $probed $bytes $stamps"
    round=$((round + 1))
done | awk -v pairs="$pairs" '
function sort_rows(row, n,   i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && row[j - 1] > row[j]; j--) { t = row[j]; row[j] = row[j - 1]; row[j - 1] = t }
}
{ bare[NR] = $1 / 2; probed[NR] = $2 / 2; cost[NR] = ($2 - $1) / 2; bytes = $3; stamp[NR] = $4 / 2 }
END {
    n = NR; middle = int((n + 1) / 2)
    sort_rows(bare, n); sort_rows(probed, n); sort_rows(cost, n); sort_rows(stamp, n)
    printf "bare call        %6.1f ns  (%.1f to %.1f over %d rounds)\n", bare[middle], bare[1], bare[n], n
    printf "probed call      %6.1f ns  (%.1f to %.1f)\n", probed[middle], probed[1], probed[n]
    printf "cost of a record %6.1f ns  (%.1f to %.1f, paired)\n", cost[middle], cost[1], cost[n]
    printf "of it the stamp  %6.1f ns  (%.1f to %.1f: reading the processor\047s counter)\n", stamp[middle], stamp[1], stamp[n]
    printf "record           %6d bytes; %d records, %d bytes of files\n", 32, 2 * pairs, bytes
    printf "at full speed    %6.1f million records/s, %.0f MB/s\n", 1e3 / probed[middle], 32e3 / probed[middle]
    exit cost[middle] > 25
}'
