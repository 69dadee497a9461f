#!/bin/bash
# What each threshold of evidence (modelgen/evidence.def) is good for: it is halved and doubled, and the models of
# kept recordings are made anew. Prints a Markdown table: how many recordings' models then differ at all, and how
# many in a verdict (what an object is, how well it is modelled, how the work follows the threads). A threshold that
# changes nothing either way decides nothing here.
#
# usage: bench/thresholds.sh [NAME...]   (default: all of `persik build-model --list-evidence`)
#
# Recordings are those of tests/golden, or of $GOLDEN_DIR (bench/golden.sh). $JOBS (2) at a time.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

recordings=${GOLDEN_DIR:-$root/tests/golden}
jobs=${JOBS:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

verdicts() {
    jq -r '(.pools[] | "\(.name): \(.rule)"), (.monitors[]? | "\(.kind) \(.name): \(.how)"),
        (.objects // [] | group_by(.kind)[] | "\(length) x \(.[0].kind)")' "$1"
}

# one RECORDING FOLDER OPTION...: FOLDER/NAME.model and FOLDER/NAME.verdicts
one() {
    local name data
    name=$(basename "$1")
    data=$(mktemp -d "$scratch/data.XXXXXX")
    find "$1" -maxdepth 1 -type f -exec ln -s -t "$data" {} +
    if PATH='' "$persik" build-model -q -i "$data" "${@:3}" >/dev/null 2>&1 || [ -s "$data/model.json" ]; then
        grep -v '^    "built": ' "$data/model.json" >"$2/$name.model"
        verdicts "$data/model.json" >"$2/$name.verdicts"
    fi
    rm -r "$data"
}

# models FOLDER OPTION...: of all recordings
models() {
    mkdir -p "$1"
    for recording in "$recordings"/*/; do
        [ -s "$recording/trace.persik" ] || continue
        job_slot
        one "$(cd "$recording" && pwd)" "$@" &
    done
    wait
}

# differing FOLDER SUFFIX: names of the recordings that differ from the base
differing() {
    for file in "$scratch/base"/*."$2"; do
        cmp -s "$file" "$1/$(basename "$file")" || basename "$file" ".$2"
    done
}

need_persik
models "$scratch/base"
n=$(find "$scratch/base" -name '*.model' | wc -l)
[ "$n" -gt 0 ] || fail "no recordings in $recordings"
echo "$n recordings"
echo
echo "| threshold | value | halved: models, verdicts | doubled: models, verdicts | recordings whose verdicts change |"
echo "|---|---|---|---|---|"
"$persik" build-model --list-evidence | while read -r name value _; do
    [ $# -eq 0 ] || [[ " $* " = *" $name "* ]] || continue
    changed=$scratch/changed cells=
    : >"$changed"
    for factor in 0.5 2; do
        folder=$scratch/$name-$factor
        models "$folder" --evidence "$name=$(awk -v v="$value" -v f=$factor 'BEGIN { print v * f }')"
        differing "$folder" verdicts >"$folder.verdicts"
        cells+=" $(differing "$folder" model | wc -l), $(wc -l <"$folder.verdicts") |"
        cat "$folder.verdicts" >>"$changed"
        rm -r "$folder"
    done
    echo "| $name | $value |$cells $(sort -u "$changed" | head -n 6 | tr '\n' ' ')|"
done
