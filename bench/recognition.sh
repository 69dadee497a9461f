#!/bin/bash
# What persik recognises of the corpus of hand-made synchronisation (tests/monitors): profiles every
# program with 2 threads, builds its model and holds the model's `monitors` against the labels.
#
# usage: bench/recognition.sh [--write] [--accuracy] [PROGRAM...]     (default: the whole corpus)
#        bench/recognition.sh --kept [--write]                    (only the table, from what is kept)
#
#   --write     renew docs/recognition.md
#   --accuracy  measure also how well the models predict 1, 4, 8 threads on 1 and 2 cores
#   --profile   profile again though the program has not changed
#
# Results are kept per program in bench/scratch/recognition/NAME/, so that they can be renewed in parts;
# the table always shows all that is kept. A kept profile is used again while it is newer than its
# program: source analysis and model are always made anew. One during which something else took the
# machine is made again, at most twice.
# $RUNS (default 3): runs of the real program per configuration, interleaved; the median counts.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

profiled_threads=2
threads=1,4,8
cores=1,2
runs=${RUNS:-3}
limit_s=60 # for one program and stage: all but a hanging one take seconds
kept=$work/recognition
labels=$root/tests/monitors/labels.csv
document=$root/docs/recognition.md

# ---- one program ----

build_model() {
    local name=$1 folder=$kept/$1 data=$kept/$1/data program=$built/monitors/$1 try
    local build=(timeout "$limit_s" "$persik" build-model -i "$data")
    mkdir -p "$folder"
    if [ -z "$profile_again" ] && [ "$data/trace.persik" -nt "$program" ]; then
        timeout "$limit_s" "$persik" analyze -o "$data" "$program" >"$folder/log" 2>&1 &&
            "${build[@]}" >>"$folder/log" 2>&1 && is_undisturbed "$data" && return
    fi
    for try in 1 2 3; do
        [ "$try" = 1 ] || say "$name: profiled again: disturbed by something else"
        timeout "$limit_s" "$persik" profile --no-evictions -o "$data" -- \
            "$program" --threads $profiled_threads \
            >"$folder/log" 2>&1 && "${build[@]}" >>"$folder/log" 2>&1 || return 1
        is_undisturbed "$data" && return
    done
    say "$name: disturbed all three times: its model is that of the last"
}

predict() {
    local name=$1 folder=$kept/$1 program=$built/monitors/$1 measured=$kept/$1/measured.csv
    local options=(-i "$folder/data" --format csv)
    if [ "$measured" -nt "$program" ]; then
        options+=(--reuse "$measured")
    else
        options+=(--measurements "$measured.part" --threads "$threads" --cores "$cores"
            --runs "$runs" -- "$program" --threads '{threads}')
    fi
    "$persik" validate "${options[@]}" >"$folder/accuracy.part" 2>>"$folder/log" || return 1
    [ ! -e "$measured.part" ] || mv "$measured.part" "$measured"
    mv "$folder/accuracy.part" "$folder/accuracy.csv"
}

is_timed() { awk -F , -v name="$1" '$1 == name { exit $8 != "yes" }' "$labels"; }

score() {
    local name=$1
    rm -f "$kept/$name/data/model.json" "$kept/$name/accuracy.csv"
    build_model "$name" || {
        say "$name: no model: see ${kept#"$root"/}/$name/log"
        return 1
    }
    if [ -n "$with_accuracy" ] && is_timed "$name"; then
        predict "$name" || {
            say "$name: no prediction: see ${kept#"$root"/}/$name/log"
            return 1
        }
    fi
}

# ---- the tables ----

# Holds the kept models against the labels, in the labels' order.
judge() {
    local name model
    while read -r name; do
        model=$kept/$name/data/model.json
        [ ! -s "$model" ] || jq -r --rawfile labels "$labels" --arg program "$name" \
            -f "$root/tests/monitors/verdict.jq" "$model"
    done < <(corpus)
}

corpus() { tail -n +2 "$labels" | cut -d , -f 1; }

markdown() { awk -F '\t' '{ printf "|"; for (i = 1; i <= NF; i++) printf " %s |", $i; print "" }'; }

write_verdicts() {
    echo "| program | label | found | amount | operations | besides |"
    echo "|---|---|---|:-:|:-:|---|"
    awk -F '\t' -v OFS='\t' '$2 !~ /^like / { print $1, $2, $3, $5, $6, $7 }' "$verdicts" |
        markdown
    echo
    echo "| look-alike | looks | mistaken for |"
    echo "|---|---|---|"
    awk -F '\t' -v OFS='\t' '$2 ~ /^like / { print $1, $2, $3 }' "$verdicts" | markdown
}

write_totals() {
    awk -F '\t' '
        function share(n, of) { return sprintf("%d of %d (%.1f %%)", n, of, of ? 100 * n / of : 0) }
        $2 ~ /^like / { alike++; mistaken += $4 == "no"; next }
        {
            objects++
            kind += $4 == "yes"
            named += $4 == "yes" && $5 != "no"
            operations += $6 == "yes"
            besides += $7 != ""
        }
        END {
            print "- named correctly, with capacity or parties: " share(named, objects)
            print "- kind alone: " share(kind, objects) "; all operations: " share(operations, objects)
            print "- something named that is not there, beside the object: " share(besides, objects)
            print "- look-alikes mistaken for an object: " share(mistaken, alike)
        }' "$verdicts"
}

