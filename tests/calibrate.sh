#!/bin/sh
# `persik calibrate` from outside: what it refuses, that nothing is left behind, also of one that is killed, and what
# build-model --disk makes of a result. How fast the disk is does not matter. Usage: tests/calibrate.sh BUILD-FOLDER
# Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 2

# refuses STATUS TEXT ARGUMENT...: one line with TEXT, and no file.
refuses() {
    wanted=$1
    text=$2
    shift 2
    rm -f refused.json
    status=0
    timeout 20 "$persik" calibrate -q -o refused.json "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] && [ "$(wc -l <err)" -eq 1 ] && grep -qe "$text" err && [ ! -e refused.json ] && return
    echo "status $status" && cat out err && return 1
}
: >file
check "a file is no folder" refuses 1 "is not a folder" file
check "a folder that is missing" refuses 1 "No such file" missing
check "no folder at all is a usage error" refuses 2 "needs a folder"
check "a size without a sense is a usage error" refuses 2 "8M to 16G" --size 1K .
in_memory() { [ "$(stat -f -c %T "$1")" = tmpfs ]; }
if in_memory /dev/shm; then
    check "what is in memory is no disk" refuses 1 "in memory" --size 8M /dev/shm
else
    skip "what is in memory is no disk" "no tmpfs at /dev/shm"
fi
mkdir locked && chmod 500 locked
if [ "$(id -u)" -ne 0 ]; then
    check "a folder that nobody may write in" refuses 1 "cannot write in" --size 8M locked
else
    skip "a folder that nobody may write in" "root may"
fi
free_mb=$(($(stat -f -c '%a * %S' . | sed 's/^/(/; s/$/) \/ 1048576/')))
if [ "$free_mb" -lt 32768 ] && ! in_memory .; then
    check "where there is little room" refuses 1 "must be: give a smaller" --size "$((free_mb / 2 + 64))M" .
else
    skip "where there is little room" "there is too much"
fi

mkdir disk
if "$persik" calibrate -q --size 8M --duration 100ms --parallel 2 -o result.json --format json disk >printed 2>err; then
    is_empty() { [ -z "$(ls -A disk)" ]; }
    check "nothing is left in the folder" is_empty
    has_all_points() {
        [ "$(jq '.points | length' result.json)" -eq 26 ] && [ "$(jq '[.points[].parallel] | unique | join(",")' -c result.json 2>&1)" = '"1,2"' ] &&
            [ "$(jq length printed)" -eq 26 ]
    }
    if command -v jq >/dev/null; then
        check "each sort of requests is a point" has_all_points
    else
        skip "each sort of requests is a point" "no jq here"
    fi
    # Killed while its file is there.
    is_gone_when_killed() {
        "$persik" calibrate -q --size 64M --duration 60s -o killed.json disk >out 2>err &
        pid=$!
        tries=0
        until readlink "/proc/$pid/fd/"* 2>/dev/null | grep -q "$scratch/disk/.*(deleted)"; do
            tries=$((tries + 1))
            [ "$tries" -lt 400 ] || { echo "it never opened a file" && kill "$pid" && return 1; }
            sleep 0.05
        done
        kill -KILL "$pid"
        wait "$pid" 2>/dev/null
        is_empty && [ ! -e killed.json ] && [ "$(find . -name 'killed*' | wc -l)" -eq 0 ]
    }
    check "one that is killed leaves nothing" is_gone_when_killed
    is_interrupted() {
        env --default-signal=INT "$persik" calibrate -q --size 8M --duration 60s -o killed.json disk >out 2>err &
        pid=$!
        until readlink "/proc/$pid/fd/"* 2>/dev/null | grep -q "$scratch/disk/.*(deleted)"; do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.05
        done
        kill -INT "$pid"
        status=0
        wait "$pid" 2>/dev/null || status=$?
        [ "$status" -eq 130 ] && is_empty && [ ! -e killed.json ] && return
        echo "status $status" && cat err && return 1
    }
    check "Ctrl-C ends it" is_interrupted
else
    cat err
    for what in "nothing is left in the folder" "each sort of requests is a point" "one that is killed leaves nothing" "Ctrl-C ends it"; do
        skip "$what" "the temporary files are on nothing that can be measured: $(cat err)"
    done
fi

# ---- what the model makes of it, from a kept recording of four threads that write in turn ----

kept writer-direct direct
points=
for parallel in 1 2 4 8; do
    for order in sequential random; do
        mean=$([ "$order" = random ] && echo "$((parallel * 5))e6" || echo 5e5)
        [ "$parallel" = 1 ] || mean=$((parallel * 5))e6
        times=$(yes "$mean" | head -n 16 | paste -sd,)
        points="$points${points:+,}{\"kind\":\"write\",\"order\":\"$order\",\"bytes\":4096,\"parallel\":$parallel,\"requests\":50,\"mean_ns\":$mean,\"times_ns\":[$times]}"
    done
done
echo '{"format": "persik disk calibration", "version": 1, "device": "9:9", "date": "2026-11-28", "file_bytes": 67108864, "points": ['"$points"']}' >disk.json

predicts() { "$persik" predict -q -i direct --threads "$1" --partition work=perthread >out 2>err; }
refuses_one_thread() {
    "$persik" build-model -q -i direct >/dev/null 2>&1
    predicts 4 || return 1
    predicts 1
    [ $? -eq 4 ] && grep -q 'would follow one of the' out && grep -q 'persik calibrate' out
}
check "one thread that writes in a row is refused" refuses_one_thread
names_the_disk() {
    "$persik" build-model -q -i direct --disk disk.json >out 2>err
    [ $? -eq 1 ] && grep -q 'no requests to disk 9:9, but to .*: if' err
}
check "a result of another disk is refused, with the recording's" names_the_disk
device=$("$persik" build-model -q -i direct --disk disk.json 2>&1 | sed -n 's/.*give --disk \(.*\)=FILE.*/\1/p')
has_figures() {
    "$persik" build-model -q -i direct --disk "$device=disk.json" >built 2>&1 && predicts 1 && predicts 4
}
check "with a result of that disk it is predicted" has_figures
is_explained() { "$persik" build-model -q -i direct --disk "$device=disk.json" --explain disk | grep -q 'calibrated'; }
check "the model says that it was calibrated" is_explained

finish
