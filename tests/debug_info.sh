#!/bin/sh
# Debug information that is there is found, however it was written; where not, the true reason is said.
# usage: tests/debug_info.sh BUILD-FOLDER
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
unset DEBUGINFOD_URLS PERSIK_DEBUGINFOD

cat >q.c <<'END'
#include <pthread.h>
struct queue { pthread_mutex_t lock; pthread_cond_t some, room; int count, size; };
static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 3};
static inline void put(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->count == q->size)
        pthread_cond_wait(&q->room, &q->lock);
    q->count++;
    pthread_cond_signal(&q->some);
    pthread_mutex_unlock(&q->lock);
}
static inline void get(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->some, &q->lock);
    q->count--;
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
}
static void *take(void *unused) {
    for (int i = 0; i < 40; i++)
        get(&queue);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, take, 0);
    for (int i = 0; i < 40; i++)
        put(&queue);
    return pthread_join(thread, 0);
}
END

# record FOLDER: traces FOLDER/q after its source was looked at
record() {
    rm -rf "$1/data"
    (cd "$1" && "$persik" profile --no-sample --no-block-io --no-evictions --plain-runs 0 -o data ./q) >out 2>"$1/err"
}
functions_of() { jq -r '[.fragments[].place.function] | unique | join(" ")' "$1/data/static.json" 2>&1; }

# is_found FOLDER: the calls' lines, also those of inlined functions; the source; what the probes are to look at
is_found() {
    record "$1"
    "$persik" report -i "$1/data" >report 2>&1
    cat "$1/err" report >log
    [ "$(functions_of "$1")" = "get main put" ] && grep -q '^put (q\.c:5)' report &&
        ! grep -q 'calls in q' "$1/err"
}

# made NAME COMMAND...: builds in a folder of that name
made() {
    mkdir "$1" && cd "$1" || return 1
    shift
    "$@" >../log 2>&1
    made_status=$?
    cd ..
    return $made_status
}

# found NAME "what it is" COMMAND...
found() {
    name=$1
    what=$2
    shift 2
    made "$name" "$@" && is_found "$name"
    report $? "debug information is found: $what"
}

needs() { # TOOL WHAT: skips where there is no such tool
    command -v "$1" >/dev/null && return 0
    skip "debug information is found: $2" "no $1"
    return 1
}

found gcc "gcc's" gcc -g -O1 ../q.c -o q -lpthread
found split "gcc's in .dwo files" gcc -g -gsplit-dwarf -O1 ../q.c -o q -lpthread
found split4 "gcc's in .dwo files, DWARF 4" gcc -g -gdwarf-4 -gsplit-dwarf -O1 ../q.c -o q -lpthread
found compressed "compressed" gcc -g -gz -O1 ../q.c -o q -lpthread
found types "with types in sections of their own" gcc -g -fdebug-types-section -O1 ../q.c -o q -lpthread
needs clang-14 "Clang's, DWARF 5" && found clang "Clang's, DWARF 5" clang-14 -g -O1 ../q.c -o q -lpthread
needs clang-14 "Clang's, DWARF 4" && found clang4 "Clang's, DWARF 4" clang-14 -g -gdwarf-4 -O1 ../q.c -o q -lpthread
needs clang-14 "Clang's in .dwo files" &&
    found clangsplit "Clang's in .dwo files" clang-14 -g -gsplit-dwarf -O1 ../q.c -o q -lpthread
needs clang-14 "of Clang's and gcc's files in one program" &&
    found both "of Clang's and gcc's files in one program" sh -c "echo 'int other(void) { return 1; }' >other.c
        gcc -g -c other.c && clang-14 -g -O1 ../q.c other.o -o q -lpthread"
needs dwz "what dwz shares between programs" && found shared "what dwz shares between programs" sh -c \
    "gcc -g -O1 ../q.c -o q -lpthread && gcc -g -O1 -DP ../q.c -o p -lpthread && dwz -m common.debug q p"
found linked "by .gnu_debuglink" sh -c \
    "gcc -g -O1 ../q.c -o q -lpthread && objcopy --only-keep-debug q q.debug && strip q && objcopy --add-gnu-debuglink=q.debug q"

# ---- by build id ----

made apart sh -c "gcc -g -O1 -Wl,--build-id=0xc4badc0ffee4badc0ffee4badc0ffee4badc0ffe ../q.c -o q -lpthread && objcopy --only-keep-debug q ../kept && strip q" || exit 1
by_build_id() {
    unshare -m sh -ec 'mount -t tmpfs none /usr/lib/debug; mkdir -p /usr/lib/debug/.build-id/c4
        cp kept /usr/lib/debug/.build-id/c4/badc0ffee4badc0ffee4badc0ffee4badc0ffe.debug; cd apart
        "$0" profile --no-sample --no-block-io --no-evictions --plain-runs 0 -o data ./q' "$persik" >log 2>apart/err &&
        [ "$(functions_of apart)" = "get main put" ] && ! grep -q 'calls in q' apart/err # those of libc are hidden
}
if [ -d /usr/lib/debug ] && unshare -m mount -t tmpfs none /usr/lib/debug 2>/dev/null; then
    by_build_id
    report $? "debug information is found: by build id"
else
    skip "debug information is found: by build id" "no mounts permitted"
fi

# ---- on the network ----

