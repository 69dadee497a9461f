#include "tracer/unplaced.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/path.h"
#include "debuginfo/reason.h"

static bool is_placed(const struct trace_context *context) {
    for (size_t f = 0; f < context->n_frames; f++)
        if (context->frames[f].line > 0)
            return true;
    return false;
}

/* Path of the module in one line of the map; NULL: it is another's. */
static char *path_in_line(const char *line, size_t length, const char *module) {
    const char *slash = memchr(line, '/', length);
    if (!slash)
        return NULL;
    char *path = memory_format("%.*s", (int)(line + length - slash), slash);
    if (strcmp(path_name(path), module) == 0)
        return path;
    free(path);
    return NULL;
}

static char *find_path(char *const *maps, size_t n_maps, const char *module) {
    char *path = NULL;
    for (size_t i = 0; i < n_maps && !path; i++)
        for (const char *line = maps[i] ? maps[i] : ""; *line && !path;) {
            size_t length = strcspn(line, "\n");
            path = path_in_line(line, length, module);
            line += length + (line[length] == '\n');
        }
    return path;
}

static void tell(const struct trace_frame *frame, char *const *maps, size_t n_maps,
                 struct lacks *lacks) {
    const char *module = frame->module;
    char *path = find_path(maps, n_maps, module);
    char *reason = path ? debuginfo_reason(path) : NULL;
    if (reason)
        lacks_add(lacks, "source lines of calls in %s: no debug information: %s", module, reason);
    else
        lacks_add(lacks,
                  "source lines of some calls in %s, in %s: that part of it has no debug "
                  "information: compile it with -g, unless it comes from a library",
                  module, frame->function);
    free(reason);
    free(path);
}

void unplaced_tell(const struct trace *trace, char *const *maps, size_t n_maps,
                   struct lacks *lacks) {
    struct map told = MAP_EMPTY;
    for (size_t i = 0; i < trace->n_contexts; i++) {
        const struct trace_context *context = &trace->contexts[i];
        if (context->n_frames == 0 || is_placed(context))
            continue;
        const char *module = context->frames[0].module;
        uint64_t hash = map_mix_text(1, module);
        if (map_get(&told, hash, 0))
            continue;
        map_put(&told, hash, 1);
        tell(&context->frames[0], maps, n_maps, lacks);
    }
    map_free(&told);
}
