#include "modelgen/sync/operation_classes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/command_program.h"

/* What the proposal says of the class' sections; NULL: nothing, or it is another mutex'. */
static const struct facts_section *commands_of_class(const struct trace *trace,
                                                     const struct monitors *monitors,
                                                     const struct section_class *class,
                                                     const struct facts_monitor *proposal) {
    const struct facts_monitor *known = monitors->proposal_of[class->mutex];
    return known && facts_same_mutex(known, proposal)
               ? command_program_section_at(trace, class->context, proposal)
               : NULL;
}

struct class_list {
    struct section_class *items;
    size_t count, capacity;
};

static const struct trace_frame *frame_at(const struct trace *trace, uint32_t context, size_t i) {
    static const struct trace_frame unknown = {.function = "?"};
    if (context == TRACE_NO_CONTEXT || trace->contexts[context].n_frames <= i)
        return &unknown;
    return &trace->contexts[context].frames[i];
}

static uint64_t entry_key(const struct trace *trace, const struct sections *sections,
                          const struct section *section) {
    uint32_t context = trace->threads[section->thread].records[section->lock_record].context;
    uint64_t key = map_mix(3, (uint64_t)sections_first_like(sections, section->mutex));
    for (size_t i = 0; i < 2; i++) {
        const struct trace_frame *frame = frame_at(trace, context, i);
        key = map_mix(map_mix_text(key, frame->function), (uint64_t)frame->line);
    }
    return key;
}

static void collect_signals(const struct sections *sections, const struct section *section,
                            struct section_class *class) {
    for (size_t i = 0; i < section->n_signals; i++) {
        const struct section_signal *signal = &sections->signals[section->first_signal + i];
        int condition = sections_first_like(sections, signal->condition);
        class->broadcasts |= signal->broadcast;
        bool waits = section->n_waits > 0;
        bool early = waits && signal->record < sections->waits[section->first_wait].record;
        size_t at = 0;
        while (at < class->n_signals && class->signals[at] < condition)
            at++;
        if (at < class->n_signals && class->signals[at] == condition) {
            class->early[at] |= early;
            class->late[at] |= waits && !early;
            class->broadcasts = true; /* signalled one by one, who waits is told all the same */
            continue;
        }
        if (class->n_signals == sizeof class->signals / sizeof *class->signals)
            continue;
        size_t after = class->n_signals - at;
        memmove(&class->signals[at + 1], &class->signals[at], after * sizeof *class->signals);
        memmove(&class->early[at + 1], &class->early[at], after * sizeof *class->early);
        memmove(&class->late[at + 1], &class->late[at], after * sizeof *class->late);
        class->signals[at] = condition;
        class->early[at] = early;
        class->late[at] = waits && !early;
        class->n_signals++;
    }
}

bool class_signals(const struct section_class *class, int condition) {
    for (size_t i = 0; i < class->n_signals; i++)
        if (class->signals[i] == condition)
            return true;
    return false;
}

bool class_is_same_operation(const struct section_class *a, const struct section_class *b) {
    return a->line == b->line && strcmp(a->function, b->function) == 0;
}

bool class_tells(const struct section_class *class, const struct section_class *site) {
    return class_signals(class, site->waits_on) && !class_is_same_operation(class, site);
}

bool entry_signals_early(const struct monitors *monitors, int entry, int condition) {
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        for (size_t i = 0; class->entry == entry && i < class->n_signals; i++)
            if (class->early[i] && (condition < 0 || class->signals[i] == condition))
                return true;
    }
    return false;
}

/* ---- what the source says of the order ---- */

/* What the source calls the condition: what all sections that waited on it wait for. NULL: it says
 * nothing of them, or they wait for several. */
static const char *name_of_condition(const struct trace *trace, const struct facts *facts,
                                     const struct monitors *monitors, int condition) {
    const char *name = NULL;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->waits_on != condition || class->mixed_waits)
            continue;
        for (size_t m = 0; m < facts->n_monitors; m++) {
            const struct facts_section *section =
                commands_of_class(trace, monitors, class, &facts->monitors[m]);
            for (size_t i = 0; section && i < section->n_steps; i++) {
                if (section->steps[i].kind != STEP_WAIT)
                    continue;
                if (name && strcmp(name, section->steps[i].condition) != 0)
                    return NULL;
                name = section->steps[i].condition;
            }
        }
    }
    return name;
}

