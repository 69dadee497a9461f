#!/bin/bash
# How well real servers under an open load are predicted: each is recorded once with 2 threads on one core at a
# middle rate, predicted over threads, cores and rates, and run there.
#
# usage: bench/real-servers.sh [--kept] [--saturation] [NAME...]      (default: memcached apache)
#
#   --kept       run nothing: models and predictions are made anew, of what is recorded and measured already
#   --saturation only the saturation points, each against a run of the recorded configuration right before it
#
#   memcached    a request asks for 2,000 keys that are not there; the threads are event loops
#   apache       the worker model in one process (-X), a text of 40 kB is compressed for each request, on a connection of
#                its own; the threads are workers
#
#   unbound, lighttpd, tornado    as bench/served.sh says
#
# memcached is built from Debian's source package, Apache is Debian's binary package apache2-bin, which must be there.
# Response times are the client's; the model's are the server's. What lies between, until the load has sent what is due
# and until it is awake for the answer, takes no part of the server. The recorded run tells how long it is: the median
# that its client measured, less the one that its own model has of that run. (Means would have every moment in it in which
# the client or all stood still.) It is predicted with a network of that latency (--network-latency). Where the trace does
# not tell (the probes have much of the time), without. With one core the server has the first, the client the second
# one; with two both have both, and the client's share of a core is told beside. The highest rate of each number of cores
# is beyond saturation: there only the throughput is compared, which is the saturation point. Response times are compared
# at up to 95 % of it. Of each configuration $RUNS runs (3), in turn with all others;
# their medians. Recordings and measurements are kept in bench/scratch/real-servers/NAME/: delete the folder to measure
# anew, give more $RUNS to add some. What ends early goes on where it was.
#
# The same code may need twice the CPU time a second later, where the cores of a virtual machine share theirs with others
# (host/pace.h). With --saturation such pairs of runs tell by how much: each is predicted as so many times the
# CPU time of a request in the recorded configuration, measured in the run before it and in the model. On two cores the
# client's part of them, as measured, is taken off what is predicted. Of each configuration $RUNS pairs; "pairs" are kept.
#
#   THREADS, CORES   the configurations (1 2 4 8, 1 2)
#   SECONDS_EACH     of each run (3)
#   RECORD_ONLY      not empty: record and measure, and compare nothing
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=served.sh
. "$(dirname "$0")/served.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
read -ra cores <<<"${CORES:-1 2}"
runs=${RUNS:-3}
seconds=${SECONDS_EACH:-3}
port=11480
kept=$work/real-servers
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# ---- recording and measuring ----

# pinned CORES CORE: what pins a command to that core where there is one for each side.
pinned() { [ "$1" != 1 ] || echo "taskset -c $2"; }

# The load leaves what its client measured in NAME/client-TIME, for each run.
record() {
    local load result
    [ ! -s "$kept/$1/recording/trace.persik" ] || return 0
    mkdir -p "$kept/$1"
    "$1_server" 2
    "$1_load"
    rm -f "$kept/$1"/client-*
    printf -v result '%q' "$kept/$1/client-"
    printf -v load '%q ' taskset -c 1 "$persik" load -q --rate "$("$1_recorded")/s" --duration 5s "${asks[@]}"
    load="PERSIK_LOAD_RESULT=$result\$(date +%s) $load"
    taskset -c 0 "$persik" profile -q --no-evictions --plain-runs 1 -o "$kept/$1/recording" --load "$load" -- \
        "${server[@]}" >&2 || fail "$1 was not recorded"
}

