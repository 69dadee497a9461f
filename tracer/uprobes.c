#include "tracer/uprobes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define DEFINITIONS "/sys/kernel/tracing/uprobe_events"
#define GROUP       "persik_"
#define MEND        "-fpatchable-function-entry=5"

/* One place where the kernel stops. */
struct site {
    struct uprobes *owner;
    const struct raw_wrap *wrap;
    bool begins;
    bool ignored;       /* one of its function's other places could not be watched */
    char *group, *name; /* NULL: it is not defined any more */
    struct tracepoint tracepoint;
    struct tracepoint_field caller, object, amount, result;
};

struct stop {
    uint64_t mono_ns;
    int tid;
    const struct site *site;
    uint64_t caller, object, amount, result;
};

struct uprobes {
    struct {
        size_t count, capacity;
        struct site **items;
    } sites;
    struct {
        size_t count, capacity;
        struct stop *items;
    } stops;
    struct {
        size_t count, capacity;
        struct uprobe_call *items;
    } calls;
};

/* ---- tracefs ---- */

static int write_definition(const char *text) {
    return tracepoint_control(DEFINITIONS, O_APPEND, text);
}

/* Definitions of collectors that were killed: programs would stop there for ever. */
static void remove_abandoned(void) {
    FILE *file = fopen(DEFINITIONS, "re");
    char line[512];
    struct {
        size_t count, capacity;
        char **items;
    } dead = {0};
    while (file && fgets(line, sizeof line, file)) {
        const char *group = strstr(line, ":" GROUP);
        if (group && tracepoint_abandoned(strtol(group + strlen(":" GROUP), NULL, 10)))
            *VECTOR_ADD(&dead) = memory_format("-%.*s", (int)strcspn(group, " \n"), group);
    }
    if (file)
        fclose(file);
    for (size_t i = 0; i < dead.count; i++) {
        write_definition(dead.items[i]);
        free(dead.items[i]);
    }
    free(dead.items);
}

static const char *const registers[] = {"%di", "%si", "%dx", "%cx", "%r8", "%r9"};

/* " o=%di:u64" */
static void add_argument(char *text, size_t size, const char *name, uint8_t source,
                         int64_t number) {
    size_t used = strlen(text);
    if (source == USER_ARGUMENT)
        snprintf(text + used, size - used, " %s=%s:u64", name, registers[number]);
}

static void handle_stop(const struct ftrace_event *event, void *context) {
    const struct site *site = context;
    *VECTOR_ADD(&site->owner->stops) =
        (struct stop){.mono_ns = event->mono_ns,
                      .tid = event->tid,
                      .site = site,
                      .caller = tracepoint_value(event->data, event->bytes, site->caller),
                      .object = tracepoint_value(event->data, event->bytes, site->object),
                      .amount = tracepoint_value(event->data, event->bytes, site->amount),
                      .result = tracepoint_value(event->data, event->bytes, site->result)};
}

static int enable_site(struct site *site, struct ftrace *ftrace) {
    int cause = tracepoint_open(&site->tracepoint, site->group, site->name);
    if (cause)
        return cause;
    site->caller = tracepoint_field(&site->tracepoint, "c");
    site->object = tracepoint_field(&site->tracepoint, "o");
    site->amount = tracepoint_field(&site->tracepoint, "a");
    site->result = tracepoint_field(&site->tracepoint, "r");
    return ftrace_add(ftrace, &site->tracepoint, handle_stop, site);
}

/* 0 or an errno. */
static int define_site(struct uprobes *uprobes, const struct raw_wrap *wrap, char type,
                       uint64_t offset, bool begins, struct ftrace *ftrace) {
    char arguments[128] = "";
    if (begins) {
        snprintf(arguments, sizeof arguments, " c=+0(%%sp):u64");
        add_argument(arguments, sizeof arguments, "o", wrap->object_source, wrap->object_number);
        add_argument(arguments, sizeof arguments, "a", wrap->amount_source, wrap->amount_number);
    } else {
        snprintf(arguments, sizeof arguments, " r=%s:u64", type == 'r' ? "$retval" : "%ax");
    }
    struct site *site = memory_alloc(1, sizeof *site);
    *VECTOR_ADD(&uprobes->sites) = site;
    site->owner = uprobes;
    site->wrap = wrap;
    site->begins = begins;
    site->group = memory_format(GROUP "%d", (int)getpid());
    site->name = memory_format("s%zu", uprobes->sites.count);
    char *text = memory_format("%c:%s/%s %s:0x%llx%s\n", type, site->group, site->name,
                               wrap->module, (unsigned long long)offset, arguments);
    int cause = write_definition(text);
    free(text);
    return cause ? cause : enable_site(site, ftrace);
}

/* ---- what is watched ---- */

static int watch(struct uprobes *uprobes, const struct wrap_plan *plan, struct ftrace *ftrace) {
    const struct entry *entry = &plan->entry;
    int cause = tracepoint_numbers_are_ours() ? 0 : TRACEPOINT_OTHER_NUMBERS;
    if (cause)
        return cause;
    cause = define_site(uprobes, &plan->raw, 'p', entry->at - plan->file_shift, true, ftrace);
    if (!entry->all_returns)
        return cause ? cause
                     : define_site(uprobes, &plan->raw, 'r', plan->raw.function - plan->file_shift,
                                   false, ftrace);
    for (size_t i = 0; i < entry->n_returns && !cause; i++)
        cause = define_site(uprobes, &plan->raw, 'p', entry->returns[i] - plan->file_shift, false,
                            ftrace);
    return cause;
}

