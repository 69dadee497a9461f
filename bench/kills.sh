#!/bin/bash
# Whether SIGKILL at any moment leaves anything behind: of persik, of the traced program, or of any other process
# that persik started, in turn, while it traces, profiles or builds a model.
#
# usage: bench/kills.sh [build folder]        COUNT=N kills (200), SEED=N (1)
#
# After each kill: trace.persik is readable or absent, the user's files beside it are untouched, and no process of
# the run is left after a moment. After the next start: no file, tracefs instance or shared memory is left that
# was not there before. Prints what is wrong and a summary; exit status 1: something was.
# shellcheck disable=SC2002 # a process that is gone: cat says so, which can be silenced
set -uo pipefail
root=$(realpath "$(dirname "$0")/..")
build=$(realpath "${1:-$root/build/release}")
persik=$build/persik
count=${COUNT:-200}
RANDOM=${SEED:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PERSIK_CACHE=$scratch/cache TMPDIR=$scratch/tmp
mkdir "$TMPDIR"
cd "$scratch" || exit 1

mkdir home
cd home || exit 1
# What a user may have beside a recording, names like persik's own among it.
mkdir persik.data.new.mine notes persik.data
echo mine >persik.data.new.mine/thesis.txt
echo notes >notes/raw.0
echo text >persik.data.txt
ln -s notes link
foreign() { sha256sum persik.data.new.mine/* notes/* persik.data.txt; readlink link; }
foreign_before=$(foreign)

program=("$build/samples/bank" --size 20000 --threads 2)
# Where persik may leave something. What bears the number of a process that lives is somebody else's.
elsewhere() {
    {
        ls -d /sys/kernel/tracing/instances/*persik* /dev/shm/*persik* /run/persik* "$TMPDIR"/* 2>/dev/null
        find . -maxdepth 1 -name '*persik*'
        find persik.data 2>/dev/null
    } | while read -r path; do
        [[ $path =~ -([0-9]+)$ ]] && [ -d "/proc/${BASH_REMATCH[1]}" ] || echo "$path"
    done
}
start() {
    case $1 in
    0) exec "$persik" trace -q --plain-runs 0 --no-evictions -- "${program[@]}" ;;
    1) exec "$persik" profile -q --plain-runs 1 --no-evictions -- "${program[@]}" ;;
    2) exec "$persik" build-model -q ;;
    esac
}
descendants() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$child"
        descendants "$child"
    done
}
# Not a zombie that nobody has waited for yet.
is_alive() { [ -r "/proc/$1/stat" ] && ! grep -q '^State:.*[ZX]' "/proc/$1/status" 2>/dev/null; }

patience_s=60 # the program may come to its own end, on a busy machine
ends() {
    local i
    for ((i = 0; i < patience_s * 10; i++)); do
        is_alive "$1" || return 0
        sleep 0.1
    done
    return 1
}

wrong=0
complain() {
    echo "kill $number ($victim of $what, after $delay ms): $*"
    wrong=$((wrong + 1))
}

whole() { (start 1) >"$scratch/log" 2>&1 && (start 2) >>"$scratch/log" 2>&1; }
whole || { echo "kills: no recording: $(tail -n 1 "$scratch/log")" >&2; exit 1; }
clean=$(elsewhere | sort)
exec 3>&2 2>/dev/null # bash tells of every kill
killed=(0 0 0)
for number in $(seq "$count"); do
    kind=$((RANDOM % 3)) whom=$((RANDOM % 3)) delay=$((RANDOM % 400))
    what=$(echo trace profile build-model | cut -d ' ' -f $((kind + 1)))
    victim=$(echo persik program another | cut -d ' ' -f $((whom + 1)))
    (start "$kind") >"$scratch/log" 2>&1 </dev/null &
    pid=$!
    sleep "0.$(printf %03d "$delay")"
    mapfile -t family < <(descendants "$pid")
    target=$pid
    for member in "${family[@]}"; do
        is_program=$(cat "/proc/$member/cmdline" 2>/dev/null | tr '\0' ' ' | grep -c "^${program[0]}")
        [ "$whom" -eq 1 ] && [ "$is_program" -eq 1 ] && target=$member
        [ "$whom" -eq 2 ] && [ "$is_program" -eq 0 ] && target=$member
    done
    kill -KILL "$target" 2>/dev/null && killed[whom]=$((killed[whom] + 1))
    # What persik started ends by itself when persik is gone; persik when its program is.
    ends "$pid" || { complain "persik still runs after $patience_s s"; kill -KILL "$pid"; }
    { wait "$pid"; } 2>/dev/null
    for member in "${family[@]}"; do
        ends "$member" && continue
        complain "process $member of it still runs after $patience_s s: $(cat "/proc/$member/cmdline" 2>/dev/null | tr '\0' ' ')"
        kill -KILL "$member"
    done
    if [ -e persik.data/trace.persik ] && ! "$persik" export --what trace --format csv >/dev/null 2>"$scratch/log2"; then
        complain "the trace cannot be read: $(tail -n 1 "$scratch/log2")"
    fi
    [ "$(foreign)" = "$foreign_before" ] || complain "a file of the user's changed: $(diff <(foreign) <(echo "$foreign_before") | head -n 3)"
    if [ $((number % 5)) -eq 0 ] || [ "$number" -eq "$count" ]; then
        whole || complain "the next start fails: $(tail -n 1 "$scratch/log")"
        left=$(comm -13 <(echo "$clean") <(elsewhere | sort))
        [ -z "$left" ] || complain "left after the next start: $left"
    fi
done
exec 2>&3
echo "$count kills (persik ${killed[0]}, program ${killed[1]}, another process ${killed[2]}): $wrong things wrong"
[ "$wrong" -eq 0 ]
