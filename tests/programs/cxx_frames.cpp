/* Frames: what is prepared for each by one thread, the others work off in tiles. They wait for each
 * other by std::atomic::wait.
 * BUILD: g++ -std=c++20 -g -O2 -pthread cxx_frames.cpp -o cxx_frames
 * Usage: cxx_frames THREADS [FRAMES] */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "work.h"

namespace {

constexpr int n_tiles = 40;
constexpr unsigned of_a_tile = 50, to_prepare = 800;

std::atomic<int> frame{0}, next_tile{0}, busy{0};
std::atomic<unsigned long> sum{0};

void render() {
    for (int seen = 0;;) {
        frame.wait(seen);
        seen = frame.load();
        if (seen < 0)
            return;
        unsigned long mine = 0;
        for (int tile; (tile = next_tile++) < n_tiles;)
            mine += work((unsigned long)(seen * n_tiles + tile), of_a_tile);
        sum += mine;
        if (--busy == 0)
            busy.notify_one();
    }
}

} // namespace

int main(int argc, char **argv) {
    int n_threads = argc > 1 ? atoi(argv[1]) : 2;
    int n_frames = argc > 2 ? atoi(argv[2]) : 100;
    if (n_threads < 1)
        return 2;
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; t++)
        threads.emplace_back(render);
    for (int f = 1; f <= n_frames; f++) {
        sum += work((unsigned long)f, to_prepare);
        next_tile = 0;
        busy = n_threads;
        frame = f;
        frame.notify_all();
        for (int left; (left = busy.load()) != 0;)
            busy.wait(left);
    }
    frame = -1;
    frame.notify_all();
    for (std::thread &thread : threads)
        thread.join();
    printf("%lx\n", sum.load());
    return 0;
}
