#!/bin/bash
# How well persik predicts: runs every program over threads {1,2,3,4,8,16} (the real programs also
# with 6 and 12) x cores {1,2}, records it three times with 2 threads and three times with 4, compares
# the models with the runs and writes docs/accuracy.md.
#
# usage: bench/accuracy.sh [PROGRAM...]            (a name in programs.sh; default all)
#        bench/accuracy.sh --models [PROGRAM...]   (builds the models anew from the kept recordings)
#        bench/accuracy.sh --write                 (only the document, from what is kept)
#
# A machine that others share is faster in one minute and slower in the next. So the real program is
# run in rounds, each configuration once, and the recordings are made between the rounds; how fast the
# cores were is known of all, and what counts is the error at equal speed (persik validate).
# A recording during which the machine was disturbed otherwise is made again, at most twice.
# Rounds, recordings and results are kept per program in bench/scratch/accuracy/NAME/; one that is kept and
# newer than the program is not made again, so that a broken measurement goes on where it was.
# Delete the folder to measure anew. Of programs of which nothing is kept, the document goes on saying
# what it said.
# $RUNS (default 5, at least 3): rounds; the median of a configuration's runs counts.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=rounds.sh
. "$(dirname "$0")/rounds.sh"

cores=1,2
bases=(2 4)
builds=(1 2 3)
runs=${RUNS:-5}
kept=$work/accuracy
document=$root/docs/accuracy.md
[ "$runs" -ge "${#builds[@]}" ] ||
    fail "RUNS=$runs: a recording is made before each of the first ${#builds[@]} rounds: use at least so many"

threads_of() {
    case " ${real_programs[*]} " in
        *" $1 "*) echo 1,2,3,4,6,8,12,16 ;;
        *) echo 1,2,3,4,8,16 ;;
    esac
}

# ---- measuring ----

# Mean, median and worst |predicted - measured| / measured over the rows of validate's CSV:
# error_summary FILE COLUMN-OF-THE-MEASURED.
error_summary() { csv_columns "$1" "$2" predicted_run_ns | deviations; }

# The deviation from the runs without probes.
untraced_check() {
    self_check_of "$1" "without probes" |
        awk '{ e = $2 / $1 - 1; printf "%.4f", e < 0 ? -e : e }
             END { if (!NR) print "-" }'
}

node_count() { sed -n '/^    "nodes": \[/,/^    \]/p' "$1/model.json" | grep -c '^        {'; }

# Of the time that threads waited for each other: exactly / alike / not modelled.
waiting_cell() {
    local all exact alike none
    read -r all exact alike none <<<"$(waiting_of "$1")"
    if [ -z "$all" ]; then echo -; else echo "$exact / $alike / $none %"; fi
}

# How many replications a prediction needs depends on the seed.
seeds=(1 2 3 4 5)
predict_by_seeds() {
    local seed
    for seed in "${seeds[@]}"; do
        "$persik" predict -i "$1" --threads 16 --cores 2 --seed "$seed" || return 1
    done
}

