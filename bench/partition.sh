#!/bin/bash
# How well static shares are predicted, with the source and without it: measures samples/partition in
# every scheme with {1,2,4,8} threads, profiles it with 2 and with 4 threads, and compares the models
# made with the source and without it. bench/accuracy.sh --write puts the table into docs/accuracy.md.
#
# usage: bench/partition.sh [SCHEME...]           (default all)
#        bench/partition.sh --kept [SCHEME...]    (only the table, from what is kept)
#
# Results are kept in bench/scratch/partition/; a scheme is measured again when the sample is newer than
# its measurements. $RUNS (default 5): runs per configuration, interleaved; the median counts.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

threads=1,2,4,8
bases=(2 4)
schemes=(blocks chunks strided remainder init)
runs=${RUNS:-5}
kept=$work/partition
sample=$built/samples/partition

measure() {
    local scheme=$1 folder=$kept/$1 base
    command=("$sample" --scheme "$scheme" --threads '{threads}')
    mkdir -p "$folder"
    for base in "${bases[@]}"; do
        say "$scheme: model from $base threads"
        profile_and_model "$base" "$folder/$base" >"$folder/$base.log" 2>&1 || {
            say "$scheme: no model from $base threads: see ${folder#"$root"/}/$base.log"
            return 1
        }
        # The same recording as if the source had not been there.
        rm -rf "$folder/$base-hidden"
        cp -r "$folder/$base" "$folder/$base-hidden"
        rm "$folder/$base-hidden"/{static.json,model.*}
    done
    [ "$folder/measured.csv" -nt "$sample" ] && return
    say "$scheme: measuring, $runs runs of every configuration"
    "$persik" validate -q -i "$folder/2" --measurements "$folder/measured.part" \
        --threads "$threads" --runs "$runs" --format csv -- "${command[@]}" >/dev/null
    mv "$folder/measured.part" "$folder/measured.csv"
    machine >"$kept/machine"
}

# Models anew from what is kept, with persik as it is now.
remodel() {
    local base
    for base in "${bases[@]}"; do
        "$persik" build-model -q -i "$kept/$1/$base" >/dev/null 2>&1
        "$persik" build-model -q -i "$kept/$1/$base-hidden" >/dev/null 2>&1
    done
}

# Errors in percent over $threads, at equal speed, of the model in a folder: errors FOLDER MEASURED.
errors() {
    "$persik" validate -q -i "$1" --reuse "$2" --format csv 2>/dev/null |
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
                  NR > 1 { e = 100 * $at["equal_speed_error"]
                           printf("%s%+.1f", (NR > 2 ? " " : ""), e)
                           e = e < 0 ? -e : e; if (e > worst) worst = e }
                  END { printf " | %.1f", worst }'
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
            echo "| $scheme | $base | yes | $(rule_said "$folder/$base") |" \
                "$(errors "$folder/$base" "$folder/measured.csv") |"
            echo "| | | no | $(rule_said "$folder/$base-hidden") |" \
                "$(errors "$folder/$base-hidden" "$folder/measured.csv") |"
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
