/* Tracepoints of the kernel: their numbers and where their fields lie, from tracefs. */
#ifndef PERSIK_TRACER_TRACEPOINT_H
#define PERSIK_TRACER_TRACEPOINT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes from the start of the event's data; size 0 = the kernel has no such field. */
struct tracepoint_field {
    uint16_t offset, size;
};

struct tracepoint {
    const char *group, *name; /* as given */
    uint64_t id;
    char *format; /* text of its format file */
};

/* As root, mounts tracefs at its usual place when it is not. 0 or an errno. */
int tracepoint_mount(void);

/* The kernel's events name threads by their numbers in the first PID namespace. Are they those that
 * this process sees? Where not, TRACEPOINT_OTHER_NUMBERS is the errno of all that needs them. */
#define TRACEPOINT_OTHER_NUMBERS ENOTUNIQ
bool tracepoint_numbers_are_ours(void);

/* What an errno of this module and of ftrace.h means, for people. */
const char *tracepoint_explain(int cause);

/* Writes a control file of tracefs; `flags` of open() beside O_WRONLY. 0 or an errno. */
int tracepoint_control(const char *path, int flags, const char *text);

/* Has the collector that left something in tracefs under its process number ended? */
bool tracepoint_abandoned(long pid);

/* Reads `group`/`name`, for example "sched"/"sched_waking"; both strings must outlive it. Mounts
 * tracefs if need be. Returns 0 or an errno (EACCES for users without rights). */
int tracepoint_open(struct tracepoint *tracepoint, const char *group, const char *name);
void tracepoint_close(struct tracepoint *tracepoint);

struct tracepoint_field tracepoint_field(const struct tracepoint *tracepoint, const char *name);

/* Finds a field in the text of a format file; apart for tests. */
struct tracepoint_field tracepoint_parse_field(const char *format, const char *name);

/* The field's unsigned value in an event's data of `bytes`; 0 when it is not there. */
uint64_t tracepoint_value(const void *data, uint32_t bytes, struct tracepoint_field field);

#endif
