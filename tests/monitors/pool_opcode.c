/* Commands with an opcode in a bounded ring, dispatched by a switch and a table of functions; the
 * ring holds two commands for every thread. */
#include <pthread.h>

#include "support.h"

enum opcode { OP_ADD, OP_MUL, OP_HASH, OP_EXIT };

struct command {
    enum opcode op;
    unsigned operand;
};

struct executor {
    pthread_mutex_t lock;
    pthread_cond_t cmd_ready, cmd_space;
    struct command *ring;
    unsigned size, used, first;
};

typedef uint64_t (*handler)(unsigned operand);

static uint64_t op_add(unsigned operand) {
    return burn(operand, 300);
}

static uint64_t op_mul(unsigned operand) {
    return burn(operand, 700);
}

static uint64_t op_hash(unsigned operand) {
    return burn(operand, 1500);
}

static const handler handlers[] = {[OP_ADD] = op_add, [OP_MUL] = op_mul, [OP_HASH] = op_hash};

static struct executor executor;

static void executor_post(struct executor *ex, struct command cmd) {
    pthread_mutex_lock(&ex->lock);
    while (ex->used == ex->size)
        pthread_cond_wait(&ex->cmd_space, &ex->lock);
    ex->ring[(ex->first + ex->used++) % ex->size] = cmd;
    pthread_cond_signal(&ex->cmd_ready);
    pthread_mutex_unlock(&ex->lock);
}

static struct command executor_next(struct executor *ex) {
    pthread_mutex_lock(&ex->lock);
    while (ex->used == 0)
        pthread_cond_wait(&ex->cmd_ready, &ex->lock);
    struct command cmd = ex->ring[ex->first];
    ex->first = (ex->first + 1) % ex->size;
    ex->used--;
    pthread_cond_signal(&ex->cmd_space);
    pthread_mutex_unlock(&ex->lock);
    return cmd;
}

static void *executor_main(void *arg) {
    uint64_t *acc = arg;
    for (;;) {
        struct command cmd = executor_next(&executor);
        switch (cmd.op) {
        case OP_EXIT:
            return NULL;
        default:
            *acc += handlers[cmd.op](cmd.operand);
        }
    }
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    pthread_t threads[n];
    uint64_t acc[n], sum = 0;
    memset(acc, 0, sizeof acc);
    executor.size = 2u * (unsigned)n;
    executor.ring = calloc(executor.size, sizeof *executor.ring);
    pthread_mutex_init(&executor.lock, NULL);
    pthread_cond_init(&executor.cmd_ready, NULL);
    pthread_cond_init(&executor.cmd_space, NULL);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, executor_main, &acc[i]);
    for (unsigned i = 0; i < (unsigned)scaled(options, 510); i++) {
        sum += burn(i, 110);
        executor_post(&executor, (struct command){(enum opcode)(i % 3), i});
    }
    for (int i = 0; i < n; i++)
        executor_post(&executor, (struct command){OP_EXIT, 0});
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += acc[i];
    }
    free(executor.ring);
    print_result(sum);
    return 0;
}
