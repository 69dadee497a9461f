#include "cli/recording/source_links.h"

#include <stdlib.h>

#include "cli/recording/workspace.h"
#include "cli/text/links.h"

void source_links_find(const char *directory) {
    char *path = workspace_path(directory, WORKSPACE_TRACE);
    struct error unsaid; /* without sources there are no links, and that is no failure */
    struct trace *trace = trace_load_header(path, &unsaid);
    free(path);
    for (size_t i = 0; trace && i < trace->n_contexts; i++)
        for (size_t j = 0; j < trace->contexts[i].n_frames; j++)
            links_know(trace->contexts[i].frames[j].file);
    trace_free(trace);
}
