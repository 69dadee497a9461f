#!/bin/bash
# How good is persik what-if? Programs are recorded once, a change is asked for, and the program really so changed is
# run, in turn with the recorded one.
#
# usage: bench/what-if.sh closed [NAME...]        programs whose times follow from their numbers
#        bench/what-if.sh real [NAME...]          functions of real programs and samples that are made slower by a known
#                                                 factor are recorded, the inverse asked
#        bench/what-if.sh chain [NAME...]         three bottlenecks, one after the other, from one recording
#        bench/what-if.sh candidates [NAME...]    is the part that limits a program the one that gains most?
#        bench/what-if.sh coz [NAME...]           the same question to Coz, in as many runs as it needs
#        bench/what-if.sh identity [FOLDER...]    unchanged: recordings that are there, or real programs and samples,
#                                                 recorded now; how far as recorded and rescheduled are from the traced time
#
# Recorded is what `persik profile --once` records: one run with samples, one with probes.
#
# A line for each change: the real time as a share of the recorded program's, the error of each way to predict it, and
# whether the real one lies in the interval. Errors are of times, in per cent. To be measured on a machine without
# other load; recordings and runs are kept in bench/scratch/what-if, and what is kept is not made again.
#
#   RUNS    of each program (5), in turn; the median of the ratios of each turn counts
#   STEPS   of prepare measure table (all): the first builds, the second needs the quiet machine
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
cd "$root"

runs=${RUNS:-5}
steps=${STEPS:-prepare measure table}
scratch=bench/scratch/what-if
mkdir -p "$scratch"

has_step() { [[ " $steps " == *" $1 "* ]]; }

# ---- cases ----

# A case is a line "NAME|RECORDED|ASKED|CHANGED": commands, and what is asked of the recorded one. Words in front that
# have a "=" are set in the environment. Lines with the same name share their recording.
cases=()
add() { cases+=("$1|$2|$3|$4"); } # NAME RECORDED ASKED CHANGED

names_of_cases() { printf '%s\n' "${cases[@]%%|*}" | uniq; }

