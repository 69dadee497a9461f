/* Loops whose work is split among the threads, in many styles. A mark at the end of a line says
 * what the analyser must find there. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct range {
    long begin, end;
};

struct worker {
    struct team *team;
    int id;
    struct range range;
    long left;
};

struct team {
    int threads;
    long n;
    struct worker *workers;
    double *data;
};

static double work(double x) {
    return x * x + 1;
}

/* quotient and remainder, bounds in locals */
static double by_quotient(const struct worker *worker) {
    const struct team *team = worker->team;
    long chunk = team->n / team->threads;
    long first = worker->id * chunk;
    long last = worker->id == team->threads - 1 ? team->n : first + chunk;
    double sum = 0;
    for (long i = first; i < last; i++) //= bound share last
        sum += work(team->data[i]);
    return sum;
}

/* a total that is written as a number */
static double by_number(const struct worker *worker) {
    int rounds = 4800 / worker->team->threads;
    double sum = 0;
    for (int i = 0; i < rounds; i++) //= bound share
        sum += work(i);
    return sum;
}

/* every threads-th */
static double by_stride(const struct worker *worker) {
    const struct team *team = worker->team;
    double sum = 0;
    for (long i = worker->id; i < team->n; i += team->threads) { //= bound share even
        for (long j = i + 1; j < team->n; j++)                   //= bound fixed
            sum += work(team->data[j]);
    }
    return sum;
}

/* n * id / threads, no intermediate chunk */
static double by_product(const struct worker *worker) {
    const struct team *team = worker->team;
    double sum = 0;
    long i = team->n * worker->id / team->threads;
    while (i < team->n * (worker->id + 1) / team->threads) { //= bound share
        sum += work(team->data[i]);
        i++;
    }
    return sum;
}

/* what main has computed and left in fields */
static double by_field(const struct worker *worker) {
    double sum = 0;
    for (long i = worker->range.begin; i < worker->range.end; ++i) //= bound share
        sum += work(worker->team->data[i]);
    return sum;
}

/* counted down */
static double by_countdown(struct worker *worker) {
    double sum = 0;
    while (worker->left-- > 0) //= bound share
        sum += work(worker->team->data[worker->left]);
    return sum;
}

/* all indexes, but only its own are worked on */
static double by_filter(const struct worker *worker) {
    const struct team *team = worker->team;
    double sum = 0;
    for (long i = 0; i < team->n; i++) { //= bound share
        if (i % team->threads != worker->id)
            continue;
        sum += work(team->data[i]);
    }
    return sum;
}

/* pointers instead of indexes */
static double by_pointer(const struct worker *worker) {
    const struct team *team = worker->team;
    const double *p = team->data + team->n * worker->id / team->threads;
    const double *end = team->data + team->n * (worker->id + 1) / team->threads;
    double sum = 0;
    for (; p < end; p++) //= bound share
        sum += work(*p);
    return sum;
}

/* an end that is moved on to where a piece ends */
static double by_moved_end(const struct worker *worker) {
    const struct team *team = worker->team;
    long end = team->n * (worker->id + 1) / team->threads;
    double sum = 0;
    while (end < team->n && team->data[end] != 0) //= bound share
        end++;
    for (long i = team->n * worker->id / team->threads; i < end; i++) //= bound share
        sum += work(team->data[i]);
    return sum;
}

/* bounds by parameters: a share for some callers only */
static double by_parameters(const double *data, long low, long high) {
    double sum = 0;
    for (long i = low; i < high; i++) //= bound share
        sum += work(data[i]);
    return sum;
}

static double through_wrapper(const double *data, long low, long high) {
    return by_parameters(data, low, high) / 2; //= call split
}

static long smaller(long a, long b) {
    return a < b ? a : b;
}

static long share_of(long n, int threads) {
    return (n + threads - 1) / threads;
}

