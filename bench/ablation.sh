#!/bin/bash
# What each optional pass of modelgen/passes.def and each candidate of modelgen/candidates.def is worth: an ablation.
# Builds models with and without it (`persik build-model --without NAME`) and compares them, their predictions and
# their self-checks; where the real running times of other configurations are known, also the errors. Runs no program:
# any machine will do.
#
# usage: bench/ablation.sh [--write] [--kept] [NAME...]      (default: all optional passes and all candidates)
#
#   --write        put the table into docs/accuracy.md as well
#   --kept         build nothing: the table of what was built last, of these
#   GOLDEN_DIR     recordings that `bench/golden.sh record` made (bench/scratch/golden); are only read
#   INTERVALS_DIR  recordings and running times that `bench/intervals.sh` left (bench/scratch/intervals); only read
#   JOBS           recordings at a time (2)
#
# Predicted are 1, 2, 4 and 8 threads on 1 and 2 cores, of measured programs what was measured. A prediction counts
# as another one where it moves by 1 % more than both simulations' own intervals, or where there is a figure on one
# side only. The self-check is the larger miss of the recorded run's running time and CPU utilisation.
# What was found, one configuration a line, stays in bench/scratch/ablation/.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

golden=$(realpath -m "${GOLDEN_DIR:-$work/golden}")
intervals=$(realpath -m "${INTERVALS_DIR:-$work/intervals}")
jobs=${JOBS:-2}
kept=$work/ablation
document=$root/docs/accuracy.md
title="What each pass and each candidate is worth"
named=6 # programs in a row of the table
timeout=$(command -v timeout)
time_limit_s=120 # of one build or prediction: without a pass a model may be anything

# ---- with and without ----

# The folders of recordings, each with its name; measured ones have a file beside them.
recordings() {
    find "$golden" -mindepth 2 -maxdepth 2 -name trace.persik -printf '%h\n' | awk -F / '{ print $NF, $0 }'
    [ ! -d "$intervals" ] || find "$intervals" -mindepth 2 -maxdepth 2 -name measured.csv -size +0 -printf '%h\n' |
        awk -F / '{ print $NF "(measured)", $0 "/recording" }'
}

# The model in FOLDER, or why there is none, without what differs by itself: build FOLDER OPTION... Without Graphviz
# in its path persik makes no drawing.
build() {
    local status=0
    rm -f "$1/model.json"
    PATH='' "$timeout" $time_limit_s "$persik" build-model -q -i "$@" >/dev/null 2>"$1.errors" || status=$?
    if [ -s "$1/model.json" ]; then
        jq -S 'del(.built) | .notes = [.notes[]? | select(startswith("built without the ") | not)]' \
            "$1/model.json" >"$1.model"
    else
        sed "s|$1||g" "$1.errors" >"$1.model"
    fi
    [ "$status" = 0 ] || echo "exit status $status" >>"$1.model"
}

# "THREADS CORES RUN_NS HALF_WIDTH MEASURED_NS" for each configuration: predictions FOLDER MEASUREMENTS.
predictions() {
    if [ -s "$2" ]; then
        "$timeout" $time_limit_s "$persik" validate -q -i "$1" --reuse "$2" --format csv 2>/dev/null >"$1.csv" || true
        csv_columns "$1.csv" threads cores predicted_run_ns predicted_run_ns_simulation_half_width measured_run_ns
    else
        "$timeout" $time_limit_s "$persik" predict -q -i "$1" --threads 1,2,4,8 --cores 1,2 --seed 1 --format csv \
            2>/dev/null >"$1.csv" || true
        csv_columns "$1.csv" threads cores run_ns run_ns_simulation_half_width | sed 's/$/ -/'
    fi || true # no model, no rows
}

