// A pool of std::thread and std::function.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "support.h"

class ThreadPool {
  public:
    explicit ThreadPool(int size) {
        for (int i = 0; i < size; i++)
            workers.emplace_back(&ThreadPool::run, this);
    }

    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stopping = true;
        }
        wake.notify_all();
        for (std::thread &worker : workers)
            worker.join();
    }

    void submit(std::function<void()> task) {
        {
            std::lock_guard<std::mutex> lock(mutex);
            tasks.push(std::move(task));
        }
        wake.notify_one();
    }

  private:
    void run() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> lock(mutex);
                wake.wait(lock, [this] { return stopping || !tasks.empty(); });
                if (tasks.empty())
                    return;
                task = std::move(tasks.front());
                tasks.pop();
            }
            task();
        }
    }

    std::mutex mutex;
    std::condition_variable wake;
    std::queue<std::function<void()>> tasks;
    std::vector<std::thread> workers;
    bool stopping = false;
};

int main(int argc, char **argv) {
    const options options = read_options(argc, argv);
    std::vector<uint64_t> results(scaled(options, 420));
    uint64_t sum = 0;
    {
        ThreadPool pool(options.threads);
        for (size_t i = 0; i < results.size(); i++) {
            const uint64_t seed = burn(i, 210);
            pool.submit([&results, i, seed] { results[i] = burn(seed, i % 2 ? 600 : 1300); });
        }
    }
    for (uint64_t result : results)
        sum += result;
    print_result(sum);
    return 0;
}
