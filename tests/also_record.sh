#!/bin/sh
# Recordings with several numbers of threads: what `persik profile --also-record` makes, and what the model and the
# predictions take from it. Usage: tests/also_record.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

gcc -std=c17 -D_GNU_SOURCE -g -O1 "$root/tests/programs/open_ends.c" -o open_ends -lpthread || exit 2
profile() { "$persik" profile --no-source --once --no-block-io "$@" >out 2>err; }

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

# ---- what they tell: of kept recordings, without the source, which alone would tell it ----

bare() { rm -rf "$2" && kept "$1" "$2" && rm "$2/static.json"; }
pool() { jq -r ".pools[] | select(.scales) | $1" "$2/model.json"; }
build() { PATH='' "$persik" build-model -q -i "$1" >summary; }

# unknown NAME, told NAME: of the program with 8 threads, and of the same with 4, too.
unknown() { bare "$1-8" one && build one && [ "$(pool .partition one)" = unknown ]; }
told() { bare "$1-8" two && bare "$1-4" two/threads-4 && build two; }
advised() { tr -s ' \n' '  ' <summary | grep -q 'also-record threads=4.: that tells 1 of 1 unknowns'; }
check "one recording does not tell whether threads share a total" unknown together
check "the model says that another one would" advised
check "two do" told together
check "a total is told" [ "$(pool .partition two)" = fixed ]
check "and nothing more is advised" sh -c '! grep -q "record once more" summary'
check "two do where each does the same" told each
check "that is told, too" [ "$(pool .partition two)" = perthread ]

# ---- figures of the recordings themselves ----

figure() { "$persik" predict -i "$1" --threads "$2" --cores 2 --format json 2>err | jq -r '.configurations[0].run_ns'; }
bare together-4 four && build four
own=$(figure four 4)
check "a recording has figures for its own number" [ "$own" != null ]
# The model of the first one is as if the other had not been there.
unknown together && cp -r one two.unknown && cp -r four two.unknown/threads-4
check "what the model has no figures for has those of its own recording" [ "$(figure two.unknown 4)" = "$own" ]
check "which is said" grep -q 'threads 4: from the recording with as many' err
check "other numbers have none" [ "$(figure two.unknown 2)" = null ]
mv two.unknown/threads-4 two.unknown/threads-2
check "what the folder is called does not count" [ "$(figure two.unknown 2)" = null ]
mv two.unknown/threads-2 two.unknown/threads-4
"$persik" predict -i two.unknown --threads 4 --cores 2 --scale 'main=0.5' --format json >out 2>err
check "nor do they where something is changed in the model" [ "$(jq -r '.configurations[0].run_ns' out)" = null ]

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
check "a number twice" wrong 'there twice' --also-record threads=1,2,1 ./open_ends together 4
check "no argument with a number" wrong 'none of' --also-record threads=4 ./open_ends together
check "several such arguments" wrong '2 could be' --also-record threads=1 ./open_ends 3 4
check "a server that is asked from elsewhere" wrong 'give --load' --duration 1s --also-record threads=1 ./open_ends together 4
profile -o partly -- ./open_ends together 4
check "a folder with such recordings is persik's own: the next one takes its place" \
    [ "$(ls -d partly/threads-* 2>/dev/null)" = "" ] && [ -d partly.old/threads-1 ]

finish
