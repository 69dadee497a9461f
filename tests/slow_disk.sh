#!/bin/sh
# bench/slow-disk.sh: it delays, one request at a time, and leaves nothing behind, also when it is killed.
# Usage: tests/slow_disk.sh BUILD-FOLDER. Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
export TMPDIR="$scratch"
explain_failure() { head -n 20 out err 2>/dev/null; }

# nothing_left: no folder, mount, loop device of ours.
nothing_left() {
    ! ls -d slow-disk.* >/dev/null 2>&1 && ! grep -q "$scratch/slow-disk" /proc/mounts &&
        ! losetup -a | grep -q "$scratch/slow-disk"
}

# run OPTION...: with a disk of 64 MB.
run() {
    timeout 120 "$root/bench/slow-disk.sh" --mb 64 "$@" >out 2>err </dev/null
    status=$?
}

run --log log --prepare 'head -c 3000000 /dev/zero >"$SLOW_DISK/file"' -- \
    sh -c 'cat "$SLOW_DISK/file" | wc -c && "$SLOW_DISK_DROP" && cat "$SLOW_DISK/file" | wc -c'
if [ $status -eq 77 ]; then
    skip "a file on the slow disk is read" "$(tail -n 1 err)"
    finish
    exit
fi
[ $status -eq 0 ] && [ "$(sort -u out)" = 3000000 ]
report $? "a file on the slow disk is read"
[ "$(awk '$3 == "R" { n += $5 } END { print (n >= 6000000) }' log)" -eq 1 ]
report $? "from the disk, each time"
awk 'NR > 1 && $1 < end { exit 1 } { end = $2 }' log
report $? "one request at a time"
awk '$3 == "R" && $2 - $1 < $5 / 120e6 { exit 1 }' log
report $? "none is faster than the disk's rate"
nothing_left
report $? "nothing is left behind"
run -- sh -c 'exit 3'
[ $status -eq 1 ] && grep -q 'the command failed: exit status 3' err && nothing_left
report $? "nor when the command fails"
"$root/bench/slow-disk.sh" --mb 64 -- sh -c 'touch "$SLOW_DISK/file" ready && exec sleep 50' >out 2>err &
child=$!
tries=0
until [ -e ready ] || [ $tries -ge 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $child
kill "$(cat /proc/$child/task/$child/children | tr ' ' '\n' | while read -r pid; do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q '^sleep 50' && echo "$pid"
done)"
wait $child
nothing_left
report $? "nor when it is killed"
run
[ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ]
report $? "a command is asked for"
finish
