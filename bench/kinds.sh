#!/bin/bash
# What persik makes of kinds of programs: every case is recorded once, predicted for threads {1,2,4,8} x cores {1,2}
# and compared with real runs. Prints a table in Markdown; docs/kinds.md has one.
#
# usage: bench/kinds.sh [--table] [CASE...]         (names; default all)
#        KINDS=FOLDER bench/kinds.sh ...            (cases that are sources; default tests/programs)
#        KINDS=FILE bench/kinds.sh ...              (cases that are Debian programs: bench/kinds.list, and
#                                                    bench/kinds-source.list, which are built from source)
#        bench/kinds.sh --summary [KINDS...]        (of what is kept of these: all rows, and what they come to;
#                                                    default tests/programs and both lists)
#
# A case is a C or C++ source with three comment lines at its top:
#   KIND...: the kind of program, in words
#   BUILD:   the command that makes it, run beside a copy of the source; (libNAME-dev) behind it is a package it needs
#   RUN:     "persik profile -- COMMAND 2; ... -- COMMAND {threads}": with how many threads it is recorded,
#            and its command
# or a line of a list, which says at its top what it has. Packages that are not installed are unpacked into
# bench/scratch/kinds/debian: nothing of the system is changed. Sources come from the mirror and are built with -O2 -g.
#
# Everything is kept in bench/scratch/kinds/CASE, or in a folder named as the list: the recording, its model, and each real run as a line of
# runs.csv. What is kept and newer than the program is not made again, so that a run that was stopped
# goes on where it was. --table measures nothing and builds the models anew.
# $ALSO (default none): further numbers of threads to record with, "1,2": kept in CASE/data.also-..., with the same real runs.
# $WITH (default as the case says): the number of threads to record with, kept in CASE/data.with-..., the same.
# $RUNS (default 3): real runs of each configuration, in turn; their median counts. $LIMIT: seconds after which
# XX
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

cases=${KINDS:-$root/tests/programs}
kept=$work/kinds
[ -d "$cases" ] || kept=$work/$(basename "$cases" .list)
runs=${RUNS:-3}
also=${ALSO:-}
with=${WITH:-}
data=data${with:+.with-$with}${also:+.also-$also} # the recording, in the case's folder
steps=${STEPS-record measure table}
longest=120 # s that a run or a recording may take
wrong=0.15 # of the measured time: a figure that is off by more is wrong

# The text of a comment line of a case: header FILE LABEL.
header() { sed -n "1,6s|^[/ ]*[/*]* *$2[^:]*: *||p" "$1" | head -n 1 | sed 's| *\*/ *$||'; }

# Sets `threads` (it is recorded with so many), `command`, with {threads}, `settings`, its environment, and `options`
# of its recording.
settings=()
options=()
read_source_case() {
    local file=$1 name=$2 line text
    line=$(header "$file" RUN)
    threads=$(sed -En "s#^[^;]*(/$name +(-[a-z-]+ +)?|OMP_NUM_THREADS=)([0-9]+).*#\\3#p" <<<"$line")
    text=$(sed -n 's#.*-- \([^;]*{threads}[^;]*\).*#\1#p' <<<"$line")
    [ -n "$text" ] || text=$(sed -En "s#^[^;]*-- (\./$name) [0-9]+(( [^ ;]+)*).*#\\1 {threads}\\2#p" <<<"$line")
    read -ra command <<<"${text:-./$name {threads\}}"
    threads=${with:-${threads:-4}}
}

