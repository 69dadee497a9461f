/* The number of threads as a constant with a name, which a new build may set. */
#include <pthread.h>
#include <semaphore.h>

#define THREADS 4
#define ROWS 1000
#define SQUARE(x) ((x) * (x))

enum { HELPERS = 3 };

static pthread_barrier_t barrier;
static sem_t slots, others, squared;
static double data[ROWS];

static void *run(void *arg) {
    long id = (long)arg;
    int chunk = ROWS / THREADS;
    for (long i = id * chunk; i < (id + 1) * chunk; i++) //= bound share even
        data[i] = (double)i;
    for (int i = 0; i < ROWS / 2; i++) //= bound fixed
        data[i] += 1;
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void *help(void *arg) {
    for (long i = (long)arg; i < ROWS; i += HELPERS) //= bound share even
        data[i] += 1;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], helpers[HELPERS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1); //= amount 1 1
    sem_init(&slots, 0, 2 * HELPERS);                  //= amount 2 0
    sem_init(&others, 0, ROWS - 1);                    //= amount constant 999
    sem_init(&squared, 0, SQUARE(3));                  //= amount constant 9
    for (long i = 0; i < THREADS; i++)                 //= bound threads
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (long i = 0; i < HELPERS; i++) //= bound threads
        pthread_create(&helpers[i], NULL, help, (void *)i);
    for (int i = 0; i < THREADS; i++) //= bound threads
        pthread_join(threads[i], NULL);
    for (int i = 0; i < HELPERS; i++) //= bound threads
        pthread_join(helpers[i], NULL);
    return 0;
}
