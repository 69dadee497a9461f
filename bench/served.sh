# The real servers that bench/ records and measures: how each is started and asked; sourced by the scripts there, after
# programs.sh. `port` is where it listens, `scratch` a folder for its files, which its user must be able to read.
#
# NAME_begin makes what the server needs; status 77: it is not there. NAME_server THREADS sets `server`, its command;
# NAME_load sets `asks`, the further arguments of `persik load`. NAME_rates CORES prints the rates at which it is
# measured, the highest of which is beyond saturation; NAME_recorded the one that is recorded.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by the sourcing script
# shellcheck disable=SC2034 # for the sourcing script

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
    mkdir "$scratch/www"
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
