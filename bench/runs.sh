#!/bin/bash
# What fewer runs cost in accuracy: each program is recorded with 2 threads by `persik profile --once`, by default and
# by `--thorough`, one after the other, and run for real in other configurations, $RUNS times (default 2) in turn with
# the recorded one. All three models are held against the same real runs.
#
# usage: bench/runs.sh [--kept] [PROGRAM...]   (samples, each computing for about 1 s; default all)
#
#   --kept   run nothing: models and figures are made anew from what is kept
#
# Prints a table in Markdown: time of the recording as a whole, mean error as measured and at equal speed, and the mean
# half-width of the interval. What is measured is kept in bench/scratch/runs/NAME/; delete the folder to measure anew.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

threads=1,2,4
cores=1,2
kept=$work/runs
levels=(once usual thorough)
declare -A level_options=([once]=--once [usual]='' [thorough]=--thorough)
# Of about 1 s on one core.
declare -A sample_options=(
    [raytracer]='--size 220' [montecarlo]='--rounds 6' [moldyn]='--steps 14' [galaxy]='--steps 12'
    [renderer]='--size 480' [pipeline]='--size 310' [bank]='--size 8000' [heat]='--steps 100'
)

record_at() {
    local folder=$1/$2 start=$EPOCHREALTIME
    read -ra profile_options <<<"${level_options[$2]}"
    with_threads 2
    "$persik" profile "${profile_options[@]}" -o "$folder" -- "${concrete[@]}" >/dev/null 2>"$folder.log" || return 1
    number '%.1f\n' "${EPOCHREALTIME/,/.} - ${start/,/.}" >"$folder.seconds"
}

measure() {
    local folder=$kept/$1 level
    [ ! -s "$folder/measured.csv" ] || return 0
    set_command "$1" || return 1
    mkdir -p "$folder"
    say "$1"
    for level in "${levels[@]}"; do record_at "$folder" "$level" || return 1; done
    "$persik" build-model -q -i "$folder/thorough" >/dev/null 2>&1 || return 1
    "$persik" validate -q -i "$folder/thorough" --threads $threads --cores $cores --runs "${RUNS:-2}" \
        --measurements "$folder/part.csv" --format csv -- "${command[@]}" >/dev/null 2>"$folder/log" || return 1
    mv "$folder/part.csv" "$folder/measured.csv"
}

# PROGRAM LEVEL SECONDS RUNS-WITHOUT-PROBES and the means over the configurations with a figure.
judge() {
    local folder=$kept/$1/$2
    "$persik" build-model -q -i "$folder" >/dev/null 2>&1 || return 1
    "$persik" validate -q -i "$folder" --reuse "$kept/$1/measured.csv" --format json 2>/dev/null |
        jq -r --arg name "$1" --arg level "$2" --arg seconds "$(<"$folder.seconds")" '
            def mean: if . == [] then "-" else add / length end;
            def abs: if . < 0 then -. else . end;
            [.configurations[] | select(.predicted_run_ns != null)] as $known |
            [$name, $level, $seconds, ($known | length),
             ([$known[] | (.predicted_run_ns / .measured_run_ns - 1 | abs)] | mean),
             ([$known[] | select(.equal_speed_run_ns != null) |
                 (.predicted_run_ns / .equal_speed_run_ns - 1 | abs)] | mean),
             ([$known[] | .predicted_run_ns_half_width / .predicted_run_ns] | mean),
             ([$known[] | select((.predicted_run_ns - .measured_run_ns | abs) <= .predicted_run_ns_half_width)] | length)
            ] | @tsv'
}

show() {
    echo "| program | runs | recorded in | figures | mean error | at equal speed | half-width | inside |"
    echo "|---|---|--:|--:|--:|--:|--:|--:|"
    awk -F '\t' '
        function row(name, level, seconds, n, error, equal, width, inside) {
            printf "| %s | %s | %.1f s | %d | %.1f %% | %.1f %% | %.1f %% | %d |\n", name, level, seconds, n, 100 * error,
                100 * equal, 100 * width, inside
        }
        {
            row($1, $2, $3, $4, $5, $6, $7, $8)
            if (!($2 in n)) order[++levels] = $2
            n[$2]++; s[$2] += $3; f[$2] += $4; e[$2] += $5; q[$2] += $6; w[$2] += $7; i[$2] += $8
        }
        END {
            for (l = 1; l <= levels; l++) {
                k = order[l]
                row("mean of " n[k], k, s[k] / n[k], f[k], e[k] / n[k], q[k] / n[k], w[k] / n[k], i[k])
            }
        }'
}

run_nothing=
[ "${1:-}" != --kept ] || { run_nothing=1 && shift; }
programs=("$@")
[ "${#programs[@]}" -gt 0 ] || programs=("${sample_programs[@]}")
need_persik
echo "bench/runs.sh, $(date +%F), $(machine)"
echo
for program in "${programs[@]}"; do
    [ -n "$run_nothing" ] || measure "$program" || say "$program: not measured: see ${kept#"$root"/}/$program"
    [ -s "$kept/$program/measured.csv" ] || continue
    for level in "${levels[@]}"; do judge "$program" "$level"; done
done | show
