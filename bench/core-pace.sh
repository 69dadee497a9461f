#!/bin/bash
# How much the speed of a core changes on a machine that does nothing else: two loops (core_pace.c) on the first core, in
# turn, while the second one idles or has the same. Where one kind of code varies and the other does not, others use the
# units of this physical core: no counter of a virtual machine's kernel shows that, and CPU time tells nothing of work.
#
# usage: bench/core-pace.sh [ROUNDS]      (3)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

scratch=$(mktemp -d)
other=
trap '[ -z "$other" ] || kill "$other" || true; rm -rf "$scratch"' EXIT
gcc -O2 "$root/bench/core_pace.c" -o "$scratch/core_pace"
echo "$(machine); rounds a millisecond of CPU time: mean (least .. most) of pieces of 50 ms, in 0.7 s"
for ((round = 1; round <= ${1:-3}; round++)); do
    for kind in chain text; do
        alone=$(taskset -c 0 "$scratch/core_pace" "$kind" 0.7)
        taskset -c 1 "$scratch/core_pace" "$kind" 60 >/dev/null &
        other=$!
        beside=$(taskset -c 0 "$scratch/core_pace" "$kind" 0.7)
        kill "$other" && wait "$other" || true
        other=
        echo "$kind: alone $alone, beside another $beside"
    done
done
