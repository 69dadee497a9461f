#include "cli/report/site_name.h"

#include "base/memory.h"
#include "base/path.h"

char *site_frame_name(const struct trace_frame *frame) {
    const char *function = frame->function ? frame->function : "?";
    if (!frame->file || frame->line == 0)
        return memory_format("%s (%s)", function, frame->module ? frame->module : "?");
    return memory_format("%s (%s:%d)", function, path_name(frame->file), frame->line);
}

char *site_name(const struct trace *trace, uint32_t context) {
    if (context == TRACE_NO_CONTEXT || trace->contexts[context].n_frames == 0)
        return memory_strdup("?");
    return site_frame_name(&trace->contexts[context].frames[0]);
}

bool site_is_shared_object(enum api api) {
    enum api_object object = api_catalog[api].object;
    return object != ON_NONE && object != ON_THREAD && object != ON_FILE && object != ON_SOCKET;
}
