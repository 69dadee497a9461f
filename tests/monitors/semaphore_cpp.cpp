// A semaphore class and a guard object that releases it; waits in a while loop.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "support.h"

class Semaphore {
  public:
    explicit Semaphore(int permits) : permits(permits) {
    }

    void acquire() {
        std::unique_lock<std::mutex> lock(mutex);
        while (permits == 0)
            available.wait(lock);
        --permits;
    }

    void release() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ++permits;
        }
        available.notify_one();
    }

    class Permit {
      public:
        explicit Permit(Semaphore &semaphore) : semaphore(semaphore) {
            semaphore.acquire();
        }
        ~Permit() {
            semaphore.release();
        }
        Permit(const Permit &) = delete;
        Permit &operator=(const Permit &) = delete;

      private:
        Semaphore &semaphore;
    };

  private:
    std::mutex mutex;
    std::condition_variable available;
    int permits;
};

int main(int argc, char **argv) {
    const options options = read_options(argc, argv);
    Semaphore decoders(3);
    std::vector<uint64_t> sums(options.threads);
    std::vector<std::thread> threads;
    const int pictures = scaled(options, 340);
    for (int t = 0; t < options.threads; t++)
        threads.emplace_back([&, t] {
            for (int i = t; i < pictures; i += options.threads) {
                uint64_t header = burn(i, 250);
                Semaphore::Permit permit(decoders);
                sums[t] += burn(header, 1250);
            }
        });
    uint64_t sum = 0;
    for (int t = 0; t < options.threads; t++) {
        threads[t].join();
        sum += sums[t];
    }
    print_result(sum);
    return 0;
}
