#!/bin/sh
# Work that no recorded thread does: child processes, daemons, signal handlers; a control group's quota.
# usage: tests/elsewhere.sh BUILD-FOLDER
. "$(dirname "$0")/tap.inc"
export COLUMNS=1000 # a sentence is one line
cd "$scratch" || exit 1

# record FOLDER [option...] -- PROGRAM: quickly, and its model; what is said stays in out and err
record() {
    folder=$1
    shift
    "$persik" trace --no-block-io --no-evictions --plain-runs 0 -o "$folder" "$@" >/dev/null 2>log &&
        "$persik" build-model -i "$folder" >out 2>err
    record_status=$?
    cat out err >>log
    return $record_status
}

cat >work.h <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void burn(long rounds) {
    for (volatile long i = 0; i < rounds; i++)
        ;
}
END
cat >parent.c <<'END'
#include "work.h"
int main(int argc, char **argv) {
    burn(10000000);
    if (argc > 1 && fork() == 0) {
        burn(300000000);
        _exit(0);
    }
    while (wait(0) > 0)
        ;
    return argv[0] == 0;
}
END
gcc -O1 parent.c -o parent || exit 1

record with -- ./parent child
[ "$(jq -r '.explained_share < 0.4' with/model.json)" = true ] && grep -q '% of the CPU time was used by child processes.*--follow' out
report $? "what child processes do is no part of what a model explains, and is said"
"$persik" predict -i with >out 2>err
[ $? -eq 4 ] && grep -q 'warning:.*used by child processes' err && grep -q 'the uncertainty would be as large as the figure' out
report $? "predict says so, too, and has no figures where most is elsewhere"
record followed --follow -- ./parent child
grep -q '2 processes were recorded' out && ! grep -q 'child processes' out
report $? "of child processes that are followed it is said that they may wait for each other"
record without -- ./parent
! grep -q 'child' out && grep -q '^the program has one thread' out
report $? "a program with one thread and no child is said to have one thread"
"$persik" predict -i without --threads 4 >out 2>err
[ $? -eq 1 ] && grep -q '^persik: --threads 4: .*one thread' err && [ ! -s out ]
report $? "predict has no figures for more threads of a program that has one, and says why"

# A daemon: the started process ends at once, its grandchild goes on.
cat >daemon.c <<'END'
#include "work.h"
int main(int argc, char **argv) {
    int ends[2];
    char byte;
    if (pipe(ends) != 0 || fork())
        return 1 - (argc > 0 && argv[0] != 0);
    setsid();
    if (fork())
        _exit(0);
    close(ends[1]);
    close(0), close(1), close(2);
    usleep(1500000);
    return read(ends[0], &byte, 1) == 0 ? 0 : 1;
}
END
gcc -O1 daemon.c -o daemon || exit 1
record daemon.data -- ./daemon
if jq -e . daemon.data/model.json >/dev/null 2>&1 && ! grep -q 'scheduling: not permitted' log; then
    grep -q 'of its processes still ran when the program ended' out
    report $? "a daemon that goes on when the started process ends is said"
else
    skip "a daemon that goes on when the started process ends is said" "no scheduling events"
fi

# Work that a timer brings
cat >ticker.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static sem_t jobs;
static int done;
static void tick(int signal) {
    (void)signal;
    sem_post(&jobs);
}
static void *work(void *unused) {
    for (int i = 0; i < 50; i++) {
        while (sem_wait(&jobs) != 0)
            ;
        for (volatile int j = 0; j < 10000; j++)
            ;
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return unused;
}
int main(void) {
    struct sigaction action = {.sa_handler = tick};
    struct itimerval every = {{0, 2000}, {0, 2000}};
    pthread_t thread;
    sem_init(&jobs, 0, 0);
    sigaction(SIGALRM, &action, 0);
    pthread_create(&thread, 0, work, 0);
    setitimer(ITIMER_REAL, &every, 0);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        pause();
    return pthread_join(thread, 0);
}
END
gcc -g -O1 ticker.c -o ticker -lpthread || exit 1
record ticks -- ./ticker
if [ "$(id -u)" -eq 0 ] && ! grep -q 'wake-up times' log; then
    grep -Eq 'tick, the handler of signal 14, made calls [0-9]+ times' out
    report $? "calls made in a signal handler are said, with the handler and the signal"
    jq -e '[.nodes[] | select(.by_clock)] | length > 0' ticks/model.json >log &&
        "$persik" predict -i ticks --cores 1 --format csv 2>>log | grep -q '^[^,]*,1,[0-9]'
    report $? "they come by a clock of their own, on other cores, too"
else
    skip "calls made in a signal handler are said, with the handler and the signal" "only root may see signals"
    skip "they come by a clock of their own, on other cores, too" "only root may see signals"
fi

# ---- a quota ----

# group_with_quota: makes a control group of a tenth of a core and prints its folder
group_with_quota() {
    group=/sys/fs/cgroup/cpu/persik-test-$$
    if mkdir "$group" 2>/dev/null; then
        echo 10000 >"$group/cpu.cfs_quota_us" 2>/dev/null && echo "$group" && return
        rmdir "$group"
    fi
    for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        group=$top/persik-test-$$
        grep -qw cpu "$top/cgroup.subtree_control" 2>/dev/null && mkdir "$group" 2>/dev/null || continue
        echo '10000 100000' >"$group/cpu.max" 2>/dev/null && echo "$group" && return
        rmdir "$group"
    done
    return 1
}
gcc -O1 -xc - -o spinner <<'END' || exit 1
#include "work.h"
int main(void) { burn(200000000); return 0; }
END
if group=$(group_with_quota); then
    (
        sh -c "echo \$PPID >'$group/cgroup.procs'" && record quota -- ./spinner
    )
    # the group is empty now
    rmdir "$group"
    grep -q 'CPU quota of the control group, 0.1 cores, stopped it for' log && ! grep -q 'end them' log &&
        grep -q 'quota of 0.1 cores stopped the recorded run for' out
    report $? "a run that a quota stopped is said to be one, and nobody else is blamed"
    "$persik" predict -i quota >out 2>err && grep -q 'warning:.*quota of 0.1 cores' err
    report $? "predict says that its figures are for cores without a quota"
else
    skip "a run that a quota stopped is said to be one, and nobody else is blamed" "no control group can be made"
    skip "predict says that its figures are for cores without a quota" "no control group can be made"
fi

finish
