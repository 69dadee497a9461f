#!/bin/sh
# Nothing of the user's is lost: not by persik's own folders, links, signals, limits, lack of room, nor what names
# hold. Usage: tests/safety.sh BUILD-FOLDER. Prints TAP.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

${CC:-gcc} -std=c17 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror "$root/tests/programs/interrupted.c" -o interrupted \
    -lpthread || exit 2
quick="-q --plain-runs 0 --no-evictions --no-block-io"
steps=$build/samples/bank

# is_root; has PROGRAM
is_root() { [ "$(id -u)" = 0 ]; }
has() { command -v "$1" >/dev/null; }

# ---- folders ----

check_folders() {
    mkdir folders && cd folders || return
    mkdir persik.data.new.backup report.new.abcdef
    echo precious | tee persik.data.new.backup/thesis >report.new.abcdef/keep
    # shellcheck disable=SC2086 # words
    "$persik" trace $quick -- /bin/true && "$persik" trace $quick -o '*' -- /bin/true
    report $? "recordings are made beside folders of like names, and under names with a star"
    [ "$(cat persik.data.new.backup/thesis report.new.abcdef/keep)" = "$(printf 'precious\nprecious')" ]
    report $? "which stay"
    for i in 1 2 3 4; do
        # shellcheck disable=SC2086
        "$persik" trace $quick -- "$scratch/interrupted" dies runs >out 2>err &
        sleep 0.$((i * 2))
        kill -9 $! && wait $!
    done 2>/dev/null
    # shellcheck disable=SC2086
    "$persik" trace $quick -- /bin/true
    [ "$(ls -A | grep -c 'persik.data')" = 3 ] && [ -e persik.data.old/trace.persik ]
    report $? "what processes left that were killed is gone after the next start"
    left=$(find /sys/kernel/tracing/instances -maxdepth 1 -name 'persik-*' 2>/dev/null | sed 's/.*-//')
    for pid in $left; do kill -0 "$pid" 2>/dev/null || break; pid=; done
    [ -z "${pid:-}" ]
    report $? "also in the kernel"
    cd ..
}

# ---- symbolic links ----

check_links() {
    # shellcheck disable=SC2086
    "$persik" trace $quick -o links -- "$steps" --threads 2 >/dev/null 2>&1
    echo mine >victim
    for name in model.json model.dot model.svg; do ln -s "$scratch/victim" links/$name; done
    "$persik" build-model -q -i links >log 2>&1
    [ "$(cat victim)" = mine ] && [ -f links/model.dot ] && [ ! -L links/model.dot ] && [ ! -L links/model.json ]
    report $? "a model and its drawing are not written through symbolic links"
    ln -s links linked
    # shellcheck disable=SC2086
    "$persik" trace $quick -o linked -- /bin/true 2>err
    [ $? -eq 1 ] && grep -q 'symbolic link' err && [ -L linked ]
    report $? "nor does a recording take the place of one"
}

# ---- signals ----

# interrupt RUN "SIGNALS" WHAT COMMAND...: sends them when the program runs for the RUN-th time; prints the status
# and how often it ran. It is over soon after.
interrupt() {
    run=$1
    signals=$2
    what=$3
    shift 3
    : >runs
    timeout 60 "$@" -- ./interrupted "$what" runs >out 2>err &
    started=$!
    for _ in $(seq 400); do
        [ "$(wc -l <runs)" -ge "$run" ] && break
        sleep 0.05
    done
    sleep 0.2
    child=$(ps -o pid= --ppid "$started" | head -n 1) # timeout(1) passes on one signal only
    for signal in $signals; do
        kill "-$signal" "$child"
        sleep 0.3
    done
    wait "$started"
    echo "$? $(wc -l <runs)"
}

