#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/printable.h"

static enum log_level current_level = LOG_NORMAL;
static bool progress_drawn;
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER; /* it is drawn beside runs */

void log_set_level(enum log_level level) {
    current_level = level;
}

enum log_level log_get_level(void) {
    return current_level;
}

/* Past the stream, as progress is. */
static void set_colour(const char *code) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool wanted = !(no_colour && *no_colour) && terminal && strcmp(terminal, "dumb") != 0;
    if (wanted && isatty(STDERR_FILENO))
        dprintf(STDERR_FILENO, "\033[%sm", code);
}

/* Where both outputs are one file, what was printed before comes first, not in its middle. */
static void print_line(const char *prefix, const char *format, va_list arguments) {
    progress_end();
    fflush(stdout);
    char *text = memory_vformat(format, arguments);
    char *line = printable(text);
    fprintf(stderr, "%s%s\n", prefix, line);
    free(line);
    free(text);
}

void log_verror(const char *format, va_list arguments) {
    print_line("persik: ", format, arguments);
}

void log_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    log_verror(format, arguments);
    va_end(arguments);
}

void log_note(const char *format, ...) {
    if (current_level < LOG_NORMAL)
        return;
    va_list arguments;
    va_start(arguments, format);
    print_line("persik: ", format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_colour("33"); /* yellow */
    print_line("persik: warning: ", format, arguments);
    set_colour("0");
    va_end(arguments);
}

void log_debug(const char *format, ...) {
    if (current_level < LOG_VERBOSE)
        return;
    va_list arguments;
    va_start(arguments, format);
    print_line("persik: debug: ", format, arguments);
    va_end(arguments);
}

static void draw_progress(const char *what, double fraction) {
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
    if (progress_drawn && since < 0.1)
        return;
    last = now;
    /* Past the stream, which lets no control characters through. */
    if (fraction < 0)
        dprintf(STDERR_FILENO, "\r\033[K%s ...", what);
    else
        dprintf(STDERR_FILENO, "\r\033[K%s %3.0f%%", what, fraction * 100);
    progress_drawn = true;
}

void progress_show(const char *what, double fraction) {
    if (current_level < LOG_NORMAL || !isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&progress_lock);
    draw_progress(what, fraction);
    pthread_mutex_unlock(&progress_lock);
}

void progress_end(void) {
    pthread_mutex_lock(&progress_lock);
    if (progress_drawn)
        dprintf(STDERR_FILENO, "\r\033[K");
    progress_drawn = false;
    pthread_mutex_unlock(&progress_lock);
}