/* A call whose end is not seen would swallow all that follow. */
static void ignore(struct uprobes *uprobes, const struct raw_wrap *wrap) {
    for (size_t i = 0; i < uprobes->sites.count; i++)
        uprobes->sites.items[i]->ignored |= uprobes->sites.items[i]->wrap == wrap;
}

static void tell(const struct wrap_plan *plan, int cause, struct lacks *lacks) {
    const char *why = plan->entry.obstacle;
    if (cause == EACCES || cause == EPERM)
        lacks_add(lacks,
                  "calls of %s: %s, and only root may have the kernel watch it: compile it "
                  "with " MEND,
                  plan->raw.name, why);
    else
        lacks_add(lacks,
                  "calls of %s: %s, and the kernel cannot watch it (%s): compile it with " MEND,
                  plan->raw.name, why, tracepoint_explain(cause));
}

struct uprobes *uprobes_attach(const struct wraps *wraps, struct ftrace *ftrace,
                               struct lacks *lacks) {
    struct uprobes *uprobes = NULL;
    if (tracepoint_numbers_are_ours()) /* else nobody's process is seen to live */
        remove_abandoned();
    for (size_t i = 0; i < wraps->count; i++) {
        const struct wrap_plan *plan = &wraps->items[i];
        if (plan->raw.how != RAW_WRAP_KERNEL)
            continue;
        if (!uprobes) {
            uprobes = memory_alloc(1, sizeof *uprobes);
            tracepoint_mount();
        }
        if (!plan->entry.all_returns && plan->throws) {
            lacks_add(lacks,
                      "calls of %s: %s, and it has ends that cannot be watched without breaking "
                      "exceptions: compile it with " MEND,
                      plan->raw.name, plan->entry.obstacle);
            continue;
        }
        if (user_role_marks_tasks(
                (enum api)plan->raw.api)) { /* calls inside a stop are part of it */
            lacks_add(lacks, "tasks marked by %s: %s: compile it with " MEND, plan->raw.name,
                      plan->entry.obstacle);
            continue;
        }
        int cause = strpbrk(plan->raw.module, " :\t") ? EINVAL : watch(uprobes, plan, ftrace);
        if (cause) {
            ignore(uprobes, &plan->raw);
            tell(plan, cause, lacks);
        }
    }
    return uprobes;
}

/* ---- stops -> calls ---- */

static int compare_stops(const void *left, const void *right) {
    const struct stop *a = left;
    const struct stop *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->mono_ns > b->mono_ns) - (a->mono_ns < b->mono_ns);
}

/* Calls inside a watched call are part of it. `depth` counts calls of the outer function itself: it
 * may be recursive. */
static void pair_stops(struct uprobes *uprobes) {
    struct uprobe_call *open = NULL;
    unsigned depth = 0;
    for (size_t i = 0; i < uprobes->stops.count; i++) {
        const struct stop *stop = &uprobes->stops.items[i];
        if (open && open->tid != stop->tid)
            open = NULL;
        if (open && stop->site->wrap == open->wrap) {
            depth += stop->site->begins ? 1 : -1u;
            if (depth == 0) {
                open->end_ns = stop->mono_ns;
                open->result = stop->result;
                open = NULL;
            }
        } else if (!open && stop->site->begins && !stop->site->ignored) {
            open = VECTOR_ADD(&uprobes->calls);
            *open = (struct uprobe_call){.start_ns = stop->mono_ns,
                                         .tid = stop->tid,
                                         .wrap = stop->site->wrap,
                                         .caller = stop->caller,
                                         .object = stop->object,
                                         .amount = stop->amount};
            depth = 1;
        }
    }
}

const struct uprobe_call *uprobes_calls(struct uprobes *uprobes, size_t *n) {
    *n = 0;
    if (!uprobes)
        return NULL;
    if (uprobes->calls.count == 0 && uprobes->stops.count > 0) {
        VECTOR_SORT(&uprobes->stops, compare_stops);
        pair_stops(uprobes);
    }
    *n = uprobes->calls.count;
    return uprobes->calls.items;
}

void uprobes_end(struct uprobes *uprobes) {
    for (size_t i = 0; uprobes && i < uprobes->sites.count; i++) {
        struct site *site = uprobes->sites.items[i];
        if (!site->name)
            continue;
        char *text = memory_format("-:%s/%s\n", site->group, site->name);
        write_definition(text);
        free(text);
        tracepoint_close(&site->tracepoint);
        free(site->group);
        free(site->name);
        site->group = site->name = NULL;
    }
}

void uprobes_free(struct uprobes *uprobes) {
    if (!uprobes)
        return;
    uprobes_end(uprobes);
    for (size_t i = 0; i < uprobes->sites.count; i++)
        free(uprobes->sites.items[i]);
    free(uprobes->sites.items);
    free(uprobes->stops.items);
    free(uprobes->calls.items);
    free(uprobes);
}
