#!/bin/sh
# How fast the simulator is: events per second and nanoseconds per event, on one core.
# usage: bench/simulator.sh [build folder [rounds]]
# Exits 1 when an event takes more than 100 ns on some load.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
rounds=${2:-7}
library=$build/libpersik.a
[ -f "$library" ] || { echo "simulator: no $library: run make first" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-gcc} -std=c17 -D_GNU_SOURCE -O2 -I. bench/simulator.c "$library" -o "$folder/simulator" \
    -ljansson -lgsl -lgslcblas -lm -lpthread
"$folder/simulator" "$rounds"
