/* A loop filter: each thread has every n-th row of the picture, and may only be so far in it as the
 * row above is, less two blocks. One progress counter per row, in arrays beside each other. */
#include <pthread.h>

#include "support.h"

#define ROWS    40
#define COLUMNS 48
#define RANGE   2

struct row_sync {
    pthread_mutex_t mutex[ROWS];
    pthread_cond_t cond[ROWS];
    int cur_col[ROWS];
};

static struct row_sync filter;
static uint64_t picture[ROWS][COLUMNS];
static int n_threads, n_columns;

static void sync_read(int row, int column) {
    if (row == 0)
        return;
    pthread_mutex_lock(&filter.mutex[row - 1]);
    while (column > filter.cur_col[row - 1] - RANGE)
        pthread_cond_wait(&filter.cond[row - 1], &filter.mutex[row - 1]);
    pthread_mutex_unlock(&filter.mutex[row - 1]);
}

static void sync_write(int row, int column) {
    int current = column < n_columns - 1 ? column : n_columns + RANGE;

    pthread_mutex_lock(&filter.mutex[row]);
    filter.cur_col[row] = current;
    pthread_cond_signal(&filter.cond[row]);
    pthread_mutex_unlock(&filter.mutex[row]);
}

static void filter_row(int row) {
    for (int column = 0; column < n_columns; column++) {
        sync_read(row, column);
        uint64_t above = row > 0 ? picture[row - 1][column] : 1;
        /* rows differ, so that the one below often comes up with the one above */
        picture[row][column] = burn(above + (uint64_t)column, 240 + 60 * (row * 7 % 3));
        sync_write(row, column);
    }
}

static void *filter_worker(void *arg) {
    for (int row = *(int *)arg; row < ROWS; row += n_threads)
        filter_row(row);
    return NULL;
}

int main(int argc, char **argv) {
    struct options o = read_options(argc, argv);
    pthread_t *workers = calloc((size_t)o.threads, sizeof(*workers));
    int *first_rows = calloc((size_t)o.threads, sizeof(*first_rows));

    n_threads = o.threads;
    n_columns = scaled(o, COLUMNS) < COLUMNS ? scaled(o, COLUMNS) : COLUMNS;
    for (int row = 0; row < ROWS; row++) {
        pthread_mutex_init(&filter.mutex[row], NULL);
        pthread_cond_init(&filter.cond[row], NULL);
        filter.cur_col[row] = -1;
    }
    for (int i = 0; i < o.threads; i++) {
        first_rows[i] = i;
        pthread_create(&workers[i], NULL, filter_worker, &first_rows[i]);
    }
    for (int i = 0; i < o.threads; i++)
        pthread_join(workers[i], NULL);
    free(first_rows);
    free(workers);
    print_result(picture[ROWS - 1][n_columns - 1]);
    return 0;
}