check_signals() {
    [ "$(interrupt 1 TERM obeys "$persik" trace -q --plain-runs 2 --no-evictions -o plain)" = "143 1" ] && [ ! -e plain ]
    report $? "SIGTERM in a run before the recorded one ends all, and no other is begun"
    for signal in TERM HUP; do
        [ "$(interrupt 1 $signal obeys "$persik" trace -q --plain-runs 1 -o kept)" = "0 1" ] && [ -e kept/trace.persik ]
        report $? "SIG$signal in the recorded run ends it in order: it is kept, and no other is begun"
    done
    [ "$(interrupt 1 TERM dies "$persik" trace -q --plain-runs 1 -o killed)" = "4 1" ] && [ -e killed/trace.persik ]
    report $? "and so it does where the program dies of it"
    [ "$(interrupt 2 TERM obeys "$persik" trace -q --plain-runs 2 -o after)" = "0 2" ] && [ -e after/trace.persik ]
    report $? "after the recorded run it is kept"
    for command in "trace --plain-runs 0" "trace --plain-runs 2" sample profile; do
        # shellcheck disable=SC2086
        [ "$(interrupt 1 "TERM TERM" ignores "$persik" $command -q -o second)" = "143 1" ] &&
            [ -z "$(find . -maxdepth 1 -name 'second*')" ]
        report $? "a second signal ends a program that does not, and all else, in persik $command"
    done
    [ "$(interrupt 1 TERM obeys "$persik" sample -q -o sampled)" = "0 1" ] && [ -e sampled/sample.json ]
    report $? "SIGTERM while persik sample runs keeps the samples"
    [ "$(interrupt 1 TERM obeys "$persik" profile -q -o profiled)" = "143 1" ] && [ ! -e profiled ]
    report $? "in the first run of persik profile nothing is traced any more"
    [ "$(interrupt 2 TERM obeys "$persik" validate -q -i links --cores 1 --runs 3 --measurements runs.csv)" = "143 2" ] &&
        [ ! -s out ]
    report $? "persik validate ends, too"
}

# ---- room and limits ----

check_limits() {
    mkdir small && cd small || return
    # shellcheck disable=SC2086
    (ulimit -s 128 && "$persik" trace $quick -- "$steps" --threads 2 >/dev/null && "$persik" build-model -q &&
        "$persik" predict -q --cores 1,2 >/dev/null && "$persik" report >/dev/null) >log 2>&1
    report $? "persik has a stack of its own, whatever ulimit -s says"
    cp persik.data/trace.persik good
    # shellcheck disable=SC2086
    (ulimit -f 8 && "$persik" trace $quick -- "$steps" --threads 2 >/dev/null 2>&1)
    [ $? -eq 1 ] && cmp -s good persik.data/trace.persik && [ "$(ls -A)" = "$(printf 'good\nlog\npersik.data')" ]
    report $? "a recording that finds no room does not take a good one's place"
    cd ..
}

check_room() {
    mkdir room && mount -t tmpfs -o size=16k none room 2>/dev/null || {
        skip "an empty recording is an error" "no file system of our own can be mounted"
        return
    }
    # shellcheck disable=SC2086
    "$persik" trace $quick -o room/data -- "$steps" --threads 2 >/dev/null 2>err
    [ $? -eq 1 ] && [ -z "$(ls -A room)" ] && grep -q 'make room' err
    report $? "an empty recording is an error"
    umount room
}

# ---- what names hold ----

check_names() {
    mkdir -p names
    jq '(.pools[0].name) = "ma\u001b]0;pwned\u0007\u009b31min"' links/model.json >names/model.json
    "$persik" graph -i names >out 2>&1
    grep -q 'ma?]0;pwned??31min' out
    report $? "control characters of names do not reach the terminal from a table"
    { "$persik" graph -i names --format json | jq -e . >/dev/null && "$persik" graph -i names --dot; } >out 2>&1
    report $? "what other programs read is whole"
    cat out >all
    "$persik" predict -i names --threads "x$(printf '\033[31m')=3" >>all 2>&1
    "$persik" "$(printf 'no\033[31m')" >>all 2>&1
    "$persik" trace -q -- "./$(printf 'no\033[31m')" >>all 2>&1
    [ "$(tr -d '\n\t -~' <all | wc -c)" = 0 ]
    report $? "nor do they from a drawing or an error"
}

