/* OpenMP says how many threads there are. A loop around a region that takes as many items as that
 * in each round has fewer rounds with more threads. */
extern int omp_get_max_threads(void);

static double items[1 << 16];

static double work(double item) {
    return item * item;
}

int main(void) {
    int all = 60000, batch = 4 * omp_get_max_threads(), at = 0, next = 0;
    while (at < all) { //= bound share
        int n = 0;
        while (n < batch && at < all) //= bound threads
            items[n++] = at++;
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            items[i] = work(items[i]);
    }
    for (; next < all; next += batch) { //= bound share
#pragma omp parallel for
        for (int i = 0; i < batch; i++) //= bound threads
            items[i] = work(items[i]);
    }
    for (int i = 0; i < all; i++) /* as often for any number of threads */
        items[i] = work(items[i]);
    return items[0] > 0;
}
