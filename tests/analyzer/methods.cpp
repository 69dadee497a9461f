// Namesakes, virtual methods, and references.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

class Thread {
  public:
    Thread() : handle(0) {
    }

    Thread(void *(*routine)(void *), void *argument) : handle(0) {
        pthread_create(&handle, nullptr, routine, argument); //= spawned threads start
    }

    void join() {
        pthread_join(handle, nullptr);
    }

  private:
    pthread_t handle;
};

class Supply {
  public:
    virtual ~Supply() {
    }
    virtual void take(int &item) = 0;
    virtual void tell(bool &done) = 0;
};

class Rows : public Supply {
  public:
    void take(int &item) override {
        pthread_mutex_lock(&mutex);
        item = left > 0 ? left-- : 0;
        pthread_mutex_unlock(&mutex);
    }

    void tell(bool &done) override {
        pthread_mutex_lock(&mutex); //= fragment pthread_mutex_lock class Rows.mutex
        pthread_mutex_unlock(&mutex);
        done = feof(stdin);
    }

  private:
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int left = 100;
};

static Supply *supply = new Rows;
static int n_threads;

static void *start(void *) {
    while (true) { //= bound shared
        int item = 0;
        supply->take(item);
        if (item == 0)
            break;
    }
    while (true) { //= bound unknown
        bool done = false;
        supply->tell(done);
        if (done)
            break;
    }
    return nullptr;
}

static int twice(int n) {
    for (int i = 0; i < n; i++) //= bound threads
        Thread().join();
    return 2 * n;
}

static double twice(double x) {
    return 2 * x;
}

// Compilers take it, with a warning.
static int undefined() {
    int &self = self;
    return self;
}

int main(int argc, char **argv) {
    n_threads = argc > 1 ? atoi(argv[1]) : 4;
    Thread *threads[64];
    for (int i = 0; i < n_threads; i++) //= bound threads
        threads[i] = new Thread(start, nullptr);
    for (int i = 0; i < n_threads; i++) //= bound threads
        threads[i]->join();
    int &count = n_threads;
    for (int i = 0; i < count; i++) //= bound threads
        Thread().join();
    return twice(1.0) > twice(n_threads) + undefined();
}
