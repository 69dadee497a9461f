#!/bin/bash
# Golden models: whether persik still makes the same models of the same recordings, byte for byte, and the same
# predictions with them. `check` runs and times nothing but persik itself: any machine will do, however busy.
#
# usage: bench/golden.sh record [NAME...]            record what is not there yet, and accept its models
#        bench/golden.sh check [--kept] [NAME...]    compare: prints what differs, with exit status 1
#        bench/golden.sh accept [--kept] [NAME...]   from now on these models are the right ones
#        bench/golden.sh keep NAME...                take recordings into the repository
#        bench/golden.sh list [--kept]               all names: the corpus, and bench/golden.list
#
# Of a recording persik builds up to three models: as it was recorded, without what the source says, and without
# the runs in which caches were emptied. Each is asked for 1, 2, 4 and 8 threads on 1 and 2 cores. Only the time at
# which a model was built is left out. Names: by default all that are recorded.
#
#   --kept        the recordings in tests/golden. Of their models only the digests are kept, and the verdicts in
#                 words: what differs in numbers, a recording elsewhere tells.
#   GOLDEN_DIR    the other recordings, with their models (bench/scratch/golden)
#   PLACE         where programs are compiled and run, so that no recording tells of a checkout
#                 (/tmp/persik-recording, as in all that are kept)
#   PERSIK        the program to check (the one in the build folder): to compare commits
#   JOBS          recordings at a time (2)
#   TRIES         at a recording that something else disturbs (3)
#   WITH          a command that starts each recording: on a busy machine, as root, "chrt -r 1" keeps others off
#   DIFF_LINES    how much is shown of each difference (20)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=served.sh
. "$(dirname "$0")/served.sh"

kept=$root/tests/golden
golden=$(realpath -m "${GOLDEN_DIR:-$work/golden}")
persik=$(realpath -m "${PERSIK:-$persik}")
jobs=${JOBS:-2}
tries=${TRIES:-3}
read -ra with <<<"${WITH:-}"
diff_lines=${DIFF_LINES:-20}
labels=$root/tests/monitors/labels.csv
neutral=${PLACE:-/tmp/persik-recording}
remove_at_exit=()
trap '[ "${#remove_at_exit[@]}" = 0 ] || rm -rf "${remove_at_exit[@]}"' EXIT

# ---- names ----

# The lines of golden.list without comments and blanks around the colons.
listed() { sed 's/#.*//; s/ *: */:/g; /^ *$/d' "$root/bench/golden.list"; }
corpus() { tail -n +2 "$labels" | cut -d , -f 1; }
all_names() {
    corpus
    listed | cut -d : -f 1
}
# What is recorded, or should be.
recorded_names() {
    {
        find "$folder" -mindepth 2 -maxdepth 2 -name trace.persik -printf '%P\n'
        cat "$folder/models.sha256" 2>/dev/null || true
    } | cut -d / -f 1 | LC_ALL=C sort -u
}

# ---- recordings ----

begin_recording() {
    mkdir -m 700 "$neutral" || fail "another recording runs, or one was killed: then remove $neutral"
    scratch=$(mktemp -d)
    remove_at_exit+=("$neutral" "$scratch")
    mkdir -p "$neutral/bin" "$golden"
    cp -r "$root"/{Makefile,samples,tests} "$root/docs/tutorial" "$neutral"
    # Call chains begin in the probe library: without its debug information no file of the checkout is named.
    cp "$(dirname "$persik")"/{persik,persik-analyze,libpersik-probe.so} "$neutral"
    strip --strip-debug "$neutral/libpersik-probe.so"
    persik=$neutral/persik
    export OMP_WAIT_POLICY=passive # where others compute, a team that spins takes seconds for milliseconds
    cd "$neutral"
}

# made KIND/NAME ARGUMENT...: what the Makefile builds.
made() {
    make -s B=bin "bin/$1" || return 1
    command=("bin/$1" "${@:2}")
}

