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
# zstd runs at its own default level, on a file so large that one worker takes about target_s.
zstd_level=${ZSTD_LEVEL:-3}
corpus_step=268435456 # sizes are multiples of this; also the smallest
corpus_limit=6442450944
target_s=10

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

# Prints the size of the corpus: one worker thread takes about target_s for it, judged by its CPU
# time for the smallest one. Measured once and kept, so that all scripts compress the same file;
# CORPUS_BYTES overrules.
corpus_size() {
    local zstd=$1 kept=$work/corpus-size.$zstd_level piece seconds steps
    if [ -n "${CORPUS_BYTES:-}" ]; then
        echo "$CORPUS_BYTES"
        return
    fi
    if [ ! -s "$kept" ]; then
        piece=$("$root/bench/corpus" "$corpus_step") || return 1
        seconds=$(cpu_seconds_of "$zstd" -T1 "-$zstd_level" -f -q "$piece" -o /dev/null) || return 1
        steps=$(number %d "$target_s / $seconds + 0.5")
        [ "$steps" -ge 1 ] || steps=1
        [ $((steps * corpus_step)) -le $corpus_limit ] || steps=$((corpus_limit / corpus_step))
        echo $((steps * corpus_step)) >"$kept.new"
        mv "$kept.new" "$kept"
        say "zstd level $zstd_level: one thread takes $seconds s for $((corpus_step >> 20)) MiB," \
            "so the file gets $(($(<"$kept") >> 20)) MiB"
    fi
    cat "$kept"
}

# zstd's status 77 (source out of reach) is passed on for the caller to decide. -T1 is one worker
# thread of the same pool; only --single-thread would be another program.
set_zstd_command() {
    local zstd corpus
    zstd=$("$root/bench/zstd-fetch") || return $?
    corpus_bytes=$(corpus_size "$zstd") || return $?
    corpus=$("$root/bench/corpus" "$corpus_bytes") || return $?
    command=("$zstd" '-T{threads}' "-$zstd_level" -f -q "$corpus" -o /dev/null)
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
