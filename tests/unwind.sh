#!/bin/sh
# Compares the chains that the probe's unwinder finds (processor/x86_64/probe/unwind.c) with libgcc's, in programs of
# several compilers. Usage: tests/unwind.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2

${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -O2 -fPIC -fvisibility=hidden -c processor/x86_64/probe/unwind.c -o "$scratch/unwind.o" ||
    exit 2
${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -O2 -fPIC -fvisibility=hidden -c tracer/probe/elf.c -o "$scratch/elf.o" ||
    exit 2

# chains COMPILER STANDARD SOURCE FLAG...: builds the program and runs it.
chains() {
    compiler=$1
    standard=$2
    source=tests/programs/$3
    shift 3
    "$compiler" -std="$standard" -D_GNU_SOURCE -I. -Wall -Wextra -Werror "$@" "$source" "$scratch/unwind.o" \
        -o "$scratch/chains" -lpthread && timeout 120 "$scratch/chains"
}

while read -r compiler standard source flags; do
    name="$compiler $flags: $source finds the chains that libgcc finds"
    if command -v "$compiler" >/dev/null; then
        # shellcheck disable=SC2086 # several flags
        check "$name" chains "$compiler" "$standard" "$source" $flags
    else
        skip "$name" "no $compiler"
    fi
done <<END
gcc gnu17 unwind_chains.c -O0
gcc gnu17 unwind_chains.c -O1
gcc gnu17 unwind_chains.c -O2
gcc gnu17 unwind_chains.c -O3 -fomit-frame-pointer
gcc gnu17 unwind_chains.c -O2 -fno-omit-frame-pointer
gcc gnu17 unwind_chains.c -O2 -no-pie -fcf-protection
gcc gnu17 unwind_chains.c -Os -Wl,-z,lazy
gcc gnu17 unwind_chains.c -O2 -no-pie -Wl,-z,max-page-size=0x200000
clang-14 gnu17 unwind_chains.c -O0
clang-14 gnu17 unwind_chains.c -O2
clang-14 gnu17 unwind_chains.c -O3 -fno-omit-frame-pointer
g++ gnu++17 unwind_frames.cpp -O0
g++ gnu++17 unwind_frames.cpp -O2
clang++-14 gnu++17 unwind_frames.cpp -O2
END

# What is called in a program that others wrote must neither allocate nor lock.
calls_only() {
    object=$1
    shift
    nm -u "$object" | awk '{ print $2 }' | grep -vx "_GLOBAL_OFFSET_TABLE_" | sort >"$scratch/called"
    printf '%s\n' "$@" | sort >"$scratch/harmless"
    comm -23 "$scratch/called" "$scratch/harmless" >"$scratch/others"
    cat "$scratch/others"
    [ ! -s "$scratch/others" ]
}
check "the unwinder calls nothing that allocates, locks or is interposed" \
    calls_only "$scratch/unwind.o" _dl_find_object getauxval memcpy memset memcmp
check "finding functions calls nothing that allocates or is interposed" \
    calls_only "$scratch/elf.o" _dl_find_object getauxval memcmp memset strlen

finish