# Sets `commands` to the recorded one of the case and those changed, and `asked`.
read_case() {
    local line fields
    commands=() asked=()
    for line in "${cases[@]}"; do
        IFS='|' read -ra fields <<<"$line"
        [ "${fields[0]}" = "$1" ] || continue
        [ ${#commands[@]} -gt 0 ] || commands=("${fields[1]}")
        asked+=("${fields[2]}")
        commands+=("${fields[3]}")
    done
}

# ---- measuring ----

folder_of() { echo "$scratch/cases/${1// /-}"; }

record() { # FOLDER COMMAND
    local words settings=()
    read -ra words <<<"$2"
    while [[ ${words[0]} == *=* ]]; do
        settings+=("${words[0]}")
        words=("${words[@]:1}")
    done
    mkdir -p "$(dirname "$1")"
    rm -rf "$1" "$1".*
    { env "${settings[@]}" "$persik" sample -q -o "$1" -- "${words[@]}" &&
        env "${settings[@]}" "$persik" trace -q --once -o "$1" -- "${words[@]}"; } >"$1.log" 2>&1 ||
        fail "$1.log: not recorded"
}

# Runs what is missing of a case: its recording, and rounds of all its programs, each a line of seconds. Where a
# function is slowed, what it takes then and at its own pace is kept, too.
measure_case() {
    local folder command line words done_so_far=0 own_pace
    folder=$(folder_of "$1")
    read_case "$1"
    [ -s "$folder/trace.persik" ] || record "$folder" "${commands[0]}"
    [ ! -s "$folder.times" ] || done_so_far=$(wc -l <"$folder.times")
    for ((; done_so_far < runs; done_so_far++)); do
        line=
        for command in "${commands[@]}"; do
            read -ra words <<<"$command"
            line+="$(seconds_of env SLOWED_LOG="$folder.slowed" "${words[@]}") "
        done
        if [[ ${commands[0]} == SLOWED=* ]]; then
            read -ra words <<<"${commands[0]}"
            own_pace=${words[0]%=*}=1
            env "$own_pace" SLOWED_LOG="$folder.own" "${words[@]:1}" >"$scratch/log" 2>&1 ||
                fail "${commands[0]}: failed at its own pace (log: $scratch/log)"
        fi
        echo "$line" >>"$folder.times"
    done
}

# By what a slowed function really took, the share of it that it takes at its own pace: own_share FOLDER FACTOR. Programs
# that end by _exit do not tell what it took: then by the factor asked for.
own_share() {
    if [ -s "$1.slowed" ]; then
        number %.6f "$(median_of <"$1.own") / $(median_of <"$1.slowed")"
    else
        number %.6f "1 / $2"
    fi
}

# ---- comparing ----

header() {
    echo "case,asked,traced/plain,real,as_recorded_%,rescheduled_%,model_%,half_width_%,inside,unchanged_%"
}

# One line for each change of a case.
compare_case() {
    local folder i options
    folder=$(folder_of "$1")
    read_case "$1"
    [ -s "$folder.times" ] || return 0
    [ -e "$folder.model.log" ] || "$persik" build-model -q -i "$folder" >"$folder.model.log" 2>&1 || true # it may refuse
    for ((i = 0; i < ${#asked[@]}; i++)); do
        [[ ${asked[i]} != *=own ]] || asked[i]=${asked[i]%own}$(own_share "$folder" "${1##*=}")
        read -ra options <<<"${asked[i]}"
        "$persik" what-if -q -i "$folder" "${options[@]}" --format json >"$folder.answer" 2>"$folder.answer.log" ||
            echo '{}' >"$folder.answer"
        python3 - "$1" "${asked[i]}" "$folder" $((i + 1)) <<'PYTHON'
import json, statistics, sys
case, asked, folder, column = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
rounds = [[float(s) for s in line.split()] for line in open(folder + ".times")]
plain = statistics.median(r[0] for r in rounds)
real = statistics.median(r[column] / r[0] for r in rounds)
answer = json.load(open(folder + ".answer"))
if not answer:
    print(f"{case},{asked},,{real:.3f},,,,,{open(folder + '.answer.log').read().strip()!r}")
    sys.exit()
checks, row = answer["checks"], answer["prediction"][0]
traced = row["recorded_ns"]
def error(key):
    return f"{100 * (row[key] / traced / real - 1):+.1f}" if row[key] is not None else ""
half = row["half_width_ns"] / traced / real
inside = "yes" if abs(row["rescheduled_ns"] / traced / real - 1) <= half else "no"
unchanged = 100 * (checks["rescheduled_ns"] / traced - 1)
print(f"{case},{asked},{traced / 1e9 / plain:.3f},{real:.3f},{error('as_recorded_ns')},{error('rescheduled_ns')},"
      f"{error('model_ns')},{100 * half:.1f},{inside},{unchanged:+.1f}")
PYTHON
    done
}

# The median and worst error of each way, and how often the interval held: of a table on standard input.
summary() {
    python3 -c '
import csv, sys
rows = [row for row in csv.DictReader(sys.stdin) if row["rescheduled_%"]]
for way in ("as_recorded_%", "rescheduled_%", "model_%"):
    errors = sorted(abs(float(row[way])) for row in rows if row[way])
    if errors:
        print(f"{way[:-2]}: {len(errors)} changes, median {errors[len(errors) // 2]:.1f} %, worst {errors[-1]:.1f} %")
print("in the interval:", sum(row["inside"] == "yes" for row in rows), "of", len(rows))
none = [row for row in rows if abs(float(row["real"]) - 1) < 0.01]
if none:
    worst = max(abs(float(row["real"]) * (1 + float(row["rescheduled_%"]) / 100) / (1 + float(row["unchanged_%"]) / 100) - 1)
                for row in none)
    print(f"without effect: {len(none)}, predicted to change by {100 * worst:.1f} % at most")
agree = [row for row in rows if row["model_%"] and abs(float(row["model_%"]) - float(row["rescheduled_%"])) <= 5
         and abs(float(row["as_recorded_%"]) - float(row["rescheduled_%"])) <= 5]
print("all three within 5 %:", len(agree), "changes; of these the truth within 5 %:",
      sum(abs(float(row["rescheduled_%"])) <= 5 for row in agree))
'
}

# All steps for the cases that are there, or those of them that are named.
measure_and_compare() {
    local name names
    names=("$@")
    [ $# -gt 0 ] || mapfile -t names < <(names_of_cases)
    ! has_step measure || for name in "${names[@]}"; do measure_case "$name"; done
    ! has_step table || {
        {
            header
            for name in "${names[@]}"; do compare_case "$name"; done
        } | tee "$scratch/$what.csv"
        summary <"$scratch/$what.csv"
    }
}

# ---- closed forms ----

compiled() { # SOURCE: gives the program
    local name
    name=$scratch/$(basename "$1" .c)
    ! has_step prepare || [ "$name" -nt "$1" ] || gcc -std=gnu17 -O1 -g -Wall -Wextra -Werror "$1" -o "$name" -lpthread
    echo "$name"
}

# group NAME PROGRAM "RECORDED NUMBERS" then pairs "ASKED" "CHANGED NUMBERS".
group() {
    local name=$1 program=$2 recorded=$3
    shift 3
    while [ $# -gt 0 ]; do
        add "$name" "$program $recorded" "$1" "$program $2"
        shift 2
    done
}

closed() {
    local stages what_if own
    stages=$(compiled tests/programs/three_stages.c)
    what_if=$(compiled tests/programs/what_if.c)
    own=$(compiled bench/what_if_cases.c)
    group stages "$stages" '5000 10000 4000 100' \
        '--scale sleep:second=0.5' '5000 5000 4000 100' \
        '--scale sleep:second=0.2' '5000 2000 4000 100' \
        '--scale sleep:second=0.1 --scale sleep:first=0.1' '500 1000 4000 100'
    group credits "$what_if" 'credits 10000 12000 2 80 8' \
        '--scale sleep:send_all=0.1' 'credits 1000 12000 2 80 8'
    group mutex "$what_if" 'mutex 2000 4000 50 4' \
        '--scale lock:use_lock=0.5' 'mutex 2000 2000 50 4' \
        '--scale lock:use_lock=0.25' 'mutex 2000 1000 50 4' \
        '--scale lock:use_lock=0.125' 'mutex 2000 500 50 4'
    group hot "$own" 'hot 10 20 10000 4' \
        '--scale lock:use_lock=0.5' 'hot 10 10 10000 4' \
        '--scale lock:use_lock=0.25' 'hot 10 5 10000 4' \
        '--scale lock:use_lock=0.1' 'hot 10 2 10000 4' \
        '--scale lock:use_lock=2' 'hot 10 40 10000 4' \
        '--scale use_lock=2 --scale lock:use_lock=0.5' 'hot 20 20 10000 4' \
        '--scale use_lock=0.5 --scale lock:use_lock=2' 'hot 5 20 10000 4' \
        '--scale use_lock=0.5' 'hot 5 10 10000 4'
    group cpu "$what_if" 'cpu 1000 9000 50 4' \
        '--scale sleep:compute_and_sleep=0' 'cpu 1000 0 50 4'
    group branches "$what_if" 'barrier 10000 7000 100' \
        '--scale sleep:second=1.35714' 'barrier 10000 9500 100' \
        '--scale sleep:second=1.71429' 'barrier 10000 12000 100'
    measure_and_compare "$@"
}

# ---- real changes ----

# Functions that contain a recorded call: time counts for the place of the next one.
declare -A slowed_functions=(
    [zstd]='ZSTDMT_compressionJob ZSTDMT_createCompressionJob AIO_ReadPool_executeReadJob'
    [pbzip2]='consumer producer fileWriter'
    [bank]='book_transfer teller_run'
    [moldyn]='worker_run run_steps'
    [pipeline]='reader_run compressor_run writer_run'
    [raytracer]='render_worker queue_put'
    [xz]='worker_encode stream_encode_in'
    [lbzip2]='do_collect do_transmit'
    [squashfs]='deflator mksquashfs.c:writer'
    [galaxy]='force_worker_run move_worker_run queue_put'
    [montecarlo]='worker_run price_book'
    [renderer]='render_worker take_tile'
)
# What was looked at while persik's rules were mended; of the others only the figures.
looked_at=(zstd pbzip2 bank moldyn pipeline raytracer)
held_out=(xz lbzip2 squashfs galaxy montecarlo renderer)

# slowed PROGRAM "ARGUMENTS" then "FUNCTION=FACTOR"...: the slower one is recorded, the inverse asked for. The untouched
# one is the same binary: another build has its code elsewhere, and was up to 15 % slower.
slowed() {
    local program=$1 arguments=$2 binary functions change
    shift 2
    wants "$program" || return 0
    read -ra functions <<<"${slowed_functions[$program]}"
    if has_step prepare; then bench/slow-function "$program" "${functions[@]}" >/dev/null; fi
    binary=$(<"$scratch/slowed/$program/binary")
    for change; do
        add "$program $change" "SLOWED=$change $binary $arguments" \
            "--scale ${change%=*}=own" "$binary $arguments"
    done
}

# Was the program, or nothing, named?
wants() { [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }

real() {
    local corpus small
    wanted=("$@")
    case ${wanted[*]} in
    looked-at) wanted=("${looked_at[@]}") ;;
    held-out) wanted=("${held_out[@]}") ;;
    esac
    corpus=$(bench/corpus 16000000 what-if.corpus)
    small=$(bench/corpus 4000000 what-if-small.corpus)
    slowed zstd "-T2 -6 -f -q $corpus -o /dev/null" \
        ZSTDMT_compressionJob=2 ZSTDMT_compressionJob=1.5 AIO_ReadPool_executeReadJob=3
    slowed pbzip2 "-p2 -1 -c $corpus" consumer=1.5 consumer=3 producer=4
    slowed bank '--size 6000 --threads 2' book_transfer=2 book_transfer=4 teller_run=2
    slowed moldyn '--steps 12 --threads 2' run_steps=4 worker_run=2
    slowed pipeline '--size 330 --threads 2' compressor_run=2 reader_run=4 writer_run=4
    slowed raytracer '--size 200 --threads 2' render_worker=2 queue_put=4
    slowed xz "-T2 --lzma2=preset=1 --block-size=256KiB -c $corpus" worker_encode=2 worker_encode=4 stream_encode_in=4
    slowed lbzip2 "-n2 -1 -k -c $corpus" do_collect=2 do_transmit=2 do_transmit=4
    slowed squashfs "$small bench/scratch/what-if/image -noappend -no-progress -quiet -processors 2" \
        deflator=2 writer=4
    slowed galaxy '--steps 24 --threads 2' force_worker_run=2 move_worker_run=4
    slowed montecarlo '--rounds 4 --threads 2' worker_run=2 price_book=4
    slowed renderer '--size 420 --threads 2' render_worker=1.5 take_tile=4
    measure_and_compare
}

# ---- what limits a program ----

# The part that gains most if it takes half, beside the changes already made: best_candidate FOLDER CHANGE... One line:
# what, and what is then left of the time.
best_candidate() {
    local folder=$1
    shift
    "$persik" critical-path -q -i "$folder" "$@" --best 1 --format json 2>/dev/null |
        jq -r '.[0] | "\(.candidate | gsub(" \\([^)]*\\)"; "") | gsub(" "; "_")) \(1 - .gain_50_share)"'
}

# first_limit NAME "COMMAND" EXPECTED: what limits it is known.
first_limit() {
    add "limit $1" "$2" "" "true"
    expected+=("$3")
}

candidates() {
    local stages what_if own bottleneck coz_cases name i=0 found
    expected=()
    stages=$(compiled tests/programs/three_stages.c)
    what_if=$(compiled tests/programs/what_if.c)
    own=$(compiled bench/what_if_cases.c)
    coz_cases=$(compiled bench/coz_cases.c)
    bottleneck=$(compiled bench/bottleneck.c)
    # A function has the time under its locks, too, and what its caller computes before its first call.
    first_limit lock "$bottleneck lock" 'lock:use_lock|use_lock'
    first_limit device "$bottleneck device" 'sleep:wait_for_device|sleep:use_device|lock:use_device'
    first_limit permits "$bottleneck permits" 'sleep:wait_for_device|sleep:use_permit|use_permit.permits'
    first_limit stage "$bottleneck stage" 'put_job|make_jobs'
    first_limit serial "$bottleneck serial" 'main'
    first_limit uneven "$bottleneck uneven" 'compute_share'
    first_limit queue "$bottleneck queue" 'jobs.capacity'
    first_limit readers "$bottleneck readers" 'lock:tables'
    first_limit convoy "$bottleneck convoy" 'lock:use_lock_briefly|use_lock_briefly'
    first_limit accept "$bottleneck accept" 'accept_all'
    first_limit 'slow stage' "$stages 5000 10000 4000 100" 'sleep:second'
    first_limit 'few credits' "$what_if credits 1000 12000 2 80 8" 'sleep:work|global:credits.mutex,_take_credit.permits'
    first_limit cores "$what_if cpu 4000 1000 50 8" 'cores|compute_and_sleep|pass_time'
    first_limit 'long nap' "$coz_cases sleepers 1 100" 'sleep:nap'
    first_limit 'lock held over a nap' "$coz_cases device 1 100" 'sleep:use_device|lock:prepare'
    first_limit 'slow use' "$coz_cases stages 1 200" 'finish_job|use'
    ! has_step measure || for name in "${cases[@]%%|*}"; do
        read_case "$name"
        [ -s "$(folder_of "$name")/trace.persik" ] || record "$(folder_of "$name")" "${commands[0]}"
    done
    ! has_step table || {
        echo "case,expected,first,left of the time,right"
        for name in "${cases[@]%%|*}"; do
            read -r -a found <<<"$(best_candidate "$(folder_of "$name")")"
            [[ ${found[0]} =~ ^(${expected[i]})$ ]] && right=yes || right=no
            echo "$name,${expected[i]},${found[0]},$(number %.3f "${found[1]}"),$right"
            i=$((i + 1))
        done | tee "$scratch/candidates.csv"
    }
}

# chain_of NAME "COMMAND", then for each bottleneck WHAT FACTOR "COMMAND, so changed, too".
chain_of() {
    local name=$1 recorded=$2 asked=
    shift 2
    while [ $# -gt 0 ]; do
        asked+="${asked:+ }--scale $1=$2"
        add "$name" "$recorded" "$asked" "$3"
        shift 3
    done
}

chain() {
    local stages what_if own name before found wanted
    stages=$(compiled tests/programs/three_stages.c)
    what_if=$(compiled tests/programs/what_if.c)
    own=$(compiled bench/what_if_cases.c)
    chain_of 'chain stages' "$stages 5000 10000 4000 100" sleep:second 0.1 "$stages 5000 1000 4000 100" \
        sleep:first 0.1 "$stages 500 1000 4000 100" sleep:third 0.1 "$stages 500 1000 400 100"
    chain_of 'chain parts' "$own parts 9000 6000 3000 100" sleep:first 0.1 "$own parts 900 6000 3000 100" \
        sleep:second 0.1 "$own parts 900 600 3000 100" sleep:third 0.1 "$own parts 900 600 300 100"
    chain_of 'chain credits' "$what_if credits 3000 12000 2 80 8" sleep:work 0.25 "$what_if credits 3000 3000 2 80 8" \
        sleep:send_all 0.1 "$what_if credits 300 3000 2 80 8" sleep:work 0.5 "$what_if credits 300 1500 2 80 8"
    measure_and_compare
    ! has_step table || {
        echo "case,made,next wanted,next found"
        for name in $(names_of_cases | tr ' ' /); do
            name=${name//\// }
            read_case "$name"
            before=
            for ((i = 0; i < ${#asked[@]}; i++)); do
                wanted=${asked[i]##* }
                # shellcheck disable=SC2086 # words
                found=$(best_candidate "$(folder_of "$name")" $before)
                echo "$name,$before,${wanted%=*},${found% *}"
                before=${asked[i]}
            done
        done | tee "$scratch/chain-order.csv"
    }
}

# ---- beside Coz ----

coz_folder=$scratch/coz
coz_speedup=50 # per cent

# Debian's Coz, unpacked beside the system.
unpack_coz() {
    [ ! -e "$coz_folder/usr/bin/coz" ] || return 0
    mkdir -p "$coz_folder/archives/partial"
    apt-get install -y -q --download-only --no-install-recommends -o Debug::NoLocking=true \
        -o Dir::Cache::archives="$root/$coz_folder/archives" coz-profiler >"$coz_folder/log" 2>&1 ||
        fail "no Coz: see $coz_folder/log"
    for archive in "$coz_folder"/archives/*.deb; do dpkg -x "$archive" "$coz_folder"; done
}

# It reads no newer debug information than DWARF 4, without GNU's additions.
compile_with_coz() {
    unpack_coz
    gcc -std=gnu17 -O1 -gdwarf-4 -gstrict-dwarf -DWITH_COZ -I"$coz_folder/usr/include" bench/coz_cases.c \
        -o "$coz_folder/coz_cases" -lpthread -ldl
}

# Experiments without and with the virtual speed-up, in turn, all on the line that is asked about. Coz left to itself
# also chooses the line and the speed-up at random, and needs many times as many runs: coz_runs ACT ROUNDS.
coz_runs() {
    local line speedup profile=$coz_folder/$1.coz run_count=0 libraries=$coz_folder/usr/lib/x86_64-linux-gnu
    line=$(grep -n "changed: $1 " bench/coz_cases.c | cut -d : -f 1)
    [ ! -s "$profile" ] || run_count=$(grep -c '^startup' "$profile")
    for ((; run_count < 4 * runs; run_count++)); do
        speedup=$((run_count % 2 * coz_speedup))
        LD_LIBRARY_PATH=$root/$libraries python3 "$coz_folder/usr/bin/coz" run -o "$profile" \
            --fixed-line "coz_cases.c:$line" --fixed-speedup $speedup --- "$coz_folder/coz_cases" "$1" 1 "$2" \
            >"$coz_folder/$1.log" 2>&1 || fail "Coz: see $coz_folder/$1.log"
    done
}

# What Coz says of the time, as a share, over all its experiments; how many runs and experiments that took.
coz_answer() {
    python3 - "$1" "$coz_speedup" <<'PYTHON'
import re, sys
runs, experiments, time, progress = 0, 0, {}, {}
for line in open(sys.argv[1]):
    runs += line.startswith("startup")
    if line.startswith("experiment"):
        speedup, duration = re.search(r"speedup=([0-9.]+)\tduration=(\d+)", line).groups()
        now = round(100 * float(speedup))
        time[now] = time.get(now, 0) + int(duration)
        experiments += 1
    if line.startswith("throughput-point"):
        progress[now] = progress.get(now, 0) + int(line.split("delta=")[1])
wanted = int(sys.argv[2])
known = progress.get(0) and progress.get(wanted)
share = time[wanted] / progress[wanted] / (time[0] / progress[0]) if known else float("nan")
print(f"{share:.3f} {runs} {experiments}")
PYTHON
}

coz() {
    local own act answer acts=('sleepers sleep:nap 100' 'beside compute 100' 'lock hold 200' 'stages finish_job 200'
        'pauses compute_and_pause 100' 'device prepare 100')
    own=$(compiled bench/coz_cases.c)
    ! has_step prepare || compile_with_coz
    for act in "${acts[@]}"; do
        read -ra words <<<"$act"
        add "coz ${words[0]}" "$own ${words[0]} 1 ${words[2]}" "--scale ${words[1]}=0.5" \
            "$own ${words[0]} 0.5 ${words[2]}"
        ! has_step measure || coz_runs "${words[0]}" "${words[2]}"
    done
    measure_and_compare
    ! has_step table || {
        echo "case,real,coz_%,coz_runs,experiments"
        for act in "${acts[@]}"; do
            answer=$(coz_answer "$coz_folder/${act%% *}.coz")
            awk -F , -v name="coz ${act%% *}" -v answer="$answer" '$1 == name {
                split(answer, coz, " ")
                printf "%s,%s,%+.1f,%s,%s\n", name, $4, 100 * (coz[1] / $4 - 1), coz[2], coz[3]
            }' "$scratch/coz.csv"
        done
    }
}

# ---- identity ----

identity_of() { # NAME FOLDER
    "$persik" critical-path -q -i "$2" --format json 2>/dev/null | python3 -c '
import json, sys
checks = json.load(sys.stdin)["checks"]
error = lambda key: "" if checks[key] is None else f"{100 * (checks[key] / checks[sys.argv[2]] - 1):+.2f}"
print(sys.argv[1], f"{checks[sys.argv[2]] / 1e6:.1f}", error("as_recorded_ns"), error("rescheduled_ns"),
      *(round(checks[key] or 0, 6) for key in ("blocked_ns", "explained_share", "waking_thread_alone_share")),
      checks["links_told"] or 0, checks["links_confirmed"] or 0, sep=",")
' "$1" traced_ns || echo "$1,no path"
}

identity() {
    local name folder=$scratch/identity threads=2 corpus
    {
        if [ $# -gt 0 ]; then
            for name; do identity_of "$(basename "$name")" "$name"; done
        else
            corpus=$("$root/bench/corpus" 60000000 what-if.corpus)
            for name in zstd pigz xz pbzip2; do
                command -v $name >/dev/null || continue
                case $name in
                zstd) command=(zstd -q -f -T$threads -5 "$corpus" -o /dev/null) ;;
                pigz) command=(pigz -k -c -p $threads "$corpus") ;;
                xz) command=(xz -k -c -1 -T$threads "$corpus") ;;
                pbzip2) command=(pbzip2 -k -c -p$threads "$corpus") ;;
                esac
                record "$folder" "${command[*]}"
                identity_of $name "$folder"
            done
            for name in "${sample_programs[@]}"; do
                record "$folder" "$built/samples/$name --threads $threads"
                identity_of "$name" "$folder"
            done
        fi
    } | tee "$scratch/identities.csv"
    python3 - "$scratch/identities.csv" <<'PYTHON'
import csv, sys
rows = [row for row in csv.reader(open(sys.argv[1])) if len(row) == 9 and row[3]]
for column, name in ((2, "as recorded"), (3, "rescheduled")):
    errors = sorted(abs(float(row[column])) for row in rows)
    if errors:
        print(f"{name}: {len(errors)} recordings, median {errors[len(errors) // 2]:.2f} %, "
              f"of ten nine within {errors[int(len(errors) * 0.9)]:.2f} %, within 6 % {sum(e <= 6 for e in errors)}, "
              f"worst {errors[-1]:.2f} %")
known = [row for row in rows if int(row[7]) > 0]  # the kernel's wake-ups were recorded
if known:
    waited, explained, alone = (sum(float(row[4]) * share(row) for row in known) for share in
                                (lambda row: 1, lambda row: float(row[5]), lambda row: float(row[6])))
    told, confirmed = (sum(int(row[i]) for row in known) for i in (7, 8))
    print(f"{len(known)} recordings with wake-ups: {100 * explained / waited:.2f} % of the waiting explained, "
          f"{100 * alone / waited:.2f} % by the waking thread alone; the kernel confirms {confirmed} of {told} links")
    print("less than 99 % explained:", *(row[0] for row in known if float(row[5]) < 0.99))
PYTHON
}

what=${1:-}
shift $(($# > 0))
case $what in
closed | real | chain | candidates | coz) "$what" "$@" ;;
identity)
    echo "program,traced_ms,as_recorded_%,rescheduled_%"
    identity "$@"
    ;;
*) fail "closed, real, chain, candidates, coz or identity?" ;;
esac
