#!/bin/bash
# How well static shares are predicted, with the source and without it: measures samples/partition in
# every scheme with {1,2,4,8} threads, profiles it with 2 and with 4 threads, and compares the models
# made with the source and without it. bench/accuracy.sh --write puts the table into docs/accuracy.md.
#
# usage: bench/partition.sh [SCHEME...]           (default all)
#        bench/partition.sh --kept [SCHEME...]    (only the table, from what is kept)
#
# The real program is run in rounds, each configuration once, and recorded with either number of threads
# before each of the first five (rounds.sh): of the models' errors the median counts.
# Rounds and recordings are kept in bench/scratch/partition/ and used again while they are newer than the
# sample. $RUNS (default 5, at least 5): rounds; the median of a configuration's runs counts.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=rounds.sh
. "$(dirname "$0")/rounds.sh"

threads=1,2,4,8
cores=2
bases=(2 4)
builds=(1 2 3 4 5)
schemes=(blocks chunks strided remainder init)
runs=${RUNS:-5}
kept=$work/partition
sample=$built/samples/partition

measure() {
    local name=$1 folder=$kept/$1 base build data
    command=("$sample" --scheme "$name" --threads '{threads}')
    mkdir -p "$folder"
    measure_in_turn "$folder" "$threads" || return 1
    for base in "${bases[@]}"; do # the same recordings as if the source had not been there
        for build in "${builds[@]}"; do
            data=$folder/base$base-$build
            rm -rf "$data-hidden"
            cp -r "$data" "$data-hidden"
            rm "$data-hidden"/{static.json,model.*}
        done
    done
    machine >"$kept/machine"
}

# Models anew from what is kept, with persik as it is now.
remodel() {
    local base build
    for base in "${bases[@]}"; do
        for build in "${builds[@]}"; do
            "$persik" build-model -q -i "$kept/$1/base$base-$build" >/dev/null 2>&1
            "$persik" build-model -q -i "$kept/$1/base$base-$build-hidden" >/dev/null 2>&1
        done
    done
}

# Errors in percent over $threads, at equal speed: of each configuration the median of the models, "-" where
# these have no figure, and the worst of these: errors SCHEME BASE SUFFIX.
errors() {
    local build
    for build in "${builds[@]}"; do
        "$persik" validate -q -i "$kept/$1/base$2-$build$3" --reuse "$kept/$1/measured.csv" --format csv 2>/dev/null |
            csv_columns - threads equal_speed_error
    done | sort -g -k 1,1 -k 2,2 | awk '
        {
            if (NR > 1 && $1 != threads) tell()
            threads = $1
            if ($2 != "-") error[++n] = 100 * $2
        }
        function tell(e) {
            if (told++) printf " "
            if (!n) {
                printf "-"
                return
            }
            e = error[int((n + 1) / 2)]
            printf "%+.1f", e
            e = e < 0 ? -e : e
            if (e > worst) worst = e
            n = 0
        }
        END { tell(); printf " | %.1f", worst }'
}

# A value of the first pool that follows --threads: pool_value FOLDER KEY.
pool_value() {
    sed -n "/\"scales\": true/,/\"rule\"/s/.*\"$2\": \"\{0,1\}\([a-z0-9.]*\).*/\1/p" "$1/model.json" |
        head -n 1
}

# What a model says of the rule of its workers.
rule_said() {
    local rule confidence
    rule=$(pool_value "$1" partition)
    confidence=$(pool_value "$1" confidence)
    if [ "$rule" = unknown ]; then
        echo "unknown: give --partition"
    else
        echo "$rule, confidence $(number %.0f "100 * ${confidence:-0}") %"
    fi
}

write_table() {
    local scheme base folder
    echo "| scheme | model from | source | rule | error % with $threads threads | worst |"
    echo "|---|--:|---|---|---|--:|"
    for scheme in "$@"; do
        folder=$kept/$scheme
        [ -s "$folder/measured.csv" ] || continue
        remodel "$scheme"
        for base in "${bases[@]}"; do
            echo "| $scheme | $base | yes | $(rule_said "$folder/base$base-1") | $(errors "$scheme" "$base" '') |"
            echo "| | | no | $(rule_said "$folder/base$base-1-hidden") | $(errors "$scheme" "$base" -hidden) |"
        done
    done
}

only_kept=
if [ "${1:-}" = --kept ]; then
    only_kept=1
    shift
fi
[ $# -gt 0 ] || set -- "${schemes[@]}"
need_persik
if [ -z "$only_kept" ]; then
    for scheme in "$@"; do
        measure "$scheme"
    done
fi
write_table "$@"
