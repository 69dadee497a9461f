#!/bin/bash
# How often the real running time lies inside the interval that `persik predict` prints, and how wide that is:
# programs of the corpus (tests/monitors), samples and real programs are recorded with 2 threads, run with other
# numbers of threads and cores, and compared. Finds also what `scale` in cli/judgement.def has to be: for each
# program from the others alone, which tells whether it would have held for a program that nobody had seen, and
# from all.
#
# usage: bench/intervals.sh [--kept] [PROGRAM...]   (default: the corpus' timed programs, samples, real programs)
#
#   --kept   run nothing: only the programs that are measured already; models and figures are made anew
#
# Each configuration is run $RUNS times (default 3), in turn with the recorded one. Recordings and measurements are
# kept in bench/scratch/intervals/NAME/ and used again; delete the folder to measure anew. $SHARE (0.90) of the
# configurations shall be inside.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

threads=1,2,4,8
cores=1,2
runs=${RUNS:-3}
share=${SHARE:-0.90}
kept=$work/intervals
labels=$root/tests/monitors/labels.csv
profile_options=(--thorough --no-evictions)

is_corpus() { grep -q "^$1," "$labels"; }

corpus_command() {
    if is_corpus "$1"; then
        make -s -C "$root" B="$built" "$built/monitors/$1" && command=("$built/monitors/$1" --threads '{threads}')
    else
        set_command "$1"
    fi
}

# Leaves NAME/recording and NAME/measured.csv.
measure() {
    local folder=$kept/$1
    [ ! -s "$folder/measured.csv" ] || return 0
    corpus_command "$1" || return 1
    mkdir -p "$folder"
    say "$1: recorded with 2 threads, then every configuration $runs times"
    profile_and_model 2 "$folder/recording" >"$folder/log" 2>&1 || return 1
    "$persik" validate -q -i "$folder/recording" --threads $threads --cores $cores --runs "$runs" \
        --measurements "$folder/part.csv" --format csv -- "${command[@]}" >/dev/null 2>>"$folder/log" || return 1
    mv "$folder/part.csv" "$folder/measured.csv"
}

# A line for each configuration whose time without others is known within 5 %: program, threads, cores, half-width
# in parts of the prediction, how far the run is from it as measured, and without what others had of the cores.
judge() {
    local folder=$kept/$1
    "$persik" build-model -q -i "$folder/recording" >/dev/null 2>>"$folder/log" || return 1
    "$persik" validate -q -i "$folder/recording" --reuse "$folder/measured.csv" --format json 2>>"$folder/log" |
        jq -r --arg name "$1" '.configurations[] | select(.predicted_run_ns != null and .own_run_ns != null and
                .own_run_high_ns < 1.05 * .own_run_low_ns) |
            [$name, .threads, .cores, .predicted_run_ns_half_width / .predicted_run_ns,
             .measured_run_ns / .predicted_run_ns - 1,
             .own_run_ns / .predicted_run_ns - 1] | @tsv'
}

# Reads such lines; SCALE is what all half-widths are multiplied by. The needed one is the quantile of the errors
# in half-widths, of the other programs' or of all.
summarize() {
    awk -v share="$share" -v scale="$(sed -n 's/^JUDGEMENT(scale, \([0-9.]*\),.*/\1/p' "$root/cli/judgement.def")" '
        function abs(x) { return x < 0 ? -x : x }
        # of values[1..n]
        function quantile(values, n, q,    at) {
            asort_numbers(values, n)
            at = int(q * n); if (at < q * n) at++
            return values[at < 1 ? 1 : at]
        }
        function asort_numbers(values, n,    i, j, v) {
            for (i = 2; i <= n; i++) {
                v = values[i]
                for (j = i - 1; j >= 1 && values[j] > v; j--) values[j + 1] = values[j]
                values[j + 1] = v
            }
        }
        {
            program[NR] = $1; width[NR] = $4; raw[NR] = abs($5); own[NR] = abs($6)
            if (!($1 in count)) names[++programs] = $1
            count[$1]++
            raw_inside += raw[NR] <= width[NR]; own_inside += own[NR] <= width[NR]
        }
        END {
            if (!NR) exit 1
            for (p = 1; p <= programs; p++) {
                n = 0
                for (i = 1; i <= NR; i++) if (program[i] != names[p]) ratios[++n] = own[i] / width[i]
                factor = n ? quantile(ratios, n, share) : 1
                for (i = 1; i <= NR; i++) if (program[i] == names[p]) {
                    left_out += own[i] <= factor * width[i]
                    wide[i] = factor * width[i]
                }
            }
            for (i = 1; i <= NR; i++) { ratios[i] = own[i] / width[i]; widths[i] = width[i] }
            printf "%d configurations of %d programs, SCALE %s: inside as measured %.1f %%, without others %.1f %%, " \
                "median half-width %.1f %%\n", NR, programs, scale, 100 * raw_inside / NR, 100 * own_inside / NR,
                100 * quantile(widths, NR, 0.5)
            printf "each program by a SCALE from the others alone: inside without others %.1f %%, " \
                "median half-width %.1f %%\n", 100 * left_out / NR, 100 * quantile(wide, NR, 0.5)
            printf "for %.0f %% of all SCALE would be %.2f\n", 100 * share, scale * quantile(ratios, NR, share)
        }'
}

run=yes
[ "${1:-}" != --kept ] || { run=; shift; }
need_persik
programs=("$@")
if [ $# -eq 0 ]; then
    mapfile -t programs < <(awk -F , '$8 == "yes" { print $1 }' "$labels")
    programs+=("${sample_programs[@]}" "${real_programs[@]}")
fi
mkdir -p "$kept"
: >"$kept/configurations.part"
for name in "${programs[@]}"; do
    [ -z "$run" ] || measure "$name" || { say "$name: not measured: see $kept/$name/log"; continue; }
    [ ! -s "$kept/$name/measured.csv" ] || judge "$name" >>"$kept/configurations.part" || say "$name: no model"
done
mv "$kept/configurations.part" "$kept/configurations.tsv"
[ -s "$kept/configurations.tsv" ] || fail "nothing is measured: leave --kept out"
awk '{ printf "%-24s %3s threads %2s cores  ±%.1f %%  measured %+.1f %%  without others %+.1f %%\n", $1, $2, $3, 100 * $4,
    100 * $5, 100 * $6 }' "$kept/configurations.tsv"
echo
summarize <"$kept/configurations.tsv"
