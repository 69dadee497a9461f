#!/bin/bash
# What an answer about the critical path costs: of traces of 1 and 10 million records of linear.c (a bounded queue of its
# own making with four consumers, so waits for conditions and counters that must be found), the first answer, which
# links the steps and keeps them, and a further one; and how many bytes are kept for each record.
#
# usage: bench/scale.sh [MILLIONS...]      (default: 1 10)
#
#   ROUNDS   of each (3); the medians are printed
#
# Traces are kept in bench/scratch/linear, as those of linear.sh, and used again. Exit status 1: a record costs more than 1.3
# times as much CPU time, in either answer, in the longest trace as in the shortest one.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=linear-traces.sh
. "$(dirname "$0")/linear-traces.sh"

rounds=${ROUNDS:-3}
limit=1.3

# "WALL_S CPU_S MIB" of a command, behind the line in the file.
measured() { # FILE COMMAND...
    local file=$1
    shift
    PATH='' /usr/bin/time -o "$scratch/time" -f '%e %U %S %M' "$@" >"$scratch/answer" 2>"$scratch/log" ||
        fail "no answer: $(<"$scratch/log")"
    awk '{ print $1, $2 + $3, $4 / 1024 }' "$scratch/time" >>"$file"
}

# Of a file of numbers, the median of column N.
median() { awk -v n="$2" '{ print $n }' "$1" | median_of; }

# The first answer and a further one: round_of MILLIONS.
round_of() {
    local folder=$kept/$1
    rm -f "$folder/dependencies.persik"
    measured "$scratch/$1.first" "$persik" critical-path -q -i "$folder"
    measured "$scratch/$1.further" "$persik" what-if -q -i "$folder" --scale consume=0.5
}

need_persik
[ -x /usr/bin/time ] || fail "no /usr/bin/time: install the package time"
[ $# -gt 0 ] || set -- 1 10
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prepare_all "$@"
for ((round = 0; round < rounds; round++)); do
    for millions; do round_of "$millions"; done
done

echo "$(machine), $(date -u +%Y-%m-%d), at commit $(git -C "$root" rev-parse --short HEAD): medians of $rounds"
echo
echo "| records | answer | wall time, s | CPU time, s | CPU us / record | peak memory, MiB | bytes kept / record |"
echo "|--:|---|--:|--:|--:|--:|--:|"
for millions; do
    records=$(records_in "$kept/$millions")
    bytes=$(stat -c %s "$kept/$millions/dependencies.persik")
    for answer in first further; do
        file=$scratch/$millions.$answer
        cpu=$(median "$file" 2)
        echo "| $records | $answer | $(number %.2f "$(median "$file" 1)") | $(number %.2f "$cpu") |" \
            "$(number %.3f "$cpu * 1e6 / $records") | $(number %.0f "$(median "$file" 3)") |" \
            "$(number %.1f "$bytes / $records") |"
        echo "$cpu $records" >>"$scratch/costs.$answer"
    done
done
for answer in first further; do
    awk -v limit=$limit -v answer=$answer '
        NR == 1 { first = $1 / $2 }
        END {
            ratio = $1 / $2 / first
            printf "a record of the longest trace, %s answer: %.2f times the CPU of one of the shortest\n", answer, ratio
            exit ratio > limit
        }' "$scratch/costs.$answer" || failed=1
done
exit "${failed:-0}"
