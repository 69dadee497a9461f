/* Programs that go another way with one thread than with several. */
#include <pthread.h>
#include <stdlib.h>

static int threads;

static void *guarded(void *argument) {
    return argument;
}

static void *left_before(void *argument) {
    return argument;
}

static void *called_if(void *argument) {
    return argument;
}

static void *always(void *argument) {
    return argument;
}

static void start(void *(*routine)(void *)) {
    pthread_t created[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&created[i], NULL, routine, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(created[i], NULL);
}

static void run_guarded(void) {
    pthread_t created[64];
    if (threads > 1) {
        for (int i = 0; i < threads; i++)
            pthread_create(&created[i], NULL, guarded, NULL);
        for (int i = 0; i < threads; i++)
            pthread_join(created[i], NULL);
    }
}

static void run_or_leave(void) {
    pthread_t created[64];
    if (threads == 1)
        return;
    for (int i = 0; i < threads; i++)
        pthread_create(&created[i], NULL, left_before, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(created[i], NULL);
}

static void run_called(void) {
    pthread_t created[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&created[i], NULL, called_if, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(created[i], NULL);
}

/* Too few are refused, and many need more room: no other way with one than with two. */
static void run_always(void) {
    pthread_t *created = NULL;
    if (threads < 1)
        return;
    if (threads > 16)
        created = malloc((size_t)threads * sizeof *created);
    for (int i = 0; created && i < threads; i++)
        pthread_create(&created[i], NULL, always, NULL);
    for (int i = 0; created && i < threads; i++)
        pthread_join(created[i], NULL);
    free(created);
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    run_guarded();
    run_or_leave();
    if (threads - 1 > 0)
        run_called();
    run_always();
    start(always);
    return 0;
}
