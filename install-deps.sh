#!/bin/sh
# Installs what persik needs on a bare Debian 12, when it is missing and we are root; otherwise prints the
# one command to run. Quick and silent when everything is there.
set -eu

packages="gcc libc6-dev make pkg-config
    libunwind-dev libdw-dev libelf-dev libjansson-dev libzstd-dev libgsl-dev libcapstone-dev libiberty-dev
    clang-14 libclang-14-dev llvm-14-dev
    graphviz gnuplot-nox libcmocka-dev libglib2.0-dev libxml2-utils xz-utils zstd jq dwz"
# For the source checks of .ci/run.
packages="$packages clang-format-14 clang-tidy-14"
# For the real programs that bench/ builds.
packages="$packages g++ libbz2-dev zlib1g-dev libevent-dev"
# For bench/slow-disk.sh.
packages="$packages libfuse3-dev"
# For make deb, bench/package.sh, and the shells that persik is completed in.
packages="$packages debhelper lintian mmdebstrap zsh fish"

missing=
for package in $packages; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install-deps: not a Debian system: install the equivalents of:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "install-deps: some packages are missing; run:" >&2
    echo "  sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # several words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
