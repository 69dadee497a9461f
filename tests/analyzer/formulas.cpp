/* As many threads as a formula says of what the user asked for. */
#include <cstdlib>
#include <pthread.h>
#include <vector>

struct Settings {
    int threads;
};

static void *work(void *arg) {
    return arg;
}

static void run_pipeline(const Settings &settings) {
    std::vector<pthread_t> ids(settings.threads * 2 - 1);
    for (unsigned i = 0; i < ids.size(); i++)
        pthread_create(&ids[i], nullptr, work, nullptr); //= counts 2N-1
    for (unsigned i = 0; i < ids.size(); i++)
        pthread_join(ids[i], nullptr);
}

static void run_pairs(int n) {
    int both = 2 * n;
    pthread_t *ids = new pthread_t[both];
    for (int i = 0; i < both; i++)
        pthread_create(&ids[i], nullptr, work, nullptr); //= counts 2N
    for (int i = 0; i < both; i++)
        pthread_join(ids[i], nullptr);
    delete[] ids;
}

/* What is set in two ways is its own thread count. */
static void run_some(int n, bool more) {
    int some = 2 * n;
    if (more)
        some = 3 * n;
    for (int i = 0; i < some; i++) {
        pthread_t id;
        pthread_create(&id, nullptr, work, nullptr); //= counts unknown
        pthread_detach(id);
    }
}

int main(int argc, char **argv) {
    Settings settings = {1};
    for (int i = 1; i < argc; i++)
        settings.threads = atoi(argv[i]);
    run_pipeline(settings);
    run_pairs(settings.threads);
    run_some(settings.threads, argc > 2);
    return 0;
}
