/* A fixed table of function pointers with an index under a mutex: the threads divide it among them
 * and leave when it is used up. There is no queue, nobody submits, nobody waits. */
#include <pthread.h>

#include "support.h"

typedef uint64_t (*pass)(unsigned unit);

static uint64_t parse(unsigned unit) {
    return burn(unit, 400);
}

static uint64_t check(unsigned unit) {
    return burn(unit + 1, 700);
}

static uint64_t emit(unsigned unit) {
    return burn(unit + 2, 1000);
}

static const pass passes[] = {parse, check, emit};

static struct {
    pthread_mutex_t mutex;
    unsigned next, end;
} work = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void *compile(void *argument) {
    uint64_t *sum = argument;
    for (;;) {
        pthread_mutex_lock(&work.mutex);
        if (work.next == work.end) {
            pthread_mutex_unlock(&work.mutex);
            return NULL;
        }
        unsigned unit = work.next++;
        pthread_mutex_unlock(&work.mutex);
        *sum += passes[unit % 3](unit);
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t threads[options.threads];
    uint64_t sums[options.threads], sum = 0;
    memset(sums, 0, sizeof sums);
    work.end = (unsigned)scaled(options, 660);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, compile, &sums[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    print_result(sum);
    return 0;
}