/* Do all of the class' statements that signal the condition stand before it may wait? */
static bool is_said_early(const struct trace *trace, const struct facts *facts,
                          const struct monitors *monitors, const struct section_class *class,
                          const char *condition) {
    bool early = false;
    for (size_t m = 0; m < facts->n_monitors; m++) {
        const struct facts_section *section =
            commands_of_class(trace, monitors, class, &facts->monitors[m]);
        for (size_t i = 0; section && i < section->n_steps; i++) {
            const struct facts_step *step = &section->steps[i];
            bool signals = step->kind == STEP_SIGNAL || step->kind == STEP_BROADCAST;
            if (!signals || strcmp(step->condition, condition) != 0)
                continue;
            if (!step->early)
                return false;
            early = true;
        }
    }
    return early;
}

void operation_classes_read_order(const struct trace *trace, const struct facts *facts,
                                  struct monitors *monitors) {
    for (size_t c = 0; facts && c < monitors->n_classes; c++) {
        struct section_class *class = &monitors->classes[c];
        for (size_t i = 0; i < class->n_signals; i++) {
            if (class->early[i] || class->late[i])
                continue;
            const char *name = name_of_condition(trace, facts, monitors, class->signals[i]);
            class->early[i] = name && is_said_early(trace, facts, monitors, class, name);
        }
    }
}

/* ---- classes ---- */

static void note_waits(const struct sections *sections, const struct section *section,
                       struct section_class *class) {
    if (section->n_waits == 0)
        return;
    class->waits++;
    for (size_t i = 0; i < section->n_waits; i++) {
        int condition =
            sections_first_like(sections, sections->waits[section->first_wait + i].condition);
        if (class->waits_on >= 0 && class->waits_on != condition)
            class->mixed_waits = true;
        class->waits_on = condition;
    }
}

/* What a section did may show in what its thread does next: having found nothing in a list it goes
 * elsewhere. 0 at the thread's end. */
static uint64_t key_of_next(const struct trace *trace, const struct sections *sections, size_t s) {
    bool has_next = s + 1 < sections->n_sections &&
                    sections->sections[s + 1].thread == sections->sections[s].thread;
    return has_next ? entry_key(trace, sections, &sections->sections[s + 1]) : 0;
}

void operation_classes_find(const struct trace *trace, const struct sections *sections,
                            const bool *split, struct monitors *monitors) {
    struct class_list list = {0};
    struct map class_of_key = MAP_EMPTY, entry_of_key = MAP_EMPTY;
    monitors->class_of = memory_alloc(sections->n_sections, sizeof(int));
    for (size_t s = 0; s < sections->n_sections; s++) {
        const struct section *section = &sections->sections[s];
        uint32_t context = trace->threads[section->thread].records[section->lock_record].context;
        struct section_class class = {.mutex = sections_first_like(sections, section->mutex),
                                      .context = context,
                                      .waits_on = -1};
        collect_signals(sections, section, &class);
        uint64_t key = entry_key(trace, sections, section);
        class.entry = map_get(&entry_of_key, key, (int)entry_of_key.count);
        map_put(&entry_of_key, key, class.entry);
        if (split && split[class.entry] && section->n_waits == 0 && class.n_signals == 0)
            key = map_mix(key, key_of_next(trace, sections, s));
        for (size_t i = 0; i < class.n_signals; i++)
            key = map_mix(key, (uint64_t) class.signals[i]);
        int index = map_get(&class_of_key, key, -1);
        if (index < 0) {
            index = (int)list.count;
            map_put(&class_of_key, key, index);
            const struct trace_frame *frame = frame_at(trace, context, 0);
            class.function = frame->function;
            class.line = frame->line;
            class.first_ns = section->acquire_ns;
            *VECTOR_ADD(&list) = class;
        }
        assert(list.items); /* the map knows only what is in the list */
        struct section_class *known = &list.items[index];
        known->count++;
        known->broadcasts |= class.broadcasts;
        for (size_t i = 0; i < class.n_signals; i++) { /* the key has them: they are the same */
            known->early[i] |= class.early[i];
            known->late[i] |= class.late[i];
        }
        if (section->acquire_ns < known->first_ns)
            known->first_ns = section->acquire_ns;
        note_waits(sections, section, known);
        monitors->class_of[s] = index;
    }
    monitors->n_entries = entry_of_key.count;
    map_free(&class_of_key);
    map_free(&entry_of_key);
    monitors->classes = list.items;
    monitors->n_classes = list.count;
}