# compiled SOURCE OPTIONS ARGUMENT...: a program of tests/programs or, as tutorial/NAME.c, of docs/tutorial.
compiled() {
    local source=tests/programs/$1 options compiler=(gcc -std=gnu17 -D_GNU_SOURCE)
    [ "$1" = "${1#tutorial/}" ] || source=$1
    [ "$source" = "${source%.cpp}" ] || compiler=(g++ -std=c++17)
    case $2 in
    *pkg-config=*) read -ra options < <(pkg-config --cflags --libs "${2##*pkg-config=}") || return 1 ;;
    *) read -ra options <<<"$2" ;;
    esac
    "${compiler[@]}" -g -O2 "$source" "${options[@]}" -o "bin/$name" -lm -lpthread || return 1
    command=("bin/$name" "${@:3}")
}

# served RATE REQUESTS ROUNDS KIND THREADS: tests/programs/server.c. `beside` is what loads each run of it, and ends it.
served() {
    local source
    for source in server server_load; do
        gcc -std=gnu17 -D_GNU_SOURCE -g -O2 "tests/programs/$source.c" -o "bin/$source" -lm -lpthread || return 1
    done
    command=(bin/server "$4" "$5" port)
    load_each_run "$@" &
    beside=$!
}
load_each_run() {
    local port pid protocol connections=32
    case $4 in queue | accept | helped | thread | limited) connections=0 ;; esac
    while :; do
        until [ -s port ]; do sleep 0.05; done
        read -r port pid protocol <port
        rm port
        "${with[@]}" bin/server_load "$port" "$1" "$2" "$3" "$connections" "$protocol"
        kill "$pid"
    done
}

# real_server NAME RATE DURATION THREADS: one of served.sh, asked by persik load. What is built here goes without its
# debug information, which names folders.
real_server() {
    local load
    port=11480
    memcached_keys=10
    "$1_begin" || return 1
    if [ "$1" = memcached ]; then
        strip --strip-debug "$memcached" -o bin/memcached
        memcached=bin/memcached
    fi
    "$1_server" "$4"
    "$1_load"
    printf -v load '%q ' "$persik" load -q --rate "$2/s" --duration "$3" "${asks[@]}"
    options+=(--no-source --load "$load")
    command=("${server[@]}")
}

# Instead of that of programs.sh, whose files are as large as measurements need: half of a step.
corpus_for() { "$root/bench/corpus" $(($2 / 2)) "golden-$1.corpus"; }

