#!/bin/bash
# `make demo`: profiles zstd once, predicts how it runs with other numbers of threads, and shows
# the prediction beside what the real program then does. At most about eight minutes. Where zstd's
# source cannot be reached, one of our own samples stands in.
#
# usage: bench/demo.sh [BUILD-FOLDER]        (default build/release)
set -euo pipefail
PERSIK_BUILD=${1:-${PERSIK_BUILD:-}}
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

data=$work/demo.data
cores=1,2
[ "$(nproc)" -gt 1 ] || cores=1
started=$SECONDS

step() { printf '\n== %s (%d s so far)\n' "$*" $((SECONDS - started)); }
show() {
    printf '$ %s\n' "${*//"$root/"/}"
    "$@"
}

need_persik
step "Getting zstd 1.5.4 and a file to compress"
if set_command zstd; then
    about="zstd compressing $(($(stat -c %s "${command[5]}") >> 20)) MiB at level ${command[2]#-}"
else
    status=$?
    [ "$status" = 77 ] || exit "$status"
    set_command pipeline
    about="our sample 'pipeline', because zstd's source is out of reach"
fi
echo "The program: $about"

step "Profiling it once, with 2 threads"
with_threads 2
show "$persik" profile --thorough -o "$data" -- "${concrete[@]}"

step "Building the model"
show "$persik" build-model -i "$data"

step "Predicting 1 to 16 threads on 1 and 2 cores"
# A row without a figure says why; the demonstration goes on.
show "$persik" predict -i "$data" --threads 1:16 --cores 1,2 || [ $? -eq 4 ]

step "Running the real program, without probes, in each configuration, and comparing"
show "$persik" validate -i "$data" --threads 1,2,3,4,8 --cores "$cores" --runs 3 -- "${command[@]}" || [ $? -eq 4 ]

step "Done. The model is bench/scratch/demo.data/model.json"
