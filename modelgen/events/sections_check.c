#include "modelgen/events/sections_check.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/critical_sections.h"

static bool is_object(const struct sections *sections, int object) {
    return object >= 0 && (size_t)object < sections->n_objects;
}

static int check_object(const struct sections *sections, size_t o, struct error *error) {
    const struct sync_object *object = &sections->objects[o];
    if (!sections_is_object(object->kind))
        return error_set(error, "object %zu is of no kind that is followed", o);
    if (!is_object(sections, object->class_id) || !is_object(sections, object->whole))
        return error_set(error, "object %zu is of a class or a part of an object that is not there",
                         o);
    if (sections->objects[object->class_id].class_id != object->class_id)
        return error_set(error, "object %zu is of class %d, which is of another one", o,
                         object->class_id);
    return 0;
}

static int check_waits(const struct sections *sections, size_t s, struct error *error) {
    const struct section *section = &sections->sections[s];
    for (size_t i = 0; i < section->n_waits; i++) {
        const struct section_wait *wait = &sections->waits[section->first_wait + i];
        if (!is_object(sections, wait->condition))
            return error_set(error, "section %zu waits for an object that is not there", s);
        if (wait->start_ns > wait->end_ns || wait->start_ns < section->acquire_ns ||
            wait->record <= section->lock_record || wait->record > section->unlock_record)
            return error_set(error, "section %zu waits outside of it", s);
    }
    for (size_t i = 0; i < section->n_signals; i++)
        if (!is_object(sections, sections->signals[section->first_signal + i].condition))
            return error_set(error, "section %zu signals an object that is not there", s);
    return 0;
}

static int check_section(const struct trace *trace, const struct sections *sections, size_t s,
                         struct error *error) {
    const struct section *section = &sections->sections[s];
    if (section->thread < 0 || (size_t)section->thread >= trace->n_threads ||
        !is_object(sections, section->mutex))
        return error_set(error, "section %zu is of a thread or a mutex that is not there", s);
    size_t n_records = trace->threads[section->thread].n_records;
    if (section->lock_record >= n_records || section->unlock_record >= n_records + section->cut ||
        section->unlock_record <= section->lock_record || section->release_ns < section->acquire_ns)
        return error_set(error, "section %zu does not end behind its begin", s);
    if (sections->section_of_lock[section->thread][section->lock_record] != (int)s)
        return error_set(error, "the lock of section %zu opens another one", s);
    return check_waits(sections, s, error);
}

/* Is each section one of its mutex's? */
static int check_order(const struct sections *sections, struct error *error) {
    bool *is_listed = memory_alloc(sections->n_sections, sizeof *is_listed);
    int status = 0;
    for (size_t o = 0; o < sections->n_objects && status == 0; o++) {
        size_t n;
        const size_t *of_mutex = sections_of(sections, (int)o, &n);
        for (size_t i = 0; i < n && status == 0; i++) {
            size_t s = of_mutex[i];
            if (s >= sections->n_sections || is_listed[s] ||
                sections_first_like(sections, sections->sections[s].mutex) != (int)o)
                status =
                    error_set(error, "mutex %zu lists section %zu, which is not its own", o, s);
            else
                is_listed[s] = true;
        }
    }
    for (size_t s = 0; s < sections->n_sections && status == 0; s++)
        if (!is_listed[s])
            status = error_set(error, "section %zu is not listed by its mutex", s);
    free(is_listed);
    return status;
}

int sections_check(const struct trace *trace, const struct sections *sections,
                   struct error *error) {
    for (size_t o = 0; o < sections->n_objects; o++)
        if (check_object(sections, o, error) < 0)
            return -1;
    for (size_t s = 0; s < sections->n_sections; s++)
        if (check_section(trace, sections, s, error) < 0)
            return -1;
    return check_order(sections, error);
}
