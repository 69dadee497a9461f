/* The queue's functions are inline in a header, the queue is a member of a member: compiled into
 * their callers, they leave no frame of their own. One place more than there are threads. */
#include "blocking_queue.h"
#include "support.h"

struct stage {
    const char *name;
    struct blocking_queue in;
};

static struct program {
    struct options options;
    struct stage load, hash;
} program;

static void *hash_main(void *argument) {
    uint64_t *digest = argument;
    for (uint64_t *page; (page = bq_pop(&program.hash.in)) != NULL; free(page))
        *digest += burn(*page, 950);
    return NULL;
}

int main(int argc, char **argv) {
    program.options = read_options(argc, argv);
    program.load.name = "load";
    program.hash.name = "hash";
    int n = program.options.threads;
    pthread_t threads[n];
    uint64_t digests[n], sum = 0;
    memset(digests, 0, sizeof digests);
    bq_init(&program.hash.in, (unsigned)n + 1);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, hash_main, &digests[i]);
    int pages = scaled(program.options, 460);
    for (int i = 0; i < pages; i++) {
        uint64_t *page = malloc(sizeof *page);
        *page = burn((uint64_t)i, 160);
        bq_push(&program.hash.in, page);
    }
    for (int i = 0; i < n; i++)
        bq_push(&program.hash.in, NULL);
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += digests[i];
    }
    free(program.hash.in.items);
    print_result(sum);
    return 0;
}
