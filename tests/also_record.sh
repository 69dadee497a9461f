#!/bin/sh
# Recordings with several numbers of threads: what `persik profile --also-record` makes, and what the model and the
# predictions take from it. Usage: tests/also_record.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

gcc -std=c17 -D_GNU_SOURCE -g -O1 "$root/tests/programs/open_ends.c" -o open_ends -lpthread || exit 2
# Without the source nothing tells a total from what each thread does.
profile() { "$persik" profile --no-source --once --no-block-io "$@" >out 2>err; }
pool() { jq -r ".pools[] | select(.scales) | $1" "$2/model.json"; }

# ---- the recordings ----

check "a program is recorded with several numbers of threads" \
    profile -o several --also-record threads=1,8 -- ./open_ends together 4
check "of each there is a recording within the first one's" \
    [ -s several/threads-1/trace.persik ] && [ -s several/threads-8/trace.persik ]
check "which is said" grep -q 'once more, with 8 in the place of 4' err
threads_of() { "$persik" report -i "$1" 2>/dev/null | sed -n 's/^run .* with \([0-9]*\) threads.*/\1/p'; }
check "with as many threads" [ "$(threads_of several/threads-1),$(threads_of several/threads-8)" = 2,9 ]

printer() { "$persik" profile -q --no-source --once -o printed --also-record threads=1,2 -- sh -c 'echo {threads=3}' >out 2>err; }
check "the number may be marked" printer
check "and the program's output appears once" [ "$(cat out)" = 3 ]

# ---- what they tell ----

unknown() {
    profile -o one -- ./open_ends "$1" 4 && PATH='' "$persik" build-model -i one >summary 2>err &&
        [ "$(pool .partition one)" = unknown ]
}
advised() { grep -A 2 'record once more' summary | tr -s ' \n' '  ' | grep -q 'also-record threads=2.: that tells 1 of 1 unknowns'; }
told() {
    profile -o two --also-record threads=2 -- ./open_ends "$1" 4 && PATH='' "$persik" build-model -i two >summary 2>err
}
check "one recording does not tell whether threads share a total" unknown together
check "the model says that another one would" advised
check "both are recorded" told together
check "a total is told" [ "$(pool .partition two)" = fixed ]
check "and nothing more is advised" sh -c '! grep -q "record once more" summary'
check "both are recorded where each does the same" told each
check "that is told, too" [ "$(pool .partition two)" = perthread ]

# ---- figures from the recording itself ----

# The model of four threads has no figures but its own.
check "one recording alone, with another within it that has a model" sh -c "rm -rf two && cp -r one two && cp -r one two/threads-2"
figures() { "$persik" predict -i two --threads "$1" --cores 2 --format json 2>err | jq -r '.configurations[0].run_ns'; }
# What the folder's name says is not believed: the model knows with how many it was recorded.
check "a number of which there is no recording has none" [ "$(figures 2)" = null ]
profile -o with_two -- ./open_ends together 2 && PATH='' "$persik" build-model -q -i with_two 2>>err
check "one that was recorded has those of its own recording" \
    sh -c 'rm -rf two/threads-2 && cp -r with_two two/threads-2'
own=$("$persik" predict -i with_two --threads 2 --cores 2 --format json 2>/dev/null | jq -r '.configurations[0].run_ns')
check "the same figures" [ "$(figures 2)" = "$own" ]
check "which is said, too" grep -q 'threads 2: from the recording with as many' err
check "and other numbers have none" [ "$(figures 8)" = null ]
"$persik" predict -i two --threads 2 --cores 2 --scale 'main=0.5' --format json >out 2>err
check "nor where something is changed in the model" [ "$(jq -r '.configurations[0].run_ns' out)" = null ]

# ---- what goes wrong ----

profile -o partly --also-record threads=2,1 -- sh -c 'exit $(({threads=4} == 2))'
check "one that fails is said, and the exit status tells" [ $? -eq 1 ] &&
    check "with what is wrong" grep -q '^persik: not recorded with threads=2: .*exit status 1' err
check "what was recorded stays, and nothing of the one that failed" \
    [ "$(cd partly && ls -d trace.persik threads-* | tr '\n' ' ')" = "threads-1 trace.persik " ]
wrong() {
    text=$1
    shift
    profile -o none "$@"
    [ $? -eq 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$text" err && [ ! -e none ]
}
check "an argument that is no number of threads" wrong 'threads=1' --also-record 3 ./open_ends together 4
check "the number that is recorded anyway" wrong 'recorded anyway' --also-record threads=4 ./open_ends together 4
check "no argument with a number" wrong 'none of' --also-record threads=4 ./open_ends together
check "several such arguments" wrong '2 could be' --also-record threads=1 ./open_ends 3 4
check "a server that is asked from elsewhere" wrong 'give --load' --duration 1s --also-record threads=1 ./open_ends together 4
profile -o partly -- ./open_ends together 4
check "a folder with such recordings is persik's own: the next one takes its place" \
    [ "$(ls -d partly/threads-* 2>/dev/null)" = "" ] && [ -d partly.old/threads-1 ]

finish
