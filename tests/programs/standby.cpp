// standby THREADS: blocks are handed to 2 * THREADS - 1 threads, of which THREADS at most work at a time: the
// others have their next block ready. Reads what it is asked for from the command line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <vector>

namespace {

class Semaphore {
  public:
    void init(int n) {
        pthread_mutex_init(&mutex, nullptr);
        pthread_cond_init(&more, nullptr);
        left = n;
    }
    void wait() {
        pthread_mutex_lock(&mutex);
        while (left == 0)
            pthread_cond_wait(&more, &mutex);
        left--;
        pthread_mutex_unlock(&mutex);
    }
    void signal() {
        pthread_mutex_lock(&mutex);
        left++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&mutex);
    }

  private:
    pthread_mutex_t mutex;
    pthread_cond_t more;
    int left;
};

class Options {
  public:
    int threads = 1;
    void read(int argc, char **argv) {
        if (argc > 1)
            threads = atoi(argv[1]);
    }
};

class Job {
  public:
    explicit Job(int threads) {
        workers.init(threads);
        pthread_mutex_init(&mutex, nullptr);
    }
    static void *run(void *argument) {
        auto &job = *static_cast<Job *>(argument);
        for (int block; (block = job.next()) < blocks;) {
            job.workers.wait();
            volatile double sum = 0;
            for (int i = 0; i < 400000; i++)
                sum = sum + 1.0 / (i + block + 1);
            job.workers.signal();
        }
        return nullptr;
    }

  private:
    static const int blocks = 400;
    Semaphore workers;
    pthread_mutex_t mutex;
    int taken = 0;

    int next() {
        pthread_mutex_lock(&mutex);
        int block = taken++;
        pthread_mutex_unlock(&mutex);
        return block;
    }
};

} // namespace

int main(int argc, char **argv) {
    Options options;
    options.read(argc, argv);
    std::vector<pthread_t> ids(options.threads * 2 - 1);
    Job job(options.threads);
    for (unsigned i = 0; i < ids.size(); i++)
        pthread_create(&ids[i], nullptr, Job::run, &job);
    for (unsigned i = 0; i < ids.size(); i++)
        pthread_join(ids[i], nullptr);
    puts("done");
    return 0;
}
