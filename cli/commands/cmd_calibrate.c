/* persik calibrate: measures the disk under a folder. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/prediction/simulation_options.h"
#include "formats/disk_calibration.h"

enum { KEY_SIZE = 0x6000, KEY_DURATION, KEY_PARALLEL };

#define DEFAULT_FILE        "persik-disk.json"
#define DEFAULT_BYTES       (64U << 20)
#define LEAST_BYTES         (8U << 20)
#define MOST_BYTES          (16ULL << 30)
#define DEFAULT_DURATION_NS 15000000000U
#define MOST_DURATION_NS    600e9
#define DEFAULT_PARALLEL    8
#define MOST_PARALLEL       256

struct options {
    struct disk_probe_options probe;
    enum table_format format;
    const char *folder, *file;
};

static const struct argp_option options_list[] = {
    {"output", 'o', "FILE", 0, "write the result there (default: " DEFAULT_FILE ")", 1},
    {"size", KEY_SIZE, "BYTES", 0,
     "of the file in which is read and written, such as 256M (default: 64M); twice as much must be "
     "free",
     1},
    {"duration", KEY_DURATION, "TIME", 0, "of all requests together (default: 15s)", 1},
    {"parallel", KEY_PARALLEL, "N", 0, "up to so many requests at once (default: 8)", 1},
    {"quiet", 'q', NULL, 0, "warnings and errors only", 91},
    {0},
};

static uint64_t option_bytes(const char *option, const char *text) {
    double bytes;
    if (quantity_parse(text, UNIT_BYTES, &bytes) < 0 || bytes < LEAST_BYTES || bytes > MOST_BYTES)
        usage_error("%s %s: give 8M to 16G, such as 256M", option, text);
    return (uint64_t)bytes;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->format;
        return 0;
    case 'o':
        options->file = argument;
        return 0;
    case KEY_SIZE:
        options->probe.file_bytes = option_bytes("--size", argument);
        return 0;
    case KEY_DURATION: {
        double time_ns = simulation_option_positive("--duration", argument, UNIT_TIME, "15s");
        if (time_ns > MOST_DURATION_NS)
            usage_error("--duration %s: at most 10min", argument);
        options->probe.duration_ns = (uint64_t)time_ns;
        return 0;
    }
    case KEY_PARALLEL:
        options->probe.parallel = (int)option_integer("--parallel", argument, 1, MOST_PARALLEL);
        return 0;
    case 'q':
        log_set_level(LOG_QUIET);
        return 0;
    case ARGP_KEY_ARG:
        if (options->folder)
            usage_error("'%s': calibrate measures one folder", argument);
        options->folder = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&format_argp, 0, NULL, 0}, {0}};

static const struct argp calibrate_argp = {
    .options = options_list,
    .parser = parse_option,
    .args_doc = "DIR",
    .doc =
        "Measures how long the disk under the folder DIR takes: to read, to write and to flush, in "
        "a row and anywhere, small and large requests, one at a time and several at once. It reads "
        "and writes in a file of its own that has no name, and goes with the command, however that "
        "ends. build-model --disk takes the result for requests that a recording had none of.\v"
        "Examples:\n"
        "  persik calibrate /var/lib/database\n"
        "  persik calibrate . --size 1G --parallel 32 -o nvme.json\n"
        "  persik build-model --disk nvme.json\n",
    .children = children,
};

/* ---- the command ---- */

static const struct table_column columns[] = {
    {"kind", "requests"},    {"order", "order"},       {"bytes", "size"},
    {"parallel", "at once"}, {"requests", "measured"}, {"mean_ns", "mean time"},
    {"median_ns", "median"}, {"rate_hz", "together"},
};

static void print_table(const struct disk_probe *probe, enum table_format format) {
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < probe->count; i++) {
        const struct disk_point *point = &probe->items[i];
        bool is_flush = point->kind == DISK_FLUSH;
        table_add_text(table, disk_request_name(point->kind));
        table_add_text(table, is_flush ? "" : point->is_sequential ? "sequential" : "random");
        table_add_number(table, is_flush ? NAN : point->bytes, UNIT_BYTES);
        table_add_integer(table, point->parallel);
        table_add_integer(table, (long)point->requests);
        table_add_number(table, point->mean_ns, UNIT_TIME);
        table_add_number(table, point->times_ns[DISK_POINT_TIMES / 2], UNIT_TIME);
        table_add_number(table, point->parallel * 1e9 / point->mean_ns, UNIT_RATE);
    }
    table_print(table, format, stdout);
    table_free(table);
}

static void today(char date[sizeof "2026-11-28"]) {
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof "2026-11-28", "%Y-%m-%d", gmtime_r(&now, &parts));
}

static int save_and_print(const struct options *options, const struct disk_probe *probe,
                          struct error *error) {
    char date[sizeof "2026-11-28"];
    today(date);
    if (disk_calibration_save(probe, date, options->file, error) < 0)
        return -1;
    print_table(probe, options->format);
    log_note("disk %u:%u, in a file of %.0f MB: next, `persik build-model --disk %s`",
             probe->device >> 20, probe->device & 0xfffff, (double)probe->file_bytes / 1e6,
             options->file);
    return 0;
}

int command_calibrate(int argc, char **argv) {
    struct options options = {.file = DEFAULT_FILE,
                              .probe = {.file_bytes = DEFAULT_BYTES,
                                        .duration_ns = DEFAULT_DURATION_NS,
                                        .parallel = DEFAULT_PARALLEL}};
    argp_parse(&calibrate_argp, argc, argv, 0, NULL, &options);
    if (!options.folder)
        usage_error("calibrate needs a folder on the disk to be measured");
    struct disk_probe probe;
    struct error error = {0};
    log_note("measuring for some %.0f s: nobody else should use the disk",
             (double)options.probe.duration_ns / 1e9);
    interrupt_begin();
    int status = disk_probe(options.folder, &options.probe, &probe, &error);
    interrupt_end();
    if (status == 0) {
        status = save_and_print(&options, &probe, &error);
        disk_probe_free(&probe);
    }
    return status < 0 ? command_failed(&error) : 0;
}