void operation_classes_mark_attempts(const struct trace *trace, const struct sections *sections,
                                     const struct monitors *monitors, bool *marked) {
    struct map followed = MAP_EMPTY; /* (entry, what comes next) -> how often */
    int *ways = memory_alloc(monitors->n_entries, sizeof *ways);
    for (size_t s = 0; s < sections->n_sections; s++) {
        int entry = monitors->classes[monitors->class_of[s]].entry;
        uint64_t key = map_mix(key_of_next(trace, sections, s), (uint64_t)entry);
        int count = map_get(&followed, key, 0) + 1;
        map_put(&followed, key, count);
        ways[entry] += count == evidence.several;
    }
    for (size_t e = 0; e < monitors->n_entries; e++)
        marked[e] = ways[e] > 1;
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].waits > 0 || monitors->classes[c].n_signals > 0)
            marked[monitors->classes[c].entry] = false;
    free(ways);
    map_free(&followed);
}

/* ---- which may have to do with what some wait for ---- */

/* What a hypothesis cannot do without comes first: who waits and who wakes; then the most frequent.
 */
struct class_order {
    const struct section_class *classes;
    int waiter_entry, condition;
};

static int compare_classes(const void *a, const void *b, void *context) {
    const struct class_order *order = context;
    const struct section_class *x = &order->classes[*(const int *)a];
    const struct section_class *y = &order->classes[*(const int *)b];
    bool needs_x = x->entry == order->waiter_entry || class_signals(x, order->condition);
    bool needs_y = y->entry == order->waiter_entry || class_signals(y, order->condition);
    if (needs_x != needs_y)
        return needs_x ? -1 : 1;
    return (x->count < y->count) - (x->count > y->count);
}

/* The condition that sections of this entry wait for; -1: they do not wait, or for several. */
static int waited_for(const struct monitors *monitors, int entry) {
    int condition = -1;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->entry != entry || class->waits == 0)
            continue;
        if (class->mixed_waits || (condition >= 0 && class->waits_on != condition))
            return -1;
        condition = class->waits_on;
    }
    return condition;
}

bool candidate_classes_are_alike(const struct monitors *monitors, int a, int b) {
    const struct section_class *x = &monitors->classes[a], *y = &monitors->classes[b];
    if (x->entry == y->entry || strcmp(x->function, y->function) != 0)
        return x->entry == y->entry;
    int condition = waited_for(monitors, x->entry);
    return condition >= 0 && condition == waited_for(monitors, y->entry);
}

/* Does one of them have the weight of this one, too? */
static bool has_alike(const struct monitors *monitors, const int *classes, int n, int class,
                      bool by_operation) {
    for (int i = 0; i < n; i++)
        if (candidate_classes_are_alike(monitors, classes[i], class) ||
            (by_operation &&
             class_is_same_operation(&monitors->classes[classes[i]], &monitors->classes[class])))
            return true;
    return false;
}

int candidate_classes_choose(const struct monitors *monitors, int mutex, int waiter_entry,
                             int condition, int close_class, bool by_operation,
                             int chosen[CLASS_LIMIT]) {
    struct {
        int *items;
        size_t count, capacity;
    } all = {0};
    for (size_t c = 0; c < monitors->n_classes; c++)
        if (monitors->classes[c].mutex == mutex && (int)c != close_class)
            *VECTOR_ADD(&all) = (int)c;
    struct class_order order = {monitors->classes, waiter_entry, condition};
    if (all.count)
        qsort_r(all.items, all.count, sizeof *all.items, compare_classes, &order);
    int n = 0, entries = 0;
    for (size_t i = 0; n < CLASS_LIMIT && i < all.count; i++) {
        bool known = has_alike(monitors, chosen, n, all.items[i], by_operation);
        if (!known && entries == FREE_LIMIT)
            continue;
        entries += !known;
        chosen[n++] = all.items[i];
    }
    free(all.items);
    return n;
}

int candidate_classes_that_close(const struct monitors *monitors, int mutex, int condition,
                                 int found[CLOSE_LIMIT]) {
    int n = 0;
    for (size_t c = 0; c < monitors->n_classes; c++) {
        const struct section_class *class = &monitors->classes[c];
        if (class->mutex != mutex || class->count != 1 || !class->broadcasts ||
            !class_signals(class, condition))
            continue;
        int at = n < CLOSE_LIMIT ? n++ : CLOSE_LIMIT;
        for (; at > 0 && monitors->classes[found[at - 1]].first_ns < class->first_ns; at--)
            if (at < CLOSE_LIMIT)
                found[at] = found[at - 1];
        if (at < CLOSE_LIMIT)
            found[at] = (int)c;
    }
    return n;
}
