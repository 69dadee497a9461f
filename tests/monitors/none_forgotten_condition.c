/* Results in a list with a condition that is signalled after each one, from times when somebody
 * waited; today the list is read when all threads have been joined. */
#include <pthread.h>

#include "support.h"

struct result {
    struct result *next;
    uint64_t value;
};

struct result_list {
    pthread_mutex_t mutex;
    pthread_cond_t added;
    struct result *head;
    unsigned count;
};

static struct result_list results = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

static void results_add(struct result_list *l, uint64_t value) {
    struct result *r = malloc(sizeof *r);
    r->value = value;
    pthread_mutex_lock(&l->mutex);
    r->next = l->head;
    l->head = r;
    l->count++;
    pthread_cond_signal(&l->added);
    pthread_mutex_unlock(&l->mutex);
}

static int threads, cases;

static void *run_cases(void *argument) {
    for (int i = (int)(intptr_t)argument; i < cases; i += threads)
        results_add(&results, burn((uint64_t)i, 620));
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    threads = options.threads;
    cases = scaled(options, 760);
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    uint64_t sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run_cases, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    for (struct result *r = results.head, *next; r != NULL; r = next) {
        next = r->next;
        sum += r->value;
        free(r);
    }
    free(ids);
    print_result(sum);
    return 0;
}