# Compares one model with the rounds; its line goes to result.part.
judge_model() {
    local base=$1 build=$2 data=$folder/base$1-$2 predict_s mean median worst own_mean own_worst
    local equal_mean equal_worst speeds
    if [ -n "$models_only" ]; then
        "$persik" build-model -i "$data" >"$data.log" 2>&1 || return 1
    fi
    "$persik" validate -i "$data" --reuse "$folder/measured.csv" --format json >"$data.json" || return 1
    jq -r '(.configurations[0] | keys_unsorted) as $keys | ($keys | join(",")),
        (.configurations[] | [.[$keys[]] | tostring] | join(","))' "$data.json" >"$data.csv"
    speeds=$(jq -r '[.run_spread, .equal_speed_run_spread, (.drift | if . then 1 / . else 1 end)] | @csv' "$data.json")
    predict_s=$(cpu_seconds_of predict_by_seeds "$data") || return 1
    predict_s=$(number %.4f "$predict_s / ${#seeds[@]}")
    read -r mean median worst <<<"$(error_summary "$data.csv" measured_run_ns)"
    read -r own_mean _ own_worst <<<"$(error_summary "$data.csv" own_run_ns)"
    read -r equal_mean _ equal_worst <<<"$(error_summary "$data.csv" equal_speed_run_ns)"
    [ -n "$equal_worst" ] || {
        say "$name: the recorded configuration was not run: delete ${folder#"$root"/} and measure anew"
        return 1
    }
    echo "$base,$build,$mean,$median,$worst,$(self_check "$data"),$(
        model_number "$data" explained_share),$(model_number "$data" perturbation),$(
        node_count "$data"),$predict_s,$own_mean,$own_worst,$equal_mean,$equal_worst,$(
        waiting_cell "$data"),$(untraced_check "$data"),$speeds" \
        >>"$folder/result.part"
}

# The commit that was measured; the documents, which this script writes, are no part of it.
commit() {
    local dirty=
    git -C "$root" diff --quiet HEAD -- . ':!docs' || dirty=-dirty
    echo "$(git -C "$root" rev-parse --short HEAD)$dirty"
}

measure_program() {
    local name=$1 folder=$kept/$1 base build rounds
    mkdir -p "$folder"
    if [ -z "$models_only" ]; then
        measure_in_turn "$folder" "$(threads_of "$name")" || return 1
    else
        rounds=("$folder"/round*.csv)
        [ -e "${rounds[0]}" ] || {
            say "$name: no rounds kept: measure it first, without --models"
            return 1
        }
        join_rounds "${rounds[@]}" >"$folder/measured.csv" || return 1
    fi
    : >"$folder/result.part"
    for base in "${bases[@]}"; do
        for build in "${builds[@]}"; do
            judge_model "$base" "$build" || return 1
        done
    done
    with_threads '{threads}'
    {
        echo "$(basename "${concrete[0]}") ${concrete[*]:1}" | sed "s|$work/||g"
        newest_date "$folder"
        commit
        machine
    } >"$folder/about"
    mv "$folder/result.part" "$folder/result.csv"
}

# ---- the document ----

percent() {
    if [ "$1" = - ]; then echo -; else number '%.1f %%' "100 * $1"; fi
}

# Means over the three builds: mean_of FILE BASE FIELD.
mean_of() {
    awk -F , -v base="$2" -v field="$3" '
        $1 == base && $field != "-" { sum += $field; n++ }
        END { if (n) printf "%.6f", sum / n; else print "-" }' "$1"
}

worst_of() {
    awk -F , -v base="$2" -v field="$3" '
        $1 == base && $field > worst { worst = $field } END { printf "%.6f", worst }' "$1"
}

# What others had of the cores, on average over the configurations.
foreign_share_of() {
    csv_columns "$1" foreign_share | awk '{ sum += $1 } END { printf "%.6f", sum / NR }'
}

# Mean and worst |predicted - measured| / measured of the CPU utilisation without what others had, all
# models from the same number of threads: utilisation_error FOLDER BASE.
utilisation_error() {
    local build
    for build in "${builds[@]}"; do
        csv_columns "$1/base$2-$build.csv" own_cpu_utilisation predicted_cpu_utilisation
    done | awk '{ e = ($2 - $1) / $1; e = e < 0 ? -e : e; sum += e; if (e > worst) worst = e }
                END { printf "%.6f %.6f", sum / NR, worst }'
}

# What the document has said so far: of a program, and in the overview of models from BASE threads.
has_section() { grep -qx "## $1" "$document" 2>/dev/null; }
old_section() { awk -v title="## $1" '/^## / { on = $0 == title } on' "$document"; }
old_row() {
    awk -v title="Models from $1 threads:" -v row="| $2 |" '
        / threads:$/ || /^## / { on = $0 == title }
        on && index($0, row) == 1' "$document"
}

