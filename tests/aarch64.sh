#!/bin/sh
# What predicts and builds models on aarch64: the programs of `make aarch64`, run under qemu-user, which has no tracing
# of the kernel. Skipped where there is no cross compiler, and where they are not built, or not from these sources.
# Usage: tests/aarch64.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

there=$root/build/aarch64
run="$(command -v qemu-aarch64) -L $there/root" # found without a path, too

why_not() {
    command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no cross compiler here: make aarch64 installs it" && return; }
    command -v qemu-aarch64 >/dev/null || { echo "no qemu-aarch64 here: make aarch64 installs it" && return; }
    [ -x "$there/persik" ] || { echo "not built: make aarch64" && return; }
    make -s -C "$root" -q VARIANT=aarch64 build/aarch64/persik tests || echo "built from other sources: make aarch64"
}
reason=$(why_not 2>/dev/null)
if [ -n "$reason" ]; then
    skip "persik on aarch64" "$reason"
    finish
    exit
fi

# Why a test is left out there.
left_out() {
    case $1 in
        test_sampler_live | test_tracer_live) echo "qemu-user has no perf events" ;;
        test_tracer) echo "looks at the machine's own programs, which are another processor's" ;;
        test_pace | test_load_generator) echo "measures the machine, which is an emulator" ;;
        test_arrivals | test_closed_forms | test_open_load) echo "simulates for minutes: run it by hand" ;;
    esac
}
passes() {
    # shellcheck disable=SC2086 # several words
    (cd "$root" && timeout 250 $run "$1")
}
for program in "$there"/tests/test_*; do
    case $program in *.d) continue ;; esac
    name=$(basename "$program")
    reason=$(left_out "$name")
    if [ -n "$reason" ]; then
        skip "$name" "$reason"
    else
        check "$name" passes "$program"
    fi
done

cat >"$scratch/persik" <<END
#!/bin/sh
exec $run $there/persik "\$@"
END
chmod +x "$scratch/persik"
native=$root/build/release/persik
same_prediction() {
    for command in predict bottleneck; do
        "$native" $command -q --model "$root/tests/data/two-pools.json" --threads 4 --cores 2 --format csv >"$scratch/here.csv" &&
            "$scratch/persik" $command -q --model "$root/tests/data/two-pools.json" --threads 4 --cores 2 --format csv >"$scratch/there.csv" &&
            cmp "$scratch/here.csv" "$scratch/there.csv" || return 1
    done
}
if [ -x "$native" ]; then
    check "it predicts the same, to the last digit" same_prediction
else
    skip "it predicts the same, to the last digit" "not built for this machine: make"
fi
same_models() { PERSIK=$scratch/persik PERSIK_BUILD=$build "$root/bench/golden.sh" check --kept "$1"; }
for name in assembly chain rwlock_writer_first server-thread; do
    check "$name: the same models of a recording, to the byte" same_models "$name"
done
says_what_is_missing() {
    "$scratch/persik" profile -o "$scratch/data" "$there/persik" >"$scratch/said" 2>&1 && return 1
    cat "$scratch/said"
    [ "$(wc -l <"$scratch/said")" -eq 1 ] && grep -q 'no probes for aarch64: record it on x86-64' "$scratch/said"
}
check "profile says in one line what is missing" says_what_is_missing

finish
