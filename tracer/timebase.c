#include "tracer/timebase.h"

#include "base/clock.h"
#include "base/memory.h"
#include "processor/processor.h"

/* A century: the program can write any ticks. */
#define MOST_NS 3e18

#define READINGS 16

void timebase_sample(struct timebase *timebase) {
    struct timebase_pair best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = processor_ticks();
        uint64_t mono_ns = clock_now_ns(CLOCK_MONOTONIC);
        uint64_t elapsed = processor_ticks() - before;
        if (elapsed < least) {
            least = elapsed;
            best = (struct timebase_pair){.ticks = before + elapsed / 2, .mono_ns = mono_ns};
        }
    }
    timebase_add(timebase, best);
}

void timebase_add(struct timebase *timebase, struct timebase_pair pair) {
    if (timebase->count > 0) {
        const struct timebase_pair *last = &timebase->items[timebase->count - 1];
        if (pair.ticks <= last->ticks || pair.mono_ns <= last->mono_ns)
            return;
    }
    *VECTOR_ADD(timebase) = pair;
}

uint64_t timebase_to_ns(const struct timebase *timebase, uint64_t ticks) {
    if (timebase->count < 2)
        return 0;
    size_t low = 0;
    size_t high = timebase->count - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (timebase->items[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    const struct timebase_pair *from = &timebase->items[low];
    const struct timebase_pair *to = &timebase->items[high];
    double rate = (double)(to->mono_ns - from->mono_ns) / (double)(to->ticks - from->ticks);
    if (ticks < from->ticks) {
        double before_ns = (double)(from->ticks - ticks) * rate;
        return before_ns < (double)from->mono_ns ? from->mono_ns - (uint64_t)before_ns : 0;
    }
    double after_ns = (double)(ticks - from->ticks) * rate;
    return from->mono_ns + (after_ns < MOST_NS ? (uint64_t)after_ns : (uint64_t)MOST_NS);
}
