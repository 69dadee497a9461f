# A control group whose memory bounds the page cache of a program on the slow disk (bench/slow-disk.sh), and a server within
# it; sourced by the scripts that measure such. Root only.
# shellcheck shell=bash

# Version 1 or 2, whichever has the memory controller.
group_find() {
    if [ -d /sys/fs/cgroup/memory ]; then
        groups=/sys/fs/cgroup/memory most=memory.limit_in_bytes cached=cache
    else
        groups=/sys/fs/cgroup most=memory.max cached=file
        grep -qw memory "$groups/cgroup.subtree_control" || fail "no memory controller for control groups"
    fi
    local old
    for old in "$groups"/persik-page-cache-*; do # of one that was killed
        [ ! -d "$old" ] || [ -d "/proc/${old##*-}" ] || rmdir "$old" || true
    done
    group=$groups/persik-page-cache-$$
}

# group_make MB: it has so much, and what the program needs besides.
group_make() {
    mkdir -p "$group"
    echo "$(($1 + 1))M" >"$group/$most"
}

group_remove() {
    local tries=0
    [ ! -e "$group/memory.force_empty" ] || echo 0 >"$group/memory.force_empty" || true
    until [ ! -d "$group" ] || rmdir "$group" 2>/dev/null || [ $((tries += 1)) -gt 50 ]; do sleep 0.1; done
}

# What it has of files now, in bytes.
group_cached() { awk -v key="$cached" '$1 == key {print $2}' "$group/memory.stat"; }

# group_enter FILE: makes it a script that runs its arguments within the group.
group_enter() {
    printf '#!/bin/sh\necho $$ >"%s/cgroup.procs"\nexec "$@"\n' "$group" >"$1"
    chmod +x "$1"
}

# group_empty FILE: makes it a script that empties the page cache of the group and of the slow disk.
group_empty() {
    cat >"$1" <<END
#!/bin/sh
set -e
[ ! -e "$group/memory.force_empty" ] || echo 0 >"$group/memory.force_empty"
"$SLOW_DISK_DROP"
END
    chmod +x "$1"
}

# group_begin: a folder $scratch with a script `within` that runs its arguments in the group. Both go when the caller
# ends, and the program $pid, if there is one.
group_begin() {
    scratch=$(mktemp -d)
    pid=
    group_find
    trap '[ -z "$pid" ] || kill "$pid" || true; group_remove; rm -rf "$scratch"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    group_enter "$scratch/within"
}

# group_serve: starts the server "${command[@]}" as $pid, with its output in $scratch/out, and waits until it listens.
group_serve() {
    : >"$scratch/out" # what an earlier one said must be gone before this one is waited for
    "${command[@]}" >>"$scratch/out" &
    pid=$!
    until grep -q '^listening' "$scratch/out"; do
        kill -0 "$pid" 2>/dev/null || fail "the server did not start"
        sleep 0.02
    done
}
