/* Workers with a slot each, in which main leaves a hook: a heavy one for all, then a light one, for
 * each picture. Main takes the last share of each itself. */
#include <pthread.h>

#include "support.h"

struct helper;
typedef void (*helper_hook)(struct helper *helper);

enum helper_status { HELPER_OFF, HELPER_OK, HELPER_WORK };

struct helper {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    enum helper_status status;
    helper_hook hook;
    int number, of, picture;
    uint64_t sum;
};

#define ROWS 24

static void encode_rows(struct helper *helper) {
    for (int row = helper->number; row < ROWS; row += helper->of)
        helper->sum += burn((uint64_t)helper->picture * ROWS + (uint64_t)row, 600);
}

static void filter_rows(struct helper *helper) {
    for (int row = helper->number; row < ROWS; row += helper->of)
        helper->sum += burn((uint64_t)helper->picture * ROWS + (uint64_t)row, 60);
}

static void *helper_loop(void *arg) {
    struct helper *helper = arg;
    for (int done = 0; !done;) {
        pthread_mutex_lock(&helper->mutex);
        while (helper->status == HELPER_OK)
            pthread_cond_wait(&helper->cond, &helper->mutex);
        if (helper->status == HELPER_WORK) {
            helper->hook(helper);
            helper->status = HELPER_OK;
        } else {
            done = 1;
        }
        pthread_cond_signal(&helper->cond);
        pthread_mutex_unlock(&helper->mutex);
    }
    return NULL;
}

static void change_status(struct helper *helper, enum helper_status status) {
    pthread_mutex_lock(&helper->mutex);
    while (helper->status != HELPER_OK)
        pthread_cond_wait(&helper->cond, &helper->mutex);
    if (status != HELPER_OK) {
        helper->status = status;
        pthread_cond_signal(&helper->cond);
    }
    pthread_mutex_unlock(&helper->mutex);
}

static void launch_all(struct helper *helpers, int n, helper_hook hook) {
    for (int i = 0; i < n - 1; i++) {
        helpers[i].hook = hook;
        change_status(&helpers[i], HELPER_WORK);
    }
    hook(&helpers[n - 1]);
    for (int i = 0; i < n - 1; i++)
        change_status(&helpers[i], HELPER_OK);
}

static void encode_picture(struct helper *helpers, int n, int picture) {
    for (int i = 0; i < n; i++)
        helpers[i].picture = picture;
    launch_all(helpers, n, encode_rows);
}

static void filter_picture(struct helper *helpers, int n) {
    for (int level = 0; level < 2; level++)
        launch_all(helpers, n, filter_rows);
}

int main(int argc, char **argv) {
    struct options options = read_options(argc, argv);
    int n = options.threads;
    struct helper *helpers = calloc((size_t)n, sizeof *helpers);
    for (int i = 0; i < n; i++) {
        helpers[i].number = i;
        helpers[i].of = n;
        helpers[i].status = HELPER_OK;
        pthread_mutex_init(&helpers[i].mutex, NULL);
        pthread_cond_init(&helpers[i].cond, NULL);
        if (i < n - 1)
            pthread_create(&helpers[i].thread, NULL, helper_loop, &helpers[i]);
    }
    for (int picture = 0; picture < scaled(options, 28); picture++) {
        encode_picture(helpers, n, picture);
        filter_picture(helpers, n);
    }
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (i < n - 1) {
            change_status(&helpers[i], HELPER_OFF);
            pthread_join(helpers[i].thread, NULL);
        }
        sum += helpers[i].sum;
    }
    free(helpers);
    print_result(sum);
    return 0;
}
