/* What the command says on the way: notes, warnings and progress, all on
 * stderr; stdout is for data. Not for the probe library, which is silent. */
#ifndef PERSIK_BASE_LOG_H
#define PERSIK_BASE_LOG_H

#include <stdarg.h>

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

/* Process-wide; LOG_NORMAL until set. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));    /* normal */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2))); /* always */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* verbose */

/* The command's last line. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_verror(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Progress of long work. Drawn only when stderr is a terminal and the level
 * is not LOG_QUIET; `fraction` in 0..1, negative for "unknown". Redrawn at most
 * ten times a second; progress_end() clears the line. From any thread. */
void progress_show(const char *what, double fraction);
void progress_end(void);

#endif
