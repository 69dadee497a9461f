#include "host/runs.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <poll.h>

#include "base/clock.h"
#include "base/log.h"

#define PERIOD_MS 250

static struct {
    size_t expected, made; /* made: with the one that goes on */
    uint64_t started_ns;   /* of that one */
    double longest_s;      /* 0: none has ended yet */
    bool is_drawn;
    int stop; /* an event ends the drawing */
    pthread_t thread;
} runs;

void runs_expect(size_t n) {
    runs.expected = n;
}

void runs_restart(void) {
    runs.made = 0;
    runs.longest_s = 0;
}

static double seconds_left(void) {
    double elapsed_s = 1e-9 * (double)(clock_now_ns(CLOCK_MONOTONIC) - runs.started_ns);
    size_t with_this = runs.expected - runs.made + 1;
    return fmax((double)with_this * runs.longest_s - elapsed_s,
                (double)(with_this - 1) * runs.longest_s);
}

static void draw(void) {
    char text[96];
    if (runs.made > runs.expected)
        snprintf(text, sizeof text, "run %zu", runs.made);
    else if (runs.longest_s > 0)
        snprintf(text, sizeof text, "run %zu of %zu, %.0f s left", runs.made, runs.expected,
                 ceil(seconds_left()));
    else
        snprintf(text, sizeof text, "run %zu of %zu", runs.made, runs.expected);
    progress_show(text, -1);
}

static void *draw_until_stopped(void *unused) {
    (void)unused;
    struct pollfd stop = {.fd = runs.stop, .events = POLLIN};
    do
        draw();
    while (poll(&stop, 1, PERIOD_MS) == 0);
    return NULL;
}

/* Without room for a thread nothing is drawn. */
void runs_begin(bool shown) {
    runs.made++;
    runs.started_ns = clock_now_ns(CLOCK_MONOTONIC);
    runs.is_drawn = false;
    if (log_get_level() < LOG_NORMAL || !isatty(STDERR_FILENO) || (shown && isatty(STDOUT_FILENO)))
        return;
    runs.stop = eventfd(0, EFD_CLOEXEC);
    runs.is_drawn =
        runs.stop >= 0 && pthread_create(&runs.thread, NULL, draw_until_stopped, NULL) == 0;
    if (!runs.is_drawn && runs.stop >= 0)
        close(runs.stop);
}

void runs_end(void) {
    runs.longest_s =
        fmax(runs.longest_s, 1e-9 * (double)(clock_now_ns(CLOCK_MONOTONIC) - runs.started_ns));
    if (!runs.is_drawn)
        return;
    eventfd_write(runs.stop, 1);
    pthread_join(runs.thread, NULL);
    close(runs.stop);
    progress_end();
}
