# The programs that bench/ measures and how each is run; sourced by the scripts there.
#
# A program's command is the array `command`; {threads} in it stands for the number of threads, as
# `persik validate` wants it. Everything made here lives in bench/work/ (git-ignored).
# shellcheck shell=bash

root=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
work=$root/bench/work
built=$(realpath -m "${PERSIK_BUILD:-$root/build/release}")
persik=$built/persik
# shellcheck disable=SC2034 # for the scripts that source this
sample_programs=(raytracer montecarlo moldyn galaxy renderer pipeline bank)
corpus_bytes=${CORPUS_BYTES:-268435456}
piece_bytes=33554432 # of the corpus, to find the level
target_s=10          # what one worker thread of zstd should take, about

say() { echo "$(basename "$0"): $*" >&2; }
fail() {
    say "$*"
    exit 1
}

need_persik() {
    [ -x "$persik" ] || fail "no persik in the build folder: run make first"
    mkdir -p "$work"
}

# awk as a calculator: number FORMAT EXPRESSION. The brackets keep > a comparison.
number() { awk -v format="$1" "BEGIN { printf(format, ($2)) }"; }

# Wall time in seconds of a command whose output is thrown away; fails as the command fails.
seconds_of() {
    local start=$EPOCHREALTIME end
    "$@" >/dev/null 2>&1 || fail "this run failed: $*"
    end=$EPOCHREALTIME
    number %.6f "${end/,/.} - ${start/,/.}"
}

# CPU time in seconds (user and system) of a command: other programs hardly show in it.
cpu_seconds_of() {
    local TIMEFORMAT='%U %S' seconds
    seconds=$({ time "$@" >/dev/null 2>&1; } 2>&1) || fail "this run failed: $*"
    number %.3f "${seconds/ / + }"
}

# Prints the level at which one worker takes nearest to target_s (in ratio), judged by its CPU time
# for a piece out of the middle of the corpus. Measured once and kept, so that all scripts compress
# alike; write another level into bench/work/zstd-level to try it.
zstd_level() {
    local zstd=$1 corpus=$2 kept=$work/zstd-level piece=$work/corpus.piece level estimate
    local distance best_level=3 best_distance=1e9
    if [ ! -s "$kept" ]; then
        tail -c $((corpus_bytes / 2)) "$corpus" | head -c $piece_bytes >"$piece" || true
        for level in 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            estimate=$(cpu_seconds_of "$zstd" -T1 "-$level" -f -q "$piece" -o /dev/null) || return 1
            estimate=$(number %.3f "$estimate * $corpus_bytes / $piece_bytes")
            say "zstd level $level: one thread would take about $(number %.1f "$estimate") s"
            distance=$(number %.6f "log($estimate / $target_s) ^ 2")
            if [ "$(number %d "$distance < $best_distance")" = 1 ]; then
                best_level=$level best_distance=$distance
            fi
            [ "$(number %d "$estimate < $target_s")" = 1 ] || break
        done
        rm "$piece"
        echo "$best_level" >"$kept"
    fi
    cat "$kept"
}

# zstd's status 77 (source out of reach) is passed on for the caller to decide. -T1 is one worker
# thread of the same pool; only --single-thread would be another program.
set_zstd_command() {
    local zstd corpus level
    zstd=$("$root/bench/zstd-fetch") || return $?
    corpus=$("$root/bench/corpus" "$corpus_bytes") || return $?
    level=$(zstd_level "$zstd" "$corpus") || return $?
    command=("$zstd" '-T{threads}' "-$level" -f -q "$corpus" -o /dev/null)
}

# Sets `command` for a sample's name or "zstd".
set_command() {
    if [ "$1" = zstd ]; then
        set_zstd_command
        return
    fi
    [ -x "$built/samples/$1" ] || {
        say "no sample '$1': run make, or mend the name"
        return 1
    }
    command=("$built/samples/$1" --threads '{threads}')
}

# Sets `concrete`: `command` with the given number of threads.
with_threads() { concrete=("${command[@]//'{threads}'/$1}"); }

# Profiles `command` at a number of threads and builds the model, all in one folder.
profile_and_model() {
    local threads=$1 folder=$2
    with_threads "$threads"
    "$persik" profile -o "$folder" -- "${concrete[@]}" && "$persik" build-model -i "$folder"
}

# A number at the top level of a model file, "-" when it is not there: model_number FOLDER KEY.
model_number() {
    local value
    value=$(sed -n "s/^    \"$2\": \([-+.0-9e]*\),\{0,1\}\$/\1/p" "$1/model.json")
    echo "${value:--}"
}

# The named columns of a CSV file with a header, separated by spaces: csv_columns FILE KEY...
csv_columns() {
    awk -F , -v keys="${*:2}" '
        BEGIN { n = split(keys, wanted, " ") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 {
            for (i = 1; i <= n; i++) {
                if (!(wanted[i] in at)) {
                    print FILENAME ": no column " wanted[i] >"/dev/stderr"
                    exit 1
                }
                printf "%s%s", $at[wanted[i]], i < n ? " " : "\n"
            }
        }' "$1"
}
