#!/bin/bash
# What a request costs a real server (served.sh) in CPU time, without persik, at each of several rates, on one core:
# by the kernel's count of the whole process, and how often its threads slept. Below that the same while something else
# keeps the core awake: a loop of the lowest priority (SCHED_IDLE), which touches no memory. What differs is the price of
# a core that goes to sleep between requests; what stays is that of the program's own sleeping, and of batches. Last, the
# same while the client never sleeps (never_sleep.c): what is less then is the price of waking it, which a server on the
# same machine pays with each answer to a client that sleeps.
#
# usage: bench/request-cost.sh NAME [RATE...]
#   THREADS (2), SECONDS_EACH (2)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=served.sh
. "$(dirname "$0")/served.sh"

name=${1:?a server of served.sh}
shift
threads=${THREADS:-2}
seconds=${SECONDS_EACH:-2}
port=11480
scratch=$(mktemp -d)
pid=
awake=
ended() {
    local job
    for job in $awake $pid; do kill "$job" 2>/dev/null && wait "$job" || true; done
    rm -rf "$scratch"
}
trap ended EXIT

# CPU time in ns, user share in percent, sleeps so far, of all threads of $pid.
used() {
    local cpu sleeps user
    cpu=$(awk '{sum += $1} END {printf "%.0f", sum}' /proc/"$pid"/task/*/schedstat)
    sleeps=$(awk '/^voluntary/ {sum += $2} END {print sum}' /proc/"$pid"/task/*/status)
    user=$(awk '{sub(/.*\) /, ""); print $12, $13}' /proc/"$pid"/stat)
    echo "$cpu $sleeps $user"
}

load() {
    PERSIK_LOAD_RESULT=$scratch/result taskset -c 1 "${with[@]}" "$persik" load -q --rate "$1/s" --duration "$2s" \
        --max-in-flight 500 "${more[@]}" "${asks[@]}" >/dev/null 2>&1
}

# row AWAKE RATE
row() {
    local before after
    load "$2" 0.3
    before=$(used)
    load "$2" "$seconds"
    after=$(used)
    echo "$before $after $(jq -r '[.requests, .throughput_per_s, .response_ns.mean / 1e3] | @tsv' "$scratch/result")" |
        awk -v awake="$1" -v rate="$2" '{
            user = $7 - $3; all = user + $8 - $4
            printf "%-6s %7d %9.0f %10.1f %8.0f %12.2f %12.0f\n", awake, rate, $10, ($5 - $1) / $9 / 1e3,
                all ? 100 * user / all : 0, ($6 - $2) / $9, $11
        }'
}

need_persik
"${name}_begin"
"${name}_server" "$threads"
"${name}_load"
taskset -c 0 "${server[@]}" >/dev/null 2>&1 &
pid=$!
until is_listening "$pid"; do sleep 0.05; done
echo "$name, $threads threads on one core"
echo "core     rate/s  answered  CPU us each  user %  sleeps each  response us"
with=()
more=()
gcc -O2 -shared -fPIC "$root/bench/never_sleep.c" -o "$scratch/never_sleep.so"
gcc -O2 -o "$scratch/idle" -x c - <<<'int main(void) { for (;;) __asm__ volatile("pause"); }'
keep_awake() {
    taskset -c 0 chrt -i 0 "$scratch/idle" &
    awake=$!
}
for state in sleeps awake client both; do
    case $state in
    awake) keep_awake ;;
    client)
        kill "$awake" && wait "$awake" || true
        awake=
        with=(env "LD_PRELOAD=$scratch/never_sleep.so")
        more=(--no-priority)
        ;;
    both) keep_awake ;;
    esac
    for rate; do row $state "$rate"; done
done
