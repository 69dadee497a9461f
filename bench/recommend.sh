#!/bin/bash
# Does persik recommend choose what trying all configurations would? Of programs that bench/intervals.sh recorded once,
# with 2 threads on 2 cores, and then ran for real with 1, 2, 4 and 8 threads on 1 and 2 cores, both are asked for the
# smallest configuration (fewest cores, then fewest threads) that is done within some time. Runs nothing.
#
# usage: bench/recommend.sh [PROGRAM...]      (default: the samples and real programs that intervals.sh has measured)
#
# The goals are the same shares of the way from the fastest real run (median of $RUNS, converted to the speed of the
# recording) to the slowest, and one that nothing meets: 10 % below the fastest. A choice is
#
#   same       the one that the real runs lead to
#   within     that of a goal up to 3 % stricter or laxer; or as many cores, and in the real runs as fast within 3 %
#   other      none of these
#   unknown    persik has no figures for a configuration that comes before the right one: it says so
#
# A line in CSV for each goal, a summary on standard error; exit status 1 where a choice is another one.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

kept=$work/intervals
need_persik
[ $# -gt 0 ] || set -- "${sample_programs[@]}" "${real_programs[@]}"

# A line for each configuration that was run, smallest first: threads, cores, nanoseconds.
real_runs() {
    "$persik" validate -q -i "$kept/$1/recording" --reuse "$kept/$1/measured.csv" --format json 2>/dev/null |
        jq -r '.configurations | sort_by(.cores, .threads)[] |
            [.threads, .cores, .equal_speed_run_ns // .measured_run_ns] | @tsv'
}

# The goals of a program, in nanoseconds.
goals() {
    sort -g -k 3 "$1" | awk 'NR == 1 { fastest = $3 } { slowest = $3 }
        END { split("-0.1 0.05 0.25 0.5 0.75 0.95", share, " ")
              print fastest * 0.9
              for (i = 2; i in share; i++) printf "%.0f\n", fastest + share[i] * (slowest - fastest) }'
}

# by_trying RUNS NANOSECONDS: "THREADS CORES" of the first that is done by then, or "none".
by_trying() { awk -v most="$2" '$3 <= most { print $1, $2; found = 1; exit } END { if (!found) print "none" }' "$1"; }

# by_asking PROGRAM NANOSECONDS: the same of persik, or "unknown".
by_asking() {
    "$persik" recommend -q -i "$kept/$1/recording" --goal "time<$(number %.6f "$2 / 1e6")ms" --threads 1,2,4,8 --cores 1,2 \
        --format json 2>/dev/null | jq -r 'if .recommended[0] then "\(.recommended[0].threads) \(.recommended[0].cores)"
            elif any(.tried[]; .figure == null) then "unknown" else "none" end' || true
}

time_of() { awk -v t="${2% *}" -v c="${2#* }" '$1 == t && $2 == c { print $3 }' "$1"; }

# judged RUNS NANOSECONDS CHOSEN RIGHT
judged() {
    local change
    [ "$3" != "$4" ] || { echo same && return; }
    [ "$3" != unknown ] || { echo unknown && return; }
    for change in 1/1.03 1.03; do
        [ "$3" != "$(by_trying "$1" "$(number %.0f "$2 * $change")")" ] || { echo within && return; }
    done
    if [ "$3" != none ] && [ "$4" != none ] && [ "${3#* }" = "${4#* }" ] &&
        [ "$(number %d "$(time_of "$1" "$3") <= 1.03 * $(time_of "$1" "$4")")" = 1 ]; then
        echo within
    else
        echo other
    fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "program,goal_s,by_trying,by_asking,choice"
for program; do
    [ -s "$kept/$program/measured.csv" ] || { say "$program: measure it by bench/intervals.sh" && continue; }
    "$persik" build-model -q -i "$kept/$program/recording" >/dev/null 2>&1 || { say "$program: no model" && continue; }
    real_runs "$program" >"$scratch/runs"
    while read -r goal; do
        right=$(by_trying "$scratch/runs" "$goal")
        chosen=$(by_asking "$program" "$goal")
        echo "$program,$(number %.3f "$goal / 1e9"),$right,$chosen,$(judged "$scratch/runs" "$goal" "$chosen" "$right")"
    done < <(goals "$scratch/runs")
done | tee "$scratch/choices"
awk -F , '{ n[$5]++; all++; programs[$1] } END {
    for (p in programs) count++
    printf "recommend.sh: %d programs, %d goals: %d the same, %d within 3 %%, %d others, %d unknown\n", count, all, n["same"],
        n["within"], n["other"], n["unknown"]
    exit n["other"] > 0 }' "$scratch/choices" >&2
