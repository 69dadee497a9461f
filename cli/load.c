#include "cli/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SHARE    0.05
#define TICK_NS      10000000.0 /* /proc/stat counts in these */
#define TICKS_UNSURE 2          /* per core: a count is rounded down before and after */
#define STAT_BYTES   (256u << 10)

/* "cpu3 user nice system idle iowait irq softirq steal guest ..." without the two of idleness, and
 * without guests, which are in user. */
static uint64_t busy_ticks(const char *counts) {
    uint64_t busy = 0;
    char *end;
    for (int field = 0; field < 8; field++) {
        uint64_t ticks = strtoull(counts, &end, 10);
        if (end == counts)
            break;
        if (field != 3 && field != 4)
            busy += ticks;
        counts = end;
    }
    return busy;
}

uint64_t load_parse_busy_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz) {
    uint64_t ticks = 0;
    for (const char *line = stat; line && strncmp(line, "cpu", 3) == 0;) {
        char *counts;
        long cpu = strtol(line + 3, &counts, 10);
        if (counts > line + 3 && line[3] != ' ' && cpu < CPU_SETSIZE && CPU_ISSET(cpu, cpus))
            ticks += busy_ticks(counts);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return ticks * 1000000000u / (uint64_t)ticks_hz;
}

uint64_t load_busy_ns(const cpu_set_t *cpus) {
    static char text[STAT_BYTES];
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return 0;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    fclose(file);
    return load_parse_busy_ns(text, cpus, sysconf(_SC_CLK_TCK));
}

double load_share(const struct program_run *run, int cores) {
    return (double)run->foreign_ns / ((double)run->run_ns * cores);
}

bool load_disturbed(const struct program_run *run, int cores) {
    double limit_ns = MAX_SHARE * (double)run->run_ns * cores;
    return (double)run->foreign_ns > limit_ns + TICKS_UNSURE * TICK_NS * cores;
}
