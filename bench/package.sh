#!/bin/sh
# The packages of `make deb` in a fresh Debian 12: they install with nothing but their dependencies, persik predicts,
# records and builds a model, and another program is compiled with the library. Takes some minutes and some hundred MB
# from the mirror that this machine uses; all in one temporary folder, which is gone in the end.
#
# usage: bench/package.sh [FOLDER]      (of the packages; default build/deb)
#
# Prints TAP. Where it cannot run (not root, no mmdebstrap, no mirror), it says so and skips.
set -u
root=$(dirname "$(dirname "$(realpath "$0")")")
packages=$(realpath "${1:-$root/build/deb}")

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip_all "only root can make a system in a folder"
for tool in mmdebstrap unshare; do
    command -v $tool >/dev/null || skip_all "no $tool here"
done
sources=$(grep -lE '^(URIs: *|deb +)[^ ]*/debian/? *' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    head -n 1)
[ -n "$sources" ] || skip_all "no Debian mirror in apt's sources"
ls "$packages"/persik_*.deb >/dev/null 2>&1 || skip_all "no packages in $packages: run make deb first"
# What is mounted for the new system, by mmdebstrap, too, is seen by nobody else, and gone with this process.
if [ -z "${PACKAGE_ALONE:-}" ]; then
    unshare --mount --pid --fork true 2>/dev/null || skip_all "no namespaces of its own here"
    PACKAGE_ALONE=1 exec unshare --mount --propagation private "$0" "$packages"
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf --one-file-system "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
system=$scratch/system
tests=0
failures=0

# inside COMMAND...: in the new system, with a /proc and processes of its own, of which none outlives the command.
inside() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" &&
            exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' \
        "$system" "$@"
}

# check NAME COMMAND...
check() {
    name=$1
    shift
    tests=$((tests + 1))
    if "$@" >"$scratch/log" 2>&1; then
        echo "ok $tests - $name"
    else
        echo "not ok $tests - $name"
        { grep -A 5 '^not ok' "$scratch/log" || tail -n 20 "$scratch/log"; } | sed 's/^/# /'
        failures=$((failures + 1))
    fi
}

mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists bookworm "$system" "$sources" >"$scratch/log" 2>&1 || {
    sed 's/^/# /' "$scratch/log" | tail -n 5
    skip_all "no Debian 12 could be made here"
}
cp /etc/resolv.conf "$system/etc/resolv.conf" 2>/dev/null
mkdir "$system/packages" "$system/try" && cp "$packages"/*.deb "$system/packages" && mkdir -p "$system/dev/shm"
cp "$root/tests/data/two-pools.json" "$root/build/release/samples/pipeline" "$system/try" 2>/dev/null

get() { inside sh -c "apt-get install -y -qq --no-install-recommends $*"; }
check "persik installs in a fresh Debian 12" get "/packages/persik_*.deb"
check "persik --version" inside persik --version
predicts() { inside persik predict --model /try/two-pools.json --threads 1,2 --cores 2 && grep -q 'speed-up' "$scratch/log"; }
check "persik predicts" predicts
analyses() {
    inside ldd /usr/lib/persik/persik-analyze && ! grep 'not found' "$scratch/log" && inside test -e "$resources"
}
resources=$(strings -n 8 "$system/usr/lib/persik/persik-analyze" 2>/dev/null | grep -m 1 '/lib/clang/[0-9.]*$')/include/stddef.h
check "the source analyser has its libraries and headers" analyses
if [ ! -x "$system/try/pipeline" ]; then
    echo "ok $((tests += 1)) - persik records a program and builds its model # SKIP no sample: run make samples"
elif ! inside persik trace -o /try/data --no-block-io --no-evictions --plain-runs 0 /bin/true >"$scratch/log" 2>&1; then
    echo "ok $((tests += 1)) - persik records a program and builds its model # SKIP $(tail -n 1 "$scratch/log")"
else
    records() {
        inside sh -c 'cd /try && persik profile -q --no-evictions --plain-runs 1 ./pipeline && persik build-model -q && persik predict --threads 2'
    }
    check "persik records a program and builds its model" records
fi
check "libpersiksim-dev installs, and a compiler" get "/packages/libpersiksim0_*.deb /packages/libpersiksim-dev_*.deb gcc libc6-dev pkg-config"
example() {
    # shellcheck disable=SC2016 # for the shell inside
    inside sh -c 'cc -Wall -Werror /usr/share/doc/libpersiksim-dev/examples/mm1.c $(pkg-config --cflags --libs persiksim) \
        -o /try/mm1 && /try/mm1' && grep -q '^response 2\.' "$scratch/log"
}
check "the example is built by pkg-config and runs" example
# What the tutorial needs, and nothing else of the checkout.
mkdir -p "$system/checkout/tests" "$system/checkout/docs"
cp "$root/tests/first_hour.sh" "$root/tests/tap.inc" "$system/checkout/tests"
cp -r "$root/docs/tutorial" "$root/docs/tutorial.md" "$system/checkout/docs"
check "compilers and pigz install" get g++ pigz
check "a new user goes through the tutorial in it" inside env TIMES=1 sh /checkout/tests/first_hour.sh /usr/bin
removes() {
    inside apt-get purge -y -qq persik libpersiksim0 libpersiksim-dev && ! find "$system/usr" -name '*persik*' | grep .
}
check "removed, they leave nothing" removes

echo "1..$tests"
[ "$failures" -eq 0 ]
