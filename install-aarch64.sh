#!/bin/sh
# What `make aarch64` needs, on Debian 12: a cross compiler and qemu-user, and the libraries for arm64, unpacked into
# build/aarch64/root, so that the machine's own packages stay as they are. Quick and silent when everything is there.
set -eu
cd "$(dirname "$0")"
root=build/aarch64/root
compiler=aarch64-linux-gnu-gcc
libraries=libc6-dev,libgcc-12-dev,libunwind-dev,libdw-dev,libelf-dev,libjansson-dev,libzstd-dev,libgsl-dev,libcapstone-dev,libiberty-dev,libcmocka-dev

sh ./install-deps.sh # mmdebstrap is among them
if ! command -v $compiler >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "install-aarch64: run: sudo apt-get install --no-install-recommends gcc-aarch64-linux-gnu qemu-user" >&2
        exit 1
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc-aarch64-linux-gnu qemu-user >/dev/null
fi
[ ! -e "$root/unpacked" ] || exit 0

sources=$(grep -lE '^(URIs: *|deb +)[^ ]*/debian/? *' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    head -n 1)
[ -n "$sources" ] || {
    echo "install-aarch64: no Debian mirror in apt's sources: nothing says where arm64's libraries are" >&2
    exit 1
}
echo "Unpacking the libraries for arm64 into $root"
rm -rf "$root.new" "$root"
mkdir -p build/aarch64
mmdebstrap --quiet --mode=chrootless --arch=arm64 --variant=extract --include=$libraries bookworm "$root.new" "$sources"
# Paths that are there are looked for in it first, by qemu, too: nothing of the running system may be.
rm -rf --one-file-system "$root.new/tmp" "$root.new/var" "$root.new/etc" "$root.new/dev"
touch "$root.new/unpacked"
mv "$root.new" "$root"
