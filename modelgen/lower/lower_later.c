#include "modelgen/lower/lower_later.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/event_cursor.h"
#include "modelgen/evidence.h"
#include "modelgen/lower/object_selection.h"

/* Into the page cache of a file, which has no requests of its own. */
static bool writes_pages(const struct writer *writer, size_t thread,
                         const struct trace_record *record) {
    return trace_is_call(record, ON_FILE, OP_WRITE) && record->value > 0 &&
           !(record->flags & TRACE_FAILED) &&
           disk_service_queued(writer->in->disks, thread, record->start_ns, trace_end_ns(record))
                   .n == 0;
}

struct written {
    uint64_t time_ns;
    double bytes;
    bool is_held_up;
};

struct written_list {
    struct written *items;
    size_t count, capacity;
};

static int compare_times(const void *left, const void *right) {
    const struct written *a = left, *b = right;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* All writes into pages by when they returned; how long they were held up, and how much of that
 * while the kernel wrote back. */
static struct written_list list_writes(struct writer *writer, double *blocked_ns,
                                       double *covered_ns) {
    const struct lower_input *in = writer->in;
    struct written_list list = {0};
    for (size_t t = 0; t < in->trace->n_threads; t++) {
        writer->thread = t;
        for (struct event_cursor at = event_cursor_of_thread(&in->trace->threads[t]);
             event_cursor_next(&at);) {
            if (!writes_pages(writer, t, at.event))
                continue;
            uint64_t end_ns = trace_end_ns(at.event);
            double held_ns = writer_blocked_inside(writer, at.event);
            double shared =
                write_back_covers(in->write_back, in->disks, at.event->start_ns, end_ns);
            *blocked_ns += held_ns;
            *covered_ns += fmin(held_ns, shared);
            *VECTOR_ADD(&list) = (struct written){end_ns, at.event->value, held_ns > 0};
        }
    }
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_times);
    return list;
}

/* Bytes that were dirty when writes were held up: the median. */
static double dirty_when_held_up(const struct writer *writer, const struct written_list *list) {
    double *dirty = memory_alloc(list->count, sizeof *dirty), written = 0;
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        written += list->items[i].bytes;
        if (list->items[i].is_held_up)
            dirty[n++] = written - write_back_done(writer->in->write_back, writer->in->disks,
                                                   list->items[i].time_ns);
    }
    gsl_sort(dirty, 1, n);
    double median = n > 0 ? gsl_stats_median_from_sorted_data(dirty, 1, n) : 0;
    free(dirty);
    return fmax(median, 0);
}

/* The time in which the kernel writes back a byte while it does: from the first request to the last
 * one, without pauses. */
static double time_of_byte(const struct writer *writer) {
    const struct write_back *write_back = writer->in->write_back;
    double busy_ns =
        write_back_covers(write_back, writer->in->disks, 0, writer->in->trace->meta.run_ns);
    return busy_ns / write_back->bytes;
}

void lower_later_find(struct writer *writer) {
    double blocked_ns = 0, covered_ns = 0;
    if (writer->in->write_back->n == 0)
        return;
    struct written_list list = list_writes(writer, &blocked_ns, &covered_ns);
    if (blocked_ns > writer->in->insignificant_share * (double)writer->in->trace->meta.run_ns &&
        covered_ns >= evidence.recall * blocked_ns) {
        writer->later.byte_ns = time_of_byte(writer);
        writer->later.room_bytes = dirty_when_held_up(writer, &list);
        writer->later.covered = covered_ns / blocked_ns;
    }
    free(list.items);
}

bool lower_later_write(struct writer *writer, size_t index, const struct trace_record *record) {
    if (writer->later.byte_ns == 0 || !writes_pages(writer, writer->thread, record))
        return false;
    uint64_t end_ns = trace_end_ns(record);
    struct step *step = writer_add_step(writer, NODE_IO, index, record->start_ns, end_ns);
    step->time.disk = objects_write_back(writer);
    step->time.operations = 1;
    step->time.service_ns = record->value * writer->later.byte_ns;
    step->time.cpu_ns = writer_cpu_of_wait(writer, record->start_ns, end_ns);
    return true;
}
