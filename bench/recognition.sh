#!/bin/bash
# What persik recognises of the corpus of hand-made synchronisation (tests/monitors): profiles every
# program with 2 threads, builds its model and holds the model's `monitors` against the labels.
#
# usage: bench/recognition.sh [--write] [--accuracy] [PROGRAM...]     (default: the whole corpus)
#        bench/recognition.sh --kept [--write]                    (only the tables, from what is kept)
#
#   --write     renew docs/recognition.md
#   --accuracy  measure also how well the models predict 1, 4, 8 threads on 1 and 2 cores
#   --profile   record and measure again though the program has not changed
#
# Without --accuracy a program is recorded once. With it $RUNS times (default 3), and after each
# recording every configuration is run once (rounds.sh): each of the models is held against the labels
# and, with the median of each configuration's runs, against reality.
# Results are kept per program in bench/scratch/recognition/NAME/, so that they can be renewed in parts;
# the tables always show all that is kept. A kept recording is used again while it is newer than its
# program: source analysis and models are always made anew.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=rounds.sh
. "$(dirname "$0")/rounds.sh"

profiled_threads=2
threads=1,4,8
cores=1,2
runs=${RUNS:-3}
profile_options=(--thorough --no-evictions) # these programs hardly use memory
kept=$work/recognition
labels=$root/tests/monitors/labels.csv
document=$root/docs/recognition.md

# ---- one program ----

is_timed() { awk -F , -v name="$1" '$1 == name { exit $8 != "yes" }' "$labels"; }

# Recording number $1 with its model, both made anew or the model alone.
renew() {
    local data=$folder/recording$1
    if is_kept "$data/model.json"; then
        "$persik" analyze -o "$data" "${command[0]}" >"$data.log" 2>&1 &&
            "$persik" build-model -i "$data" >>"$data.log" 2>&1
    else
        record $profiled_threads "$data"
    fi
}

measure() {
    local name=$1 folder=$kept/$1 round rounds=()
    command=("$built/monitors/$name" --threads '{threads}')
    [ -z "$measure_again" ] || rm -rf "$folder"
    mkdir -p "$folder"
    rm -f "$folder"/accuracy*.csv
    if [ -z "$with_accuracy" ] || ! is_timed "$name"; then
        renew 1
        return
    fi
    for ((round = 1; round <= runs; round++)); do
        rounds+=("$folder/round$round.csv")
        renew "$round" && run_round "${rounds[-1]}" "$folder/recording1" "$threads" || return 1
    done
    join_rounds "${rounds[@]}" >"$folder/measured.csv"
    for ((round = 1; round <= runs; round++)); do
        "$persik" validate -i "$folder/recording$round" --reuse "$folder/measured.csv" --format csv \
            >"$folder/accuracy$round.csv" 2>>"$folder/recording$round.log" || return 1
    done
}

# ---- the tables ----

# Holds the kept models against the labels, in the labels' order; of a program's models the one that is
# most wrong counts.
judge() {
    local name model
    while read -r name; do
        for model in "$kept/$name"/recording*/model.json; do
            [ ! -s "$model" ] || jq -r --rawfile labels "$labels" --arg program "$name" \
                -f "$root/tests/monitors/verdict.jq" "$model"
        done | awk -F '\t' '
            {
                wrong = 8 * ($4 == "no") + 4 * ($5 == "no") + 2 * ($6 == "no") + ($7 != "")
                if (NR == 1 || wrong > most) { most = wrong; line = $0 }
            }
            END { if (NR) print line }'
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

# Mean and worst |predicted - measured| / measured of a program's models, then both without what others
# had of the cores meanwhile, both at equal speed, and how much others had: errors_of FILE...
errors_of() {
    join_rounds "$@" | csv_columns - error own_error equal_speed_error foreign_share | awk '
        {
            n++
            for (i = 1; i <= 3; i++) {
                if ($i == "-") continue # only a range is known
                known[i]++
                e = $i < 0 ? -$i : $i
                sum[i] += e
                if (e > worst[i]) worst[i] = e
            }
            foreign += $4
        }
        END {
            if (!n) exit 1
            for (i = 1; i <= 3; i++) printf "%.6f %.6f ", known[i] ? sum[i] / known[i] : 0, worst[i]
            printf "%.6f", foreign / n
        }'
}

# "program", and its errors, per line.
accuracies() {
    local name
    while read -r name; do
        [ ! -s "$kept/$name/accuracy1.csv" ] || echo "$name $(errors_of "$kept/$name"/accuracy*.csv)"
    done < <(corpus)
}

write_accuracy() {
    [ -n "$(accuracies)" ] || return 0
    printf '\n## How well the models predict\n\n'
    echo "Running time of the real program without probes (median of $runs runs) with {$threads} threads"
    echo "on {$cores} cores, against the predictions of $runs models, each from one run with $profiled_threads threads:"
    echo "|predicted - measured| / measured, mean and worst over models and configurations. The real program"
    echo "ran in rounds, each configuration once, and was recorded before each round. The raw errors count."
    echo "Without others: what others had of the cores while a thread of the program was ready and waited is"
    echo "taken off. At equal speed: each run is divided by what the recorded configuration takes before and"
    echo "after it, over what it took in the recording (docs/accuracy.md)."
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

# What bench/thresholds.sh measured stays as it is in the document.
write_thresholds() {
    [ ! -e "$document" ] || sed -n '/^## What each threshold is worth/ { x; p; x }
        /^## What each threshold is worth/,$p' "$document"
}

write_document() {
    echo "# What persik recognises"
    echo
    echo "Generated by \`bench/recognition.sh\` on $(date -u +%Y-%m-%d) at commit" \
        "$(git -C "$root" describe --always --dirty --exclude '*'): $(machine)."
    echo
    echo "The corpus is \`tests/monitors/\`: small programs of one hand-made object each, and programs that"
    echo "look like one and are not, with labels that persik never reads. Every program is recorded with"
    echo "$profiled_threads threads, those with a running time $runs times: of their models the one counts that is most"
    echo "wrong. *amount*: capacity, initial count or parties right, also in how it follows"
    echo "the thread count; *operations*: the right functions in the right roles; *besides*: what"
    echo "was named in the program and is not there."
    echo
    write_totals
    echo
    write_verdicts
    write_accuracy
    write_thresholds
}

# ----

write='' with_accuracy='' measure_again='' only_kept='' names=()
for argument; do
    case $argument in
    --write) write=yes ;;
    --accuracy) with_accuracy=yes ;;
    --profile) measure_again=yes ;;
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
        measure "$name" || failed+=("$name")
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
[ "${#failed[@]}" = 0 ] || fail "not measured: ${failed[*]} (the reasons are above)"
