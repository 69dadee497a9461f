#include "modelgen/pool_writer.h"

#include "base/memory.h"
#include "modelgen/decision_log.h"
#include "modelgen/graph/model_builder.h"

static char *pool_origin(const struct trace *trace, const struct thread_pool *pool) {
    if (pool->creation_context == TRACE_NO_CONTEXT)
        return memory_strdup("the program's first thread");
    const struct trace_context *calls = &trace->contexts[pool->creation_context];
    if (calls->n_frames == 0)
        return memory_strdup("?");
    const struct trace_frame *frame = &calls->frames[0];
    const struct trace_frame *caller = calls->n_frames > 1 ? &calls->frames[1] : frame;
    return memory_format("created in %s (%s:%d), called from %s%s", frame->function,
                         frame->file ? frame->file : frame->module, frame->line, caller->function,
                         pool->with_creator && !pool->team ? "; one of them is the creator itself"
                                                           : "");
}

void pool_writer_write(const struct trace *trace, const struct thread_pools *pools,
                       struct model *model) {
    for (size_t p = 0; p < pools->n_pools; p++) {
        const struct thread_pool *from = &pools->pools[p];
        int index = model_builder_pool(model, memory_strdup(from->name));
        struct pool *pool = &model->pools[index];
        pool->origin = pool_origin(trace, from);
        pool->threads = model_builder_constant(from->size);
        pool->profiled_threads = from->size;
        pool->scales = from->scales;
        bool is_plain = from->factor == 1 && from->offset == 0;
        pool->asked_factor = is_plain ? 0 : from->factor;
        pool->asked_offset = from->offset;
        pool->most_threads = from->most;
        pool->least_threads = from->least;
        pool->at_start = from->creator < 0;
        pool->with_creator = from->with_creator && !from->team;
        pool->awake = from->team && from->team->spins;
        pool->sleep_cpu_ns = from->team ? from->team->sleep_cpu_ns : 0;
    }
}

static void log_pool(const struct thread_pool *pool) {
    decision("thread_pools", pool->name, pool->scales ? "follows --threads" : "stays as it is",
             "%zu threads, %d at a time%s%s%s: %s", pool->n_threads, pool->size,
             pool->team ? ", an OpenMP team" : "",
             pool->with_creator ? ", one is the creator itself" : "",
             pool->fixed ? ", a number that the source has" : "", pool->why ? pool->why : "?");
}

void pool_writer_log(const struct thread_pools *pools) {
    for (size_t p = 0; p < pools->n_pools; p++)
        log_pool(&pools->pools[p]);
}
