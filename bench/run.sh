#!/bin/bash
# `make bench`: every measurement in turn, the quick ones first. Takes hours, most of them for
# accuracy.sh; run its parts alone while working on one program.
#
# usage: bench/run.sh [BUILD-FOLDER]        (default build/release)
#
# All scripts are run even when one misses its target; then the exit status is 1.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
export PERSIK_BUILD=$build
missed=()

measure() {
    printf '\n== %s\n' "$*"
    "$@" || missed+=("$1")
}

measure bench/probe-cost.sh "$build"
measure bench/simulator.sh "$build"
measure bench/analysis.sh
measure bench/perturbation.sh
measure bench/accuracy.sh
measure bench/partition.sh
measure bench/recognition.sh --accuracy --write
measure bench/memcached.sh

[ "${#missed[@]}" = 0 ] || {
    echo "run.sh: target missed or not measured: ${missed[*]}" >&2
    exit 1
}
