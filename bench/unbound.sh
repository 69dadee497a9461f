#!/bin/bash
# How well unbound is predicted, a name server whose requests are datagrams: it answers names of its own, on a socket
# of each thread (SO_REUSEPORT) or on one that all threads share. Recorded once with 2 threads at a middle rate, then
# run and predicted over threads and rates by `persik validate`; response times are the client's.
# Its first thread serves, too, beside those that it makes.
#
# usage: bench/unbound.sh      (the recordings stay in bench/scratch/unbound-SOCKETS.data)
#   SOCKETS          own, shared or both (own shared)
#   THREADS, RATES   the configurations (1,2,4 and 2000,5000,10000 requests a second)
#   RUNS, DURATION   of each configuration (3), of each run (3s)
#   WITH             a command that starts all of it: on a busy machine, as root, "chrt -r 1"
set -euo pipefail
# shellcheck source=programs.sh
. "$(dirname "$0")/programs.sh"

read -ra with <<<"${WITH:-}"
read -ra sockets <<<"${SOCKETS:-own shared}"
threads=${THREADS:-1,2,4}
rates=${RATES:-2000,5000,10000}
runs=${RUNS:-3}
duration=${DURATION:-3s}
recorded_rate=4000
port=53535
# Who is a.test, an A record of class IN: the header, the name in labels, the type and the class.
query='\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x04test\x00\x00\x01\x00\x01'

need_persik
unbound=$("$root/bench/unbound-fetch")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# configure SOCKETS THREADS: a file of that name; no user, folder or control socket is needed.
configure() {
    local reuse=yes
    [ "$1" = own ] || reuse=no
    cat >"$scratch/$1-$2.conf" <<END
server:
    interface: 127.0.0.1@$port
    num-threads: $2
    so-reuseport: $reuse
    do-tcp: no
    do-daemonize: no
    username: ""
    chroot: ""
    directory: "$scratch"
    pidfile: ""
    use-syslog: no
    verbosity: 0
    module-config: "iterator"
    local-zone: "test." static
    local-data: "a.test. A 127.0.0.2"
remote-control:
    control-enable: no
END
}

load="$persik load --rate {rate}/s --duration $duration --warmup 200ms --connections 64 --send '$query' udp://127.0.0.1:$port"
for kind in "${sockets[@]}"; do
    for n in 2 ${threads//,/ }; do configure "$kind" "$n"; done
    data=$work/unbound-$kind.data
    say "unbound, $kind sockets"
    "${with[@]}" "$persik" profile -q --no-evictions -o "$data" --load "${load//\{rate\}/$recorded_rate}" -- \
        "$unbound" -d -c "$scratch/$kind-2.conf" || fail "unbound was not profiled: what it said is above"
    "$persik" build-model -i "$data" >&2
    "${with[@]}" "$persik" validate -i "$data" --threads "$threads" --arrivals "$rates" --runs "$runs" --load "$load" -- \
        "$unbound" -d -c "$scratch/$kind-{threads}.conf"
done