is_measured() { [ -s "$kept/$1/result.csv" ]; }

# write_overview BASE PROGRAM...
write_overview() {
    local base=$1 name result field mean worst
    shift
    echo "Models from $base threads:"
    echo
    echo "| program | runs differ by | others had | running time | worst | without others | worst |" \
        "at equal speed | worst | CPU utilisation | worst |"
    echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name in "$@"; do
        is_measured "$name" || {
            old_row "$base" "$name"
            continue
        }
        result=$kept/$name/result.csv
        printf '| %s | %s / %s | %s |' "$name" "$(percent "$(mean_of "$result" "$base" 17)")" \
            "$(percent "$(mean_of "$result" "$base" 18)")" "$(percent "$(foreign_share_of "$kept/$name/base$base-1.csv")")"
        for field in 3 11 13; do
            printf ' %s | %s |' "$(percent "$(mean_of "$result" "$base" $field)")" \
                "$(percent "$(worst_of "$result" "$base" $((field == 3 ? 5 : field + 1)))")"
        done
        read -r mean worst <<<"$(utilisation_error "$kept/$name" "$base")"
        printf ' %s | %s |\n' "$(percent "$mean")" "$(percent "$worst")"
    done
    echo
}

# Seconds the real program took with 16 threads on 2 cores.
largest_run_s() {
    csv_columns "$1" threads cores measured_run_ns |
        awk '$1 == 16 && $2 == 2 { printf "%.3f", $3 / 1e9 }'
}

# Least and most CPU time over the configurations and where: of columns threads, cores, running time in
# ns and CPU utilisation.
demand_range() {
    awk '
        {
            s = $2 * $3 * $4 / 1e9
            at = sprintf("%.2f s (%d threads, %d cores)", s, $1, $2)
            if (NR == 1 || s < least) { least = s; least_at = at }
            if (NR == 1 || s > most) { most = s; most_at = at }
        }
        END { printf "%s to %s", least_at, most_at }'
}

write_demand() {
    local folder=$1 base
    printf '\nCPU time the program used: %s.' "$(
        csv_columns "$folder/base${bases[0]}-1.csv" threads cores measured_run_ns \
            measured_cpu_utilisation | demand_range)"
    for base in "${bases[@]}"; do
        printf ' The model from %d threads: %s.' "$base" "$(
            csv_columns "$folder/base$base-1.csv" threads cores predicted_run_ns \
                predicted_cpu_utilisation | demand_range)"
    done
    echo
}

# What bench/objects.csv says of the program's objects against what was recognised.
write_objects() {
    local lines
    lines=$(objects_against_source "$1" "$2") || true # of most programs nothing is said
    [ -n "$lines" ] || return 0
    echo "Kind and capacity as in the source (\`bench/objects.csv\`): $(grep -c '^right: ' <<<"$lines") of $(
        wc -l <<<"$lines").$(sed -n '/^right: /!s/^\(.*\): \(.*\)/ Not \2: \1./p' <<<"$lines" | tr -d '\n')"
}

# The shares of waiting belong to the run that the model is made from; the objects should be the same.
write_recognised() {
    local folder=$1 base
    for base in "${bases[@]}"; do
        printf '\nRecognised from %d threads:\n\n' "$base"
        recognised "$folder/base$base-1"
        echo
        echo "Locks: $(locks_of "$folder/base$base-1")."
        write_objects "$(basename "$folder")" "$folder/base$base-1"
        waiting_shares "$folder/base$base-1"
    done
}