/* the share by a helper, rounded up and cut off */
static double by_helper(const struct worker *worker) {
    const struct team *team = worker->team;
    long chunk = share_of(team->n, team->threads);
    long low = worker->id * chunk;
    double sum = 0;
    for (long i = low; i < smaller(low + chunk, team->n); i++) //= bound share chunks
        sum += work(team->data[i]);
    for (long i = 0; i < smaller(team->n, 1000); i++) //= bound fixed
        sum += work(team->data[i]);
    return sum;
}

/* Ends of parts that somebody worked out by what they cost: no division shows. */
struct part {
    long first, last;
};
static struct part parts[64];
static long ends[65], lengths[64];

static void work_out_parts(const struct team *team) {
    long at = 0;
    for (int t = 0; t < 64; t++) {
        double cost = 0;
        parts[t].first = ends[t] = at;
        for (; at < team->n && cost < 1000; at++)
            cost += team->data[at];
        parts[t].last = ends[t + 1] = at;
    }
}

static double by_table(const struct worker *worker) {
    const struct team *team = worker->team;
    const int id = worker->id;
    double sum = 0;
    for (long i = parts[id].first; i < parts[id].last; i++) //= bound share none
        sum += work(team->data[i]);
    for (long i = ends[worker->id]; i < ends[worker->id + 1]; ++i) //= bound share none
        sum += work(team->data[i]);
    return sum;
}

/* A list of its own that each thread goes through says nothing of a total. */
static double by_own_list(const struct worker *worker) {
    double sum = 0;
    for (long i = 0; i < lengths[worker->id]; i++) //= bound fixed
        sum += work(worker->team->data[i]);
    return sum;
}

static void *run(void *arg) {
    struct worker *worker = arg;
    const struct team *team = worker->team;
    long low = team->n * worker->id / team->threads;
    long high = team->n * (worker->id + 1) / team->threads;
    double sum = by_quotient(worker);               //= call split
    sum += by_number(worker);                       //= call split
    sum += by_stride(worker);                       //= call split
    sum += by_product(worker);                      //= call split
    sum += by_field(worker);                        //= call split
    sum += by_countdown(worker);                    //= call split
    sum += by_filter(worker);                       //= call split
    sum += by_pointer(worker);                      //= call split
    sum += by_moved_end(worker);                    //= call split
    sum += by_parameters(team->data, low, high);    //= call split
    sum += by_parameters(team->data, 0, team->n);   //= call whole
    sum += through_wrapper(team->data, low, high);  //= call split
    sum += through_wrapper(team->data, 0, team->n); //= call whole
    sum += by_helper(worker);                       //= call split
    sum += by_table(worker);                        //= call split
    sum += by_own_list(worker);                     //= call whole
    sum += work(sum);                               //= call whole
    team->data[worker->id] = sum;
    return NULL;
}

/* What creates threads lies between no two calls of its caller that are recorded one after the
 * other.
 */
static double prepare_and_run(struct team *team) {
    pthread_t handle;
    struct worker all = {.team = team};
    double sum = 0;
    for (long i = 0; i < team->n / team->threads; i++) //= bound share
        sum += work(team->data[i]);
    pthread_create(&handle, NULL, run, &all);
    pthread_join(handle, NULL);
    return sum;
}

int main(int argc, char **argv) {
    struct team team = {.threads = argc > 1 ? atoi(argv[1]) : 2, .n = 100000};
    pthread_t *handles = calloc((size_t)team.threads, sizeof *handles);
    team.workers = calloc((size_t)team.threads, sizeof *team.workers);
    team.data = calloc((size_t)team.n, sizeof *team.data);
    work_out_parts(&team);
    long begin = 0;
    for (int t = 0; t < team.threads; t++) { //= bound threads
        long count = team.n / team.threads + (t < team.n % team.threads);
        team.workers[t] = (struct worker){.team = &team, .id = t, .left = count};
        team.workers[t].range.begin = begin;
        begin += count;
        team.workers[t].range.end = begin;
        pthread_create(&handles[t], NULL, run, &team.workers[t]);
    }
    for (int t = 0; t < team.threads; t++) //= bound threads
        pthread_join(handles[t], NULL);
    return prepare_and_run(&team) > 0; //= call whole
}
