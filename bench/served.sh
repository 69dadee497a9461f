# The real servers that bench/ records and measures: how each is started and asked; sourced by the scripts there, after
# programs.sh. `port` is where it listens, `scratch` a folder for its files, which its user must be able to read.
#
# NAME_begin makes what the server needs; status 77: it is not there. NAME_server THREADS sets `server`, its command;
# NAME_load sets `asks`, the further arguments of `persik load`. NAME_rates CORES prints the rates at which it is
# measured, the highest of which is beyond saturation; NAME_recorded the one that is recorded. NAME_threads, if it is
# there: the server has so many, whatever THREADS is. NAME_beside prints figures of others to compare with.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by the sourcing script
# shellcheck disable=SC2034 # for the sourcing script

# is_listening PID: the process has a socket at $port by now, of whichever kind.
is_listening() {
    kill -0 "$1" 2>/dev/null || fail "the server did not start"
    grep -qi ":$(printf '%04X' "$port") 0*:0000 \(0A\|07\)" /proc/net/tcp /proc/net/udp
}

# A request asks for 2,000 keys ($memcached_keys) that are not there. The threads are event loops.
memcached_begin() {
    memcached=$("$root/bench/memcached-fetch") || return $?
    seq -f 'key%06.0f' "${memcached_keys:-2000}" | tr '\n' ' ' | sed 's/^/get /; s/ $/\\r\\n\n/' >"$scratch/keys"
}
memcached_server() { server=("$memcached" -u nobody -l 127.0.0.1 -p "$port" -t "$1"); }
memcached_load() { asks=(--connections 32 --urls "$scratch/keys" --until 'END\r\n' "tcp://127.0.0.1:$port"); }
memcached_recorded() { echo 400; }
memcached_rates() { [ "$1" = 1 ] && echo 400 800 1600 8000 || echo 400 800 1600 12000; }

# The worker model in one process (-X): a text of 40 kB is compressed for each request, on a connection of its own. The
# threads are workers.
apache_begin() {
    local modules=/usr/lib/apache2/modules
    [ -x /usr/sbin/apache2 ] || {
        say "no Apache: install apache2-bin"
        return 77
    }
    mkdir -p "$scratch/www"
    cat "$root"/docs/*.md >"$scratch/text"
    head -c 40000 "$scratch/text" >"$scratch/www/text.txt"
    chmod a+rx "$scratch"
    chmod -R a+rX "$scratch/www"
    {
        for module in mpm_worker authz_core filter deflate headers; do
            echo "LoadModule ${module}_module $modules/mod_$module.so"
        done
        echo "Listen 127.0.0.1:$port
ListenBacklog 4096
ServerName localhost
PidFile $scratch/apache.pid
ErrorLog $scratch/apache.log
DocumentRoot $scratch/www
User www-data
Group www-data
ServerLimit 1
ThreadLimit 64
StartServers 1
ThreadsPerChild \${THREADS}
MaxRequestWorkers \${THREADS}
KeepAlive Off
RequestHeader set Accept-Encoding gzip early
SetOutputFilter DEFLATE"
    } >"$scratch/apache.conf"
}
apache_server() { server=(env "THREADS=$1" apache2 -X -d "$scratch" -f "$scratch/apache.conf"); }
apache_load() { asks=(--no-keep-alive "http://127.0.0.1:$port/text.txt"); }
apache_recorded() { echo 400; }
apache_rates() { [ "$1" = 1 ] && echo 150 300 500 1200 || echo 300 600 900 2000; }

# Answers from its own data, a set of 2,000 addresses by UDP, on a socket of each thread.
unbound_begin() {
    unbound=$("$root/bench/unbound-fetch") || return $?
    awk 'BEGIN { for (i = 0; i < 2000; i++) printf "    local-data: \"a.test. A 10.0.%d.%d\"\n", i / 250, i % 250 }' \
        >"$scratch/addresses"
}
unbound_server() {
    {
        echo "server:
    interface: 127.0.0.1@$port
    num-threads: $1
    so-reuseport: yes
    do-tcp: no
    do-daemonize: no
    username: \"\"
    chroot: \"\"
    directory: \"$scratch\"
    pidfile: \"\"
    use-syslog: no
    verbosity: 0
    max-udp-size: 65000
    module-config: \"iterator\"
    local-zone: \"test.\" static"
        cat "$scratch/addresses"
        echo "remote-control:
    control-enable: no"
    } >"$scratch/unbound-$1.conf"
    server=("$unbound" -d -c "$scratch/unbound-$1.conf")
}
# Who is a.test, an A record of class IN: header, the name in labels, type and class, and (EDNS) that answers may have
# 65,000 bytes.
unbound_load() {
    local query='\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x01a\x04test\x00\x00\x01\x00\x01'
    asks=(--connections 64 --send "$query"'\x00\x00\x29\xfd\xe8\x00\x00\x00\x00\x00\x00' "udp://127.0.0.1:$port")
}
unbound_recorded() { echo 4000; }
unbound_rates() { [ "$1" = 1 ] && echo 2000 5000 12000 40000 || echo 2000 5000 15000 40000; }

# One loop, which has no threads: a page is put together of 500 variables (SSI) for each request, on a connection that is
# kept.
lighttpd_begin() {
    [ -x /usr/sbin/lighttpd ] || {
        say "no lighttpd: install lighttpd"
        return 77
    }
    mkdir -p "$scratch/www"
    awk 'BEGIN { for (i = 0; i < 500; i++) print "<p><!--#echo var=\"REQUEST_URI\" --></p>" }' >"$scratch/www/page.shtml"
    echo "server.port = $port
server.bind = \"127.0.0.1\"
server.document-root = \"$scratch/www\"
server.modules = ( \"mod_ssi\" )
server.max-keep-alive-requests = 1000000
ssi.extension = ( \".shtml\" )" >"$scratch/lighttpd.conf"
}
lighttpd_server() { server=(/usr/sbin/lighttpd -D -f "$scratch/lighttpd.conf"); }
lighttpd_load() { asks=(--connections 32 "http://127.0.0.1:$port/page.shtml"); }
lighttpd_threads() { echo 1; }
lighttpd_recorded() { echo 2000; }
lighttpd_rates() { [ "$1" = 1 ] && echo 1000 2500 5000 16000 || echo 1000 2500 5000 16000; }

# The paper's web server (samples/tornado) bound by its computation: some 0.9 ms for each request, and 200 files of 4 to 64
# kB that memory holds. The threads are workers.
tornado_begin() {
    local i
    make -s -C "$root" B="$built" "$built/samples/tornado" || return $?
    mkdir -p "$scratch/www"
    for ((i = 0; i < 200; i++)); do
        head -c $((4096 + i * 307)) /dev/zero >"$scratch/www/$i"
        echo "/$i"
    done | shuf --random-source=/dev/zero >"$scratch/urls"
}
tornado_server() { server=("$built/samples/tornado" --port "$port" --threads "$1" --root "$scratch/www" --compute 900); }
tornado_load() { asks=(--no-keep-alive --urls "$scratch/urls" "http://127.0.0.1:$port"); }
tornado_recorded() { echo 500; }
tornado_rates() { [ "$1" = 1 ] && echo 200 400 600 800 2000 || echo 300 600 1000 1400 3000; }
tornado_beside() {
    echo "beside: Tarvo and Reiss (2017), servers bound by computation: saturated throughput 2.7 to 9.9 %, mean response 13.4" \
        "to 26.9 %"
}