# The same, and `packages` and `input`; of what is built from source also `package` and `how_built`, else empty.
read_listed_case() {
    local text
    IFS='|' read -r _ _ packages input text package how_built < <(grep "^$1 |" "$cases" | sed 's/ *| */|/g')
    text=${text//'{unpacked}'/$debian}
    text=${text//'{source}'/$kept/$1.source/source}
    read -ra command <<<"$text"
    settings=()
    options=()
    while [[ ${command[0]} == --* ]]; do
        options+=("${command[0]}")
        command=("${command[@]:1}")
    done
    while [[ ${command[0]} == *=* ]]; do
        settings+=("${command[0]}")
        command=("${command[@]:1}")
    done
    threads=${with:-4}
}

read_case() { if [ -d "$cases" ]; then read_source_case "$cases"/"$1".c* "$1"; else read_listed_case "$1"; fi; }

compile() {
    local file=$1 name=$2 folder=$kept/$2 build library
    library=$(header "$file" BUILD | sed -n 's|.*(\(lib[a-z0-9.+-]*-dev\)).*|\1|p')
    [ -z "$library" ] || { unpack "$library" >"$debian.log" 2>&1 && use_unpacked; } || return 1
    [ -x "$folder/$name" ] && [ "$folder/$name" -nt "$file" ] && return
    mkdir -p "$folder"
    cp "$(dirname "$file")"/*.{c,cpp,h} "$folder" 2>/dev/null || true
    build=$(header "$file" BUILD | sed 's|   *(.*||')
    (cd "$folder" && PWD=$folder eval "$build") >"$folder/build.log" 2>&1
}

# Unpacks what the system has not, with all that it needs: unpack PACKAGE...
unpack() {
    local archives=$debian.archives archive
    [ ! -e "$archives/$*" ] || return 0
    mkdir -p "$archives/partial" "$debian"
    apt-get install -y -q --download-only --no-install-recommends -o Debug::NoLocking=true \
        -o Dir::Cache::archives="$archives" "$@" || return 1
    for archive in "$archives"/*.deb; do
        [ ! -e "$archive" ] || dpkg -x "$archive" "$debian" || return 1
        rm -f "$archive"
    done
    touch "$archives/$*"
}

# The programs and libraries that were unpacked are found before the system's.
use_unpacked() {
    local libraries
    libraries=$(find "$debian/usr/lib" "$debian/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | tr '\n' ':')
    export LD_LIBRARY_PATH=$libraries${system_libraries:-}
    export PATH=$debian/usr/bin:$debian/usr/sbin:$debian/usr/games:$system_path
    export CPATH=$debian/usr/include LIBRARY_PATH=$libraries
}

# Builds a Debian source package in CASE.source, once, as the *-fetch scripts do.
# shellcheck disable=SC2030,SC2031,SC2034,SC2317 # fetch.sh has its own of these, and calls make_program
build_source() (
    name=$1 work=$kept/$1.source apt=$kept/apt archive=
    # shellcheck source=fetch.sh
    . "$root/bench/fetch.sh"
    make_program() { eval "$how_built"; }
    fetch . >/dev/null
)

# Makes the case's folder with its input, once.
prepare_listed_case() {
    local name=$1 folder=$kept/$1 words
    read -ra words <<<"$packages"
    mkdir -p "$(dirname "$debian")"
    [ ${#words[@]} -eq 0 ] || unpack "${words[@]}" >"$debian.log" 2>&1 || return 1
    use_unpacked
    [ -z "$package" ] || build_source "$name" || return 1
    [ ! -e "$folder/ready" ] || return 0
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && eval "${input//'{source}'/$kept/$name.source/source}") >"$folder/build.log" 2>&1 && touch "$folder/ready"
}

prepare_case() { if [ -d "$cases" ]; then compile "$cases"/"$1".c* "$1"; else prepare_listed_case "$1"; fi; }

# What was built from, newer than which a recording must be.
program_of() { if [ -d "$cases" ]; then echo "$kept/$1/$1"; else echo "$kept/$1/ready"; fi; }

# In the case's folder: a command with its environment, its output in run.stdout.
run_here() { timeout -k 5 "$longest" env "${settings[@]//'{threads}'/$n}" "$@" >run.stdout 2>run.stderr; }

# Is there output? A program that ends at once has not been measured.
has_output() { [ -d "$cases" ] || [ -n "$(find "$1" -maxdepth 1 \( -name 'out*' -o -name run.stdout \) -size +0)" ]; }

has_step() { [[ " $steps " == *" $1 "* ]]; }

# Ends the script when its time is up.
still_time() { [ "${LIMIT:-0}" = 0 ] || [ "$SECONDS" -lt "$LIMIT" ] || fail "time is up: run it again to go on"; }

record_case() {
    local name=$1 folder=$kept/$1 n=$threads
    [ -e "$folder/$data/trace.persik" ] && [ "$folder/$data/trace.persik" -nt "$(program_of "$name")" ] && return
    still_time
    with_threads "$n"
    [ -z "$also" ] || record_also
    say "$name: recorded with $n threads${also:+, and with $also}"
    (cd "$folder" && rm -rf out* && run_here "$persik" profile --no-evictions --prepare 'rm -rf out*' --ignore-failure \
        "${options[@]}" -o data.new -- "${concrete[@]}" && rm -rf "$data" && mv data.new "$data") ||
        say "$name: no recording: see run.stderr"
    grep '^persik' "$folder/run.stderr" >"$folder/data.log" || true
}

# With the number of threads marked, also in the environment.
record_also() {
    local marked="{threads=$n}"
    concrete=("${command[@]//'{threads}'/$marked}")
    [ ${#settings[@]} = 0 ] || concrete=(env "${settings[@]//'{threads}'/$marked}" "${concrete[@]}")
    options+=(--also-record "threads=$also")
}

# A model that stands still in its own run is one, too: it is refused.
model_case() {
    local recording=$kept/$1/$data
    [ -s "$recording/trace.persik" ] || return 0
    [ "$steps" != table ] && [ "$recording/model.json" -nt "$recording/trace.persik" ] && return
    "$persik" build-model -i "$recording" >"$kept/$1/model.log" 2>&1 || [ -s "$recording/model.json" ] ||
        say "$1: no model: see ${recording#"$root"/}.log and model.log"
}

# One real run: its line goes to runs.csv.
run_once() {
    local folder=$1 round=$2 n=$3 cores=$4 start end status=0
    grep -q "^$round,$n,$cores," "$folder/runs.csv" 2>/dev/null && return
    still_time
    with_threads "$n"
    rm -rf "$folder"/out*
    start=$EPOCHREALTIME
    (cd "$folder" && run_here taskset -c "0-$((cores - 1))" "${concrete[@]}") || status=$?
    end=$EPOCHREALTIME
    if [ "$status" -ge 124 ] || ! has_output "$folder"; then
        say "${folder##*/}: a run with $n threads failed: status $status"
        return
    fi
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
    local name=$1 folder=$kept/$1
    [ -s "$folder/$data/model.json" ] && [ -s "$folder/runs.csv" ] || {
        echo "| $name | no model, or not run |"
        return
    }
    predictions "$folder/$data" >"$folder/predicted.csv" || true
    medians "$folder/runs.csv" >"$folder/measured.csv"
    awk -F , -v name="$name" -v threads="$threads" -v wrong="$wrong" '
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

# All rows of these sets of cases, and a line on them: programs, how many have figures, the median of their mean errors,
# the worst figure.
summary() {
    local set
    for set in "$@"; do KINDS=$set "$0" --table; done | awk -F ' *[|] *' '
        /^[|] (case|--)/ || /^[|]-/ { if (NR <= 2) print; next }
        NF < 9 { missing++; next }
        { print; all++; wrong += $7; unsaid += $8 }
        $5 == "-" { refused++; next }
        {
            whole += $4 == "known"; n++
            mean[n] = $5 + 0
            error = $6 + 0 # the sign of a text is no sign
            worst = (error < 0 ? -error : error) > (worst < 0 ? -worst : worst) ? error : worst
        }
        END {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && mean[j] < mean[j - 1]; j--) { t = mean[j]; mean[j] = mean[j - 1]; mean[j - 1] = t }
            if (n) median = (mean[int((n + 1) / 2)] + mean[int(n / 2) + 1]) / 2
            printf "\n%d programs: %d with all figures, %d with some, %d refused; mean error of a program %.1f %% " \
                "(median), worst figure %+.1f %%, %d figures off by more than 15 %%, %d of them outside of their interval; " \
                "%d other programs not run\n", all, whole, n - whole, refused, median, worst, wrong, unsaid, missing
        }'
}

if [ "${1:-}" = --summary ]; then
    shift
    [ $# -gt 0 ] || set -- "$root"/tests/programs "$root"/bench/kinds.list "$root"/bench/kinds-source.list
    summary "$@"
    exit 0
fi
[ "${1:-}" != --table ] || { steps=table && shift; }
need_persik
[ -e "$cases" ] || fail "no folder or list $cases: give it as KINDS="
debian=$work/kinds/debian
system_path=$PATH
system_libraries=${LD_LIBRARY_PATH:-}
# shellcheck source=kinds-inputs.sh
. "$root/bench/kinds-inputs.sh"

# The names of all cases.
case_names() {
    local file
    if [ -f "$cases" ]; then
        sed -n 's/^\([^# ][^ ]*\) |.*/\1/p' "$cases"
        return
    fi
    for file in "$cases"/*.c "$cases"/*.cpp; do
        [ -z "$(header "$file" BUILD)" ] || basename "${file%.*}"
    done
}

names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(case_names)
for name in "${names[@]}"; do
    [ "$steps" != table ] || break
    read_case "$name"
    prepare_case "$name" || {
        say "$name: not made: see ${kept#"$root"/}/$name/build.log or debian.log"
        continue
    }
    ! has_step record || record_case "$name"
    ! has_step measure || measure_case "$name"
done
has_step table || exit 0
echo "| case | recorded with | verdict | mean error | worst | figures off by more than 15 % | ... and outside of their interval | cause of no figures |"
echo "|---|--:|---|--:|--:|--:|--:|---|"
for name in "${names[@]}"; do
    read_case "$name"
    model_case "$name"
    row "$name"
done
