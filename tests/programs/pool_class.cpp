/* A pool as C++ programs have it: a class whose threads run its loop, that tells them behind its lock
 * of the next step, does the first part itself, and waits until nothing is left.
 * Usage: pool_class THREADS */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
  public:
    explicit Pool(int size) : size(size), results(static_cast<std::size_t>(size)) {
        for (int i = 1; i < size; i++)
            threads.emplace_back([this, i] { serve(i); });
    }

    ~Pool() {
        {
            std::lock_guard<std::mutex> guard(lock);
            over = true;
        }
        begun.notify_all();
        for (auto &thread : threads)
            thread.join();
    }

    void step() {
        {
            std::lock_guard<std::mutex> guard(lock);
            ++epoch;
            left = size - 1;
        }
        begun.notify_all();
        compute(0);
        std::unique_lock<std::mutex> guard(lock);
        done.wait(guard, [this] { return left == 0; });
    }

    unsigned sum() const {
        unsigned all = 0;
        for (unsigned result : results)
            all += result;
        return all;
    }

  private:
    const int size;
    std::vector<unsigned> results;
    std::vector<std::thread> threads;
    std::mutex lock;
    std::condition_variable begun, done;
    unsigned long epoch = 0;
    int left = 0;
    bool over = false;

    void compute(int id) {
        const long items = 9000000;
        unsigned x = static_cast<unsigned>(id);
        for (long i = items * id / size; i < items * (id + 1) / size; i++)
            x = x * 1664525U + 1013904223U;
        results[static_cast<std::size_t>(id)] += x;
    }

    void serve(int id) {
        unsigned long seen = 0;
        while (true) {
            {
                std::unique_lock<std::mutex> guard(lock);
                begun.wait(guard, [&] { return over || epoch != seen; });
                if (over)
                    return;
                seen = epoch;
            }
            compute(id);
            {
                std::lock_guard<std::mutex> guard(lock);
                --left;
            }
            done.notify_one();
        }
    }
};

int main(int argc, char **argv) {
    Pool pool(argc > 1 ? std::atoi(argv[1]) : 2);
    for (int step = 0; step < 40; step++)
        pool.step();
    std::printf("%u\n", pool.sum());
}
