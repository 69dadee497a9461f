/* Rounds at a std::barrier, whose last thread computes for all; the parts of a round differ.
 * BUILD: g++ -std=c++20 -g -O2 -pthread cxx_rounds.cpp -o cxx_rounds
 * Usage: cxx_rounds THREADS [ROUNDS] */
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "work.h"

namespace {

constexpr int n_cells = 48;
std::atomic<unsigned long> sum{0};

} // namespace

int main(int argc, char **argv) {
    int n_threads = argc > 1 ? atoi(argv[1]) : 2;
    int n_rounds = argc > 2 ? atoi(argv[2]) : 150;
    if (n_threads < 1)
        return 2;
    auto for_all = []() noexcept { sum += work(7, 300); };
    std::barrier meeting(n_threads, for_all);
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++)
        threads.emplace_back([&meeting, n_threads, n_rounds, t] {
            unsigned long mine = 0;
            for (int round = 0; round < n_rounds; round++) {
                for (int cell = n_cells * t / n_threads; cell < n_cells * (t + 1) / n_threads;
                     cell++)
                    mine += work((unsigned long)(round * n_cells + cell),
                                 30 + (unsigned)((cell * 7 + round) % 13) * 3);
                meeting.arrive_and_wait();
            }
            sum += mine;
        });
    for (std::thread &thread : threads)
        thread.join();
    printf("%lx\n", sum.load());
    return 0;
}
