#!/bin/sh
# Runs a command with a folder on a slow disk: ext4 on a loop device on a file that delays each request by seek,
# rotation and size, one at a time (bench/slow_disk.c). Root only; where that, FUSE or loop devices are missing it says so
# and exits 77. Whatever happens, nothing is left mounted.
#
# usage: bench/slow-disk.sh [--mb N] [--prepare CMD] [OPTION VALUE]... -- COMMAND...
#
#   --mb N         size of the disk (1024)
#   --prepare CMD  shell command that fills the disk, while it is still fast
#   others         of slow_disk.c: --seek-least, --seek-most, --turn, --settle (us), --rate (MB/s), --seed, --log FILE
#
# Both commands find in their environment
#   SLOW_DISK         the folder
#   SLOW_DISK_DEVICE  the loop device
#   SLOW_DISK_DROP    a script that empties the page cache of this file system (it mounts it again: no file may be open)
# Same options, same contents: same places on the disk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "slow-disk: skipped: $1" >&2
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root may mount"
[ -c /dev/fuse ] || skip "no /dev/fuse"
[ -e /dev/loop-control ] || skip "no loop devices"
pkg-config --exists fuse3 || skip "no libfuse3-dev: run ./install-deps.sh"
command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"

mb=1024
mount_options=noatime,no_prefetch_block_bitmaps
prepare=
options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ $# -ge 2 ] || { echo "slow-disk: $1 has no value: see the head of this script" >&2 && exit 2; }
    case $1 in
    --mb) mb=$2 ;;
    --prepare) prepare=$2 ;;
    --seek-least | --seek-most | --turn | --settle | --rate | --seed | --log) options="$options $1 $2" ;;
    *) echo "slow-disk: unknown option $1: see the head of this script" >&2 && exit 2 ;;
    esac
    shift 2
done
[ $# -ge 2 ] || { echo "slow-disk: give -- and a command" >&2 && exit 2; }
shift

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/slow-disk.XXXXXX")
daemon=
SLOW_DISK_DEVICE=
# In the order of building, backwards. The daemon ends when its file system is gone; if it does not, it is killed, which
# ends all that waits for it.
clean() {
    status=$?
    trap '' INT TERM HUP
    ! mountpoint -q "$scratch/files" || umount "$scratch/files" || umount -l "$scratch/files"
    [ -z "$SLOW_DISK_DEVICE" ] || losetup -d "$SLOW_DISK_DEVICE" || true
    tries=0
    while mountpoint -q "$scratch/fuse" && [ $tries -lt 50 ]; do
        umount "$scratch/fuse" 2>/dev/null || sleep 0.1
        tries=$((tries + 1))
    done
    [ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
    ! mountpoint -q "$scratch/fuse" || umount -l "$scratch/fuse" || true
    rm -rf "$scratch"
    exit "$status"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$scratch/fuse" "$scratch/files"
# shellcheck disable=SC2046 # several words
gcc -O2 "$here/slow_disk.c" -o "$scratch/slow_disk" $(pkg-config --cflags --libs fuse3) -lm
# shellcheck disable=SC2086 # several words
"$scratch/slow_disk" --bytes $((mb << 20)) --backing "$scratch/backing" $options "$scratch/fuse" &
daemon=$!
tries=0
until [ -f "$scratch/fuse/disk" ]; do
    kill -0 "$daemon" 2>/dev/null && [ $tries -lt 100 ] || skip "FUSE does not work here"
    sleep 0.1
    tries=$((tries + 1))
done
SLOW_DISK_DEVICE=$(losetup --find --show --direct-io=on "$scratch/fuse/disk") || skip "no free loop device"
# Nothing is left for the kernel to write later, or to read ahead, in the background. Where ext4 puts folders goes by the
# seed.
mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0,hash_seed=6b1e7c52-93f4-4b0a-8a63-2f5d0c9e4711 \
    "$SLOW_DISK_DEVICE"
mount -o "$mount_options" "$SLOW_DISK_DEVICE" "$scratch/files"
SLOW_DISK=$scratch/files
SLOW_DISK_DROP=$scratch/drop
cat >"$SLOW_DISK_DROP" <<END
#!/bin/sh
set -e
kill -USR2 $daemon
umount "$SLOW_DISK"
blockdev --flushbufs "$SLOW_DISK_DEVICE"
mount -o $mount_options "$SLOW_DISK_DEVICE" "$SLOW_DISK"
kill -USR1 $daemon
END
chmod +x "$SLOW_DISK_DROP"
export SLOW_DISK SLOW_DISK_DEVICE SLOW_DISK_DROP

[ -z "$prepare" ] || sh -c "$prepare"
"$SLOW_DISK_DROP" # what was written must be on the disk before that is slow
"$@" || { echo "slow-disk: the command failed: exit status $?" >&2 && exit 1; }
