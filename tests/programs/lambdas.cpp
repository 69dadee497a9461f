/* Threads as C++ programs make them of lambdas: a class keeps them in a vector that it makes as
 * long as there are threads, a template drives the loops of all stages, and what is shared out is a
 * variable of the function around them. Usage: lambdas THREADS. */
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static std::atomic<unsigned> sink;

static void compute(unsigned rounds) {
    unsigned x = rounds;
    for (unsigned i = 0; i < rounds; i++)
        x = x * 1664525U + 1013904223U;
    sink.store(x, std::memory_order_relaxed);
}

/* Threads that wait, each with a lock of its own, until they are told to run the job, and keep that
 * lock while they do. */
class Crew {
  public:
    Crew(std::size_t count, const std::function<void()> &job) : members(count) {
        for (auto &member : members) {
            member.job = job;
            member.thread = std::thread([&member] { serve(member); });
        }
    }

    ~Crew() {
        for (auto &member : members) {
            {
                std::lock_guard<std::mutex> guard(member.lock);
                member.state = State::Over;
                member.changed.notify_one();
            }
            member.thread.join();
        }
    }

    void run() {
        for (auto &member : members) {
            std::lock_guard<std::mutex> guard(member.lock);
            member.state = State::Busy;
            member.changed.notify_one();
        }
        for (auto &member : members) {
            std::unique_lock<std::mutex> guard(member.lock);
            member.changed.wait(guard, [&member] { return member.state != State::Busy; });
        }
    }

  private:
    enum class State { Idle, Busy, Over };

    struct Member {
        std::function<void()> job;
        std::thread thread;
        std::mutex lock;
        std::condition_variable changed;
        State state = State::Idle;
    };

    std::vector<Member> members;

    static void serve(Member &member) {
        std::unique_lock<std::mutex> guard(member.lock);
        while (member.state != State::Over) {
            if (member.state == State::Idle)
                member.changed.wait(guard);
            if (member.state == State::Busy) {
                member.job();
                member.state = State::Idle;
                member.changed.notify_one();
            }
        }
    }
};

template <typename Claim, typename Work>
static void work_off(std::mutex &lock, Claim claim, Work work) {
    while (true) {
        {
            std::lock_guard<std::mutex> guard(lock);
            if (!claim())
                break;
        }
        work();
    }
}

static void stage(std::size_t threads, int items, unsigned rounds) {
    std::mutex lock;
    int next = 0;
    Crew crew(threads, [&] {
        int mine = 0;
        work_off(
            lock,
            [&] {
                if (next >= items)
                    return false;
                mine = next++;
                return true;
            },
            [&] { compute(rounds + 1000 * (unsigned)mine); });
    });
    crew.run();
}

/* Its threads make no call at all. */
static void last_stage(std::size_t threads, int items, unsigned rounds) {
    std::atomic<int> next{0};
    std::vector<std::thread> helpers(threads);
    for (auto &helper : helpers)
        helper = std::thread([&] {
            for (int mine; (mine = next++) < items;)
                compute(rounds + 1000 * (unsigned)mine);
        });
    for (auto &helper : helpers)
        helper.join();
}

static unsigned part(int first, int last, unsigned rounds) {
    for (int i = first; i < last; i++)
        compute(rounds);
    return (unsigned)(last - first);
}

/* Each gets a part, and hands over what came of it. */
static unsigned in_parts(int threads, int items, unsigned rounds) {
    std::vector<std::future<unsigned>> results;
    for (int t = 0; t < threads; t++)
        results.push_back(std::async(std::launch::async, part, items * t / threads,
                                     items * (t + 1) / threads, rounds));
    unsigned done = 0;
    for (auto &result : results)
        done += result.get();
    return done;
}

int main(int argc, char **argv) {
    std::size_t threads = argc > 1 ? (std::size_t)atoi(argv[1]) : 2;
    stage(threads, 150, 300000);
    stage(threads, 120, 500000);
    last_stage(threads, 180, 400000);
    if (in_parts((int)threads, 160, 500000) != 160)
        return 1;
    puts("done");
}