mkdir -p server/buildid/c4badc0ffee4badc0ffee4badc0ffee4badc0ffe && cp kept server/buildid/c4badc0ffee4badc0ffee4badc0ffee4badc0ffe/debuginfo
export DEBUGINFOD_URLS="file://$scratch/server" DEBUGINFOD_CACHE_PATH="$scratch/debuginfod"
record apart
[ ! -e "$scratch/debuginfod" ] && grep -q 'no debug information' apart/err
report $? "nobody is asked for debug information by default"
cat >shows.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) { const char *servers = getenv("DEBUGINFOD_URLS"); puts(servers ? servers : "none"); return 0; }
END
gcc shows.c -o shows && "$persik" trace -q --no-block-io --no-evictions --plain-runs 0 -o shown ./shows 2>err | grep -qx "$DEBUGINFOD_URLS"
report $? "the program sees DEBUGINFOD_URLS as it is without persik"
export PERSIK_DEBUGINFOD=1
if ldconfig -p | grep -q libdebuginfod; then
    record apart
    [ "$(functions_of apart)" = "get main put" ]
    report $? "debug information is found: on a server, when asked for"
else
    skip "debug information is found: on a server, when asked for" "no libdebuginfod"
fi
unset DEBUGINFOD_URLS PERSIK_DEBUGINFOD

# ---- none ----

# says FOLDER TEXT NAME
says() {
    record "$1"
    cp "$1/err" log
    grep -q "no facts from the source.*no debug information.*$2" "$1/err" &&
        grep -q "calls in q: no debug information: $2" "$1/err"
    report $? "$3"
}
made plain gcc -O1 ../q.c -o q -lpthread
says plain 'compile it with -g' "a program without debug information: to compile it with -g is asked for"
rm linked/q.debug
says linked 'it is in q.debug, which is not there' "a debug file that is gone is named"
rm split/*.dwo
record split
grep -q 'no debug information.*\.dwo, which is not there' split/err
report $? "a .dwo file that is gone is named"
if command -v llvm-dwp-14 >/dev/null && command -v clang-14 >/dev/null; then
    made packed sh -c "clang-14 -g -gsplit-dwarf -O1 ../q.c -o q -lpthread; llvm-dwp-14 -e q -o q.dwp && rm -- *.dwo"
    record packed
    grep -q 'no debug information.*packed in .*q.dwp' packed/err
    report $? "a .dwp file, which libdw cannot read, is named"
else
    skip "a .dwp file, which libdw cannot read, is named" "no llvm-dwp-14"
fi

# ---- C++ ----

cat >pool.cpp <<'END'
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>
int main() {
    std::mutex m; std::condition_variable some; std::queue<int> q; bool closed = false;
    std::vector<std::thread> pool;
    for (int k = 0; k < 4; k++)
        pool.emplace_back([&] {
            for (;;) {
                std::unique_lock<std::mutex> l(m);
                some.wait(l, [&] { return !q.empty() || closed; });
                if (q.empty()) return;
                q.pop();
                l.unlock();
                for (volatile int j = 0; j < 10000; j++) ;
            }
        });
    /* all of the pool are there before the work is, and so at once */
    std::thread reader([&] {
        for (int i = 0; i < 60; i++) { std::lock_guard<std::mutex> l(m); q.push(i); some.notify_one(); }
        std::lock_guard<std::mutex> l(m); closed = true; some.notify_all();
    });
    reader.join();
    for (auto &t : pool) t.join();
}
END
# pooled NAME WHAT COMPILER...
pooled() {
    name=$1
    what=$2
    shift 2
    made "$name" "$@" -g -O2 -pthread ../pool.cpp -o q && record "$name"
    "$persik" build-model -q -i "$name/data" >log 2>&1
    jq -e '[.pools[] | select(.threads == 4)] | length == 1' "$name/data/model.json" >/dev/null &&
        ! grep -q 'calls in q: no' "$name/err"
    report $? "threads of one lambda are one pool: $what"
}
pooled cxx "g++" g++
pooled cxxstatic "g++ -static-libstdc++" g++ -static-libstdc++ -static-libgcc
pooled cxxsplit "g++ -gsplit-dwarf" g++ -gsplit-dwarf
if command -v clang++-14 >/dev/null; then
    pooled cxxclang "Clang" clang++-14
else
    skip "threads of one lambda are one pool: Clang" "no clang++-14"
fi

# ---- what is read ----

# Files called as headers of C++'s library, beside the source, which includes one of its own from there
made names sh -c 'for n in ratio version string; do echo "this is no header" >$n; done
    echo "inline int one() { return 1; }" >own.h; sed "1i #include \"own.h\"" ../pool.cpp >pool.cpp
    g++ -g -O1 -pthread -iquote . pool.cpp -o q'
record names
jq -e '(.problems | length) == 0 and ([.fragments[].place.function] | index("main") != null)' names/data/static.json >/dev/null
report $? "a file called ratio, version or string beside the source hides no header of C++"

made broken sh -c 'cp ../q.c q.c; gcc -g -O1 q.c -o q -lpthread; sed -i "s/^static void \*take/static oops *take/" q.c'
record broken
cp broken/err log
[ "$(grep -c "warning:.*/q.c: cannot be parsed completely.*q.c:20:.*oops.*may be missed" broken/err)" -eq 1 ]
report $? "a source file that cannot be parsed is said, once, with its first error and what comes of it"

finish
