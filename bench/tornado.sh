#!/bin/bash
# How well a web server is predicted whose files are on a slow disk and not in memory, as Tarvo and Reiss (2017, section
# 5.1) did with theirs: it is recorded once, at a middle rate, and predicted with other numbers of threads at other rates.
# Root only; the disk is made by bench/slow-disk.sh.
#
# usage: bench/tornado.sh [run|compare]    (default: run, then compare)
#
#   SERVER=tornado   samples/tornado, recorded with one worker; the paper's figures stand beside
#   SERVER=nginx     one event loop, and helper threads that read (`aio threads`); recorded with two of these; $NGINX_BINARY, or
#                    Debian's package nginx, must be there
#   SERVER=apache    the worker model in one process (-X), which reads its files; recorded with two workers; Debian's
#                    package apache2-bin must be there
#
# Each run begins with an empty page cache and has the same requests: same files, same order, and the same times between
# them, stretched to the rate. Throughput and response times are the client's, from when a request was to be sent; the
# disk's utilisation is by its own log, for the time from the first request to the last answer. Of each configuration
# $RUNS runs, in turn with all others; their medians. A kernel that takes cold pages out of the cache though memory is free
# (/sys/kernel/mm/damon, as hosts of virtual machines set it) makes a run read blocks once more: such a run, and such a
# recording, is made again, up to four times; the least disturbed one counts. The recording and every run are kept
# in bench/scratch/$SERVER-disk/: delete the folder to measure anew, give more $RUNS to add some. No run begins after
# $LIMIT seconds: start it again.
#
#   THREADS, CORES, RATES   the configurations (1 2 4 8, 2, 25 50 70 85 100 120 requests a second). With one core the server
#                    has the first, the client the second one; with two both have both
#   RUNS, LIMIT      3, 100000
#   REQUESTS         of each run (600); FILES on the disk (20000)
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

read -ra threads <<<"${THREADS:-1 2 4 8}"
read -ra cores <<<"${CORES:-2}"
read -ra rates <<<"${RATES:-25 50 70 85 100 120}"
runs=${RUNS:-3}
limit=${LIMIT:-100000}
requests=${REQUESTS:-600}
files=${FILES:-20000}
recorded_rate=50
recorded_port=18087
port=18088
tries=4
most_forgotten=10 # requests to the disk, at most, for nothing but blocks that the run had read before
name=${SERVER:-tornado}
pinned=() beside=()
kept=$work/$name-disk
recorded_threads=2
disk=(--turn 6000 --seek-least 600 --seek-most 8000) # a disk of 10,000 turns a minute

load() { # RATE PORT
    "${beside[@]}" "$persik" load -q --format json --rate "$1/s" --requests "$requests" --seed 1 --no-keep-alive --urls "$kept/urls" \
        "http://127.0.0.1:$2"
}

# ------------------------------------------------------------------------- the servers

# NAME_command THREADS PORT sets `server`, which serves $SLOW_DISK/www.
tornado_command() { server=("$built/samples/tornado" --port "$2" --threads "$1" --root "$SLOW_DISK/www"); }

nginx_command() {
    nginx=${NGINX_BINARY:-/usr/sbin/nginx}
    [ -x "$nginx" ] || fail "no nginx: install it, or say where it is by NGINX_BINARY=FILE"
    mkdir -p "$kept/nginx/logs"
    echo "daemon off;
master_process off;
user root;
pid $kept/nginx/pid;
error_log $kept/nginx/error.log;
thread_pool files threads=$1;
events { worker_connections 1024; }
http {
    access_log off;
    aio threads=files;
    sendfile off;
    output_buffers 1 1m;
    client_body_temp_path $kept/nginx/body;
    proxy_temp_path $kept/nginx/proxy;
    fastcgi_temp_path $kept/nginx/fastcgi;
    uwsgi_temp_path $kept/nginx/uwsgi;
    scgi_temp_path $kept/nginx/scgi;
    server { listen 127.0.0.1:$2 backlog=4096; root $SLOW_DISK/www; }
}" >"$kept/nginx/$1.conf"
    server=("$nginx" -p "$kept/nginx" -c "$kept/nginx/$1.conf")
}

apache_command() {
    local modules=/usr/lib/apache2/modules
    [ -x /usr/sbin/apache2 ] || fail "no Apache: install apache2-bin"
    mkdir -p "$kept/apache"
    echo "LoadModule mpm_worker_module $modules/mod_mpm_worker.so
LoadModule authz_core_module $modules/mod_authz_core.so
Listen 127.0.0.1:$2
ListenBacklog 4096
ServerName localhost
PidFile $kept/apache/pid
ErrorLog $kept/apache/log
DocumentRoot $SLOW_DISK/www
ServerLimit 1
ThreadLimit 64
StartServers 1
ThreadsPerChild $1
MaxRequestWorkers $1
KeepAlive Off
EnableSendfile Off
EnableMMAP Off" >"$kept/apache/$1.conf"
    server=(/usr/sbin/apache2 -X -d "$kept/apache" -f "$kept/apache/$1.conf")
}

