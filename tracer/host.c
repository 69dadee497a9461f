#include "tracer/host.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

int host_cores(void) {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        return CPU_COUNT(&cores);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static char *processor(void) {
    static const char key[] = "model name";
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    char *name = NULL;
    while (file && !name && getline(&line, &capacity, file) > 0) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0)
            name = memory_format("%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    free(line);
    if (file)
        fclose(file);
    return name ? name : memory_strdup("unknown processor");
}

/* The coarse clocks advance with the tick. */
double host_tick_ns(void) {
    struct timespec tick;
    return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? (double)tick.tv_nsec : 0;
}

double host_count_ns(void) {
    return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

struct host_use host_use(void) {
    FILE *file = fopen("/proc/stat", "re");
    unsigned long long user, nice, system, irq, softirq, stolen; /* after system: idle, iowait */
    bool is_known = file && fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice,
                                   &system, &irq, &softirq, &stolen) == 6;
    if (file)
        fclose(file);
    if (!is_known)
        return (struct host_use){0};
    double count_ns = host_count_ns();
    return (struct host_use){(double)(user + nice + system + irq + softirq) * count_ns,
                             (double)stolen * count_ns, clock_now_ns(CLOCK_MONOTONIC)};
}

char *host_name(void) {
    struct utsname system;
    int major = 0;
    int minor = 0;
    if (uname(&system) == 0) {
        char *rest;
        major = (int)strtol(system.release, &rest, 10);
        minor = *rest == '.' ? (int)strtol(rest + 1, NULL, 10) : 0;
    }
    char *model = processor();
    int cores = host_cores();
    char *name = memory_format("%d core%s, %s, Linux %d.%d", cores, cores == 1 ? "" : "s", model,
                               major, minor);
    free(model);
    return name;
}

char *host_libc(void) {
    return memory_strdup(gnu_get_libc_version());
}

char *host_date(void) {
    char text[64] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local);
    return memory_strdup(text);
}