write_program() {
    local name=$1 folder=$kept/$1 result=$kept/$1/result.csv about run_s predict_s
    local base build mean median worst check untraced explained perturbation nodes waiting own equal
    local slowdown equal_worst
    local first=$folder/base${bases[0]}-1.csv second=$folder/base${bases[1]}-1.csv
    mapfile -t about <"$folder/about"
    printf '## %s\n\n' "$name"
    printf '%s on %s, at commit %s, %d runs of each configuration: %s\n\n' \
        "${about[1]}" "${about[3]}" "${about[2]}" "$(csv_columns "$first" runs | tail -n 1)" \
        "\`${about[0]}\`"
    echo "| model from | build | slower by | mean | worst | without others | at equal speed | worst |" \
        "self-check | without probes | explained | perturbation | nodes |" \
        "waiting: exact / alike / not |"
    echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    while IFS=, read -r base build mean _ worst check explained perturbation nodes _ own _ equal \
        equal_worst waiting untraced _ _ slowdown; do
        echo "| $base threads | $build | $(percent "$(number %f "$slowdown - 1")") | $(percent "$mean") |" \
            "$(percent "$worst") | $(percent "$own") | $(percent "$equal") | $(percent "$equal_worst") |" \
            "$(percent "$check") | $(percent "$untraced") | $(percent "$explained") |" \
            "$(percent "$perturbation") | $nodes | ${waiting:--} |"
    done <"$result"
    printf '\nBy configuration (first build of each; error: against the time as measured, then at equal speed):\n\n'
    echo "| threads | cores | measured | from 2 threads | error | at equal speed | from 4 threads | error | at equal speed |"
    echo "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    paste -d ' ' \
        <(csv_columns "$first" threads cores measured_run_ns predicted_run_ns equal_speed_run_ns) \
        <(csv_columns "$second" measured_run_ns predicted_run_ns equal_speed_run_ns) | awk '
        function error(predicted, time) { return time + 0 > 0 ? sprintf("%+.1f %%", 100 * (predicted / time - 1)) : "-" }
        {
            printf "| %d | %d | %.3f s | %.3f s | %s | %s | %.3f s | %s | %s |\n",
                $1, $2, $3 / 1e9, $4 / 1e9, error($4, $3), error($4, $5), $7 / 1e9, error($7, $6), error($7, $8)
        }'
    write_demand "$folder"
    run_s=$(largest_run_s "$first")
    predict_s=$(mean_of "$result" 2 10)
    printf '\n16 threads on 2 cores: predicted in %.3f s of one core, the program runs %.3f s (%.0f times).\n' \
        "$predict_s" "$run_s" "$(number %.3f "$run_s / $predict_s")"
    write_recognised "$folder"
    echo
}

write_partition() {
    [ -s "$work/partition/machine" ] || {
        old_section "Work shared out beforehand"
        return
    }
    echo "## Work shared out beforehand"
    echo
    echo "\`samples/partition\`: rows shared out among the threads in five ways, measured and predicted"
    echo "by \`bench/partition.sh\`; the same recordings also as if the source had not been there."
    echo "Measured on $(newest_date "$work/partition") on $(<"$work/partition/machine"); models built at" \
        "commit $(commit)."
    echo
    "$root/bench/partition.sh" --kept
}

# A server is recognised, not predicted, so far.
write_memcached() {
    local data=$work/memcached.data
    [ -s "$data/model.json" ] || {
        old_section memcached
        return
    }
    printf '## memcached\n\n'
    echo "Loaded over loopback by \`bench/memcached.sh\`; not predicted. Its model explains $(
        percent "$(model_number "$data" explained_share)") of the threads' time."
    echo
    recognised "$data"
    echo
    waiting_shares "$data"
    echo
}

# Of sections that are older than the method and were not measured again.
old_conversion="**Older figures.** What was measured at commit 07aa8ec of 2026-11-27 or before (each program says where) has its columns \
\"without others\" and \"at equal speed\" from methods that are gone: what others had was taken off whole, and runs were \
converted by how long little pieces of work took, by powers that were guessed where the runs did not tell. Both hid \
errors and invented some: of these rows only the raw columns count. \`bench/accuracy.sh PROGRAM\` measures one anew, \
\`bench/accuracy.sh\` all (hours, on a quiet machine)."

