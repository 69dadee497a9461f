#include "cli/report/tally.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "cli/report/site_name.h"

static struct tally_row *find_row(struct tally *tally, struct map *rows, uint64_t key,
                                  const struct trace_record *record) {
    int index = map_get(rows, key, -1);
    if (index >= 0)
        return &tally->items[index];
    map_put(rows, key, (int)tally->count);
    struct tally_row *row = VECTOR_ADD(tally);
    row->api = (enum api)record->api;
    row->context = record->context;
    return row;
}

static void add_record(struct tally_row *row, const struct trace_record *record) {
    row->operations++;
    row->waits += record->duration_ns > 0;
    row->wait_ns += record->duration_ns;
}

static uint64_t object_key(const struct trace_record *record) {
    return map_mix(map_mix(1, api_catalog[record->api].object), record->object);
}

static uint64_t site_key(const struct trace *trace, const struct trace_record *record) {
    uint64_t key = map_mix(2, record->api);
    if (record->context == TRACE_NO_CONTEXT || trace->contexts[record->context].n_frames == 0)
        return key;
    const struct trace_frame *frame = &trace->contexts[record->context].frames[0];
    return map_mix(map_mix_text(key, frame->module ? frame->module : ""), frame->offset);
}

static struct tally tally_of(const struct trace *trace, bool by_object) {
    struct tally tally = {0};
    struct map rows = MAP_EMPTY;
    for (size_t i = 0; i < trace->n_threads; i++) {
        const struct trace_thread *thread = &trace->threads[i];
        for (size_t j = 0; j < thread->n_records; j++) {
            const struct trace_record *record = &thread->records[j];
            if (by_object && !site_is_shared_object((enum api)record->api))
                continue;
            uint64_t key = by_object ? object_key(record) : site_key(trace, record);
            struct tally_row *row = find_row(&tally, &rows, key, record);
            row->object = by_object ? record->object : 0;
            add_record(row, record);
        }
    }
    map_free(&rows);
    return tally;
}

struct tally tally_objects(const struct trace *trace) {
    return tally_of(trace, true);
}

struct tally tally_sites(const struct trace *trace) {
    return tally_of(trace, false);
}

static int compare_rows(const void *left, const void *right) {
    const struct tally_row *a = left;
    const struct tally_row *b = right;
    if (a->wait_ns != b->wait_ns)
        return a->wait_ns < b->wait_ns ? 1 : -1;
    if (a->operations != b->operations)
        return a->operations < b->operations ? 1 : -1;
    return a->context < b->context ? -1 : a->context > b->context;
}

void tally_sort(struct tally *tally) {
    VECTOR_SORT(tally, compare_rows);
}
