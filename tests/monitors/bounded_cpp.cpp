// A class of std::mutex and std::condition_variable around a deque, waits with a lambda.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "support.h"

template <typename T> class BlockingQueue {
  public:
    explicit BlockingQueue(size_t limit) : limit(limit) {
    }

    void push(T item) {
        std::unique_lock<std::mutex> lock(mutex);
        notFull.wait(lock, [this] { return items.size() < limit; });
        items.push_back(std::move(item));
        notEmpty.notify_one();
    }

    std::optional<T> pop() {
        std::unique_lock<std::mutex> lock(mutex);
        notEmpty.wait(lock, [this] { return !items.empty() || closed; });
        if (items.empty())
            return std::nullopt;
        T item = std::move(items.front());
        items.pop_front();
        notFull.notify_one();
        return item;
    }

    void close() {
        std::lock_guard<std::mutex> lock(mutex);
        closed = true;
        notEmpty.notify_all();
    }

  private:
    std::mutex mutex;
    std::condition_variable notEmpty, notFull;
    std::deque<T> items;
    const size_t limit;
    bool closed = false;
};

int main(int argc, char **argv) {
    const options options = read_options(argc, argv);
    BlockingQueue<int> blocks(8);
    std::vector<std::thread> threads;
    std::vector<uint64_t> sums(options.threads);
    for (int i = 0; i < options.threads; i++)
        threads.emplace_back([&blocks, &sum = sums[i]] {
            while (auto block = blocks.pop())
                sum += burn(*block, 900);
        });
    uint64_t sum = 0;
    for (int i = 0, n = scaled(options, 480); i < n; i++) {
        sum += burn(i, 100);
        blocks.push(i);
    }
    blocks.close();
    for (int i = 0; i < options.threads; i++) {
        threads[i].join();
        sum += sums[i];
    }
    print_result(sum);
    return 0;
}
