// What lambdas share with the function around them, and containers as long as there are threads.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

static void work(int) {
}

struct Member {
    std::thread thread;
    std::function<void()> job;
};

class Crew {
  public:
    Crew(std::size_t size, const std::function<void()> &job) : members(size) {
        for (auto &member : members) { //= bound threads
            member.job = job;
            member.thread = std::thread([&member] { member.job(); }); //= spawned threads operator():22
        }
    }

    ~Crew() {
        for (auto &member : members) //= bound threads
            member.thread.join();
    }

  private:
    std::vector<Member> members;
};

template <typename Claim> static void work_off(std::mutex &lock, Claim claim) {
    for (;;) { //= bound shared
        {
            std::lock_guard<std::mutex> guard(lock);
            if (!claim())
                break;
        }
        work(0);
    }
}

static void under_a_lock(std::size_t threads, int items) {
    std::mutex lock;
    int next = 0;
    Crew crew(threads, [&] {
        work_off(lock, [&] {
            if (next >= items)
                return false;
            next++;
            return true;
        });
    });
}

static void by_an_atomic(std::size_t threads, int items) {
    std::atomic<int> next{0};
    std::vector<std::thread> helpers;
    helpers.resize(threads);
    for (auto &helper : helpers) //= bound threads
        helper = std::thread([&] { //= spawned threads operator():64
            for (int mine; (mine = next++) < items;) //= bound shared
                work(mine);
        });
    for (auto &helper : helpers) //= bound threads
        helper.join();
}

// A copy of each thread's own.
static void each_its_own(std::size_t threads, int items) {
    int next = 0;
    std::vector<std::thread> helpers(threads);
    for (auto &helper : helpers)
        helper = std::thread([next, items]() mutable { //= spawned threads operator():77
            while (next++ < items) //= bound fixed
                work(next);
        });
    std::vector<int> numbers = {1, 2, 3};
    for (int number : numbers) //= bound fixed
        work(number);
    for (auto &helper : helpers)
        helper.join();
}

int main(int argc, char **argv) {
    std::size_t n_threads = argc > 1 ? (std::size_t)atoi(argv[1]) : 2;
    under_a_lock(n_threads, 100);
    by_an_atomic(n_threads, 100);
    each_its_own(n_threads, 100);
}
