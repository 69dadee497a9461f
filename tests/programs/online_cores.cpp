/* KIND: threads capped by the cores of the machine (hardware_concurrency)
 * BUILD: g++ -g -O2 -pthread online_cores.cpp -o online_cores
 * RUN: persik profile -- ./online_cores 2; predict -- ./online_cores {threads} */
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static std::atomic<int> next_item;
static std::atomic<uint64_t> sum;

static void work_off(int items) {
    while (next_item.fetch_add(1) < items) {
        uint64_t value = 1;
        for (int i = 0; i < 300000; i++)
            value = value * 6364136223846793005u + (value >> 29);
        sum += value & 1;
    }
}

int main(int argc, char **argv) {
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
    threads = std::min(threads, std::thread::hardware_concurrency());
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; i++)
        workers.emplace_back(work_off, 3000);
    for (std::thread &worker : workers)
        worker.join();
    printf("%llu\n", (unsigned long long)sum.load());
}
