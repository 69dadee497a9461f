// An exception thrown through functions that are wrapped, or watched by the kernel.
#include <cstdio>
#include <pthread.h>
#include <stdexcept>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

extern "C" __attribute__((noipa)) int take(void *queue, int n) {
    if (n > 2)
        throw std::runtime_error("closed");
    return n + (queue != nullptr);
}

// Jumps back to its own start, so it cannot be wrapped; it has returns of its own.
extern "C" __attribute__((noipa)) int drain(void *queue, int n) {
    int sum = 0;
    do {
        sum += take(queue, n);
    } while (n-- > 0);
    return sum;
}

int main() {
    int caught = 0, sum = 0;
    for (int n = 0; n < 10; n++)
        try {
            sum += n % 2 ? take(&sum, n) : drain(&sum, n);
        } catch (const std::runtime_error &) {
            caught++;
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
    std::printf("%d %d\n", sum, caught);
}
