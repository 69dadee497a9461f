#!/bin/sh
# libpersiksim as it is installed: what another program needs, and what is exported. Usage: tests/library.sh
# BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
make -s -C "$root" install-library B="$build" PREFIX="$scratch/opt" >log 2>&1
report $? "make install-library succeeds"
export PKG_CONFIG_PATH="$scratch/opt/lib/pkgconfig" LD_LIBRARY_PATH="$scratch/opt/lib"
strict="-Wall -Wextra -Wpedantic -Werror"

# ---- what is exported ----

# The functions that the header declares.
sed -n 's/^[a-z].* \**\(persik_[a-z_0-9]*\)(.*/\1/p' "$root/library/persiksim.h" | LC_ALL=C sort -u >declared
exports_those() {
    nm -D --defined-only "$1" | sed -n 's/.* T \([^@]*\).*/\1/p' | LC_ALL=C sort -u >exported
    [ "$(wc -l <declared)" -gt 30 ] && diff declared exported
}
check "libpersiksim.so exports what its header declares, and nothing else" exports_those "$scratch/opt/lib/libpersiksim.so"
versioned() {
    nm -D --defined-only opt/lib/libpersiksim.so | grep ' T ' | grep -v '@@PERSIKSIM_[0-9.]*$' >others
    cat others && [ ! -s others ] && readelf -d opt/lib/libpersiksim.so | grep -q 'SONAME.*\[libpersiksim\.so\.0\]'
}
check "each with a version, in a library with one" versioned
prefixed() {
    nm -g --defined-only opt/lib/libpersiksim.a | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >exported
    diff declared exported
}
check "so does libpersiksim.a" prefixed
included_alone() { printf '#include <persiksim.h>\nint main(void) { return persik_version() == NULL; }\n' >alone.c; }
included_alone

# ---- other programs ----

# builds COMPILER SOURCE PROGRAM OPTION...: by what pkg-config says.
builds() {
    compiler=$1 source=$2 program=$3
    shift 3
    # shellcheck disable=SC2046,SC2086 # several words each
    $compiler $strict "$@" "$source" -o "$program" $(pkg-config --cflags --libs persiksim)
}
if ! command -v pkg-config >/dev/null; then
    skip "the example is built and right" "no pkg-config here"
else
    example=$root/library/examples/mm1.c
    check "the header stands alone, in C11" builds gcc alone.c alone -std=c11
    check "in C23 as far as gcc knows it" builds gcc alone.c alone -std=c2x
    cp alone.c alone.cpp
    cp "$example" mm1.cpp
    check "in C++11" builds g++ alone.cpp alone -std=c++11
    check "in C++20" builds g++ alone.cpp alone -std=c++20
    check "and for Clang" builds clang-14 alone.c alone -std=c11
    check "the example is built in C" builds gcc "$example" mm1 -std=c11
    check "and in C++" builds g++ mm1.cpp mm1-cpp -std=c++17
    # 0.7 ms / (1 - 0.7), within three half-widths; the seed is fixed, so that this is so always or never.
    right() {
        "$1" | tee said && awk '{ gsub(/[+,-]/, ""); off = $2 - 7 / 3; if (off < 0) off = -off
            exit !($1 == "response" && $4 > 0 && off < 3 * $4 && $4 < 0.2 && $6 > 0.68 && $6 < 0.72) }' said
    }
    check "its response time is that of M/M/1" right ./mm1
    check "in C++, too" right ./mm1-cpp
    # shellcheck disable=SC2046 # several words
    statically() {
        gcc "$example" -o mm1-static $(pkg-config --cflags persiksim) opt/lib/libpersiksim.a \
            $(pkg-config --libs --static persiksim | sed 's/-lpersiksim//') &&
            LD_LIBRARY_PATH='' ./mm1-static >said && ./mm1 | diff - said
    }
    check "linked statically it says the same" statically
    about_thirty() { [ "$(sed '/^\/\*/,/\*\//d; /^$/d' "$example" | wc -l)" -le 32 ]; }
    check "the example takes about 30 lines" about_thirty
    of_version() { [ "$(pkg-config --modversion persiksim)" = "$("$persik" --version | sed 's/persik //')" ]; }
    check "pkg-config says persik's version" of_version
fi

# A model that `persik build-model` might have written.
cat >load.c <<'END'
#include <persiksim.h>
#include <stdio.h>
int main(int argc, char **argv) {
    persik_error error;
    persik_model *model = persik_model_load(argv[argc - 1], &error);
    persik_result *result = model ? persik_simulate(model, NULL, &error) : NULL;
    if (!result) {
        puts(error.text);
        return 1;
    }
    printf("%.4f\n", persik_figure(result, PERSIK_RUN_NS).mean / 1e9);
    return 0;
}
END
as_persik_predicts() {
    # shellcheck disable=SC2046 # several words
    gcc load.c -o load $(pkg-config --cflags --libs persiksim) && ./load "$root/tests/data/two-pools.json" >said &&
        "$persik" predict --seed 0 --model "$root/tests/data/two-pools.json" --format json |
        jq '.configurations[0].run_ns / 1e9' >predicted
    cat said predicted
    awk 'NR == FNR { said = $1; next } { exit !($1 > 0 && said / $1 > 0.999 && said / $1 < 1.001) }' said predicted
}
check "a model from a file runs as long as persik predicts" as_persik_predicts
check "a file that is no model is told" sh -c '! ./load load.c | grep . && exit 1; ./load load.c | grep -q "load.c"'

# ---- manual pages ----

in_pages() {
    while read -r name; do
        page=opt/share/man/man3/$name.3
        [ -e "$page" ] && grep -q "^\.BI.*$name\|^\.BR*.*$name" "$page" || { echo "no page for $name" && return 1; }
    done <declared
}
check "each function has a manual page with its prototype" in_pages

finish
