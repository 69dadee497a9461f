#include "tracer/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define TRACEFS          "/sys/kernel/tracing"
#define MAX_FORMAT_BYTES (16u << 10)

/* Text of a small file, NULL and errno on failure. */
static char *read_small(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *text = memory_alloc(MAX_FORMAT_BYTES, 1);
    size_t bytes = fread(text, 1, MAX_FORMAT_BYTES - 1, file);
    text[bytes] = '\0';
    fclose(file);
    return text;
}

int tracepoint_mount(void) {
    if (access(TRACEFS "/events", F_OK) == 0)
        return 0;
    if (errno == EACCES)
        return EACCES;
    return mount("tracefs", TRACEFS, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0
               ? 0
               : errno;
}

int tracepoint_control(const char *path, int flags, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC | flags);
    if (file < 0)
        return errno;
    size_t bytes = strlen(text);
    int cause = write(file, text, bytes) == (ssize_t)bytes ? 0 : errno;
    close(file);
    return cause;
}

/* The number of the first PID namespace's file is the same in all kernels. */
bool tracepoint_numbers_are_ours(void) {
    struct stat about;
    return stat("/proc/self/ns/pid", &about) != 0 || about.st_ino == 0xEFFFFFFCu;
}

const char *tracepoint_explain(int cause) {
    if (cause == TRACEPOINT_OTHER_NUMBERS)
        return "in a PID namespace (a container) the kernel names threads by other numbers: run "
               "persik and the program outside of it";
    return strerror(cause);
}

bool tracepoint_abandoned(long pid) {
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

int tracepoint_open(struct tracepoint *tracepoint, const char *group, const char *name) {
    *tracepoint = (struct tracepoint){.group = group, .name = name};
    int cause = tracepoint_mount();
    if (cause)
        return cause;
    char path[256];
    snprintf(path, sizeof path, TRACEFS "/events/%s/%s/id", group, name);
    char *id = read_small(path);
    if (!id)
        return errno;
    tracepoint->id = strtoull(id, NULL, 10);
    free(id);
    snprintf(path, sizeof path, TRACEFS "/events/%s/%s/format", group, name);
    tracepoint->format = read_small(path);
    return tracepoint->format ? 0 : errno;
}

void tracepoint_close(struct tracepoint *tracepoint) {
    free(tracepoint->format);
    tracepoint->format = NULL;
}

struct tracepoint_field tracepoint_field(const struct tracepoint *tracepoint, const char *name) {
    return tracepoint_parse_field(tracepoint->format, name);
}

/* A line is "\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;". */
static bool declares(const char *line, size_t length, const char *name) {
    size_t name_length = strlen(name);
    const char *end = memchr(line, ';', length);
    if (!end)
        return false;
    const char *bracket = memchr(line, '[', (size_t)(end - line));
    if (bracket)
        end = bracket;
    return (size_t)(end - line) > name_length && end[-(ptrdiff_t)name_length - 1] == ' ' &&
           memcmp(end - name_length, name, name_length) == 0;
}

struct tracepoint_field tracepoint_parse_field(const char *format, const char *name) {
    for (const char *line = strstr(format, "field:"); line; line = strstr(line + 1, "field:")) {
        size_t length = strcspn(line, "\n");
        const char *offset = strstr(line, "offset:");
        const char *size = strstr(line, "size:");
        if (declares(line, length, name) && offset && size)
            return (struct tracepoint_field){(uint16_t)strtoul(offset + 7, NULL, 10),
                                             (uint16_t)strtoul(size + 5, NULL, 10)};
    }
    return (struct tracepoint_field){0};
}

uint64_t tracepoint_value(const void *data, uint32_t bytes, struct tracepoint_field field) {
    uint64_t value = 0;
    if (field.size > 0 && field.size <= sizeof value &&
        (uint32_t)field.offset + field.size <= bytes)
        memcpy(&value, (const char *)data + field.offset, field.size);
    return value;
}
