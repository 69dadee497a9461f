#include "modelgen/lower/lower_setup.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/lower/lower_timed_calls.h"
#include "modelgen/lower/object_selection.h"
#include "modelgen/lower/wake_policy.h"

/* Which queues bring the busiest pool its tasks. */
static void find_task_queues(struct writer *writer) {
    const struct sections *sections = writer->in->sections;
    const struct monitors *monitors = writer->in->monitors;
    writer->feeds_tasks = memory_alloc(monitors->n_guards, sizeof(bool));
    for (size_t s = 0; s < sections->n_sections; s++) {
        int pool = writer->in->pools->pool_of[sections->sections[s].thread];
        for (size_t g = 0; pool == writer->task_pool && g < monitors->n_guards; g++)
            writer->feeds_tasks[g] |= monitors->guards[g].waits[monitors->class_of[s]];
    }
}

void lower_setup_begin(struct writer *writer) {
    const struct lower_input *in = writer->in;
    const struct trace *trace = in->trace;
    const struct sections *sections = in->sections;
    writer->object_of = memory_alloc(sections->n_objects, sizeof(int));
    writer->is_shared = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_multiplied = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_flag = memory_alloc(sections->n_objects, sizeof(bool));
    writer->is_met_at = memory_alloc(sections->n_objects, sizeof(bool));
    writer->created = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->joined = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->join_standing = memory_alloc(in->pools->n_pools, sizeof(int));
    writer->creation = memory_alloc(in->pools->n_pools, sizeof(size_t));
    writer->section_of_unlock = memory_alloc(trace->n_threads, sizeof(int *));
    int *user = memory_alloc(sections->n_objects, sizeof(int));
    for (size_t o = 0; o < sections->n_objects; o++) {
        writer->object_of[o] = UNDECIDED;
        user[o] = -1;
    }
    for (size_t t = 0; t < trace->n_threads; t++) {
        const struct trace_thread *thread = &trace->threads[t];
        writer->life_ns += (double)(thread->end_ns - thread->start_ns);
        writer->section_of_unlock[t] = memory_alloc(thread->n_records, sizeof(int));
        for (struct event_cursor at = event_cursor_of_thread(thread); event_cursor_next(&at);) {
            writer->section_of_unlock[t][at.number] = -1;
            int object = sections_object(sections, at.event);
            enum api_op op = trace_op(at.event);
            if (object < 0 || op == OP_INIT || op == OP_DESTROY)
                continue;
            writer->is_shared[object] |= user[object] >= 0 && user[object] != (int)t;
            writer->is_multiplied[object] |= in->pools->pools[in->pools->pool_of[t]].scales;
            user[object] = (int)t;
        }
    }
    free(user);
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        if (!section->cut)
            writer->section_of_unlock[section->thread][section->unlock_record] = (int)s;
    }
    for (size_t p = 0; p < in->pools->n_pools; p++)
        if (in->pools->pools[p].cpu_ns > in->pools->pools[writer->task_pool].cpu_ns)
            writer->task_pool = (int)p;
    writer->is_instance = lock_instances_find(sections, writer->life_ns, writer->model);
    writer->polling = polling_queues_find(trace, sections, in->pools->pool_of, writer->task_pool);
    writer->poison_pills = poison_pills_find(in);
    writer->self_feeding = memory_alloc(in->monitors->n_guards + 1, sizeof *writer->self_feeding);
    writer->scatter = memory_alloc(in->monitors->n_guards + 1, sizeof *writer->scatter);
    writer->when_empty = memory_alloc(in->monitors->n_guards + 1, sizeof *writer->when_empty);
    for (size_t g = 0; g < in->monitors->n_guards; g++) {
        writer->self_feeding[g] = self_feeding_queue_total(in, &writer->poison_pills, g);
        writer->scatter[g] = scatter_of(in, &writer->poison_pills, g);
        writer->when_empty[g] = wake_policy_when_empty(writer, &in->monitors->guards[g]);
    }
    lower_timed_calls_choose_sites(writer);
    objects_find_flags(writer);
    objects_find_meetings(writer);
    find_task_queues(writer);
}

void lower_setup_free(struct writer *writer) {
    for (size_t t = 0; t < writer->in->trace->n_threads; t++)
        free(writer->section_of_unlock[t]);
    free(writer->section_of_unlock);
    free(writer->object_of);
    free(writer->is_shared);
    free(writer->is_multiplied);
    free(writer->is_flag);
    free(writer->is_instance);
    free(writer->is_met_at);
    free(writer->works.items);
    free(writer->created);
    free(writer->joined);
    free(writer->join_standing);
    free(writer->creation);
    free(writer->feeds_tasks);
    polling_queues_free(&writer->polling);
    poison_pills_free(&writer->poison_pills);
    free(writer->self_feeding);
    free(writer->scatter);
    free(writer->when_empty);
    map_free(&writer->kept_sites);
    map_free(&writer->share_of);
    map_free(&writer->device_of_site);
    map_free(&writer->disk_of);
}
