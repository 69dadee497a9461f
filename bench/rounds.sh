# Recordings and real runs in turn, so that what a machine does in one minute and not in the next meets
# both. Sourced after programs.sh by scripts that set `name`, the program's, `command` and `cores`.
# shellcheck shell=bash

# Is the file there, and newer than the program?
is_kept() { [ -s "$1" ] && [ "$1" -nt "${command[0]}" ]; }

# A recording and its model in FOLDER, unless they are kept: record THREADS FOLDER. One during which
# something else took the machine is made again, at most twice.
record() {
    local threads=$1 data=$2 try
    is_kept "$data/model.json" && return
    for try in 1 2 3; do
        say "$name: recorded with $threads threads (${data##*/})"
        profile_and_model "$threads" "$data" >"$data.log" 2>&1 || {
            say "$name: no model from $threads threads: see ${data#"$root"/}.log"
            return 1
        }
        is_undisturbed "$data" && return
        say "$name: disturbed by something else (try $try of 3)"
    done
}

# Each configuration once, unless that is kept: run_round FILE FOLDER THREADS, the last two a model of
# the program and the numbers of threads with commas.
run_round() {
    is_kept "$1" && return
    say "$name: every configuration once ($(basename "$1" .csv))"
    "$persik" validate -i "$2" --measurements "$1.part" --threads "$3" --cores "$cores" --runs 1 \
        --format csv -- "${command[@]}" >/dev/null || return 1
    mv "$1.part" "$1"
}

# All of that, for scripts that also set `bases`, numbers of threads to record with, `builds` and `runs`: as many
# rounds as runs, and before each of the first ones, one for each build, a recording with each base,
# FOLDER/base2-1 and so on. The measurements come to FOLDER/measured.csv: measure_in_turn FOLDER THREADS.
measure_in_turn() {
    local folder=$1 threads=$2 base round rounds=()
    for ((round = 1; round <= runs; round++)); do
        for base in "${bases[@]}"; do
            [ "$round" -gt "${#builds[@]}" ] || record "$base" "$folder/base$base-$round" || return 1
        done
        rounds+=("$folder/round$round.csv")
        run_round "${rounds[-1]}" "$folder/base${bases[0]}-1" "$threads" || return 1
    done
    join_rounds "${rounds[@]}" >"$folder/measured.csv"
}

# When the last of the rounds kept below FOLDER was run: newest_date FOLDER.
newest_date() { date -u -d "@$(find "$1" -name 'round*.csv' -printf '%T@\n' | sort -n | tail -n 1)" +%Y-%m-%d; }

# Prints the measurements of all the rounds, for `persik validate --reuse`: join_rounds FILE...
join_rounds() { awk 'NR == 1 || FNR > 1' "$@"; }