# Writes to $kept/NAME: for each pass "PASS NAME model 0|1", and where the model is another one "PASS NAME check WITH
# WITHOUT" and "PASS NAME row THREADS CORES WITH HALF-WIDTH WITHOUT HALF-WIDTH MEASURED".
compare() {
    local name=$1 recording=$2 folder=$scratch/$1 measured='' pass
    [ "${name%(measured)}" = "$name" ] || measured=${recording%/recording}/measured.csv
    mkdir -p "$folder/with" "$folder/without"
    find "$recording" -maxdepth 1 \( -name trace.persik -o -name static.json -o -name sample.json -o -name catalog \
        -o -name 'evictions-*.persik' \) -exec ln -s -t "$folder/with" {} + -exec ln -s -t "$folder/without" {} +
    build "$folder/with"
    predictions "$folder/with" "$measured" >"$folder/with.rows"
    for pass in "${passes[@]}"; do
        build "$folder/without" --without "$pass"
        if cmp -s "$folder/with.model" "$folder/without.model"; then
            echo "$pass $name model 0"
            continue
        fi
        echo "$pass $name model 1"
        echo "$pass $name check $(check_of "$folder/with") $(check_of "$folder/without")"
        predictions "$folder/without" "$measured" >"$folder/without.rows"
        join_rows "$folder/with.rows" "$folder/without.rows" | sed "s|^|$pass $name row |"
    done >"$kept/$name.part"
    mv "$kept/$name.part" "$kept/$name"
    rm -r "$folder"
}

# Not where something else had the cores: the recorded running time then checks nothing.
check_of() {
    if [ -s "$1/model.json" ] && ! grep -q '"foreign_share"' "$1/model.json"; then self_check "$1"; else echo -; fi
}

# Rows of the first file with those of the second, "-" where it has none.
join_rows() {
    awk 'NR == FNR { other[$1, $2] = $3 " " $4; next }
         { print $1, $2, $3, $4, ($1, $2) in other ? other[$1, $2] : "- -", $5 }' "$2" "$1"
}

compare_all() {
    local name recording
    rm -rf "$kept"
    mkdir -p "$kept"
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    while read -r name recording; do
        job_slot
        compare "$name" "$recording" &
    done < <(recordings)
    wait
}

# ---- the table ----

# "PASS NAME MOVED SHIFT LOST CHECK-WITH CHECK-WITHOUT ERROR-WITH ERROR-WITHOUT MEASURED GAINED" for each pass and
# program with another model: does a prediction move, by how much at most, how many have a figure only with the pass,
# the self-checks, the mean errors over so many measured configurations, how many have a figure only without it.
per_program() {
    find "$kept" -type f ! -name '*.part' -exec cat {} + | awk '
        function abs(x) { return x < 0 ? -x : x }
        { key = $1 " " $2 }
        $3 == "model" && $4 { known[key] = 1 }
        $3 == "check" { with[key] = $4; without[key] = $5 }
        $3 == "row" && ($6 == "-") != ($8 == "-") { moved[key] = 1; $8 == "-" ? lost[key]++ : gained[key]++ }
        $3 == "row" && $6 != "-" && $8 != "-" {
            shift = abs($8 / $6 - 1)
            if (abs($8 - $6) > 0.01 * $6 + $7 + $9) moved[key] = 1
            if (shift > most[key]) most[key] = shift
            if ($10 != "-") {
                n[key]++
                error_with[key] += abs($6 / $10 - 1); error_without[key] += abs($8 / $10 - 1)
            }
        }
        END {
            for (key in known)
                print key, moved[key] + 0, most[key] + 0, lost[key] + 0, with[key], without[key],
                    n[key] ? error_with[key] / n[key] : "-", n[key] ? error_without[key] / n[key] : "-", n[key] + 0, gained[key] + 0
        }' | LC_ALL=C sort
}