is_listening() { grep -qi ":$(printf '%04X' "$1") 0*:0000 0A" /proc/net/tcp; }

# ------------------------------------------------------------------------- with the slow disk

# forgotten LINES: requests to the disk, behind so many lines of its log, for nothing but blocks that had been read before.
forgotten() {
    tail -n +$(($1 + 1)) "$kept/log" | awk '
        $3 == "R" {
            fresh = 0
            for (b = int($4 / 4096); b < ($4 + $5) / 4096; b++) fresh += !asked[b]++
            n += !fresh
        }
        END {print n + 0}'
}

# Of the cache that both runs of a recording had, whatever its predictions.
record() {
    local attempt
    [ ! -s "$kept/recording/trace.persik" ] || return 0
    for ((attempt = 1; attempt <= tries; attempt++)); do
        rm -f "$kept/recording.forgotten"
        record_once
        say "requests of the sampled and the traced run for what they had read before: $(paste -sd' ' "$kept/recording.forgotten")"
        ! awk -v most="$most_forgotten" '$1 > most {exit 1}' "$kept/recording.forgotten" || return 0
    done
    say "no recording of $tries with fewer: the last one is taken"
}

record_once() {
    "${name}_command" "$recorded_threads" "$recorded_port"
    "$persik" profile -q -o "$kept/recording" --prepare "$SLOW_DISK_DROP" \
        --load "$0 recorded-load" -- \
        "${server[@]}" >&2
}

# run_once THREADS CORES RATE ROUND: these and what was measured, a line of the CSV file.
run_once() {
    local before pinned=() beside=()
    if [ "$2" -eq 1 ]; then
        pinned=(taskset -c 0)
        beside=(taskset -c 1)
    fi
    "$SLOW_DISK_DROP"
    "${name}_command" "$1" "$port"
    "${pinned[@]}" "${server[@]}" >"$scratch/out" &
    pid=$!
    until is_listening "$port"; do
        kill -0 "$pid" 2>/dev/null || fail "the server did not start"
        sleep 0.02
    done
    before=$(wc -l <"$kept/log")
    load "$3" "$port" >"$scratch/result" || fail "the load failed"
    tail -n +$((before + 1)) "$kept/log" |
        awk '{busy += $2 - $1; bytes += $5} END {print NR, bytes + 0, busy + 0}' >"$scratch/busy"
    kill -TERM "$pid"
    wait "$pid"
    pid=
    jq -r --arg c "$4,$1,$2,$3" --arg disk "$(tr ' ' ',' <"$scratch/busy"),$(forgotten "$before")" \
        '[$c, .requests, .errors, .seconds, .throughput_per_s, .response_ns.mean / 1e6, .response_ns.p50 / 1e6,
          .response_ns.p95 / 1e6, .lateness_ns.mean / 1e6, $disk] | join(",")' "$scratch/result"
}

# The same, of the least disturbed one of up to $tries runs.
run() {
    local attempt line again best= least=
    for ((attempt = 1; attempt <= tries; attempt++)); do
        run_once "$@" >"$scratch/run"
        line=$(<"$scratch/run")
        again=${line##*,}
        if [ -z "$best" ] || [ "$again" -lt "$least" ]; then
            best=$line least=$again
        fi
        [ "$least" -gt "$most_forgotten" ] || break
    done
    echo "$best"
}

measure() {
    local round t c r
    record
    [ -s "$kept/runs.csv" ] ||
        echo "round,threads,cores,rate,requests,errors,seconds,throughput,mean_ms,p50_ms,p95_ms,late_ms,disk_requests,disk_bytes,disk_busy_s,forgotten" \
            >"$kept/runs.csv"
    for ((round = 1; round <= runs; round++)); do
        for t in "${threads[@]}"; do
            for c in "${cores[@]}"; do
                for r in "${rates[@]}"; do
                    ! grep -q "^$round,$t,$c,$r," "$kept/runs.csv" || continue
                    [ $SECONDS -lt "$limit" ] || return 0
                    run "$t" "$c" "$r" "$round" >>"$kept/runs.csv"
                done
            done
        done
    done
}

# ------------------------------------------------------------------------- predicted against measured

# How often the requests of a run come in a second where RATE is asked for: times between them are random, and the same in
# all runs. The recorded run tells.
true_rate() {
    jq ".objects[] | select(.interarrival_ns) | 1e9 / .interarrival_ns.mean * $1 / $recorded_rate" \
        "$kept/recording/model.json"
}

# predicted THREADS CORES RATE: throughput, utilisation of the disk in percent, mean and 95th percentile of the response in ms.
predicted() {
    "$persik" predict -q -i "$kept/recording" --threads "$1" --cores "$2" --arrivals "$(true_rate "$3")/s" \
        --arrivals-kind recorded --requests "$requests" --format json 2>/dev/null |
        jq -r '.configurations[0] | "\(.throughput_hz) \(.disk_utilisation * 100) \(.response_ns / 1e6)
            \(.response_p95_ns / 1e6)" | gsub("\\s+"; " ")'
}

# "THREADS CORES RATE RUNS", then of the same four figures "median least most" each, a configuration a line.
medians() {
    awk -F, 'NR > 1 && !$6 {print $2, $3, $4, $8, 100 * $15 / $7, $9, $11}' "$kept/runs.csv" |
        jq -Rrn '[inputs | split(" ") | map(tonumber)] | group_by([.[0], .[1], .[2]])[] | . as $runs |
            [.[0][0], .[0][1], .[0][2], length] + [range(3; 7) as $k | [$runs[][$k]] | sort |
                (if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2] + .[length / 2 - 1]) / 2 end), .[0], .[-1]] |
            map(tostring) | join(" ")'
}

