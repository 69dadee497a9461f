#include "modelgen/events/call_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "modelgen/events/critical_sections.h"

#define NESTING 4 /* wrappers around wrappers */
#define NO_API  (-1)
#define CALLERS 2 /* at least so many places call a wrapper */

/* What is known of a function that makes a call of the catalog itself: one, or, for the same
 * object, an attempt and what follows it when that failed. */
struct maker {
    size_t whole; /* index of the maker that this one is; its own, if no other */
    struct made_call {
        uint64_t place; /* 0: none */
        int api;
    } call, attempt;
    uint64_t caller; /* one place that calls the function */
    size_t n_callers;
    bool differs; /* several calls, or nobody's callee: no wrapper */
};

struct maker_list {
    struct maker *items;
    size_t count, capacity;
    struct map of;     /* key of a function, or of an address in one without a symbol -> index */
    struct map callee; /* key of a place -> index of what it calls */
};

static uint64_t function_key(const struct trace_frame *frame) {
    return map_mix_text(map_mix_text(1, frame->function),
                        frame->file ? frame->file : frame->module);
}

/* Without debug information only the address tells. */
static uint64_t place_key(const struct trace_frame *frame) {
    return map_mix(function_key(frame), frame->line ? (uint64_t)frame->line : frame->offset);
}

/* Calls that the program's own functions wrap: synchronisation and sleeping. */
static bool is_wrapped(const struct trace_record *record) {
    const struct api_info *info = &api_catalog[record->api];
    return sections_is_object(info->object) || info->api_class == CLASS_TIME;
}

/* The function of the catalog that each context calls; the first one told: what the program's end
 * cut may have got an end with the context of its begin. */
static int *apis_called(const struct trace *trace) {
    int *apis = memory_alloc(trace->n_contexts, sizeof *apis);
    for (size_t c = 0; c < trace->n_contexts; c++)
        apis[c] = NO_API;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            const struct trace_record *record = &trace->threads[t].records[r];
            if (record->context != TRACE_NO_CONTEXT && apis[record->context] == NO_API &&
                is_wrapped(record))
                apis[record->context] = record->api;
        }
    return apis;
}

static bool is_for_the_same(const struct made_call *call, const struct made_call *attempt) {
    return call->place == 0 || attempt->place == 0 ||
           (api_catalog[call->api].op == OP_LOCK &&
            api_catalog[call->api].object == api_catalog[attempt->api].object);
}

static void note_call(struct maker *maker, const struct trace_context *calls, int api) {
    uint64_t place = place_key(&calls->frames[0]);
    struct made_call *made = api_catalog[api].op == OP_TRYLOCK ? &maker->attempt : &maker->call;
    if (made->place == 0)
        *made = (struct made_call){place, api};
    if (calls->n_frames < 2 || made->api != api || made->place != place ||
        !is_for_the_same(&maker->call, &maker->attempt)) {
        maker->differs = true;
        return;
    }
    uint64_t caller = place_key(&calls->frames[1]);
    if (maker->n_callers < CALLERS && (maker->n_callers == 0 || maker->caller != caller)) {
        maker->caller = caller;
        maker->n_callers++;
    }
}

/* Without a symbol a frame is named by its address. */
static bool is_named(const struct trace_frame *frame) {
    return strncmp(frame->function, "0x", 2) != 0;
}

static size_t whole_maker(const struct maker_list *makers, size_t index) {
    while (makers->items[index].whole != index)
        index = makers->items[index].whole;
    return index;
}

static size_t find_maker(struct maker_list *makers, const struct trace_frame *frame) {
    int index = map_get(&makers->of, function_key(frame), -1);
    if (index >= 0)
        return whole_maker(makers, (size_t)index);
    size_t added = makers->count;
    map_put(&makers->of, function_key(frame), (int)added);
    *VECTOR_ADD(makers) = (struct maker){.whole = added};
    return added;
}

/* Which addresses are of one function no symbol tells, but one place calls one function: what is
 * called from there is its. */
static void join_by_caller(struct maker_list *makers, const struct trace_context *calls) {
    size_t index = find_maker(makers, &calls->frames[0]);
    if (calls->n_frames < 2 || is_named(&calls->frames[0]))
        return;
    uint64_t caller = place_key(&calls->frames[1]);
    int known = map_get(&makers->callee, caller, -1);
    if (known < 0)
        map_put(&makers->callee, caller, (int)index);
    else
        makers->items[index].whole = whole_maker(makers, (size_t)known);
}

static bool is_wrapper(const struct maker *maker) {
    return !maker->differs && maker->n_callers >= CALLERS;
}

/* Takes one level of wrappers away; false when there was none. */
static bool skip_level(const struct trace *trace, const int *apis, struct trace_context *contexts) {
    struct maker_list makers = {.of = MAP_EMPTY, .callee = MAP_EMPTY};
    bool found = false;
    for (size_t c = 0; c < trace->n_contexts; c++)
        if (apis[c] != NO_API && contexts[c].n_frames > 0)
            join_by_caller(&makers, &contexts[c]);
    for (size_t c = 0; c < trace->n_contexts; c++)
        if (apis[c] != NO_API && contexts[c].n_frames > 0)
            note_call(&makers.items[find_maker(&makers, &contexts[c].frames[0])], &contexts[c],
                      apis[c]);
    for (size_t c = 0; c < trace->n_contexts; c++) {
        if (apis[c] == NO_API || contexts[c].n_frames == 0 ||
            !is_wrapper(&makers.items[find_maker(&makers, &contexts[c].frames[0])]))
            continue;
        contexts[c].frames++;
        contexts[c].n_frames--;
        found = true;
    }
    map_free(&makers.of);
    map_free(&makers.callee);
    free(makers.items);
    return found;
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Symbols of namespace std, and where GNU's threads begin. */
static bool is_named_as_library(const char *function) {
    return begins_with(function, "_ZNSt") || begins_with(function, "_ZNKSt") ||
           begins_with(function, "_ZSt") || strcmp(function, "execute_native_thread_routine") == 0;
}

/* The headers lie in a folder of this name, both GNU's and LLVM's. */
bool call_sites_is_of_standard_library(const char *function, const char *file, const char *module) {
    if (file)
        return strstr(file, "/c++/") != NULL;
    return is_named_as_library(function) ||
           (module && (begins_with(module, "libstdc++") || begins_with(module, "libc++")));
}

static bool is_of_library(const struct trace_frame *frame) {
    return call_sites_is_of_standard_library(frame->function, frame->file, frame->module);
}

size_t call_sites_own_frames(const struct trace_context *calls) {
    size_t own = calls->n_frames;
    while (own > 0 && is_of_library(&calls->frames[own - 1]))
        own--;
    return own;
}

/* Leaves at least one frame: some threads begin in the library. */
static void skip_standard_library(struct trace_context *calls) {
    size_t outermost = 0;
    while (outermost < calls->n_frames && is_of_library(&calls->frames[outermost]))
        outermost++;
    if (outermost == calls->n_frames)
        return;
    calls->frames += outermost;
    calls->n_frames -= outermost;
}

struct trace_context *call_sites_without_wrappers(const struct trace *trace) {
    struct trace_context *contexts = memory_alloc(trace->n_contexts, sizeof *contexts);
    for (size_t c = 0; c < trace->n_contexts; c++) {
        contexts[c] = trace->contexts[c];
        skip_standard_library(&contexts[c]);
    }
    int *apis = apis_called(trace);
    int level = 0;
    while (level < NESTING && skip_level(trace, apis, contexts))
        level++;
    free(apis);
    return contexts;
}
