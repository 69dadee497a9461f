#include "tracer/ftrace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define INSTANCES     "/sys/kernel/tracing/instances"
#define NAME          "persik-"
#define BUFFER_KB     "4096" /* per CPU; some 100,000 events, and we look five times a second */
#define MAX_PAGE      (64u << 10)
#define MAX_HANDLERS  256
#define COMMON_FIELDS 8 /* bytes at the start of every event: type, flags, pid */
/* Of the flags: the kernel's TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI. */
#define IN_INTERRUPT (0x08 | 0x10 | 0x40)

struct ftrace {
    char *instance; /* its folder; NULL: none, see `cause` */
    int cause;      /* errno */
    int n_cpus;
    int *pages; /* trace_pipe_raw of each CPU; -1 */
    int n_handlers;
    struct handler {
        uint16_t id;
        ftrace_handler *call;
        void *context;
        char *enable; /* file */
    } handlers[MAX_HANDLERS];
    uint32_t cpu; /* whose page is being parsed */
};

/* ---- tracefs ---- */

static int set(const struct ftrace *ftrace, const char *name, const char *text) {
    char *path = memory_format("%s/%s", ftrace->instance, name);
    int cause = tracepoint_control(path, 0, text);
    free(path);
    return cause;
}

/* Instances of collectors that were killed would record for ever. */
static void remove_abandoned(void) {
    DIR *folder = opendir(INSTANCES);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, NAME, strlen(NAME)) != 0)
            continue;
        long pid = strtol(entry->d_name + strlen(NAME), NULL, 10);
        if (tracepoint_abandoned(pid))
            unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
    }
    if (folder)
        closedir(folder);
}

static int open_pages(struct ftrace *ftrace) {
    ftrace->n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
    ftrace->pages = memory_alloc((size_t)ftrace->n_cpus, sizeof *ftrace->pages);
    int opened = 0;
    int cause = ENOENT;
    for (int cpu = 0; cpu < ftrace->n_cpus; cpu++) {
        char *path = memory_format("%s/per_cpu/cpu%d/trace_pipe_raw", ftrace->instance, cpu);
        ftrace->pages[cpu] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (ftrace->pages[cpu] >= 0)
            opened++;
        else
            cause = errno;
        free(path);
    }
    return opened > 0 ? 0 : cause;
}

static int set_up(struct ftrace *ftrace, const char *purpose) {
    if (!tracepoint_numbers_are_ours())
        return TRACEPOINT_OTHER_NUMBERS;
    int cause = tracepoint_mount();
    if (cause)
        return cause;
    remove_abandoned();
    char *path = memory_format(INSTANCES "/" NAME "%d%s", (int)getpid(), purpose);
    rmdir(path); /* of one that was killed and had our number */
    if (mkdir(path, 0700) != 0) {
        cause = errno;
        free(path);
        return cause;
    }
    ftrace->instance = path;
    cause = set(ftrace, "trace_clock", "mono");
    if (!cause)
        cause = set(ftrace, "buffer_size_kb", BUFFER_KB);
    return cause ? cause : open_pages(ftrace);
}

struct ftrace *ftrace_open(const char *purpose) {
    struct ftrace *ftrace = memory_alloc(1, sizeof *ftrace);
    ftrace->cause = set_up(ftrace, purpose);
    return ftrace;
}

int ftrace_follow(struct ftrace *ftrace, int pid) {
    char text[16];
    snprintf(text, sizeof text, "%d", pid);
    int cause = ftrace->cause;
    if (!cause)
        cause = set(ftrace, "set_event_pid", text);
    return cause ? cause : set(ftrace, "options/event-fork", "1");
}

int ftrace_add(struct ftrace *ftrace, const struct tracepoint *tracepoint, ftrace_handler *handler,
               void *context) {
    if (ftrace->cause)
        return ftrace->cause;
    if (ftrace->n_handlers == MAX_HANDLERS)
        return ENOSPC;
    char *path = memory_format("%s/events/%s/%s/enable", ftrace->instance, tracepoint->group,
                               tracepoint->name);
    int cause = tracepoint_control(path, 0, "1");
    if (cause) {
        free(path);
        return cause;
    }
    ftrace->handlers[ftrace->n_handlers++] = (struct handler){
        .id = (uint16_t)tracepoint->id, .call = handler, .context = context, .enable = path};
    return 0;
}

/* ---- pages ---- */

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

#define DELTA_BITS   27
#define STAMP_BITS   59
#define HEADER_BYTES 16
#define COMMIT_MASK  ((1u << 27) - 1) /* the rest of it says that events were lost */

/* The kernel's own clock keeps the bits that an absolute stamp has no room for. */
static uint64_t complete_stamp(uint64_t stamp, uint64_t last) {
    return stamp | (last & ~((1ull << STAMP_BITS) - 1));
}

