#!/bin/sh
# Whether the simulator's intervals under open load are honest: over so many seeds, how often the
# 95 % interval of mean and 99th percentile of the response time contains the exact value, for
# M/M/1, M/M/4, M/D/1 and M/H2/1.
# usage: bench/open_load.sh [build folder [seeds [utilisations [precision [threads [systems [first seed]]]]]]]
#        bench/open_load.sh build/release 1000 0.5,0.8,0.9,0.95 0 2
#        bench/open_load.sh build/release 100 0.95 0 2 M/M/4,M/D/1 101      seeds 101 to 200: what is long, in pieces
# Exits 1 when a share is outside 93 to 97 %.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
[ $# -eq 0 ] || shift
library=$build/libpersik.a
[ -f "$library" ] || { echo "open_load: no $library: run make first" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -I. bench/open_load.c simulator/crew.c "$library" -o "$folder/open_load" \
    -ljansson -lgsl -lgslcblas -lm -lpthread
"$folder/open_load" "$@"
