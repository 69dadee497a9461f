#include "tracer/block_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MINOR_BITS 20
/* The kernel's "no sector", of flushes. */
#define NO_SECTOR UINT64_MAX

/* ---- words ---- */

/* Ends at what is no decimal digit; false: begins with none, or does not fit. */
static bool take_number(const char **at, uint64_t *number) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

static void skip_blanks(const char **at) {
    *at += strspn(*at, " \t");
}

/* "8,16" */
static bool take_device(const char **at, uint32_t *device) {
    uint64_t major, minor;
    if (!take_number(at, &major) || **at != ',')
        return false;
    ++*at;
    if (!take_number(at, &minor) || major >= 1u << (32 - MINOR_BITS) || minor >= 1u << MINOR_BITS)
        return false;
    *device = (uint32_t)(major << MINOR_BITS | minor);
    return true;
}

/* Seconds with up to nine digits behind the point. */
static bool take_time(const char **at, uint64_t *time_ns) {
    uint64_t seconds, fraction;
    if (!take_number(at, &seconds) || **at != '.' || seconds > UINT32_MAX)
        return false;
    const char *digits = ++*at;
    if (!take_number(at, &fraction) || *at - digits > 9)
        return false;
    for (long n = *at - digits; n < 9; n++)
        fraction *= 10;
    *time_ns = seconds * 1000000000u + fraction;
    return true;
}

/* ---- what an event says ---- */

/* "1024 + 8": absent for flushes. */
static void take_sectors(const char **at, uint64_t *sector, uint32_t *sectors) {
    uint64_t n;
    *sector = *sectors = 0;
    skip_blanks(at);
    if (!take_number(at, sector))
        return;
    if (*sector == NO_SECTOR)
        *sector = 0;
    if (strncmp(*at, " + ", 3) != 0)
        return;
    *at += 3;
    if (take_number(at, &n) && n <= UINT32_MAX / 512)
        *sectors = (uint32_t)n;
}

/* "RAM", "FWS" ... */
static bool take_kind(const char **at, struct block_event *event) {
    skip_blanks(at);
    size_t length = strcspn(*at, " \t\n");
    int kind = requests_kind(*at, length);
    event->kind = (enum trace_block_kind)(kind < 0 ? 0 : kind);
    *at += length;
    return kind >= 0;
}

/* " <- (8,1) 100" */
static bool take_origin(const char *at, struct block_event *event) {
    at += strspn(at, " <-");
    if (*at++ != '(' || !take_device(&at, &event->from_device) || *at++ != ')')
        return false;
    skip_blanks(&at);
    return take_number(&at, &event->from_sector);
}

/* The name of who did it, in the last brackets; what is done is in any context. */
static bool is_kernels(const char *at) {
    const char *name = strrchr(at, '[');
    return name && requests_kernel_name(name + 1, strcspn(name + 1, "]"));
}

/* From the letters of the kind on. Events print a number of bytes and a command before the sectors,
 * in brackets: "4096 ()", "()". */
static bool take_rest(const char *at, struct block_event *event) {
    if (!take_kind(&at, event))
        return false;
    const char *bytes = at + strspn(at, " 0123456789"); /* "4096 ()" */
    if (*bytes == '(') {
        at = bytes + strcspn(bytes, ")");
        at += *at == ')';
    }
    take_sectors(&at, &event->sector, &event->sectors);
    event->kernel = is_kernels(at);
    return event->action != BLOCK_REMAPPED || take_origin(at, event);
}

static bool set_action(char letter, struct block_event *event) {
    static const char letters[] = "QDCA";
    const char *at = letter ? strchr(letters, letter) : NULL;
    if (!at)
        return false;
    static const enum block_action actions[] = {BLOCK_QUEUED, BLOCK_ISSUED, BLOCK_COMPLETED,
                                                BLOCK_REMAPPED};
    event->action = actions[at - letters];
    return true;
}

/* ---- the three forms ---- */

/* "block_rq_issue: 8,0 R 4096 () 1024 + 8 ..." */
static bool parse_tracepoint(const char *at, struct block_event *event) {
    static const struct {
        const char *name;
        char letter;
    } names[] = {{"block_bio_queue: ", 'Q'},
                 {"block_rq_issue: ", 'D'},
                 {"block_rq_complete: ", 'C'},
                 {"block_bio_remap: ", 'A'}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(at, names[i].name, strlen(names[i].name)) == 0) {
            at += strlen(names[i].name);
            return take_device(&at, &event->device) && set_action(names[i].letter, event) &&
                   take_rest(at, event);
        }
    return false;
}

/* "8,0    Q   R 1024 + 8 [command]" */
static bool parse_action(const char *at, struct block_event *event) {
    if (!take_device(&at, &event->device))
        return false;
    skip_blanks(&at);
    return set_action(*at, event) && (at[1] == ' ' || at[1] == '\t') && take_rest(at + 1, event);
}

/* "  command-123 [001] d..1. 12.345678: ..." */
static bool parse_ftrace(const char *line, struct block_event *event) {
    const char *cpu = strstr(line, " [");
    if (!cpu)
        return false;
    const char *at = cpu;
    while (at > line && at[-1] == ' ')
        at--;
    if (at > line && at[-1] == ')') { /* option record-tgid: the process in brackets */
        while (at > line && *at != '(')
            at--;
        while (at > line && at[-1] == ' ')
            at--;
    }
    while (at > line && isdigit((unsigned char)at[-1]))
        at--;
    uint64_t tid;
    if (at == line || at[-1] != '-' || !take_number(&at, &tid) || tid > INT32_MAX)
        return false;
    event->tid = (int)tid;
    at = strstr(cpu, ": ");
    if (!at)
        return false;
    const char *time = at;
    while (time > cpu && time[-1] != ' ')
        time--;
    if (!take_time(&time, &event->time_ns) || time != at)
        return false;
    at += 2;
    skip_blanks(&at);
    return parse_tracepoint(at, event) || parse_action(at, event);
}

/* "  8,0    3       11     0.009507758   697  C   W 223490 + 8 [0]" */
static bool parse_blkparse(const char *line, struct block_event *event) {
    const char *at = line;
    uint64_t cpu, number, tid;
    skip_blanks(&at);
    if (!take_device(&at, &event->device))
        return false;
    skip_blanks(&at);
    if (!take_number(&at, &cpu))
        return false;
    skip_blanks(&at);
    if (!take_number(&at, &number))
        return false;
    skip_blanks(&at);
    if (!take_time(&at, &event->time_ns))
        return false;
    skip_blanks(&at);
    if (!take_number(&at, &tid) || tid > INT32_MAX)
        return false;
    event->tid = (int)tid;
    skip_blanks(&at);
    return set_action(*at, event) && (at[1] == ' ' || at[1] == '\t') && take_rest(at + 1, event);
}

bool block_text_parse(const char *line, struct block_event *event) {
    *event = (struct block_event){0};
    if (parse_ftrace(line, event))
        return true;
    *event = (struct block_event){0};
    return parse_blkparse(line, event);
}

int block_text_read(struct block_events *events, const char *path, struct error *error) {
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, "%s: %s: check the name", path, strerror(errno));
    char line[1024];
    size_t before = events->count;
    struct block_event event;
    while (fgets(line, sizeof line, file))
        if (block_text_parse(line, &event))
            *VECTOR_ADD(events) = event;
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return error_set(error, "%s: cannot be read: check the disk", path);
    if (events->count == before)
        return error_set(error,
                         "%s: no line of a block log: give the NAME of `blktrace -o NAME`, or a "
                         "text of ftrace's blk tracer, of its block events, or of blkparse",
                         path);
    return 0;
}