static void hand_over(const char *data, uint32_t bytes, uint64_t mono_ns, ftrace_handler *event,
                      void *context) {
    int32_t tid;
    if (bytes < COMMON_FIELDS)
        return;
    memcpy(&tid, data + 4, sizeof tid);
    event(&(struct ftrace_event){.mono_ns = mono_ns,
                                 .tid = tid,
                                 .in_interrupt = (data[2] & IN_INTERRUPT) != 0,
                                 .bytes = bytes,
                                 .data = data},
          context);
}

void ftrace_parse_page(const void *page, size_t bytes, ftrace_handler *event, void *context) {
    uint64_t now = 0;
    uint64_t committed = 0;
    if (bytes < HEADER_BYTES)
        return;
    memcpy(&now, page, sizeof now);
    memcpy(&committed, (const char *)page + sizeof now, sizeof committed);
    committed &= COMMIT_MASK;
    if (committed > bytes - HEADER_BYTES)
        committed = bytes - HEADER_BYTES;
    const char *at = (const char *)page + HEADER_BYTES;
    const char *end = at + committed;
    while (end - at >= 4) {
        uint32_t words[2] = {0};
        memcpy(words, at, end - at >= 8 ? 8 : 4);
        uint32_t type = words[0] & 31;
        uint64_t delta = words[0] >> 5;
        uint32_t length = type * 4; /* of the data */
        bool two_words = type == TYPE_LONG || type >= TYPE_PADDING;
        at += 4;
        if (two_words && end - at < 4)
            return;
        if (type == TYPE_EXTEND || type == TYPE_STAMP) {
            uint64_t time = delta + ((uint64_t)words[1] << DELTA_BITS);
            now = type == TYPE_EXTEND ? now + time : complete_stamp(time, now);
            at += 4;
            continue;
        }
        if (type == TYPE_PADDING && delta == 0)
            return; /* to the end of the page */
        now += delta;
        if (type == TYPE_LONG) {
            length = words[1] < 4 ? 0 : words[1] - 4; /* it counts itself */
            at += 4;
        } else if (type == TYPE_PADDING) { /* an event that was taken back */
            length = words[1];
        }
        if (length > (size_t)(end - at))
            return;
        if (type != TYPE_PADDING)
            hand_over(at, length, now, event, context);
        at += (length + 3) & ~3u;
    }
}

static void dispatch(const struct ftrace_event *event, void *context) {
    struct ftrace *ftrace = context;
    uint16_t id;
    memcpy(&id, event->data, sizeof id);
    struct ftrace_event whole = *event;
    whole.cpu = ftrace->cpu;
    for (int i = 0; i < ftrace->n_handlers; i++)
        if (ftrace->handlers[i].id == id)
            ftrace->handlers[i].call(&whole, ftrace->handlers[i].context);
}

void ftrace_drain(struct ftrace *ftrace) {
    if (ftrace->cause)
        return;
    char *page = memory_alloc(MAX_PAGE, 1);
    for (int cpu = 0; cpu < ftrace->n_cpus; cpu++) {
        ftrace->cpu = (uint32_t)cpu;
        ssize_t bytes = 0;
        while (ftrace->pages[cpu] >= 0 && (bytes = read(ftrace->pages[cpu], page, MAX_PAGE)) > 0)
            ftrace_parse_page(page, (size_t)bytes, dispatch, ftrace);
    }
    free(page);
}

/* ---- the end ---- */

uint64_t ftrace_lost(const struct ftrace *ftrace) {
    uint64_t lost = 0;
    for (int cpu = 0; !ftrace->cause && cpu < ftrace->n_cpus; cpu++) {
        char *path = memory_format("%s/per_cpu/cpu%d/stats", ftrace->instance, cpu);
        FILE *file = fopen(path, "re");
        free(path);
        static const char *const keys[] = {"overrun: ", "dropped events: "};
        char line[128];
        while (file && fgets(line, sizeof line, file))
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                if (strncmp(line, keys[i], strlen(keys[i])) == 0)
                    lost += strtoull(line + strlen(keys[i]), NULL, 10);
        if (file)
            fclose(file);
    }
    return lost;
}

void ftrace_close(struct ftrace *ftrace) {
    if (!ftrace)
        return;
    for (int i = 0; i < ftrace->n_handlers; i++) {
        tracepoint_control(ftrace->handlers[i].enable, 0, "0");
        free(ftrace->handlers[i].enable);
    }
    for (int cpu = 0; cpu < ftrace->n_cpus; cpu++)
        if (ftrace->pages[cpu] >= 0)
            close(ftrace->pages[cpu]);
    if (ftrace->instance)
        rmdir(ftrace->instance);
    free(ftrace->pages);
    free(ftrace->instance);
    free(ftrace);
}