# CPU time of all threads of a process, in ns.
cpu_of() { awk '{sum += $1} END {printf "%.0f", sum}' /proc/"$1"/task/*/schedstat; }

# ask CORES RATE SECONDS: the client's result is in $scratch/result. Beyond saturation at most 500 requests are under way.
ask() {
    local prefix
    read -ra prefix <<<"$(pinned "$1" 1)"
    PERSIK_LOAD_RESULT=$scratch/result "${prefix[@]}" "$persik" load -q --rate "$2/s" --duration "$3s" \
        --max-in-flight 500 "${asks[@]}" >/dev/null 2>&1
}

# run NAME THREADS CORES RATE: throughput per second, mean and 95th percentile of the response time in ms, the client's
# share of a core in percent, and the CPU time of a request in us.
run() {
    local pid prefix before after
    "$1_server" "$2"
    "$1_load"
    read -ra prefix <<<"$(pinned "$3" 0)"
    "${prefix[@]}" "${server[@]}" >/dev/null 2>&1 &
    pid=$!
    until is_listening "$pid"; do sleep 0.02; done
    ask "$3" "$4" 0.5
    before=$(cpu_of "$pid")
    ask "$3" "$4" "$seconds"
    after=$(cpu_of "$pid")
    kill -TERM "$pid"
    wait "$pid" || true
    jq -r --argjson cpu "$((after - before))" '[.throughput_per_s, .response_ns.mean / 1e6, .response_ns.p95 / 1e6,
        100 * .cpu_share, $cpu / .requests / 1e3] | @tsv' "$scratch/result"
}

configurations() {
    local t c r
    local numbers=("${threads[@]}")
    ! declare -F "$1_threads" >/dev/null || read -ra numbers <<<"$("$1_threads")"
    for t in "${numbers[@]}"; do
        for c in "${cores[@]}"; do
            for r in $("$1_rates" "$c"); do echo "$t $c $r"; done
        done
    done
}

# Adds lines "THREADS CORES RATE THROUGHPUT MEAN P95 SHARE CPU" to NAME/measured, one a run, until there are enough.
measure() {
    local i t c r
    touch "$kept/$1/measured"
    for ((i = 1; i <= runs; i++)); do
        while read -r t c r; do
            [ "$(grep -cs "^$t $c $r " "$kept/$1/measured")" -ge "$i" ] ||
                echo "$t $c $r $(run "$1" "$t" "$c" "$r")" | tr '\t' ' ' >>"$kept/$1/measured"
        done < <(configurations "$1")
    done
}

# saturated NAME: "THREADS CORES RATE" of what is beyond saturation.
saturated() {
    configurations "$1" | awk '{key = $1 " " $2; if (!(key in rate)) order[++n] = key; rate[key] = $3}
        END {for (i = 1; i <= n; i++) print order[i], rate[order[i]]}'
}

# Adds lines "THREADS CORES RATE THROUGHPUT SHARE CPU CPU" to NAME/pairs: that of a request, and in the run before, in the
# recorded configuration.
measure_pairs() {
    local i t c r cpu saturated x share rest
    touch "$kept/$1/pairs"
    for ((i = 1; i <= runs; i++)); do
        while read -r t c r; do
            [ "$(grep -cs "^$t $c $r " "$kept/$1/pairs")" -lt "$i" ] || continue
            read -r rest rest rest rest cpu <<<"$(run "$1" 2 1 "$("$1_recorded")")"
            read -r x rest rest share saturated <<<"$(run "$1" "$t" "$c" "$r")"
            echo "$t $c $r $x $share $saturated $cpu" >>"$kept/$1/pairs"
        done < <(saturated "$1")
    done
}

# ---- comparing ----

# median NAME THREADS CORES RATE COLUMN
median() {
    awk -v t="$2" -v c="$3" -v r="$4" -v column="$5" '$1 == t && $2 == c && $3 == r {print $column}' "$kept/$1/measured" |
        sort -g | awk '{value[NR] = $1} END {print NR ? value[int((NR + 1) / 2)] : "-"}'
}

# The rate that was asked at where NAME is measured at RATE: the load sends the same requests at the same times to all, and
# in a run of seconds they come at another rate than that one. Below saturation all are answered.
asked_rate() {
    awk -v r="$2" '$3 == r && $4 > most {most = $4} END {print most}' "$kept/$1/measured"
}

# latency NAME: of the way to the server, and of that back, in ns; 0: not known. A request with a connection of its own goes
# to and fro twice. Of the runs of a recording the second one is the traced one.
latency() {
    local client rate server
    client=$(find "$kept/$1" -name 'client-*' | sort | sed -n 2p)
    if [ -z "$client" ] || ! jq -e '.checks[] | select(.what == "mean response (ms)")' \
        "$kept/$1/recording/model.json" >/dev/null; then
        echo 0
        return
    fi
    rate=$(jq '.checks[] | select(.what == "throughput (1/s)") | .measured' "$kept/$1/recording/model.json")
    server=$("$persik" predict -q -i "$kept/$1/recording" --arrivals "$rate/s" --format json |
        jq '.configurations[0].response_p50_ns // 0') || server=0
    jq --argjson server "$server" --slurpfile model "$kept/$1/recording/model.json" '
        (if any($model[0].objects[]; .connects) then 4 else 2 end) as $times |
        if $server > 0 then [(.response_ns.p50 - $server) / $times, 0] | max | floor else 0 end' "$client"
}

# predicted NAME THREADS CORES RATE LATENCY: three numbers, or "- - -": no figures, for a reason that stands on standard
# error.
predicted() {
    local follows=(--threads "$2") network=()
    ! declare -F "$1_threads" >/dev/null || follows=()
    [ "$5" = 0 ] || network=(--network-latency "$5ns")
    "$persik" predict -q -i "$kept/$1/recording" "${follows[@]}" --cores "$3" --arrivals "$4/s" "${network[@]}" \
        --format json |
        jq -r '.configurations[0] | if .throughput_hz then
            "\(.throughput_hz) \((.response_ns // 0) / 1e6) \((.response_p95_ns // 0) / 1e6)"
            else "- - -" end' ||
        echo "- - -"
}

# Prints a row a configuration, and appends to $scratch/errors: NAME LAST? ERROR ERROR ERROR
compare() {
    local t c r most asked saturation x mean p95 measured latency
    latency=$(latency "$1")
    echo "$1: predicted with --network-latency ${latency}ns"
    while read -r t c r; do
        most=$("$1_rates" "$c" | awk '{print $NF}')
        saturation=$(median "$1" "$t" "$c" "$most" 4)
        asked=$r
        [ "$r" = "$most" ] || asked=$(asked_rate "$1" "$r")
        read -r x mean p95 <<<"$(predicted "$1" "$t" "$c" "$asked" "$latency" | tail -n 1)"
        measured="$(median "$1" "$t" "$c" "$r" 4) $(median "$1" "$t" "$c" "$r" 5) $(median "$1" "$t" "$c" "$r" 6)"
        echo "$1 $t $c $r $measured $x $mean $p95 $most $(median "$1" "$t" "$c" "$r" 7) $asked $saturation" |
            awk -v errors="$scratch/errors" '
            function error_of(i) { return $(8 + i) == "-" || $(5 + i) == "-" ? "-" : 100 * ($(8 + i) / $(5 + i) - 1) }
            function cell(i) {
                if (i > 0 && is_near) return sprintf("%8s %8s %6s", "", "", "")
                if (error_of(i) == "-") return sprintf("%8.2f %8s %6s", $(5 + i), $(8 + i), "-")
                return sprintf(i ? "%8.2f %8.2f %+6.1f" : "%8.1f %8.1f %+6.1f", $(5 + i), $(8 + i), error_of(i))
            }
            {
                is_near = $13 > 0.95 * $14
                printf "%-9s %7d %5d %5d %s %s %s %6.1f\n", $1, $2, $3, $4, cell(0), cell(1), cell(2), $12
                print $1, $4 == $11, error_of(0), is_near ? "" : error_of(1) " " error_of(2) >>errors
            }'
    done < <(configurations "$1")
}

# predicted_cpu NAME THREADS CORES RATE: throughput, CPU time of a request in us; nothing: no figures.
predicted_cpu() {
    local follows=(--threads "$2")
    ! declare -F "$1_threads" >/dev/null || follows=()
    "$persik" predict -q -i "$kept/$1/recording" "${follows[@]}" --cores "$3" --arrivals "$4/s" --format json |
        jq -r --argjson cores "$3" '.configurations[0] | select(.throughput_hz) |
            "\(.throughput_hz) \(1e6 * $cores * .cpu_utilisation / .throughput_hz)"'
}

# Prints a row for each saturation point: how much CPU time a request has there, with one in the recorded configuration
# as the unit, and how many cores are busy. Throughput is the one by the other: at equal pace.
compare_pairs() {
    local t c r recorded x cpu
    read -r _ recorded <<<"$(predicted_cpu "$1" 2 1 "$("$1_recorded")")"
    while read -r t c r; do
        read -r x cpu <<<"$(predicted_cpu "$1" "$t" "$c" "$r")"
        awk -v name="$1" -v t="$t" -v c="$c" -v r="$r" -v x="${x:-0}" -v cpu="${cpu:-0}" -v recorded="$recorded" \
            -v errors="$scratch/errors" '
            function median(values,   i, j, v, sorted) {
                for (i = 1; i <= n; i++) {
                    for (j = i - 1; j > 0 && sorted[j] > values[i]; j--) sorted[j + 1] = sorted[j]
                    sorted[j + 1] = values[i]
                }
                least = sorted[1]; most = sorted[n]
                return sorted[int((n + 1) / 2)]
            }
            $1 == t && $2 == c && $3 == r {
                n++; throughput[n] = $4; share[n] = $5; unit[n] = $7
                price[n] = $6 / $7; busy[n] = $4 * $6 / 1e6; paced[n] = $4 * $7 / 1e6
            }
            END {
                if (!n) exit
                if (!x) { printf "%-9s %7d %5d no figures\n", name, t, c; exit }
                left = c > 1 ? c - median(share) / 100 : c
                if (x * cpu / 1e6 > left) x = left * 1e6 / cpu
                raw = 100 * (x / median(throughput) - 1)
                error = 100 * (x * recorded / 1e6 / median(paced) - 1)
                b = median(busy); u = median(unit); p = median(price)
                printf "%-9s %7d %5d %6.2f (%.2f .. %.2f) %6.2f %7.2f %6.2f %+6.1f %8.0f %8.0f %+6.1f %7.1f %6.1f\n", name, t, c,
                    p, least, most, cpu / recorded, b, x * cpu / 1e6, error, median(throughput), x, raw, u, recorded
                print name, error, raw >>errors
            }' "$kept/$1/pairs"
    done < <(saturated "$1")
    awk -v name="$1" 'function size(x) { return x < 0 ? -x : x }
        $1 == name {n++; pair += size($2); raw += size($3); if (size($2) > most) most = size($2)}
        END {if (n) printf "%s: saturation point at equal pace %.1f %% (%.1f), as measured %.1f %%, of %d\n", name, pair / n,
            most, raw / n, n}' "$scratch/errors"
}

summary() {
    awk -v name="$1" '
        function add(what, error) {
            if (error == "-") { missing[what]++; return }
            error = error < 0 ? -error : error
            n[what]++; sum[what] += error
            if (error > most[what]) most[what] = error
        }
        function told(what) {
            return (n[what] ? sprintf("%.1f %% (%.1f) of %d", sum[what] / n[what], most[what], n[what]) : "none") \
                (missing[what] ? sprintf(", %d without a figure", missing[what]) : "")
        }
        $1 != name { next }
        $2 { add("saturation", $3); next }
        { add("throughput", $3) }
        NF > 3 { add("mean response", $4); add("95th percentile", $5) }
        END {
            printf "%s: mean error (largest): throughput %s; saturation point %s; mean response %s; 95th percentile %s\n",
                name, told("throughput"), told("saturation"), told("mean response"), told("95th percentile")
        }' "$scratch/errors"
}

need_persik
only_kept=
only_saturation=
while [[ ${1:-} = --* ]]; do
    case $1 in
    --kept) only_kept=1 ;;
    --saturation) only_saturation=1 ;;
    *) fail "what is '$1'? see the head of this script" ;;
    esac
    shift
done
[ $# -gt 0 ] || set -- memcached apache
for name; do
    [ -z "$only_kept" ] || continue
    say "$name"
    declare -F "${name}_begin" >/dev/null || fail "no server '$name'"
    "${name}_begin"
    record "$name"
    if [ -n "$only_saturation" ]; then measure_pairs "$name"; else measure "$name"; fi
done
[ -z "${RECORD_ONLY:-}" ] || exit 0
echo "$(machine); medians of $runs runs of $seconds s"
if [ -n "$only_saturation" ]; then
    echo "                         a request's CPU time,      busy cores,  at equal      throughput, 1/s           recorded
name      threads cores  recorded one = 1  model  measured  model  pace, %  measured  predicted   %   request, us  model"
    for name; do
        "$persik" build-model -q -i "$kept/$name/recording" >/dev/null
        compare_pairs "$name"
    done
    exit 0
fi
echo "name      threads cores  rate   measured/predicted, 1/s    %   mean response, ms      %   95th percentile, ms    % client"
for name; do
    "$persik" build-model -q -i "$kept/$name/recording" >&2
    compare "$name"
done
for name; do
    summary "$name"
    ! declare -F "${name}_beside" >/dev/null || "${name}_beside"
done