# Sets `command`, and the `options` of persik profile.
prepare() {
    local what flags arguments catalog words load
    options=(--plain-runs 0 --no-evictions)
    if corpus | grep -qxF -e "$name"; then
        made "monitors/$name" --threads 2
        return
    fi
    IFS=: read -r _ what flags arguments catalog < <(listed | grep -e "^$name:")
    read -ra words <<<"$arguments"
    case $what in
    monitor) made "monitors/${name%%-*}" "${words[@]}" || return 1 ;;
    sample)
        options=(--plain-runs 1)
        made "samples/${name%%-*}" "${words[@]}" || return 1
        ;;
    real)
        options=(--plain-runs 1)
        set_command "$name" || return 1
        with_threads 2
        command=("${concrete[@]}")
        ;;
    server)
        read -ra load <<<"$flags"
        served "${load[@]}" "${words[@]}" || return 1
        ;;
    real-server)
        read -ra load <<<"$flags"
        real_server "${name%%-*}" "${load[@]}" "${words[@]}" || return 1
        ;;
    tutorial/*)
        options=() # as users record
        compiled "$what" "$flags" "${words[@]}" || return 1
        ;;
    installed)
        options=() # as users record
        eval "$flags" || return 1
        command=("${words[@]}")
        ;;
    *) compiled "$what" "$flags" "${words[@]}" || return 1 ;;
    esac
    if [ -n "$catalog" ]; then
        tr ';' '\n' <<<"$catalog" >"$name.catalog"
        options+=(--catalog "$name.catalog")
    fi
}

# The files that build-model reads come to $golden/NAME. What was disturbed by something else that took the
# machine is recorded again.
record_one() {
    local name=$1 options try beside=
    prepare >"$scratch/log" 2>&1 || return 1
    for ((try = 1; try <= tries; try++)); do
        timeout 300 "${with[@]}" "$persik" profile -q "${options[@]}" -o recording -- "${command[@]}" >"$scratch/log" 2>&1 || return 1
        "$persik" build-model -q -i recording >"$scratch/log" 2>&1 || break # a refusal is a model, too
        is_undisturbed recording && break
        [ "$try" -lt "$tries" ] || say "$name: something else took the machine each time"
    done
    [ -z "$beside" ] || kill "$beside"
    mkdir -p "$golden/$name"
    find recording -type f \( -name trace.persik -o -name static.json -o -name sample.json -o -name catalog \
        -o -name 'evictions-*.persik' \) -exec cp -t "$golden/$name" {} +
    rm -rf recording recording.old
}

record() {
    local name failed=() new=() built_persik=$persik
    folder=$golden
    need_persik
    begin_recording
    for name; do
        [ ! -s "$golden/$name/trace.persik" ] || continue
        say "$name"
        if record_one "$name"; then
            new+=("$name")
        else
            failed+=("$name")
            tail -n 5 "$scratch/log" >&2
        fi
    done
    persik=$built_persik
    [ "${#new[@]}" = 0 ] || accept "${new[@]}"
    [ "${#failed[@]}" = 0 ] || fail "not recorded: ${failed[*]} (the reasons are above)"
}

# ---- models ----

# The decisions in a model, one a line.
verdicts() {
    jq -r '(.pools[] | "pool \(.name): \(.rule)"),
        (.monitors[]? | "\(.kind) \(.name): \([.operations[]? | "\(.as) \(.function)"] | join(", ")); \(.how)"),
        (.objects // [] | group_by(.kind)[] | "\(length) x \(.[0].kind)")' "$1"
}

# In JSON. A configuration without figures is no error. How sure a prediction is, which is judged beside the
# model, is left out: its calibration changes no model.
predictions() {
    local status=0
    "$persik" predict -q -i "$1" --threads 1,2,4,8 --cores 1,2 --seed 1 --format json 2>/dev/null |
        sed '/simulation_half_width/b; /_half_width": /d; /"uncertainty": {/,/}/d' || status=$?
    [ "$status" = 0 ] || echo "exit status $status"
}

# Writes DATA.model, DATA.verdicts and DATA.predictions and removes the folder: model_of DATA. Without Graphviz
# in its path persik makes no drawing, which would take longest.
model_of() {
    local status=0
    PATH='' "$persik" build-model -q -i "$1" >/dev/null 2>"$1.errors" || status=$?
    if [ -s "$1/model.json" ]; then
        sed '/^    "built": /d' "$1/model.json" >"$1.model"
        verdicts "$1/model.json" | sed "s|^|${1#"$models/"}: |" >"$1.verdicts"
        predictions "$1" >"$1.predictions"
    fi
    [ "$status" = 0 ] || echo "exit status $status" >>"$1.model"
    [ -s "$1/model.json" ] || sed "s|$1/||g" "$1.errors" >>"$1.model" # why there is none
    rm -r "$1" "$1.errors"
}

# All of a recording's models, and their digests: models_of NAME.
models_of() {
    local recording=$folder/$1 variant variants=(as-recorded)
    [ ! -s "$recording/static.json" ] || variants+=(no-source)
    [ ! -s "$recording/evictions-1.persik" ] || variants+=(no-evictions)
    for variant in "${variants[@]}"; do
        mkdir -p "$models/$1/$variant"
        find "$recording" -maxdepth 1 -type f -exec ln -s -t "$models/$1/$variant" {} +
        case $variant in
        no-source) rm "$models/$1/$variant/static.json" ;;
        no-evictions) rm "$models/$1/$variant"/evictions-* ;;
        esac
        model_of "$models/$1/$variant"
    done
    (cd "$models" && sha256sum -- "$1"/*.model "$1"/*.predictions) | sed 's/\([^ ]*\)  \(.*\)/\2: \1/' |
        LC_ALL=C sort >"$models/$1/digests"
}

# Of each name, in $models.
build() {
    local name
    need_persik
    models=$(mktemp -d)
    remove_at_exit+=("$models")
    for name; do
        [ -s "$folder/$name/trace.persik" ] || fail "no recording of '$name' in $folder"
        job_slot
        models_of "$name" &
    done
    wait
}

# ---- what was accepted ----

# All lines of a file are "NAME/VARIANT...: what is kept of it". Those of the names, or all others:
# lines_of FILE NAME..., lines_but FILE NAME...
lines_of() { select_lines 1 "$@"; }
lines_but() { select_lines 0 "$@"; }
select_lines() {
    [ ! -e "$2" ] || awk -F / -v wanted="$1" -v names="${*:3}" '
        BEGIN { n = split(names, list, " "); for (i = 1; i <= n; i++) named[list[i]] = 1 }
        ($1 in named) == wanted' "$2"
}

# replace_lines FILE NAME... <THEIR-LINES
replace_lines() {
    { cat; lines_but "$@"; } | LC_ALL=C sort -s -t : -k 1,1 >"$1.part"
    mv "$1.part" "$1"
}

# Of recordings outside the repository the models are kept, too.
accept() {
    local name
    build "$@"
    for name; do
        [ "$folder" != "$kept" ] || break
        rm -rf "${folder:?}/$name/accepted"
        cp -r "$models/$name" "$folder/$name/accepted"
        git -C "$root" describe --always --dirty --exclude '*' >"$folder/$name/accepted/revision"
    done
    for name; do cat "$models/$name/digests"; done | replace_lines "$folder/models.sha256" "$@"
    for name; do cat "$models/$name"/*.verdicts; done | replace_lines "$folder/verdicts" "$@"
}

show_difference() { diff -u --label "accepted $1" --label "now $1" "$2" "$3" | head -n "$diff_lines"; }

# What became of a recording: differences NAME. Prints the files that differ, each with how.
differences() {
    local file old
    lines_of "$folder/models.sha256" "$1" | diff - "$models/$1/digests" | sed -n 's/^[<>] \(.*\): .*/\1/p' | sort -u |
        while read -r file; do
            echo "$file differs"
            old=$folder/$1/accepted/${file#*/}
            [ ! -e "$old" ] || [ ! -e "$models/$file" ] || show_difference "$file" "$old" "$models/$file" || true
        done
    [ -e "$folder/$1/accepted" ] ||
        cat "$models/$1"/*.verdicts | show_difference "$1" <(lines_of "$folder/verdicts" "$1") /dev/stdin || true
}

check() {
    local name said differing=0
    build "$@"
    for name; do
        said=$(differences "$name")
        [ -n "$said" ] || continue
        differing=$((differing + $(grep -c '^[^ ]* differs$' <<<"$said")))
        echo "$said"
    done
    echo "$(find "$models" -name '*.model' | wc -l) models, $(find "$models" -name '*.predictions' | wc -l) predictions:" \
        "$differing differ"
    [ "$differing" = 0 ]
}

# ---- what is asked for ----

# The places in a recording that are of this machine: its name, folders that are not the system's.
tells_of() {
    {
        cat "$golden/$1"/*.json
        for trace in "$golden/$1"/*.persik; do tail -c +49 "$trace" | zstd -qdc 2>/dev/null || true; done # its header
    } | grep -aoE "\"(/home|/root|/work|$root|$(hostname))[^\"]*\"" | sort -u
}

# Their models are accepted there, too.
keep() {
    local name
    command -v zstd >/dev/null || fail "zstd is missing: it shows what is in a recording"
    for name; do
        [ -s "$golden/$name/trace.persik" ] || fail "no recording of '$name': bench/golden.sh record $name"
        ! tells_of "$name" >&2 || fail "$name: these are of this machine: record it anew"
        rm -rf "${kept:?}/$name"
        mkdir -p "$kept/$name"
        find "$golden/$name" -maxdepth 1 -type f -exec install -m 644 -t "$kept/$name" {} +
    done
    folder=$kept
    accept "$@"
}

action=${1:-} folder=$golden names=()
[ $# = 0 ] || shift
for argument; do
    case $argument in
    --kept) folder=$kept ;;
    -*) fail "no option $argument: see the head of this script" ;;
    *) names+=("$argument") ;;
    esac
done
case $action in
record) [ "${#names[@]}" -gt 0 ] || mapfile -t names < <(all_names) ;;
check | accept) [ "${#names[@]}" -gt 0 ] || mapfile -t names < <(recorded_names) ;;
keep) ;;
list)
    if [ "$folder" = "$kept" ]; then recorded_names; else all_names; fi
    exit
    ;;
*) fail "record, check, accept, keep or list? see the head of this script" ;;
esac
[ "${#names[@]}" -gt 0 ] || fail "no recordings: bench/golden.sh record"
"$action" "${names[@]}"
