/* Requests to disks that a trace lacks, from a log that blktrace(8) wrote meanwhile: where persik
 * ran without the right to see them, another user may have it. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracer/blktrace.h"
#include "tracer/tracer.h"

/* `name` and all that may follow it; what has a meaning in patterns stands for itself in `name`. */
static char *pattern_of(const char *name) {
    char *literal = memory_alloc(2 * strlen(name) + 1, 1);
    char *end = literal;
    for (; *name; name++) {
        if (strchr("*?[\\", *name))
            *end++ = '\\';
        *end++ = *name;
    }
    char *pattern = memory_format("%s.blktrace.*", literal);
    free(literal);
    return pattern;
}

static int read_all(struct blktrace *log, const char *name, struct error *error) {
    char *pattern = pattern_of(name);
    glob_t files = {0};
    int status = 0;
    if (glob(pattern, 0, NULL, &files) != 0)
        status =
            error_set(error, "no files %s.blktrace.*: give the NAME of `blktrace -o NAME`", name);
    for (size_t i = 0; i < files.gl_pathc && status == 0; i++)
        status = blktrace_read(log, files.gl_pathv[i], error);
    globfree(&files);
    free(pattern);
    return status;
}

static int add(struct trace *trace, struct blktrace *log, const char *name, struct error *error) {
    const struct trace_meta *meta = &trace->meta;
    if (meta->start_real_ns == 0)
        return error_set(error, "the recording does not say when it began: record again");
    if (log->wall_start_ns == 0)
        return error_set(error, "%s.blktrace: it does not say when it began: record again", name);
    if (log->wall_start_ns > meta->start_real_ns)
        return error_set(error,
                         "%s.blktrace: it began %.1f s after the recorded run: start blktrace "
                         "before persik",
                         name, (double)(log->wall_start_ns - meta->start_real_ns) / 1e9);
    struct block_requests requests = {0};
    requests_pair(&requests, &log->events);
    size_t n;
    struct trace_block *blocks = requests_of_threads(&requests, trace->threads, trace->n_threads,
                                                     meta->start_real_ns - log->wall_start_ns, &n);
    free(requests.items);
    free(trace->blocks);
    trace->blocks = blocks;
    trace->n_blocks = n;
    trace->meta.has_blocks = true;
    return 0;
}

int tracer_add_block_log(struct trace *trace, const char *name, struct error *error) {
    struct blktrace log = {0};
    int status = read_all(&log, name, error);
    if (status == 0)
        status = add(trace, &log, name, error);
    blktrace_free(&log);
    return status;
}
