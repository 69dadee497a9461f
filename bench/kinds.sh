#!/bin/bash
# What persik makes of kinds of programs: every case is recorded once, predicted for threads {1,2,4,8} x cores {1,2}
# and compared with real runs. Prints a table in Markdown; docs/kinds.md has one.
#
# usage: bench/kinds.sh [--table] [CASE...]         (file names without extension; default all)
#        KINDS=FOLDER bench/kinds.sh ...            (default tests/programs)
#
# A case is a C or C++ source with three comment lines at its top:
#   KIND...: the kind of program, in words
#   BUILD:   the command that makes it, run beside a copy of the source
#   RUN:     "persik profile -- COMMAND 2; ... -- COMMAND {threads}": with how many threads it is recorded,
#            and its command
#
# Everything is kept in bench/scratch/kinds/CASE: the recording, its model, and each real run as a line of
# runs.csv. What is kept and newer than the program is not made again, so that a run that was stopped
# goes on where it was. --table measures nothing and builds the models anew.
# $RUNS (default 3): real runs of each configuration, in turn; their median counts. $LIMIT: seconds after which
# no further run begins.
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

cases=${KINDS:-$root/tests/programs}
kept=$work/kinds
runs=${RUNS:-3}
wrong=0.15 # of the measured time: a figure that is off by more is wrong

# The text of a comment line of a case: header FILE LABEL.
header() { sed -n "1,6s|^[/ ]*[/*]* *$2[^:]*: *||p" "$1" | head -n 1 | sed 's| *\*/ *$||'; }

# Sets `command`, with {threads}, and `threads`, the number it is recorded with.
read_run() {
    local file=$1 name=$2 line text
    line=$(header "$file" RUN)
    threads=$(sed -En "s#^[^;]*(/$name +|OMP_NUM_THREADS=)([0-9]+).*#\\2#p" <<<"$line")
    text=$(sed -n 's#.*-- \([^;]*{threads}[^;]*\).*#\1#p' <<<"$line")
    [ -n "$text" ] || text=$(sed -En "s#^[^;]*-- (\./$name) [0-9]+(( [^ ;]+)*).*#\\1 {threads}\\2#p" <<<"$line")
    read -ra command <<<"${text:-./$name {threads\}}"
    threads=${threads:-4}
}