# Median, and range where there are several, of a column of numbers, in percent; "-" where there are none.
spread() {
    grep -v '^-$' | LC_ALL=C sort -g | awk '
        { v[NR] = 100 * $1 }
        END {
            if (!NR) { print "-"; exit }
            median = (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
            if (NR > 1) printf "%.1f (%.1f .. %.1f)\n", median, v[1], v[NR]
            else printf "%.1f\n", median
        }'
}

# The programs that move most, with by how much; "-" for a figure that is only there with the pass.
movers() {
    awk '$3 && $5 { print 1e9 + $5, $2, $5 " figures lost" }
         $3 && !$5 { print $4, $2, sprintf("%.0f %%", 100 * $4) }' |
        LC_ALL=C sort -k 1,1gr -k 2,2 | awk -v named="$named" '
        NR <= named { name = $2; sub(/^[^ ]* [^ ]* /, ""); printf "%s%s %s", (NR > 1 ? ", " : ""), name, $0 }
        END { if (NR > named) printf " and %d more", NR - named; if (!NR) printf "-"; print "" }'
}

table() {
    local pass lines moved
    echo "| pass or candidate | models changed | predictions changed | by, % | figures lost, gained | self-check with, % | without, % | error with, % | without, % | programs |"
    echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    for pass in "${passes[@]}"; do
        lines=$(awk -v pass="$pass" '$1 == pass' <<<"$programs")
        moved=$(awk '$3' <<<"$lines")
        echo "| $pass | $(grep -c . <<<"$lines") | $(grep -c . <<<"$moved") |" \
            "$(awk '$4 > 0 { print $4 }' <<<"$moved" | spread) |" \
            "$(awk '{ lost += $5; gained += $11 } END { print lost + 0 ", " gained + 0 }' <<<"$moved") |" \
            "$(awk 'NF && $6 != "-" && $7 != "-" { print $6 }' <<<"$moved" | spread) |" \
            "$(awk 'NF && $6 != "-" && $7 != "-" { print $7 }' <<<"$moved" | spread) |" \
            "$(awk '$10 > 0 { print $8 }' <<<"$moved" | spread) |" \
            "$(awk '$10 > 0 { print $9 }' <<<"$moved" | spread) |" \
            "$(movers <<<"$lines") |"
    done
}

compared() { find "$kept" -type f ! -name '*.part' -printf '%f\n'; }

report() {
    local pass
    echo "## $title"
    echo
    echo "\`bench/ablation.sh\`, $(date -u +%Y-%m-%d), $(machine), at commit $(git -C "$root" rev-parse --short HEAD):"
    echo "$(compared | grep -c -v '(measured)') recordings without and $(compared | grep -c '(measured)') with measured" \
        "running times. Of each a model was"
    echo "built with all and one without each optional pass, and without each candidate for what explains waits."
    echo "*Predictions changed*: programs of which at least one of up to 8 configurations moves by more than 1 % and the"
    echo "simulations' own noise, or has a figure on one side only; *by*: the configuration that moves most; *figures*:"
    echo "configurations with a figure only with the pass (lost) or only without it (gained: with the pass, persik says that it"
    echo "does not know). *Self-check*: of recordings during which nothing else had the cores; *error*: mean over the measured"
    echo "configurations of a program. These are of the programs whose predictions changed: median (least .. most)."
    echo
    table
    echo
    for pass in "${passes[@]}"; do
        awk -v pass="$pass" '$1 == pass && $3 { found = 1 } END { if (!found) print pass }' <<<"$programs"
    done | paste -s -d , | sed 's/,/, /g; s/.*/No prediction here needs: &./; s/: \./: none of them./'
}

# In the place of the document's section of that title, or behind "Intervals".
write() {
    report >"$kept.section"
    awk -v title="## $title" -v section="$kept.section" '
        function insert(    line) {
            while ((getline line <section) > 0) print line
            print ""
            inserted = 1
        }
        $0 == title { skip = 1; next }
        /^## / { if (!inserted && (skip || behind)) insert(); skip = 0; behind = $0 == "## Intervals" }
        !skip' "$document" >"$document.part"
    mv "$document.part" "$document"
    cat "$kept.section"
}

renice -n 10 -p $$ >/dev/null # others may need the machine
action='report' build=yes
passes=()
for argument; do
    case $argument in
    --write) action='write' ;;
    --kept) build= ;;
    -*) fail "no option $argument: see the head of this script" ;;
    *) passes+=("$argument") ;;
    esac
done
need_persik
mapfile -t optional < <("$persik" build-model --list-passes | sed -n 's/^ *\([a-z_]*\) (\(optional\|candidate .*\))$/\1/p')
for pass in "${passes[@]}"; do
    [[ " ${optional[*]} " = *" $pass "* ]] || fail "no optional pass and no candidate '$pass': persik build-model --list-passes"
done
[ "${#passes[@]}" -gt 0 ] || passes=("${optional[@]}")
if [ -n "$build" ]; then
    [ -n "$(recordings)" ] || fail "no recordings in $golden: bench/golden.sh record"
    compare_all
fi
[ -d "$kept" ] || fail "nothing is built yet: leave --kept out"
programs=$(per_program)
"$action"