compare() {
    local t c r n figures p
    medians | while read -r t c r n figures; do
        p=$(predicted "$t" "$c" "$r")
        echo "$t $c $r $n $figures $p"
    done >"$kept/compared"
    echo "threads cores rate runs | throughput, 1/s: median (least .. most), predicted, error % | disk, % | mean response, ms | 95th percentile, ms"
    awk -v name="$name" 'function cell(at, predicted,   error) {
            error = 100 * (predicted / $at - 1)
            n[at]++; sum[at] += error < 0 ? -error : error
            if ((error < 0 ? -error : error) > most[at]) most[at] = error < 0 ? -error : error
            return sprintf(" | %.4g (%.4g .. %.4g) %.4g %+.1f", $at, $(at + 1), $(at + 2), predicted, error)
        }
        {printf "%d %d %d %d%s%s%s%s\n", $1, $2, $3, $4, cell(5, $17), cell(8, $18), cell(11, $19), cell(14, $20)}
        END {
            printf "%d configurations of %s, error in %%: mean (largest), and that of Tarvo and Reiss (2017, Tornado)\n", NR, name
            printf "throughput       %5.1f (%5.1f)    1.2 (  5.1)\n", sum[5] / n[5], most[5]
            printf "disk utilisation %5.1f (%5.1f)    2.5 (  7.7)\n", sum[8] / n[8], most[8]
            printf "mean response    %5.1f (%5.1f)   24.9 (158.3)\n", sum[11] / n[11], most[11]
            printf "95th percentile  %5.1f (%5.1f)      -\n", sum[14] / n[14], most[14]
        }' "$kept/compared"
    account
}

# What of the requests and bytes that the disk's own log has of the recorded run the model's calls have.
account() {
    jq -r '.nodes[].calls // empty | @tsv' "$kept/recording/model.json" |
        awk '{for (i = 1; i <= NF;) for (n = $(i++); n > 0; n--) {requests++; bytes += 512 * $(i + 1); i += 3}}
            END {print requests, bytes}' >"$kept/modelled"
    awk 'FILENAME == ARGV[1] {split($0, modelled, " "); next}
        {bytes += $5}
        END {printf "the disk had %d requests, %.2f MB; in modelled calls %d, %.2f MB; unattributed %.1f %%, %.1f %%\n",
            FNR, bytes / 1e6, modelled[1], modelled[2] / 1e6, 100 * (1 - modelled[1] / FNR),
            100 * (1 - modelled[2] / bytes)}' "$kept/modelled" "$kept/recording.log"
}

[ "$name" != tornado ] || recorded_threads=1
declare -F "${name}_command" >/dev/null || fail "no server '$name'"
need_persik
case ${1:-all} in
recorded-load) # of each recorded run; the last one is the traced one
    before=$(wc -l <"$kept/log")
    load "$recorded_rate" "$recorded_port"
    tail -n +$((before + 1)) "$kept/log" >"$kept/recording.log"
    forgotten "$before" >>"$kept/recording.forgotten"
    ;;
inside)
    scratch=$(mktemp -d)
    pid=
    trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$scratch"' EXIT
    measure
    ;;
compare) ;;
run | all)
    mkdir -p "$kept"
    rm -f "$kept/log"
    "$root/bench/slow-disk.sh" "${disk[@]}" --log "$kept/log" \
        --prepare "$built/samples/pages --files $files \"\$SLOW_DISK/www\" >$kept/urls" -- "$0" inside
    ;;
*) fail "what is '$1'? see the head of this script" ;;
esac
case ${1:-all} in
compare | all)
    "$persik" build-model -q -i "$kept/recording" >&2
    compare
    ;;
esac