# ---- what others had ----

check_others() {
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        "$persik" trace $quick -o others -- /bin/true
    done >/dev/null 2>err
    ! grep -o '[0-9]* % of the CPU time' err | awk '$1 > 100 { found = 1 } END { exit !found }'
    report $? "nobody had more than all of the CPU time"
}

check_namespace() {
    if ! is_root || ! unshare -pf --mount-proc true 2>/dev/null; then
        skip "in a PID namespace wake-ups are left out" "no namespace can be made"
        return
    fi
    # shellcheck disable=SC2086
    unshare -pf --mount-proc "$persik" trace $quick -o inside -- "$steps" --threads 2 >/dev/null 2>err
    [ $? -eq 0 ] && "$persik" report -i inside | grep -q 'lacks *wake-up times: in a PID namespace'
    report $? "in a PID namespace wake-ups are left out, and that is said"
}

# ---- what nothing can be preloaded into ----

# refused PROGRAM PATTERN NAME: one line, and it has not run
refused() {
    "$persik" profile -q -o refused -- "./$1" >out 2>err
    [ $? -eq 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q "$2" err && [ ! -e refused ]
    report $? "$3 is refused before it runs, with the reason"
}

check_programs() {
    echo 'int main(void) { return puts("ran") < 0; }' >ran.c
    compile="${CC:-gcc} -w -include stdio.h ran.c"
    $compile -o plain_program
    for sanitizer in address thread; do
        $compile -fsanitize=$sanitizer -o with_$sanitizer 2>/dev/null &&
            refused with_$sanitizer "Sanitizer" "a program built with -fsanitize=$sanitizer"
        has clang-14 && clang-14 -w -include stdio.h ran.c -fsanitize=$sanitizer -o clang_$sanitizer 2>/dev/null &&
            refused clang_$sanitizer "Sanitizer" "one that clang built so"
    done
    $compile -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1 -o with_musl && refused with_musl musl "a program of musl's"
    $compile -static-pie -o static_pie 2>/dev/null && refused static_pie "static binary" "a static program at any place"
    head -c 9000 plain_program >cut && chmod +x cut && refused cut damaged "a file that was cut off"
    cp plain_program narrow && printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>/dev/null &&
        refused narrow "32-bit" "a 32-bit program"
    printf '#!./static_pie\n' >script && chmod +x script
    [ ! -e static_pie ] || refused script "static binary" "a script of a static interpreter"
    if is_root; then
        cp plain_program other && chown 65534 other && chmod u+s other && refused other set-user-id "a set-user-id program"
    else
        skip "a set-user-id program is refused" "only root can make one of another user's"
    fi
}

# `_` is the last argument of whatever started it.
check_environment() {
    env | grep -v '^_=' | sort >bare
    for stage in sample "trace --plain-runs 0 --no-block-io"; do
        # shellcheck disable=SC2086 # words
        "$persik" $stage -q -o seen -- env 2>err | grep -v '^_=' | sort >probed
        check "what $stage runs has the environment of persik and nothing else" cmp bare probed
    done
}

# Of signals 1 to 28: two of glibc's own, behind these, any program with threads gives a handler.
ignored() { grep SigIgn "$1" | tail -c 8; }
stays_ignored() { ignored bare | grep -q '1....$' && [ "$(ignored bare)" = "$(ignored probed)" ]; }

check_children() {
    env --ignore-signal=CHLD grep SigIgn /proc/self/status >bare
    env --ignore-signal=CHLD "$persik" trace -q --plain-runs 0 --no-block-io -o deaf -- grep SigIgn /proc/self/status >probed 2>err
    check "a program that is started with SIGCHLD ignored has it ignored" stays_ignored
    env --ignore-signal=CHLD "$persik" validate -q -i links --cores 1 --runs 1 -- sh -c 'exit 6' >out 2>err
    check "and persik learns all the same how it ends" grep -q "exit status 6" err
}

check_folders
check_links
check_signals
check_limits
check_room
check_names
check_others
check_namespace
check_programs
check_environment
check_children

finish
