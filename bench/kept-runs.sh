# Runs that are kept in a table, so that a script that was stopped goes on; sourced by scripts that measure such.
#
# $kept/runs.csv has a line for each: its round, its key (one column or several), the figure that is predicted, the
# bytes in the page cache at its end, and its requests to the disk.
# shellcheck shell=bash disable=SC2154 # kept, runs and limit are the script's

# runs_in_turn COLUMNS KEY...: each key $runs times, in turn, but for those that are kept; COLUMNS names the key and the
# figure. The script's `run KEY ROUND` prints "FIGURE,CACHED,DISK_REQUESTS". No run begins after $limit seconds.
runs_in_turn() {
    local columns=$1 round key
    shift
    [ -s "$kept/runs.csv" ] || echo "round,$columns,cached,disk_requests" >"$kept/runs.csv"
    for ((round = 1; round <= runs; round++)); do
        for key in "$@"; do
            ! grep -q "^$round,$key," "$kept/runs.csv" || continue
            [ $SECONDS -lt "$limit" ] || return 0
            run "$key" "$round" >"$kept/run" # in no shell of its own: what it started is known when it fails
            echo "$round,$key,$(<"$kept/run")" >>"$kept/runs.csv"
        done
    done
}

# runs_summary KEY: "MEDIAN LEAST MOST CACHED DISK_REQUESTS" of its runs, the first three of the figure, the others
# means; nothing if there are none.
runs_summary() {
    awk -F, -v key=",$1," 'NR > 1 && index($0, key) == length($1) + 1 {print $(NF - 2), $(NF - 1), $NF}' \
        "$kept/runs.csv" | sort -g | awk '{a[NR] = $1; c += $2; d += $3}
            END {if (NR) print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2, a[1], a[NR], int(c / NR), d / NR}'
}

# runs_cached SUMMARY: the bytes in the page cache.
runs_cached() { cut -d ' ' -f 4 <<<"$1"; }

# runs_against NAME SUMMARY FIGURE DISK_REQUESTS: the line of a table, with what was predicted.
runs_against() {
    local median least most asked
    read -r median least most _ asked <<<"$2"
    echo "$1 $median ($least .. $most) $(number %.4g "$3") $(number %+.1f "100 * ($3 / $median - 1)")" \
        "$(number %.0f "$asked") $(number %.0f "$4") $(number %+.1f "100 * ($4 / $asked - 1)")"
}
