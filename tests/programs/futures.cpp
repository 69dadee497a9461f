/* The pool that everybody copies: workers made in its constructor, packaged tasks in a queue, and a
 * future for each result. Usage: futures THREADS; fails when a result, or a wait for one, is wrong.
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

class Pool {
  public:
    explicit Pool(std::size_t size) {
        for (std::size_t i = 0; i < size; i++)
            workers.emplace_back([this] {
                for (;;) {
                    std::function<void()> task;
                    {
                        std::unique_lock<std::mutex> guard(lock);
                        wake.wait(guard, [this] { return stopping || !tasks.empty(); });
                        if (stopping && tasks.empty())
                            return;
                        task = std::move(tasks.front());
                        tasks.pop();
                    }
                    task();
                }
            });
    }

    ~Pool() {
        {
            std::unique_lock<std::mutex> guard(lock);
            stopping = true;
        }
        wake.notify_all();
        for (std::thread &worker : workers)
            worker.join();
    }

    template <typename Job> std::future<unsigned> submit(Job job) {
        auto task = std::make_shared<std::packaged_task<unsigned()>>(std::move(job));
        std::future<unsigned> result = task->get_future();
        {
            std::unique_lock<std::mutex> guard(lock);
            tasks.emplace([task] { (*task)(); });
        }
        wake.notify_one();
        return result;
    }

  private:
    std::vector<std::thread> workers;
    std::queue<std::function<void()>> tasks;
    std::mutex lock;
    std::condition_variable wake;
    bool stopping = false;
};

static unsigned compute(unsigned seed, int rounds) {
    unsigned x = seed;
    for (int i = 0; i < rounds; i++)
        x = x * 1664525U + 1013904223U;
    return x;
}

static bool works_in_batches(Pool &pool) {
    const unsigned items = 60, batches = 5;
    unsigned sum = 0;
    for (unsigned batch = 0; batch < batches; batch++) {
        std::vector<std::future<unsigned>> results;
        for (unsigned i = 0; i < items; i++)
            results.push_back(
                pool.submit([i] { return compute(i, 400000 + 20000 * (int)i) | 1U; }));
        for (std::future<unsigned> &result : results)
            sum += result.get() & 1U;
    }
    return sum == batches * items;
}

/* Time limits by both clocks, a result that came already, and one that is an exception. */
static bool waits_as_asked() {
    std::promise<int> promise;
    std::future<int> result = promise.get_future();
    auto limit = std::chrono::milliseconds(5);
    bool right = result.wait_for(limit) == std::future_status::timeout;
    right &=
        result.wait_until(std::chrono::system_clock::now() + limit) == std::future_status::timeout;
    std::thread setter([&promise] { promise.set_value(7); });
    right &= result.get() == 7;
    setter.join();
    std::promise<int> failing;
    std::future<int> failure = failing.get_future();
    failing.set_exception(std::make_exception_ptr(8));
    try {
        failure.get();
        right = false;
    } catch (int thrown) {
        right &= thrown == 8;
    }
    return right;
}

int main(int argc, char **argv) {
    bool right = true;
    {
        Pool pool(argc > 1 ? (std::size_t)atoi(argv[1]) : 2);
        right = works_in_batches(pool);
    }
    right &= waits_as_asked();
    puts(right ? "right" : "wrong");
    return right ? 0 : 1;
}
