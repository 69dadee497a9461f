# The programs that bench/ measures and how each is run; sourced by the scripts there.
#
# A program's command is the array `command`; {threads} in it stands for the number of threads, as
# `persik validate` wants it. Everything made here lives in bench/scratch/ (git-ignored).
# shellcheck shell=bash

root=$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")
work=$root/bench/scratch
export PERSIK_CACHE=$work/cache # not the user's own
corpus_limit=6442450944 # bytes
built=$(realpath -m "${PERSIK_BUILD:-$root/build/release}")
persik=$built/persik
# shellcheck disable=SC2034 # for the scripts that source this
sample_programs=(raytracer montecarlo moldyn galaxy renderer pipeline bank heat)
# Real programs, which the *-fetch scripts build from Debian's source packages.
# shellcheck disable=SC2034
real_programs=(zstd pbzip2 xz lbzip2 zpaq squashfs graphicsmagick)
zstd_level=${ZSTD_LEVEL:-3} # its own default
disturbed=0.05              # cost of the probes, as a share of the running time

say() { echo "$(basename "$0"): $*" >&2; }
fail() {
    say "$*"
    exit 1
}

# Waits until fewer than $jobs jobs of this shell are running.
job_slot() {
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
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

# The median of numbers, a line each.
median_of() { LC_ALL=C sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# CPU time in seconds (user and system) of a command: other programs hardly show in it.
cpu_seconds_of() {
    local TIMEFORMAT='%U %S' seconds
    seconds=$({ time "$@" >/dev/null 2>&1; } 2>&1) || fail "this run failed: $*"
    number %.3f "${seconds/ / + }"
}

# corpus_for NAME STEP SECONDS COMMAND...: prints the path of the file that a real program works on,
# bench/scratch/NAME.corpus. Its size is a multiple of STEP bytes, so that COMMAND, one thread, takes
# about SECONDS for it, judged by its CPU time for one step ({corpus} stands for the file). Measured
# once and kept, so that all scripts work on the same file; CORPUS_BYTES overrules.
corpus_for() {
    local file=$1.corpus step=$2 target_s=$3 kept=$work/$1.corpus-size piece seconds steps
    shift 3
    if [ -z "${CORPUS_BYTES:-}" ] && [ ! -s "$kept" ]; then
        piece=$("$root/bench/corpus" "$step" "$file") || return 1
        seconds=$(cpu_seconds_of "${@//'{corpus}'/$piece}") || return 1
        steps=$(number %d "$target_s / $seconds + 0.5")
        [ "$steps" -ge 1 ] || steps=1
        [ $((steps * step)) -le $corpus_limit ] || steps=$((corpus_limit / step))
        echo $((steps * step)) >"$kept.new"
        mv "$kept.new" "$kept"
        say "$(basename "$1"): one thread takes $seconds s for $((step >> 20)) MiB," \
            "so the file gets $(($(<"$kept") >> 20)) MiB"
    fi
    "$root/bench/corpus" "${CORPUS_BYTES:-$(<"$kept")}" "$file"
}

# The commands of the real programs. A fetch script's status 77 (source out of reach) is passed on
# for the caller to decide.

# -T1 is one worker thread of the same pool; only --single-thread would be another program.
set_zstd_command() {
    local zstd corpus
    zstd=$("$root/bench/zstd-fetch") || return $?
    corpus=$(corpus_for "zstd-$zstd_level" $((256 << 20)) 10 "$zstd" -T1 "-$zstd_level" -f -q '{corpus}' \
        -o /dev/null) || return $?
    command=("$zstd" '-T{threads}' "-$zstd_level" -f -q "$corpus" -o /dev/null)
}

# One thread per block of 900 kB: the file has some dozens of them. -1 sorts a block in pieces of
# 100 kB, which fit into a core's own cache: at -9 its CPU time depends on what its neighbours do
# with the shared one.
set_pbzip2_command() {
    local pbzip2 corpus
    pbzip2=$("$root/bench/pbzip2-fetch") || return $?
    corpus=$(corpus_for pbzip2 $((16 << 20)) 4 "$pbzip2" -p1 -1 -c '{corpus}') || return $?
    command=("$pbzip2" '-p{threads}' -1 -c "$corpus")
}

# xz compresses a block per thread, and its blocks are as large as a file of ours unless
# --block-size says otherwise. -T+1 is one worker thread of the same pool, as -T1 is not. With its usual
# dictionary each thread has megabytes to look through: its CPU time depends on how many there are.
set_xz_command() {
    local xz corpus options=(--lzma2=preset=6,dict=64KiB --block-size=128KiB)
    xz=$("$root/bench/xz-fetch") || return $?
    corpus=$(corpus_for xz $((8 << 20)) 4 "$xz" -T+1 "${options[@]}" -c '{corpus}') || return $?
    command=("$xz" '-T+{threads}' "${options[@]}" -c "$corpus")
}

# As with pbzip2, blocks of 100 kB.
set_lbzip2_command() {
    local lbzip2 corpus
    lbzip2=$("$root/bench/lbzip2-fetch") || return $?
    corpus=$(corpus_for lbzip2 $((16 << 20)) 4 "$lbzip2" -n1 -1 -k -c '{corpus}') || return $?
    command=("$lbzip2" '-n{threads}' -1 -k -c "$corpus")
}

# Blocks of 128 KiB. Only recorded, and none of those that are measured: -p1 is another program, without threads.
set_pigz_command() {
    local pigz corpus
    pigz=$("$root/bench/pigz-fetch") || return $?
    corpus=$(corpus_for pigz $((16 << 20)) 4 "$pigz" -p1 -k -c '{corpus}') || return $?
    command=("$pigz" -p '{threads}' -k -c "$corpus")
}

# Blocks of 2 MiB; without an archive's name nothing is written.
set_zpaq_command() {
    local zpaq corpus
    zpaq=$("$root/bench/zpaq-fetch") || return $?
    corpus=$(corpus_for zpaq $((16 << 20)) 4 "$zpaq" add '' '{corpus}' -m11 -threads 1) || return $?
    command=("$zpaq" add '' "$corpus" -m11 -threads '{threads}')
}

# The image is overwritten by each run.
set_squashfs_command() {
    local mksquashfs corpus image=$work/squashfs.image
    local options=("$image" -noappend -no-progress -quiet)
    mksquashfs=$("$root/bench/squashfs-fetch") || return $?
    corpus=$(corpus_for squashfs $((16 << 20)) 4 "$mksquashfs" '{corpus}' "${options[@]}" \
        -processors 1) || return $?
    command=("$mksquashfs" "$corpus" "${options[@]}" -processors '{threads}')
}

# A picture of its own making goes through filters as a photograph would, each a parallel region or
# two of OpenMP's.
set_graphicsmagick_command() {
    local gm picture=$work/graphicsmagick.ppm
    gm=$("$root/bench/graphicsmagick-fetch") || return $?
    export MAGICK_CONFIGURE_PATH=$work/graphicsmagick/source/config # it is not installed
    if [ ! -s "$picture" ]; then
        "$gm" convert -size 1500x1200 plasma:red-blue "ppm:$picture.new" || return 1
        mv "$picture.new" "$picture"
    fi
    command=("$gm" convert -limit threads '{threads}' "$picture" -enhance -median 1 -unsharp 0x3
        -resize '140%' -despeckle -paint 2 ppm:/dev/null)
}

# What makes one thread of a sample compute for about 4 s: the machine's speed changes from minute to
# minute, and more rounds of shorter runs tell more about that than few long ones.
declare -A sample_options=(
    [raytracer]='--size 440' [montecarlo]='--rounds 22' [moldyn]='--steps 55' [galaxy]='--steps 50'
    [renderer]='--size 950' [pipeline]='--size 1250' [bank]='--size 32000' [heat]='--steps 400'
)

# Sets `command` for the name of a sample or a real program.
set_command() {
    local options
    if declare -F "set_$1_command" >/dev/null; then
        "set_$1_command"
        return
    fi
    [ -x "$built/samples/$1" ] || {
        say "no sample '$1': run make, or mend the name"
        return 1
    }
    read -ra options <<<"${sample_options[$1]:-}"
    command=("$built/samples/$1" "${options[@]}" --threads '{threads}')
}

# Sets `concrete`: `command` with the given number of threads.
with_threads() { concrete=("${command[@]//'{threads}'/$1}"); }

# Profiles `command` at a number of threads and builds the model, all in one folder, with
# `profile_options`. What the program prints is thrown away, as `persik validate` does.
profile_options=(--thorough)
profile_and_model() {
    local threads=$1 folder=$2
    with_threads "$threads"
    "$persik" profile "${profile_options[@]}" -o "$folder" -- "${concrete[@]}" >/dev/null &&
        "$persik" build-model -i "$folder"
}

# A number at the top level of a model file, "-" when it is not there: model_number FOLDER KEY.
model_number() {
    local value
    value=$(sed -n "s/^    \"$2\": \([-+.0-9e]*\),\{0,1\}\$/\1/p" "$1/model.json")
    echo "${value:--}"
}

# Lines of the model's self-check, measured and simulated (times in s): self_check_of FOLDER WHAT.
self_check_of() {
    jq -r --arg what "$2" '.checks[]? | select(.what | test("^(" + $what + ")$")) |
        "\(.measured) \(.simulated)"' "$1/model.json"
}

# The largest deviation from the traced run among the lines of the model's self-check.
self_check() {
    self_check_of "$1" "running time|CPU utilisation" |
        awk '$1 + 0 > 0 { e = $2 / $1 - 1; e = e < 0 ? -e : e; if (e > worst) worst = e }
             END { if (NR) printf "%.4f", worst; else print "-" }'
}

# The machine that is measured on, for the documents.
machine() {
    local model
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    echo "$(nproc) cores, ${model:-$(uname -m)}, Linux $(uname -r | cut -d - -f 1)"
}

# Not with so much for the probes: then something else took the machine while one of the runs was
# made. Nor when persik itself tells of others. is_undisturbed FOLDER, with a model.
is_undisturbed() {
    local cost
    cost=$(model_number "$1" perturbation)
    ! grep -q 'of the CPU time: \(other processes\|the virtual machine\)' "$1/model.json" || return 1
    [ "$cost" = - ] || [ "$(number %d "$cost > -$disturbed && $cost < $disturbed")" = 1 ]
}

# The named columns of a CSV file with a header, separated by spaces: csv_columns FILE KEY... "-" where a row has
# nothing; a comma in a quoted field is a semicolon. Nothing, and status 1, where a column is missing.
csv_columns() {
    awk -F , -v keys="${*:2}" '
        BEGIN { n = split(keys, wanted, " ") }
        /"/ {
            parts = split($0, part, "\"")
            $0 = ""
            for (i = 1; i <= parts; i++) {
                if (i % 2 == 0) gsub(",", ";", part[i])
                $0 = $0 part[i]
            }
        }
        NR == 1 {
            for (i = 1; i <= NF; i++) at[$i] = i
            for (i = 1; i <= n; i++)
                if (!(wanted[i] in at)) {
                    print FILENAME ": no column " wanted[i] >"/dev/stderr"
                    exit 1
                }
        }
        NR > 1 {
            for (i = 1; i <= n; i++) printf "%s%s", $at[wanted[i]] == "" ? "-" : $at[wanted[i]], i < n ? " " : "\n"
        }' "$1"
}

# Mean, median and worst |second - first| / first over lines of two numbers; status 1: there are none.
deviations() {
    awk '$1 > 0 { e = ($2 - $1) / $1; print e < 0 ? -e : e }' | sort -g | # not where it is unknown
        awk '{ e[NR] = $1; sum += $1 }
             END {
                 if (!NR) exit 1
                 median = (e[int((NR + 1) / 2)] + e[int(NR / 2) + 1]) / 2
                 printf "%.4f %.4f %.4f", sum / NR, median, e[NR]
             }'
}

# How jq writes a quantity of a model.
in_words='def in_words: if type == "number" then tostring
    else ([.base // 0 | select(. != 0) | tostring] +
          [.per_thread[] | "\(.factor) x \(.pool_name)"]) | join(" + ") end;'

# The objects that the program made itself, as its model names them, in Markdown: recognised FOLDER.
recognised() {
    echo "| hand-made object | is a | amount | operations | confidence | modelled |"
    echo "|---|---|--:|---|--:|---|"
    jq -r "$in_words"'
        .monitors[]? |
        "| \(.name) | \(.kind) | \(if .amount then .amount | in_words else "" end) | \(
            [.operations[]? | "\(.as) \(.function)"] | join(", ")) | \(
            (.confidence // 0) * 100 | round) % | \(.how) |"' "$1/model.json"
}

# The library's locks that the threads met at: locks_of FOLDER. Locks that nobody ever waits for and that are
# held for a moment are not in the model.
locks_of() {
    jq -r '[.objects[] | select(.kind == "mutex" or .kind == "rwlock" or .kind == "spin")
            | "\(.name): \(.evidence)"] | if . == [] then "none" else join("; ") end' "$1/model.json"
}

# Is what the source says of a program's objects (objects.csv) what the model of the recording says? One line for
# each, "right" or what the model says instead, then the object: objects_against_source PROGRAM FOLDER.
objects_against_source() {
    local object kind amount said
    grep "^$1," "$root/bench/objects.csv" | while IFS=, read -r _ object kind amount _; do
        said=$(jq -r --arg object "$object" --arg kind "$kind" --arg amount "$amount" "$in_words"'
            [.monitors[]? | select(.name | contains($object))
                | "\(.kind) \(if .amount then .amount | in_words else "" end)"]
            | if any(.[]; . == "\($kind) \($amount)") then "right"
              elif . == [] then "not found" else join(", ") end' "$2/model.json")
        echo "$said: $object, $kind${amount:+ of $amount}"
    done
}

# How long the threads of the traced run waited, in s, and how many percent of that are modelled exactly,
# by fall-back and not at all: waiting_of FOLDER. Nothing: they never waited.
waiting_of() {
    jq -r '
        ([.waiting[]?.wait_ns] | add // 0 | select(. > 0)) as $all |
        def share($how): ([.waiting[] | select(.how == $how) | .wait_ns] | add // 0) / $all
            * 1000 | round / 10;
        "\($all / 1e9 * 100 | round / 100) \(share("exact")) \(share("fallback")) \(share("none"))"
        ' "$1/model.json"
}

# The same in a sentence.
waiting_shares() {
    local all exact alike none
    read -r all exact alike none <<<"$(waiting_of "$1")"
    if [ -z "$all" ]; then
        echo "The threads never waited."
    else
        echo "Waiting of the threads, $all s in all: $exact % modelled exactly, $alike % by fall-back," \
            "$none % not at all."
    fi
}
