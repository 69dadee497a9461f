#!/bin/sh
# Checks the built samples: the same checksum at any number of threads, another one for other work,
# and refusal of bad arguments. Usage: tests/samples.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
samples=$build/samples
names="raytracer montecarlo moldyn galaxy renderer pipeline bank heat partition"
hang_s=120 # a run takes milliseconds: one that takes this long is in a deadlock

# small_size SAMPLE: options that make a run take some 10-50 ms, and do not divide evenly.
small_size() {
    case $1 in
    raytracer) echo "--size 61 --samples 2" ;;
    montecarlo) echo "--size 1003 --rounds 5" ;;
    moldyn) echo "--size 4 --steps 23" ;;
    galaxy) echo "--size 507 --steps 7" ;;
    renderer) echo "--size 115" ;;
    pipeline) echo "--size 23" ;;
    bank) echo "--size 503" ;;
    heat) echo "--size 83 --steps 31" ;;
    partition) echo "--size 3" ;;
    esac
}

# other_size SAMPLE: other work, so another checksum.
other_size() {
    case $1 in
    raytracer) echo "--size 62 --samples 2" ;;
    montecarlo) echo "--size 1004 --rounds 5" ;;
    moldyn) echo "--size 4 --steps 24" ;;
    galaxy) echo "--size 507 --steps 8" ;;
    renderer) echo "--size 116" ;;
    pipeline) echo "--size 24" ;;
    bank) echo "--size 504" ;;
    heat) echo "--size 83 --steps 32" ;;
    partition) echo "--size 2" ;;
    esac
}

# checksum_of SAMPLE OPTION...: prints the checksum; fails if the sample does or prints none.
checksum_of() {
    program=$samples/$1
    shift
    timeout "$hang_s" "$program" "$@" >"$scratch/out" 2>"$scratch/err" || return 1
    sed -n 's/^checksum \([0-9a-f]\{16\}\)$/\1/p' "$scratch/out" | grep .
}

# refuses SAMPLE OPTION...: exit code 2, something on stderr, nothing on stdout.
refuses() {
    program=$samples/$1
    shift
    timeout "$hang_s" "$program" "$@" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] && [ -s "$scratch/err" ] && [ ! -s "$scratch/out" ]
}

check_checksums() {
    # shellcheck disable=SC2046 # the sizes are several words on purpose
    one=$(checksum_of "$1" --threads 1 $(small_size "$1"))
    report $? "$1 runs with 1 thread"
    for threads in 2 5; do
        # shellcheck disable=SC2046
        many=$(checksum_of "$1" --threads $threads $(small_size "$1")) && [ "$many" = "$one" ]
        report $? "$1 computes the same with $threads threads as with 1"
    done
    # shellcheck disable=SC2046
    other=$(checksum_of "$1" --threads 2 $(other_size "$1")) && [ "$other" != "$one" ]
    report $? "$1 computes something else for another size"
}

check_arguments() {
    "$samples/$1" --help >"$scratch/out" 2>"$scratch/err" && grep -q -e --threads "$scratch/out"
    report $? "$1 --help names --threads"
    for bad in --threads=0 --threads=-3 --threads=two --threads=2x --threads= \
        --threads=99999999999999999999 --size=0 --no-such-option stray; do
        refuses "$1" "$bad"
        report $? "$1 refuses $bad"
    done
    refuses "$1" --threads
    report $? "$1 refuses --threads without a number"
}

check_galaxy_pools() {
    one=$(checksum_of galaxy --threads 1 --size 507 --steps 7)
    mixed=$(checksum_of galaxy --force-threads 3 --move-threads 2 --size 507 --steps 7) &&
        [ "$mixed" = "$one" ]
    report $? "galaxy computes the same with pools of different sizes"
}

check_pipeline_capacity() {
    wide=$(checksum_of pipeline --threads 3 --size 23 --capacity 50)
    narrow=$(checksum_of pipeline --threads 3 --size 23 --capacity 1) && [ "$narrow" = "$wide" ]
    report $? "pipeline computes the same with queues of one block"
}

check_schemes() {
    one=$(checksum_of partition --threads 1 --size 7)
    for scheme in chunks strided remainder; do
        other=$(checksum_of partition --threads 5 --size 7 --scheme $scheme) &&
            [ "$other" = "$one" ]
        report $? "partition computes the same in $scheme as in blocks"
    done
    other=$(checksum_of partition --threads 3 --size 7 --merge end) && [ "$other" = "$one" ]
    report $? "partition computes the same when it merges at the end"
    one=$(checksum_of partition --threads 1 --size 3 --scheme init)
    other=$(checksum_of partition --threads 2 --size 3 --scheme init) && [ "$other" = "$one" ]
    report $? "partition computes the same with tables per thread for any number of threads"
}

check_pictures() {
    for sample in raytracer renderer; do
        checksum_of $sample --size 40 --output "$scratch/picture" >/dev/null &&
            [ "$(head -c 2 "$scratch/picture")" = P6 ]
        report $? "$sample --output writes a PPM"
    done
}

# 4 + 11 checks per sample, and those of single samples
# shellcheck disable=SC2086 # split into names on purpose
set -- $names
echo "1..$(($# * 15 + 9))"
for sample in $names; do
    check_checksums "$sample"
    check_arguments "$sample"
done
check_galaxy_pools
check_pipeline_capacity
check_schemes
check_pictures
[ "$failures" -eq 0 ]