compile() {
    local file=$1 name=$2 folder=$kept/$2 build
    [ -x "$folder/$name" ] && [ "$folder/$name" -nt "$file" ] && return
    mkdir -p "$folder"
    cp "$(dirname "$file")"/*.{c,cpp,h} "$folder" 2>/dev/null || true
    build=$(header "$file" BUILD | sed 's|   *(.*||')
    (cd "$folder" && PWD=$folder eval "$build") >"$folder/build.log" 2>&1
}

record_case() {
    local name=$1 folder=$kept/$1
    [ -s "$folder/data/model.json" ] && [ "$folder/data/model.json" -nt "$folder/$name" ] && return
    with_threads "$threads"
    say "$name: recorded with $threads threads"
    # A model that stands still in its own run is one, too: it is refused.
    (cd "$folder" && "$persik" profile --no-evictions -o data.new -- "${concrete[@]}" >/dev/null &&
        { "$persik" build-model -i data.new || [ -s data.new/model.json ]; } &&
        rm -rf data && mv data.new data) >"$folder/data.log" 2>&1 ||
        say "$name: no model: see ${folder#"$root"/}/data.log"
}

# One real run: its line goes to runs.csv.
run_once() {
    local folder=$1 round=$2 n=$3 cores=$4 start end
    grep -q "^$round,$n,$cores," "$folder/runs.csv" 2>/dev/null && return
    [ "${LIMIT:-0}" = 0 ] || [ "$SECONDS" -lt "$LIMIT" ] || fail "time is up: run it again to go on"
    with_threads "$n"
    start=$EPOCHREALTIME
    (cd "$folder" && exec taskset -c "0-$((cores - 1))" "${concrete[@]}") >/dev/null 2>&1 || return 0
    end=$EPOCHREALTIME
    echo "$round,$n,$cores,$(number %.6f "${end/,/.} - ${start/,/.}")" >>"$folder/runs.csv"
}

measure_case() {
    local folder=$kept/$1 round n cores
    for ((round = 1; round <= runs; round++)); do
        for n in 1 2 4 8; do
            for cores in 1 2; do run_once "$folder" "$round" "$n" "$cores"; done
        done
    done
}

# threads,cores,median of the real runs in s
medians() {
    sort -t , -k 2,2n -k 3,3n -k 4,4g "$1" | awk -F , '
        function out() { if (n) print key "," t[int((n + 1) / 2)] }
        { k = $2 "," $3 }
        k != key { out(); key = k; n = 0 }
        { t[++n] = $4 }
        END { out() }'
}

# threads,cores,prediction in s or "-",half of its interval in s,cause of no figure
predictions() {
    "$persik" predict -i "$1" --threads 1,2,4,8 --cores 1,2 --format json 2>/dev/null |
        jq -r '.configurations[] | [.threads, .cores, if .run_ns then .run_ns / 1e9 else "-" end,
            (.run_ns_half_width // 0) / 1e9, ((.no_figures // "") | gsub("[,|]"; ";"))] | map(tostring) | join(",")'
}

# The row of a case.
row() {
    local file=$1 name=$2 folder=$kept/$2
    [ -s "$folder/data/model.json" ] && [ -s "$folder/runs.csv" ] || {
        echo "| $name | no model, or not run |"
        return
    }
    predictions "$folder/data" >"$folder/predicted.csv" || true
    medians "$folder/runs.csv" >"$folder/measured.csv"
    awk -F , -v name="$name" -v threads="$threads" -v wrong="$wrong" -v kind="$(header "$file" KIND)" '
        NR == FNR { real[$1 "," $2] = $3; next }
        ($1 "," $2) in real {
            all++
            if ($3 == "-") { refused++; cause = $5; next }
            e = $3 / real[$1 "," $2] - 1
            abs = e < 0 ? -e : e
            inside = abs <= $4 / real[$1 "," $2]
            sum += abs; known++
            if (abs > (worst < 0 ? -worst : worst)) worst = e
            off += abs > wrong
            unsaid += abs > wrong && !inside
        }
        END {
            verdict = !known ? "refused" : !refused ? "known" : known " of " all " known"
            printf "| %s | %d | %s | %s | %s | %d | %d | %s |\n", name, threads, verdict,
                known ? sprintf("%.1f %%", 100 * sum / known) : "-",
                known ? sprintf("%+.1f %%", 100 * worst) : "-", off, unsaid, cause
        }' "$folder/measured.csv" "$folder/predicted.csv"
}

table_only=
[ "${1:-}" != --table ] || { table_only=1 && shift; }
need_persik
[ -d "$cases" ] || fail "no folder $cases: give it as KINDS=FOLDER"

files=()
for file in "$cases"/*.c "$cases"/*.cpp; do
    name=$(basename "${file%.*}")
    [ -n "$(header "$file" BUILD)" ] || continue
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    files+=("$file")
done
for file in "${files[@]}"; do
    name=$(basename "${file%.*}")
    read_run "$file" "$name"
    [ -z "$table_only" ] || {
        "$persik" build-model -i "$kept/$name/data" >"$kept/$name/model.log" 2>&1 || true
        continue
    }
    compile "$file" "$name" || {
        say "$name: not compiled: see ${kept#"$root"/}/$name/build.log"
        continue
    }
    record_case "$name"
    [ -n "${RECORD_ONLY:-}" ] || measure_case "$name"
done
echo "| case | recorded with | verdict | mean error | worst | figures off by more than 15 % | ... and outside of their interval | cause of no figures |"
echo "|---|--:|---|--:|--:|--:|--:|---|"
for file in "${files[@]}"; do
    name=$(basename "${file%.*}")
    read_run "$file" "$name"
    row "$file" "$name"
done