write_document() {
    local name base done=()
    for name in "${sample_programs[@]}" "${real_programs[@]}"; do
        ! is_measured "$name" && ! has_section "$name" || done+=("$name")
    done
    [ "${#done[@]}" -gt 0 ] || fail "nothing measured yet: run bench/accuracy.sh without --write"
    {
        echo "# How well persik predicts"
        echo
        echo "Generated by \`bench/accuracy.sh\` on $(date -u +%Y-%m-%d). Each program says when and where it was"
        echo "measured."
        echo
        echo "Running time of each program without probes, the median of interleaved rounds, over"
        echo "threads {$(threads_of "${sample_programs[0]}")} (real programs:"
        echo "{$(threads_of "${real_programs[0]}")}) x cores {$cores}, against the prediction of a"
        echo "model built from one traced run. Error: |predicted - measured| / measured. Every model is"
        echo "built three times from independent recordings, made between the rounds; all are shown. A"
        echo "recording during which, as persik itself says, others had the cores, or whose probes seem to cost"
        echo "or to gain more than $(percent $disturbed) is made again, at most twice; how well its model predicts is"
        echo "no reason to."
        echo
        echo "**At equal speed.** A machine that others share changes its speed within seconds: neighbours on the"
        echo "same physical cores slow a program by a third and more, and a prediction is as slow as its"
        echo "recording was. So the recorded configuration is run in turn with the others, and each run is divided by"
        echo "the CPU time that it takes before and after, over what it took in the recording, as far as the run"
        echo "computed (\`cli/validation/drift.h\`): only what others slow is taken off, no prediction and no guess enters. The"
        echo "error at equal speed stands beside the raw one, never in its place. \"Runs differ by\": standard"
        echo "deviation of single runs of the same configuration, as measured / at equal speed: what nobody can"
        echo "predict, and how well the conversion works. On a quiet machine all that is the same."
        echo
        echo "$old_conversion"
        echo
        echo "\"Others had\": the share of the cores that other processes and the other guests of a virtual"
        echo "machine's host had meanwhile, as the kernel counts them. \"Without others\": the error against the"
        echo "time for cores of the program's own, which is what persik predicts: of what others had only that is"
        echo "taken off for which a thread of the program was ready and waited."
        echo "\"Self-check\" is the model's largest deviation from the traced run that it was made of, \"without"
        echo "probes\" that of its running time from the recording's plain runs: where the traced run happened to"
        echo "be slower or faster than usual, only the second one tells whether the model is right."
        echo "How much of the cores the program can use hardly depends on their speed: the errors of the CPU"
        echo "utilisation show the waiting and the scheduling in the model by themselves, without the CPU time."
        echo
        for base in "${bases[@]}"; do
            write_overview "$base" "${done[@]}"
        done
        old_section Intervals # by hand, from bench/intervals.sh
        old_section "What each pass is worth" # from bench/ablation.sh
        for name in "${done[@]}"; do
            if is_measured "$name"; then write_program "$name"; else old_section "$name"; fi
        done
        write_memcached
        echo
        old_section "tornado on a slow disk" # from bench/tornado.sh
        write_partition
    } | cat -s >"$document.part"
    mv "$document.part" "$document"
    cat "$document"
}

failed=()
models_only=
if [ "${1:-}" != --write ]; then
    need_persik
    [ "${1:-}" != --models ] || { models_only=1 && shift; }
    names=("$@")
    [ $# -gt 0 ] || names=("${sample_programs[@]}" "${real_programs[@]}")
    for name in "${names[@]}"; do
        # Not worth losing the others' hours: what fails is named at the end, with status 1.
        { set_command "$name" && measure_program "$name"; } || failed+=("$name")
    done
fi
write_document
[ "${#failed[@]}" = 0 ] || fail "not measured: ${failed[*]} (the reasons are above)"
