#!/bin/bash
# Whether tracing changes anything of a program: real programs from Debian, bare and under `persik trace`. Same
# output, same exit status, same descriptors for the program and its children, and no hang.
#
# usage: bench/harmless.sh [PROGRAM...]       (names below; default all that can be installed)
# RUNS=N of each under persik (50), LIMIT=S seconds for one run (120), SUITES=yes: two programs run their own test
# suite under it, too. Prints a table; exit status 1: something differed.
#
# As root it installs what is missing of Debian's packages, says so, and leaves it there; else, and where a package
# cannot be had, the row is skipped with its name. Everything runs in bench/scratch/harmless/.
set -uo pipefail
root=$(realpath "$(dirname "$0")/..")
persik=${PERSIK:-$root/build/release/persik}
runs=${RUNS:-50}
limit=${LIMIT:-120}
work=$root/bench/scratch/harmless
[ -x "$persik" ] || { echo "harmless: no $persik: run make first" >&2; exit 1; }
mkdir -p "$work"
cd "$work" || exit 1

# ---- the programs ----
# row NAME PACKAGE COMMAND [NORMALISE]: COMMAND is for bash, in a folder of its own beside ../input, ../text.c and the
# like; `$T` stands before the program that is traced. What it prints (both streams, after the sed script NORMALISE)
# and its status are compared. Those that can, print the number of a descriptor they open, or how many a child has.
names=() packages=() commands=() normalisers=()
row() {
    names+=("$1")
    packages+=("$2")
    commands+=("$3")
    normalisers+=("${4:-}")
}

digest='| sha256sum'
postgres=/usr/lib/postgresql/15/bin

row xz xz-utils "\$T xz -T2 -c --block-size=64KiB ../input $digest"
row zstd zstd "\$T zstd -q -T2 -c ../input $digest"
row pigz pigz "\$T pigz -n -p2 -c ../input $digest"
row pbzip2 pbzip2 "\$T pbzip2 -p2 -c ../input $digest"
row lbzip2 lbzip2 "\$T lbzip2 -n2 -c ../input $digest"
row 7z 7zip "\$T 7zz a -mmt2 -bso0 -bsp0 -mtm- out.7z ../input && 7zz t out.7z | grep -c 'Everything is Ok'"
row graphicsmagick graphicsmagick "\$T gm convert ../picture.ppm -blur 3x2 -sharpen 2 ppm:- $digest"
row ffmpeg ffmpeg "\$T ffmpeg -v error -f lavfi -i testsrc=d=1:s=160x120:r=10 -threads 2 -c:v mpeg4 -f rawvideo -bitexact - $digest"
row x264 x264 "\$T x264 --quiet --threads 2 --no-asm --input-res 64x48 --fps 10 -o - --demuxer raw --muxer raw ../raw.yuv $digest" \
    '/fps/d'
row openssl openssl "openssl dgst -sha256 ../input; \$T openssl speed -seconds 1 -bytes 64 -multi 2 sha256 2>&1 | grep -c sha256" \
    's/=.*//'
row sqlite3 sqlite3 "\$T sqlite3 t.db 'create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<2000) insert into t select x,x*x from c; select sum(b),count(*) from t;' '.shell ls /proc/self/fd | wc -l'"
row python3 python3 "\$T python3 -c '
import threading, queue, os
q = queue.Queue(); out = []
def work():
    while (x := q.get()) is not None: out.append(x * x)
