#include "base/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define STAT_BYTES (256u << 10)

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

uint64_t busy_parse_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz) {
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

uint64_t busy_ns(const cpu_set_t *cpus) {
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return 0;
    char *text = memory_alloc(STAT_BYTES, 1);
    size_t bytes = fread(text, 1, STAT_BYTES - 1, file);
    text[bytes] = '\0';
    fclose(file);
    uint64_t ns = busy_parse_ns(text, cpus, sysconf(_SC_CLK_TCK));
    free(text);
    return ns;
}
