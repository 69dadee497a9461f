#!/bin/bash
# Whether persik predicts the same as it did at another commit, from the same recordings: accuracy is
# measured on a quiet machine (accuracy.sh), this on any.
#
# usage: bench/compare.sh REVISION [PROGRAM...]     (names in programs.sh; default all)
#
# Records every program with 2 and with 4 threads, builds persik of REVISION, lets both analyse the source,
# build the model and predict the configurations of accuracy.sh, and prints how the predictions differ,
# and how well the new model repeats its recording. Exit status 1: one that differs by more than 1 %.
# Recordings and the other build are kept in bench/scratch/compare/.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

limit=0.01
kept=$work/compare
[ $# -ge 1 ] || fail "of which revision? usage: bench/compare.sh REVISION [PROGRAM...]"
revision=$(git -C "$root" rev-parse --verify --quiet --short "$1^{commit}") || fail "no revision '$1'"
shift
programs=("$@")
[ $# -gt 0 ] || programs=("${sample_programs[@]}" "${real_programs[@]}")
need_persik
mkdir -p "$kept"

build_other() {
    local source=$kept/$revision
    other=$source/build/release/persik
    [ -x "$other" ] && return
    say "building persik of $revision"
    mkdir -p "$source"
    git -C "$root" archive "$revision" | tar -x -C "$source"
    make -C "$source" -j "$(nproc)" >"$source.log" 2>&1 || fail "no build of $revision: see $source.log"
}

record() {
    local folder=$kept/$1-$2
    with_threads "$2"
    [ -s "$folder/trace.persik" ] && [ "$folder/trace.persik" -nt "${concrete[0]}" ] && return
    say "$1: recording with $2 threads"
    "$persik" profile -o "$folder" -- "${concrete[@]}" >/dev/null 2>"$folder.log" ||
        fail "no recording: see $folder.log"
}

# predict_by PERSIK FOLDER: the recording in FOLDER, analysed, modelled and predicted by this persik; CSV.
predict_by() {
    {
        "$1" analyze -o "$2" "${concrete[0]}" && "$1" build-model -i "$2"
    } >/dev/null 2>"$2.log" || fail "no model: see $2.log"
    "$1" predict -i "$2" --threads 1,2,3,4,6,8,12,16 --cores 1,2 --format csv 2>>"$2.log"
}

# Mean, median and largest difference between a column of two CSV files: difference COLUMN OLD NEW.
difference() { paste -d ' ' <(csv_columns "$2" "$1") <(csv_columns "$3" "$1") | deviations; }

percent() { number '%.1f %%' "100 * $1"; }

build_other
echo "Predictions of $(git -C "$root" rev-parse --short HEAD) against those of $revision, from the same" \
    "recordings, made on $(machine)."
echo
echo "| program | recorded with | mean difference | largest | self-check | explained | nodes |"
echo "|---|--:|--:|--:|--:|--:|--:|"
differs=0
for name in "${programs[@]}"; do
    set_command "$name" || continue
    for threads in 2 4; do
        record "$name" "$threads"
        for side in old new; do
            rm -rf "${kept:?}/$side"
            cp -r "$kept/$name-$threads" "$kept/$side"
        done
        predict_by "$other" "$kept/old" >"$kept/old.csv"
        predict_by "$persik" "$kept/new" >"$kept/new.csv"
        read -r mean _ most <<<"$(difference run_ns "$kept/old.csv" "$kept/new.csv")"
        [ "$(number %d "$most > $limit")" = 0 ] || differs=1
        echo "| $name | $threads threads | $(percent "$mean") | $(percent "$most") |" \
            "$(percent "$(self_check "$kept/new")") |" \
            "$(percent "$(model_number "$kept/new" explained_share)") |" \
            "$(jq '.nodes | length' "$kept/new/model.json") |"
    done
done
exit $differs