t = [threading.Thread(target=work) for _ in range(4)]
[x.start() for x in t]; [q.put(i) for i in range(500)]; [q.put(None) for _ in t]; [x.join() for x in t]
f = os.open(\"/dev/null\", 0); print(sum(out), f, os.listdir(\"/proc/self/fd\").__len__())'"
row perl perl "\$T perl -Mthreads -e '
    my @t = map { my \$n = \$_; threads->create(sub { my \$s = 0; \$s += \$_ * \$n for 1 .. 20000; \$s }) } 1 .. 4;
    print join(\" \", map { \$_->join } @t), \"\\n\"; open my \$f, \"<\", \"/dev/null\"; print fileno(\$f), \"\\n\"'"
row ruby ruby "\$T ruby -e 't = 4.times.map { |n| Thread.new { (1..20000).sum { |x| x * n } } }; p t.map(&:value), IO.sysopen(\"/dev/null\")'"
row lua lua5.4 "\$T lua5.4 -e 'local s = 0 for i = 1, 300000 do s = (s * 31 + i) % 1000003 end print(s) local p = io.popen(\"ls /proc/self/fd | wc -l\") print(p:read(\"a\"))'"
row node nodejs "\$T node -e 'const {Worker, isMainThread} = require(\"worker_threads\"); let n = 0; for (let i = 0; i < 3; i++) { const w = new Worker(\"require(\\\"worker_threads\\\").parentPort.postMessage(7)\", {eval: true}); w.on(\"message\", x => { n += x; if (n === 21) console.log(n); }); }'"
row java default-jre-headless "\$T java -Xshare:auto -version"
row gcc gcc "\$T gcc -O1 -c ../text.c -o a.o && objdump -d a.o $digest"
row clang clang-14 "\$T clang-14 -O1 -c ../text.c -o a.o && objdump -d a.o $digest"
row make make "cp ../text.c a.c; cp ../text.c b.c; printf 'all: a.o b.o\n%%.o: %%.c\n\tcc -c \$< -o \$@\n' >Makefile; \$T make -s -j2 && ls"
row git git "\$T git init -q g && cd g && cp ../../text.c . && git add . && git -c user.name=a -c user.email=a@b commit -q -m x --date=2020-01-01T00:00:00Z && git ls-tree HEAD && \$T git grep -c int && \$T git gc -q && \$T git fsck"
row tar tar "\$T tar --sort=name --mtime=@0 -C .. -cf - input text.c $digest"
row curl curl "\$T curl -sf file://$work/input file://$work/text.c $digest"
row rsync rsync "mkdir from && cp ../input ../text.c from && \$T rsync -a from/ to/ && (cd to && sha256sum *)"
row jemalloc libjemalloc2 "LD_PRELOAD=libjemalloc.so.2 \$T xz -T2 -c --block-size=64KiB ../input $digest"
row tcmalloc libtcmalloc-minimal4 "LD_PRELOAD=libtcmalloc_minimal.so.4 \$T xz -T2 -c --block-size=64KiB ../input $digest"
row chromium chromium "\$T /usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --user-data-dir=profile --dump-dom file://$work/page.html 2>/dev/null"

# Servers: the one traced is the server; the client is beside it, in the harness, and ends it.
# server NAME PACKAGE COMMAND READY CLIENT STOP [NORMALISE]: STOP ends the server by its id, $server.
server() {
    row "$1" "$2" "@$3@@$4@@$5" "${6:-}"
}
server redis redis-server 'redis-server --port $port --save "" --appendonly no --io-threads 2 --dir .' \
    'redis-cli -p $port ping' \
    'redis-benchmark -p $port -n 2000 -c 10 -q -t set,get | grep -c requests; redis-cli -p $port dbsize'
server memcached memcached 'memcached -u nobody -p $port -U 0 -t 2 -l 127.0.0.1' \
    'printf "version\r\nquit\r\n" | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3"' \
    'for i in $(seq 20); do printf "set k%s 0 0 2\r\nab\r\nget k%s\r\nquit\r\n" $i $i | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3"; done | sort | uniq -c'
server nginx nginx-light 'nginx -p . -c nginx.conf' 'curl -sf http://127.0.0.1:$port/text.c' \
    'for i in $(seq 30); do curl -sf http://127.0.0.1:$port/input | sha256sum; done | sort | uniq -c'
server lighttpd lighttpd 'lighttpd -D -f lighttpd.conf' 'curl -sf http://127.0.0.1:$port/text.c' \
    'for i in $(seq 30); do curl -sf http://127.0.0.1:$port/input | sha256sum; done | sort | uniq -c'
server apache2 apache2-bin 'apache2 -X -d . -f apache.conf' 'curl -sf http://127.0.0.1:$port/text.c' \
    'for i in $(seq 30); do curl -sf http://127.0.0.1:$port/input | sha256sum; done | sort | uniq -c'
server postgres postgresql-15 "setpriv --reuid=postgres --regid=postgres --clear-groups $postgres/postgres -D ../pgdata -p \$port -h 127.0.0.1 -k ''" \
    'setpriv --reuid=postgres --clear-groups --regid=postgres psql -h 127.0.0.1 -p $port -l' \
    'for i in $(seq 5); do setpriv --reuid=postgres --clear-groups --regid=postgres psql -qAt -h 127.0.0.1 -p $port postgres -c "create temp table t as select generate_series(1, 2000) as a" -c "select sum(a), count(*) from t"; done'
# ---- what they work on ----

make_inputs() {
    [ -s input ] || head -c 600000 "$persik" >input
    cp "$root/bench/probe_cost.c" text.c
    sed -i 's/#include "tracer.*/static unsigned long clock_after(void) { return 0; }\n#define clock_before clock_after\n#include <stdint.h>/' text.c
    [ -s raw.yuv ] || head -c $((64 * 48 * 3 / 2 * 12)) input >raw.yuv
    [ -s picture.ppm ] || { printf 'P6\n200 150\n255\n'; head -c $((200 * 150 * 3)) input; } >picture.ppm
    echo '<p id=a>x</p><script>let s = 0; for (let i = 0; i < 1000; i++) s += i; a.textContent = s</script>' >page.html
    chmod -R a+rX . 2>/dev/null
}

# A database cluster, which refuses to be root's.
make_cluster() {
    [ -x "$postgres/initdb" ] && [ ! -d pgdata ] || return 0
    mkdir pgdata && chown postgres: pgdata
    setpriv --reuid=postgres --regid=postgres --clear-groups "$postgres/initdb" -D pgdata -A trust >/dev/null 2>&1 ||
        echo "harmless: no database cluster could be made" >&2
}

# What the servers want in their folder.
make_configuration() {
    cat >nginx.conf <<END
daemon off; worker_processes 2; pid nginx.pid; error_log error.log; user root;
events {}
http { access_log off; server { listen 127.0.0.1:$port; root $work; default_type text/plain; } }
END
    cat >lighttpd.conf <<END
server.document-root = "$work"
server.port = $port
server.bind = "127.0.0.1"
END
    local modules=/usr/lib/apache2/modules
    cat >apache.conf <<END
Listen 127.0.0.1:$port
ServerName localhost
PidFile $PWD/apache.pid
ErrorLog $PWD/error.log
DocumentRoot $work
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
User www-data
Group www-data
END
}

install_missing() {
    local missing=() i
    for i in "${!names[@]}"; do
        is_chosen "${names[i]}" || continue
        dpkg-query -W -f '${db:Status-Status}' "${packages[i]}" 2>/dev/null | grep -qx installed ||
            missing+=("${packages[i]}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 0
    echo "harmless: installing ${missing[*]} (left there afterwards)" >&2
    export DEBIAN_FRONTEND=noninteractive
    # Servers are not to start by themselves here.
    local policy=/usr/sbin/policy-rc.d made=
    [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; made=yes; }
    apt-get update -qq >/dev/null 2>&1
    for i in "${missing[@]}"; do
        apt-get install -y -qq --no-install-recommends "$i" >/dev/null 2>&1 || echo "harmless: no package $i" >&2
    done
    [ -z "$made" ] || rm -f "$policy"
}

# ---- running ----

chosen=" $* "
is_chosen() { [ "$chosen" = "  " ] || [[ $chosen == *" $1 "* ]]; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

trace_words="$persik trace -q --plain-runs 0 --no-evictions --no-block-io -o ../recording --"

# Every process that has this one as an ancestor, youngest last.
descendants() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$child"
        descendants "$child"
    done
}

# A server: started, waited for, asked, told to end. Its descriptors are counted where it serves.
run_server() {
    local how=$1 command ready client server status=0 i serving open_files
    command=${2#@}
    ready=${command#*@@}
    command=${command%%@@*}
    client=${ready#*@@}
    ready=${ready%%@@*}
    eval "command=\"${command//\"/\\\"}\""
    make_configuration
    eval "exec $T $command" \
        >server.log 2>&1 &
    server=$!
    for i in $(seq 100); do
        eval "$ready" >/dev/null 2>&1 && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    eval "timeout -k 5 $limit bash -c '${client//\'/\'\\\'\'}'" 2>&1
    serving=$(descendants "$server" | head -n 1)
    [ "$how" = traced ] || serving=$server
    open_files=$(find "/proc/${serving:-none}/fd" -mindepth 1 2>/dev/null | wc -l)
    echo "descriptors: $open_files"
    kill -TERM "${serving:-$server}" 2>/dev/null
    for i in $(seq 100); do
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    if kill -0 "$server" 2>/dev/null; then
        # shellcheck disable=SC2046
        kill -KILL $(descendants "$server") "$server" 2>/dev/null
        echo "did not end on SIGTERM"
    fi
    wait "$server" || status=$?
    return $status
}

# run_once HOW INDEX: output in ../HOW.out, status in ../HOW.status.
run_once() {
    rm -rf "$work/run" "$work/recording"
    mkdir "$work/run"
    chmod a+rwx "$work/run"
    (
        cd "$work/run" || exit 1
        port=$(free_port)
        export port
        T=
        [ "$1" = bare ] || T=$trace_words
        export T
        command=${commands[$2]}
        if [ "${command#@}" != "$command" ]; then
            run_server "$1" "$command"
        else
            timeout -k 5 "$limit" bash -o pipefail -c "$command"
        fi
    ) >"$1.raw" 2>&1 </dev/null
    echo $? >"$1.status"
    sed -e '/^persik: /d' -e "${normalisers[$2]}" -e "s#:[0-9]\{4,5\}/#:PORT/#g" "$1.raw" >"$1.out"
}

failed=0
verdict() {
    local i=$1 worst=same hangs=0 differs=0
    run_once bare "$i"
    mv bare.out first.out
    run_once bare "$i"
    if ! cmp -s first.out bare.out; then
        echo "| ${names[i]} | - | - | not deterministic by itself: give it a normaliser |"
        failed=1
        return
    fi
    for _ in $(seq "$runs"); do
        run_once traced "$i"
        case $(cat traced.status) in 124 | 137) hangs=$((hangs + 1)) ;; esac
        if ! cmp -s bare.out traced.out || ! cmp -s bare.status traced.status; then
            differs=$((differs + 1))
            [ "$differs" -gt 1 ] || diff <(cat bare.out bare.status) <(cat traced.out traced.status) \
                >"${names[i]}.diff"
        fi
    done
    [ "$differs" -eq 0 ] || { failed=1; worst="see bench/scratch/harmless/${names[i]}.diff"; }
    echo "| ${names[i]} | $differs of $runs | $hangs | $worst |"
}

# suite NAME FOLDER TARGET: a program's own tests, `make TARGET` in a folder of its source, with everything that make
# starts under persik --follow. They must pass bare first, which also builds them, and say something.
suite() {
    local folder seconds
    "$root/bench/$1-fetch" >/dev/null || { echo "| $1 test suite | skipped: no source | | |"; return; }
    folder=$root/bench/scratch/$1/source/$2
    if ! (cd "$folder" && timeout -k 5 3600 make "$3") >"$work/$1.bare" 2>&1 </dev/null; then
        echo "| $1 test suite | skipped: fails without persik, too | | |"
        return
    fi
    seconds=$SECONDS
    if (cd "$folder" && timeout -k 5 3600 "$persik" trace -q --follow --plain-runs 0 --no-evictions \
        --no-block-io -o "$work/recording" -- make "$3") >"$work/$1.suite" 2>&1 </dev/null &&
        [ "$(wc -l <"$work/$1.suite")" -gt 20 ]; then
        echo "| $1 test suite | 0 of 1 | 0 | same, in $((SECONDS - seconds)) s |"
    else
        echo "| $1 test suite | 1 of 1 | | see bench/scratch/harmless/$1.suite |"
        failed=1
    fi
}

make_inputs
install_missing
make_cluster
echo "| program | differs | hangs | first difference |"
echo "|---|--:|--:|---|"
for i in "${!names[@]}"; do
    is_chosen "${names[i]}" || continue
    if dpkg-query -W -f '${db:Status-Status}' "${packages[i]}" 2>/dev/null | grep -qx installed; then
        verdict "$i"
    else
        echo "| ${names[i]} | skipped: no package ${packages[i]} | | |"
    fi
done
if [ "${SUITES:-no}" = yes ]; then
    suite xz . check
    suite zstd tests shortest
fi
exit $failed
