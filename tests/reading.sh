#!/bin/sh
# What the source analysis reads: not only what a sample fell into. usage: tests/reading.sh BUILD-FOLDER
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

run() { "$persik" "$@" >out 2>err; }

# A queue by hand: one side is reached from main, the other is found by its name alone.
cat >queue.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static int count;
void put(void) {
    pthread_mutex_lock(&lock);
    while (count == 3)
        pthread_cond_wait(&room, &lock);
    count++;
    pthread_cond_signal(&some);
    pthread_mutex_unlock(&lock);
}
static void get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&some, &lock);
    count--;
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&lock);
}
static void *take(void *unused) {
    for (int i = 0; i < 100; i++)
        get();
    return unused;
}
void unused_one(void) { pthread_mutex_lock(&lock); }
int main(void) {
    pthread_t thread;
    void (*give)(void);
    *(void **)&give = dlsym(RTLD_DEFAULT, "put");
    pthread_create(&thread, 0, take, 0);
    for (int i = 0; i < 100; i++)
        give();
    return pthread_join(thread, 0);
}
END
gcc -g -O1 -rdynamic queue.c -o queue -lpthread -ldl || exit 1

# functions_of FOLDER: those with calls that the facts know of, in a line
functions_of() { jq -r '[.fragments[].place.function] | unique | join(" ")' "$1/static.json"; }

mkdir alone
run analyze -o alone ./queue
[ "$(functions_of alone)" = "get main put unused_one" ]
report $? "without samples and trace all functions are read"

# so rarely that no sample falls
run profile -q --rate 1 --no-block-io --no-evictions --plain-runs 0 -o rare ./queue
[ "$(functions_of rare)" = "get main put" ]
report $? "a function in which traced calls were made is read though no sample fell and main does not lead to it"
jq -e '.monitors[] | select(.kind == "bounded queue" or .kind == "queue")' rare/static.json >/dev/null
report $? "and so the queue that it is one side of is found"

# as if a sample had fallen into one thread alone
mkdir one
jq '.functions = [{"name": "take"}]' rare/sample.json >one/sample.json
run analyze -o one ./queue
[ "$(functions_of one)" = "get main" ]
report $? "what main leads to is read though no sample fell into main"
cp rare/trace.persik one/
run analyze -o one ./queue
[ "$(functions_of one)" = "get main put" ]
report $? "persik analyze reads the functions of a trace that is there"

# A library of the program's own
sed -n '/^static pthread_mutex_t/,/^static void get/p' queue.c | sed '$d' >part.c
cat >lib.c <<'END'
#include <pthread.h>
END
cat part.c >>lib.c
cat >user.c <<'END'
#include <pthread.h>
void put(void);
static void *give(void *unused) { put(); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, give, 0);
    return pthread_join(thread, 0);
}
END
gcc -g -O1 -shared -fPIC lib.c -o libpart.so -lpthread && gcc -g -O1 user.c -o user -L. -lpart -Wl,-rpath,"$scratch" -lpthread
run profile -q --rate 1 --no-block-io --no-evictions --plain-runs 0 -o library ./user
[ "$(functions_of library)" = "main put" ]
report $? "a library of the program's own is read though no sample fell into it"

# What the command becomes by exec; it runs long enough to be looked at.
sed 's/return pthread_join(thread, 0);/usleep(500000); return pthread_join(thread, 0);/; 1i #include <unistd.h>' \
    queue.c >slow.c
gcc -g -O1 -rdynamic slow.c -o slow -lpthread -ldl
run profile -q --no-block-io --no-evictions --plain-runs 0 -o chain env A=1 nice ./slow
[ "$(functions_of chain)" = "get main put" ]
report $? "of env, nice and the like the program is read that they become"

finish
