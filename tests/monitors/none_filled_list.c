/* A list under a mutex, from which the threads take until it is empty; it was filled before they
 * were made, so nobody ever waits for an item. */
#include <pthread.h>

#include "support.h"

struct file {
    struct file *next;
    int inode;
};

static struct {
    pthread_mutex_t lock;
    struct file *head;
} files = {PTHREAD_MUTEX_INITIALIZER, NULL};

static void push_file(int inode) {
    struct file *f = malloc(sizeof *f);
    f->inode = inode;
    pthread_mutex_lock(&files.lock);
    f->next = files.head;
    files.head = f;
    pthread_mutex_unlock(&files.lock);
}

static struct file *pop_file(void) {
    pthread_mutex_lock(&files.lock);
    struct file *f = files.head;
    if (f)
        files.head = f->next;
    pthread_mutex_unlock(&files.lock);
    return f;
}

static void *grep(void *argument) {
    uint64_t *matches = argument;
    for (struct file *f; (f = pop_file()) != NULL; free(f))
        *matches += burn((uint64_t)f->inode, 950);
    return NULL;
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    pthread_t *threads = calloc((size_t)options.threads, sizeof *threads);
    uint64_t *matches = calloc((size_t)options.threads, sizeof *matches), sum = 0;
    for (int inode = 0; inode < scaled(options, 520); inode++)
        push_file(inode);
    for (int i = 0; i < options.threads; i++)
        pthread_create(&threads[i], NULL, grep, &matches[i]);
    for (int i = 0; i < options.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += matches[i];
    }
    free(matches);
    free(threads);
    print_result(sum);
    return 0;
}
