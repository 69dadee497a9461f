#include "host/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define STAT_BYTES (256u << 10)

/* "cpu3 user nice system idle iowait irq softirq steal guest ...": all without the two of idleness,
 * and without guests, which are in user. */
#define FIELD_IDLE   3
#define FIELD_IOWAIT 4
#define FIELD_STEAL  7
#define BUSY         (0xFFu & ~(1u << FIELD_IDLE | 1u << FIELD_IOWAIT))
#define STOLEN       (1u << FIELD_STEAL)

/* Of the fields whose bits are set. */
static uint64_t sum_ticks(const char *counts, unsigned fields) {
    uint64_t sum = 0;
    char *end;
    for (int field = 0; field <= FIELD_STEAL; field++) {
        uint64_t ticks = strtoull(counts, &end, 10);
        if (end == counts)
            break;
        if (fields >> field & 1)
            sum += ticks;
        counts = end;
    }
    return sum;
}

static uint64_t parse_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz, unsigned fields) {
    uint64_t ticks = 0;
    for (const char *line = stat; line && strncmp(line, "cpu", 3) == 0;) {
        char *counts;
        long cpu = strtol(line + 3, &counts, 10);
        if (counts > line + 3 && line[3] != ' ' && cpu < CPU_SETSIZE && CPU_ISSET(cpu, cpus))
            ticks += sum_ticks(counts, fields);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return ticks * 1000000000u / (uint64_t)ticks_hz;
}

uint64_t busy_parse_ns(const char *stat, const cpu_set_t *cpus, long ticks_hz) {
    return parse_ns(stat, cpus, ticks_hz, BUSY);
}

static uint64_t read_ns(const cpu_set_t *cpus, unsigned fields) {
    FILE *file = fopen("/proc/stat", "re");
    if (!file)
        return 0;
    char *text = memory_alloc(STAT_BYTES, 1);
    size_t bytes = fread(text, 1, STAT_BYTES - 1, file);
    text[bytes] = '\0';
    fclose(file);
    uint64_t ns = parse_ns(text, cpus, sysconf(_SC_CLK_TCK), fields);
    free(text);
    return ns;
}

uint64_t busy_ns(const cpu_set_t *cpus) {
    return read_ns(cpus, BUSY);
}

uint64_t busy_stolen_ns(const cpu_set_t *cpus) {
    return read_ns(cpus, STOLEN);
}
