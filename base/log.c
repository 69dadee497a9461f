#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static enum log_level current_level = LOG_NORMAL;
static bool progress_drawn;

void log_set_level(enum log_level level) {
    current_level = level;
}

enum log_level log_get_level(void) {
    return current_level;
}

/* Where both outputs are one file, what was printed before comes first, not in its middle. */
static void print_line(const char *prefix, const char *format, va_list arguments) {
    progress_end();
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
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
    print_line("persik: warning: ", format, arguments);
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

void progress_show(const char *what, double fraction) {
    static struct timespec last;
    if (current_level < LOG_NORMAL || !isatty(STDERR_FILENO))
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
    if (progress_drawn && since < 0.1)
        return;
    last = now;
    if (fraction < 0)
        fprintf(stderr, "\r\033[K%s ...", what);
    else
        fprintf(stderr, "\r\033[K%s %3.0f%%", what, fraction * 100);
    fflush(stderr);
    progress_drawn = true;
}

void progress_end(void) {
    if (!progress_drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress_drawn = false;
}