# Mean and worst |predicted - measured| / measured of the kept accuracy of a program, then both without
# what others had of the cores meanwhile, both at equal speed, and how much others had.
errors_of() {
    csv_columns "$1" error own_error equal_speed_error foreign_share | awk '
        {
            n++
            for (i = 1; i <= 3; i++) {
                e = $i < 0 ? -$i : $i
                sum[i] += e
                if (e > worst[i]) worst[i] = e
            }
            foreign += $4
        }
        END {
            if (!n) exit 1
            for (i = 1; i <= 3; i++) printf "%.6f %.6f ", sum[i] / n, worst[i]
            printf "%.6f", foreign / n
        }'
}

# "program", and its errors, per line.
accuracies() {
    local name errors
    while read -r name; do
        [ -s "$kept/$name/accuracy.csv" ] || continue
        errors=$(errors_of "$kept/$name/accuracy.csv") ||
            fail "delete ${kept#"$root"/}/$name: it was measured before the speed of the cores was"
        echo "$name $errors"
    done < <(corpus)
}

write_accuracy() {
    [ -n "$(accuracies)" ] || return 0
    printf '\n## How well the models predict\n\n'
    echo "Running time of the real program without probes (median of $runs interleaved runs) with {$threads}"
    echo "threads on {$cores} cores, against the prediction of the model from the run with"
    echo "$profiled_threads threads: |predicted - measured| / measured. Without others: against the time"
    echo "estimated for cores of the program's own, which is what persik predicts, where other processes"
    echo "and the other guests of a virtual machine's host had some of them meanwhile. At equal speed: against"
    echo "the runs' times converted to the speed that the cores had in the recording (docs/accuracy.md)."
    echo
    echo "| program | mean error | worst | others had | without others | worst | at equal speed | worst |"
    echo "|---|--:|--:|--:|--:|--:|--:|--:|"
    accuracies | awk '
        {
            printf "| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", $1,
                100 * $2, 100 * $3, 100 * $8, 100 * $4, 100 * $5, 100 * $6, 100 * $7
            for (i = 2; i <= 6; i += 2) {
                sum[i] += $i
                good[i] += $i <= 0.05
            }
            foreign += $8
        }
        function line(what, i) {
            printf "- %s: mean of %d programs %.1f %%; %d of them at most 5 %%\n", what, NR,
                100 * sum[i] / NR, good[i]
        }
        END {
            print ""
            line("As measured", 2)
            line(sprintf("Without others, who had %.1f %% of the cores", 100 * foreign / NR), 4)
            line("At equal speed", 6)
        }'
}

write_document() {
    echo "# What persik recognises"
    echo
    echo "Generated by \`bench/recognition.sh\` on $(date -u +%Y-%m-%d) at commit" \
        "$(git -C "$root" describe --always --dirty --exclude '*'): $(machine)."
    echo
    echo "The corpus is \`tests/monitors/\`: small programs of one hand-made object each, and programs that"
    echo "look like one and are not, with labels that persik never reads. Every program is profiled once with"
    echo "$profiled_threads threads. *amount*: capacity, initial count or parties right, also in how it follows"
    echo "the thread count; *operations*: the right functions in the right roles; *besides*: what"
    echo "was named in the program and is not there."
    echo
    write_totals
    echo
    write_verdicts
    write_accuracy
}

# ----

write='' with_accuracy='' profile_again='' only_kept='' names=()
for argument; do
    case $argument in
    --write) write=yes ;;
    --accuracy) with_accuracy=yes ;;
    --profile) profile_again=yes ;;
    --kept) only_kept=yes ;;
    -*) fail "no option $argument: see the head of this script" ;;
    *) names+=("$argument") ;;
    esac
done
command -v jq >/dev/null || fail "jq is missing: run ./install-deps.sh"
failed=()
if [ -z "$only_kept" ]; then
    need_persik
    make -s -C "$root" "B=$built" monitors >&2
    [ "${#names[@]}" -gt 0 ] || mapfile -t names < <(corpus)
    for name in "${names[@]}"; do
        corpus | grep -qxF -e "$name" || fail "no program '$name' in $(basename "$labels")"
        # Not worth losing the others: what fails is named at the end, with status 1.
        score "$name" || failed+=("$name")
    done
fi
verdicts=$(mktemp)
trap 'rm -f "$verdicts"' EXIT
judge >"$verdicts"
[ -s "$verdicts" ] || fail "nothing is kept yet: run bench/recognition.sh without --kept"
if [ -n "$write" ]; then
    write_document >"$document.part"
    mv "$document.part" "$document"
fi
write_verdicts
write_accuracy
echo
write_totals
[ "${#failed[@]}" = 0 ] || fail "not scored: ${failed[*]} (the reasons are above)"
