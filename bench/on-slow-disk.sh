# Recording and measuring programs on a slow disk (bench/slow-disk.sh); sourced by the scripts there, after programs.sh.
#
# The script sets `kept`, `threads` (those that are measured), `recorded`, `runs` and `limit` (seconds), and `prepare`, a
# shell command that makes the disk what it shall be before a run. Its function command_of KIND THREADS sets the array
# `command`; measured_run KIND THREADS RUN runs it and prints what is kept of the run.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by the sourcing script

# record_and_measure KIND...: each is recorded once, in KIND/recording, and run until there are $runs lines "THREADS
# MEASURED" of each number of threads in KIND/measured, in turn with all others. No run begins after $limit seconds.
record_and_measure() {
    local kind i t
    for kind; do
        mkdir -p "$kept/$kind"
        touch "$kept/$kind/measured"
        [ ! -s "$kept/$kind/recording/trace.persik" ] || continue
        command_of "$kind" "$recorded"
        "$persik" profile -q --no-evictions --plain-runs 1 --prepare "$prepare" -o "$kept/$kind/recording" -- \
            "${command[@]}" >&2
        lsblk -no MAJ:MIN "$SLOW_DISK_DEVICE" | tr -d ' ' >"$kept/$kind/device"
    done
    for ((i = 1; i <= runs; i++)); do
        for kind; do
            for t in "${threads[@]}"; do
                [ "$(grep -cs "^$t " "$kept/$kind/measured")" -lt "$i" ] || continue
                [ $SECONDS -lt "$limit" ] || return 0
                sh -c "$prepare"
                command_of "$kind" "$t"
                echo "$t $(measured_run "$kind" "$t" "$i")" >>"$kept/$kind/measured"
            done
        done
    done
}
