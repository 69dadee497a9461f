#!/bin/sh
# What `make install` puts down works from there. Usage: tests/install.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

if [ $# -ne 1 ] || [ ! -x "$1/persik" ]; then
    echo "usage: $0 BUILD-FOLDER" >&2
    exit 2
fi
built=$1
here=$(realpath "$(dirname "$0")")
scratch=$(mktemp -d) || exit 1
export PERSIK_CACHE="$scratch/cache"
trap 'rm -rf "$scratch"' EXIT
tests=0
failures=0

check() {
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        echo "not ok $tests - $2"
        sed 's/^/# /' "$scratch/log"
        failures=$((failures + 1))
    fi
}

root=$scratch/root/opt
make -s -C "$here/.." install B="$built" DESTDIR="$scratch/root" PREFIX=/opt >"$scratch/log" 2>&1
check $? "make install succeeds"

"$root/bin/persik" --version >"$scratch/log" 2>&1 && grep -q '^persik [0-9]' "$scratch/log"
check $? "the installed persik runs"

cd "$scratch" || exit 1
"$root/bin/persik" trace --no-block-io --plain-runs 0 /bin/true >"$scratch/log" 2>&1 &&
    [ -s persik.data/trace.persik ]
check $? "the installed persik finds its probe library"

cat >user.c <<'END'
#include <simulator/simulator.h>
int main(int argc, char **argv) {
    struct error error;
    struct model *model = argc > 1 ? model_load(argv[1], &error) : 0;
    struct sim_config config = {.seed = 1};
    struct sim_result result;
    return !model || sim_predict(model, &config, &result, &error) || result.run_ns.mean <= 0;
}
END
gcc -I"$root/include/persik" user.c -L"$root/lib" -lpersiksim -ljansson -lgsl -lgslcblas -lm \
    -lpthread -o user >"$scratch/log" 2>&1 && ./user "$here/data/two-pools.json"
check $? "another program simulates a model with libpersiksim"

for page in "$root"/share/man/man1/*.1; do
    man --warnings -l "$page" 2>&1 >/dev/null
done >"$scratch/log"
if command -v man >/dev/null; then
    [ ! -s "$scratch/log" ]
    check $? "the manual pages have no formatting errors"
else
    tests=$((tests + 1))
    echo "ok $tests - the manual pages have no formatting errors # SKIP no man here"
fi

make -s -C "$here/.." uninstall B="$built" DESTDIR="$scratch/root" PREFIX=/opt >"$scratch/log" 2>&1
[ -z "$(find "$scratch/root" -type f)" ]
check $? "make uninstall leaves no file"

echo "1..$tests"
[ $failures -eq 0 ]
