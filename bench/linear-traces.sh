# shellcheck shell=bash
# Traces of about so many millions of records of linear.c, for linear.sh and scale.sh. Kept in bench/scratch/linear, and used
# again. To be sourced behind programs.sh.

kept=$work/linear
probed_items=10000 # to see how many records they make

# Records of all threads in a trace: records_in FOLDER.
records_in() { sed -n 's/.*traced .*: \([0-9]*\) records of .*/\1/p' "$1.log"; }

# record ITEMS FOLDER
record() {
    "$persik" trace --no-block-io --no-evictions --plain-runs 0 -o "$2" -- "$kept/linear" "$1" >/dev/null 2>"$2.log" ||
        fail "no recording: see $2.log"
}

# A trace of about so many millions of records.
prepare() {
    local folder=$kept/$1 items
    [ ! -s "$folder/trace.persik" ] || return 0
    record "$probed_items" "$kept/probed"
    items=$(number %d "$1 * 1e6 / $(records_in "$kept/probed") * $probed_items")
    say "recording $items items, for $1 million records"
    record "$items" "$folder"
}

# Those asked for: prepare_all MILLIONS...
prepare_all() {
    local millions
    mkdir -p "$kept"
    ${CC:-gcc} -std=gnu17 -g -O2 "$root/bench/linear.c" -o "$kept/linear" -lpthread
    for millions; do prepare "$millions"; done
}
