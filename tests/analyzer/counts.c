/* Helpers that create as many threads as they are told: who calls them decides whether that follows
 * the thread count. */
#include <pthread.h>
#include <stdlib.h>

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define READERS   2

struct options {
    int threads, two_readers;
};

static pthread_t ids[64];

static void *work(void *arg) {
    return arg;
}

static void run(int n, void *arg) {
    if (n < 1)
        n = 1;
    for (int i = 0; i < n; i++)
        pthread_create(&ids[i], NULL, work, arg); //= spawned threads work
    for (int i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
}

/* Has a bound of its own, whoever calls. */
static void run_few(int n) {
    n = MIN(n, 5);
    for (int i = 1; i <= n; i++)
        pthread_create(&ids[i], NULL, work, NULL); //= counts N<=5
}

/* Loops whose rounds are not plain to count say no more than that they follow the number. */
static void run_down(int n) {
    while (n-- > 0)
        pthread_create(&ids[n], NULL, work, NULL); //= counts unknown
}

static void run_others(int n) {
    for (int i = 1; i < n; i++)
        pthread_create(&ids[i], NULL, work, NULL); //= counts unknown
}

static void start_one(int i) {
    pthread_create(&ids[i], NULL, work, NULL); //= spawned threads work
}

/* The loop is around another helper. */
static void start_all(int n) {
    for (int i = 0; i < n; i++)
        start_one(i);
}

static int smaller(int a, int b) {
    return b < a ? b : a;
}

static void by_call(int n) {
    run(smaller(n, 4), NULL); //= counts N<=4
}

static void by_if(int n) {
    int some = n;
    if (some > 6)
        some = 6;
    run(some, NULL); //= counts N<=6
    if (n >= 2) {
        run(n, NULL); //= counts N
    }
}

static void by_condition(int n, const struct options *options) {
    int some;
    some = n == 1 ? 1 : options->two_readers ? 2 : 3;
    run(some, NULL);                             //= counts 1:2|3
    run(options->two_readers ? 2 : 4, NULL);     //= counts 2|4
    run(n > 1 ? n : 1, NULL);                    //= counts N
    run(n < 2 ? 2 : n, NULL);                    //= counts N>=2
    run(options->two_readers ? 1 : n, NULL);     //= counts unknown
    run(n < options->two_readers ? n : 2, NULL); //= counts unknown
}

/* Only who calls this one knows. */
static void nested(int n, void *arg) {
    run(n, arg);
}

static void again(int depth, int n) {
    if (depth > 0)
        again(depth - 1, n);
    run(n, NULL); //= counts N
}

static void changed(int n) {
    for (int i = 0; i < 3; i++)
        n += i;
    run(n, NULL); //= counts unknown
}

int main(int argc, char **argv) {
    struct options options = {3, argc > 2};
    int few = READERS;
    if (argc > 1)
        options.threads = atoi(argv[1]);
    run(options.threads, NULL);                           //= counts N
    run(READERS, NULL);                                   //= counts 2
    run(few, NULL);                                       //= counts 2
    run(options.threads < 3 ? options.threads : 3, NULL); //= counts N<=3
    run(MIN(options.threads, 7), NULL);                   //= counts N<=7
    run(options.threads > 9 ? 9 : options.threads, NULL); //= counts N<=9
    nested(options.threads, NULL);                        //= counts N
    nested(4, NULL);                                      //= counts 4
    nested(MIN(options.threads, 8), NULL);                //= counts N<=8
    start_all(options.threads);                           //= counts N
    start_all(3);                                         //= counts 3
    run_few(options.threads);
    run_few(options.threads + 0);
    run_down(options.threads);
    run_down(2);
    run_others(options.threads);
    run_others(2);
    by_call(options.threads);
    by_if(options.threads);
    by_condition(options.threads, &options);
    again(argc, options.threads);
    changed(options.threads);
    return 0;
}
