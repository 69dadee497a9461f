#include "modelgen/events/source_correlation.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/path.h"
#include "modelgen/events/call_sites.h"
#include "modelgen/evidence.h"

/* Two files may have static functions of one name. Folders are not compared: compilers and
 * debuggers do not always agree on how a header's is written. NULL: not known. */
static bool is_in_function(const char *file, const char *function, const char *of_file,
                           const char *of_function) {
    return strcmp(function, of_function) == 0 &&
           (!file || !of_file || strcmp(path_name(file), path_name(of_file)) == 0);
}

bool source_frame_is_in(const struct trace_frame *frame, const struct facts_place *place) {
    return is_in_function(frame->file, frame->function, place->file, place->function);
}

bool source_frame_is_at(const struct trace_frame *frame, const struct facts_place *place) {
    return frame->line == place->line && source_frame_is_in(frame, place);
}

/* Lines of a function. */
struct lines {
    const char *file, *function;
    int first, last;
};

static struct lines lines_of(const struct facts_loop *loop) {
    return (struct lines){loop->file, loop->function, loop->first_line, loop->last_line};
}

static bool frame_in_lines(const struct trace_frame *frame, struct lines lines) {
    return frame->line >= lines.first && frame->line <= lines.last &&
           is_in_function(frame->file, frame->function, lines.file, lines.function);
}

static bool frame_in_loop(const struct trace_frame *frame, const struct facts_loop *loop) {
    return frame_in_lines(frame, lines_of(loop));
}

/* How many calls lead from the lines to that of the context; -1: it is not inside. */
static int calls_from_lines(const struct trace *trace, uint32_t context, struct lines lines) {
    if (context == TRACE_NO_CONTEXT)
        return -1;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t i = 0; i < calls->n_frames; i++)
        if (frame_in_lines(&calls->frames[i], lines))
            return (int)i;
    return -1;
}

int source_calls_from_loop(const struct trace *trace, uint32_t context,
                           const struct facts_loop *loop) {
    return calls_from_lines(trace, context, lines_of(loop));
}

bool source_context_in_loop(const struct trace *trace, uint32_t context,
                            const struct facts_loop *loop) {
    return source_calls_from_loop(trace, context, loop) >= 0;
}

bool source_context_in_solo(const struct trace *trace, uint32_t context,
                            const struct facts_solo *solo) {
    struct lines lines = {solo->file, solo->function, solo->first_line, solo->last_line};
    return calls_from_lines(trace, context, lines) >= 0;
}

/* Where a macro hides all of a critical section, its wait loop lies on the line of its lock. */
static bool is_in_one_line(const struct facts_loop *loop) {
    return loop->waits && loop->first_line == loop->last_line;
}

bool source_passes(const struct trace *trace, uint32_t context, const struct facts_place *place) {
    if (context == TRACE_NO_CONTEXT)
        return false;
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t f = 0; f < calls->n_frames; f++)
        if (source_frame_is_at(&calls->frames[f], place))
            return true;
    return false;
}

bool source_once_a_round(const struct trace *trace, const struct facts *facts, uint32_t context,
                         const struct facts_loop *loop) {
    const struct trace_context *calls = &trace->contexts[context];
    for (size_t i = 0; i < calls->n_frames; i++) {
        bool arrived = frame_in_loop(&calls->frames[i], loop);
        for (size_t l = 0; l < facts->n_loops; l++) {
            const struct facts_loop *other = &facts->loops[l];
            bool inside = !arrived || (other->first_line >= loop->first_line &&
                                       other->last_line <= loop->last_line);
            if (other != loop && inside && !is_in_one_line(other) &&
                frame_in_loop(&calls->frames[i], other))
                return false;
        }
        if (arrived)
            return true;
    }
    return false;
}

bool source_is_analysed(const struct facts *facts, const char *file) {
    for (size_t i = 0; file && i < facts->n_files; i++)
        if (strcmp(file, facts->files[i]) == 0)
            return true;
    return false;
}

bool source_shows_threads(const struct facts *facts) {
    bool found = false;
    for (size_t c = 0; facts && c < facts->n_creations; c++)
        found |= facts->creations[c].object == ON_THREAD;
    for (size_t l = 0; facts && l < facts->n_loops; l++)
        found |= facts->loops[l].bound == BOUND_SHARE || facts->loops[l].bound == BOUND_SHARED ||
                 facts->loops[l].bound == BOUND_THREADS;
    return found;
}

static uint64_t place_hash(const struct trace_context *calls, size_t n_frames) {
    uint64_t hash = 5;
    for (size_t i = 0; i < calls->n_frames && i < n_frames; i++) {
        hash = map_mix_text(hash, calls->frames[i].function);
        hash = map_mix(hash, (uint64_t)calls->frames[i].line);
        if (calls->frames[i].line == 0) /* no debug information: only the address tells */
            hash = map_mix(hash, calls->frames[i].offset);
    }
    return hash;
}

uint32_t *source_places_within(const struct trace *trace, size_t n_frames) {
    uint32_t *places = memory_alloc(trace->n_contexts, sizeof *places);
    struct map first = MAP_EMPTY;
    for (size_t c = 0; c < trace->n_contexts; c++) {
        uint64_t hash = place_hash(&trace->contexts[c], n_frames);
        places[c] = (uint32_t)map_get(&first, hash, (int)c);
        map_put(&first, hash, (int)places[c]);
    }
    map_free(&first);
    return places;
}

uint32_t *source_places(const struct trace *trace) {
    return source_places_within(trace, SIZE_MAX);
}

char *source_place(const struct trace *trace, uint32_t context) {
    if (context == TRACE_NO_CONTEXT || trace->contexts[context].n_frames == 0)
        return memory_strdup("?");
    const struct trace_frame *frame = &trace->contexts[context].frames[0];
    if (!frame->file)
        return memory_strdup(frame->function);
    return memory_format("%s (%s:%d)", frame->function, path_name(frame->file), frame->line);
}

const char *source_path(const struct trace *trace, const struct facts *facts, uint32_t context,
                        enum api_object on) {
    if (!facts || context == TRACE_NO_CONTEXT || trace->contexts[context].n_frames == 0)
        return NULL;
    const struct trace_frame *call = &trace->contexts[context].frames[0];
    for (size_t i = 0; i < facts->n_fragments; i++) {
        const struct facts_fragment *fragment = &facts->fragments[i];
        if (fragment->object && source_frame_is_at(call, &fragment->place) &&
            api_catalog[fragment->api].object == on)
            return fragment->object;
    }
    return NULL;
}

/* Lines of one function that may run between two places of it. After a backward step that is the
 * rest of the innermost common loop and its beginning. */
struct stretch {
    const char *file, *function; /* file NULL: not known */
    int after, before;           /* exclusive */
    bool wraps;                  /* (after, loop end] and [loop start, before) */
    int loop_first, loop_last;
};

static const struct trace_frame *outer_frame(const struct trace_context *calls, size_t depth) {
    return depth < calls->n_frames ? &calls->frames[calls->n_frames - 1 - depth] : NULL;
}

/* Do both go on from there through the same call? The frames of a function and of one that was
 * inlined in it have the address of the call that both are about: then the place in the source
 * tells. */
static bool is_same_call(const struct trace_context *a, const struct trace_context *b,
                         size_t depth) {
    const struct trace_frame *x = outer_frame(a, depth), *y = outer_frame(b, depth);
    if (x->line != y->line || x->offset == y->offset)
        return x->line == y->line;
    const struct trace_frame *inner = outer_frame(a, depth + 1), *other = outer_frame(b, depth + 1);
    return x->column > 0 && x->column == y->column && inner && other &&
           strcmp(inner->function, other->function) == 0;
}

/* The depth (from outside) of the deepest frame in which both chains are still in one call of one
 * function; both have it. -1: nothing in common. */
static int common_depth(const struct trace_context *a, const struct trace_context *b) {
    int depth = -1;
    for (size_t i = 0; i < a->n_frames && i < b->n_frames; i++) {
        const struct trace_frame *x = outer_frame(a, i), *y = outer_frame(b, i);
        if (strcmp(x->function, y->function) != 0)
            break;
        depth = (int)i;
        if (!is_same_call(a, b, i))
            break;
    }
    return depth;
}

static bool line_in(const struct stretch *stretch, int line) {
    if (!stretch->wraps)
        return line > stretch->after && line < stretch->before;
    return line >= stretch->loop_first && line <= stretch->loop_last &&
           (line > stretch->after || line < stretch->before);
}

/* Does the loop lead from line `after` of the function back to `before`? */
static bool leads_back(const struct facts_loop *loop, const char *file, const char *function,
                       int after, int before) {
    return is_in_function(file, function, loop->file, loop->function) &&
           loop->first_line <= before && loop->last_line >= after;
}

static bool is_loop_of(const struct facts_loop *loop, const struct stretch *stretch) {
    return is_in_function(stretch->file, stretch->function, loop->file, loop->function);
}

static bool is_share_of(const struct facts_share *share, const struct stretch *stretch) {
    return is_in_function(stretch->file, stretch->function, share->place.file,
                          share->place.function);
}

/* Finds the innermost loop around both lines for a backward step. */
static void wrap_around(const struct facts *facts, struct stretch *stretch) {
    stretch->wraps = true;
    stretch->loop_first = 0;
    stretch->loop_last = INT_MAX;
    for (size_t i = 0; i < facts->n_loops; i++) {
        const struct facts_loop *loop = &facts->loops[i];
        if (leads_back(loop, stretch->file, stretch->function, stretch->after, stretch->before) &&
            loop->first_line >= stretch->loop_first && loop->last_line <= stretch->loop_last) {
            stretch->loop_first = loop->first_line;
            stretch->loop_last = loop->last_line;
        }
    }
}

/* At this depth the second chain is not behind the first one: does a loop of the function lead
 * there? */
static bool goes_round(const struct facts *facts, const struct trace_context *a,
                       const struct trace_context *b, size_t depth) {
    const struct trace_frame *x = outer_frame(a, depth), *y = outer_frame(b, depth);
    for (size_t i = 0; i < facts->n_loops; i++)
        if (leads_back(&facts->loops[i], x->file, x->function, x->line, y->line))
            return true;
    return false;
}

/* A call that comes again without a loop around it in its own function comes from a loop further
 * out. */
static size_t round_depth(const struct facts *facts, const struct trace_context *a,
                          const struct trace_context *b, size_t common) {
    for (size_t depth = common + 1; depth-- > 0;) {
        if (outer_frame(b, depth)->line > outer_frame(a, depth)->line)
            break;
        if (goes_round(facts, a, b, depth))
            return depth;
    }
    return common;
}

/* What lies between two calls: a stretch of the function that both are made below, what follows the
 * first one in the functions that it returns from, and what comes before the second one in those
 * that it is called in. */
struct stretches {
    struct stretch *items;
    size_t count, capacity;
};

/* A function's last call may be a jump: then its caller's frame says where it was called, and the
 * next one within is that of what it jumped to. All of it lies before that call. The source knows
 * which function that is where it shares something out. */
static void add_hidden(struct stretches *stretches, const struct facts *facts,
                       const struct trace_context *calls, size_t common) {
    for (size_t depth = common; depth + 1 < calls->n_frames; depth++) {
        const struct trace_frame *frame = outer_frame(calls, depth);
        for (size_t i = 0; i < facts->n_shares; i++) {
            const struct facts_share *share = &facts->shares[i];
            if (source_frame_is_at(frame, &share->place) &&
                strcmp(share->callee, outer_frame(calls, depth + 1)->function) != 0)
                *VECTOR_ADD(stretches) =
                    (struct stretch){.function = share->callee, .before = INT_MAX};
        }
    }
}

static void add_outer(struct stretches *stretches, const struct trace_context *calls, size_t common,
                      bool leaves) {
    for (size_t depth = common + 1; depth < calls->n_frames; depth++) {
        const struct trace_frame *frame = outer_frame(calls, depth);
        *VECTOR_ADD(stretches) = (struct stretch){.file = frame->file,
                                                  .function = frame->function,
                                                  .after = leaves ? frame->line : 0,
                                                  .before = leaves ? INT_MAX : frame->line};
    }
}

static bool find_stretches(const struct trace *trace, const struct facts *facts, const char *root,
                           uint32_t from, uint32_t to, struct stretches *stretches) {
    struct stretch *stretch = VECTOR_ADD(stretches);
    *stretch = (struct stretch){.function = root, .after = 0, .before = INT_MAX};
    const struct trace_context *a = from == TRACE_NO_CONTEXT ? NULL : &trace->contexts[from];
    const struct trace_context *b = to == TRACE_NO_CONTEXT ? NULL : &trace->contexts[to];
    if (!a && !b)
        return true;
    size_t depth = 0;
    if (a && b) {
        int common = common_depth(a, b);
        if (common < 0)
            return false;
        depth = round_depth(facts, a, b, (size_t)common);
    }
    const struct trace_frame *x = a ? outer_frame(a, depth) : NULL;
    const struct trace_frame *y = b ? outer_frame(b, depth) : NULL;
    stretch->file = x ? x->file : y ? y->file : NULL;
    stretch->function = x ? x->function : y ? y->function : root;
    if (x)
        stretch->after = x->line;
    if (y)
        stretch->before = y->line;
    if (x && y && stretch->before <= stretch->after)
        wrap_around(facts, stretch);
    if (a)
        add_outer(stretches, a, depth, true);
    if (b) {
        add_outer(stretches, b, depth, false);
        add_hidden(stretches, facts, b, depth);
    }
    return true;
}

/* ---- weighing by samples ---- */

enum member_interval { PART_REST, PART_SPLIT, PART_GROWS };

static void note_split(struct source_split *split, enum rest rest, const char *why, bool shared) {
    split->rest = split->why && split->rest != rest ? REST_NONE : rest;
    split->shared = shared && (split->shared || !split->why);
    split->why = why;
}

/* What the line of the stretch's function does; of a split also why, and the rest, which must be
 * the same in all splits. */
static enum member_interval part_of_line(const struct source *source, const struct stretch *stretch,
                                         int line, struct source_split *split) {
    const struct facts *facts = source->facts;
    enum member_interval part = PART_REST;
    for (size_t i = 0; i < facts->n_loops; i++) {
        const struct facts_loop *loop = &facts->loops[i];
        if (source->loop_is_visible[i] || line < loop->first_line || line > loop->last_line ||
            !is_loop_of(loop, stretch))
            continue;
        if (loop->bound == BOUND_SHARE || loop->bound == BOUND_SHARED) {
            note_split(split, loop->rest, loop->why, loop->bound == BOUND_SHARED);
            return PART_SPLIT;
        }
        if (loop->bound == BOUND_THREADS)
            part = PART_GROWS;
    }
    for (size_t i = 0; i < facts->n_shares; i++) {
        const struct facts_share *share = &facts->shares[i];
        if (share->place.line == line && is_share_of(share, stretch)) {
            note_split(split, share->rest, share->why, share->shared);
            return PART_SPLIT;
        }
    }
    return part;
}

bool source_under_root(const struct sample *sample, size_t node, const char *root) {
    const struct sample_node *nodes = sample->nodes;
    int outermost = (int)node, own = -1;
    for (int at = (int)node; at >= 0; at = nodes[at].parent) {
        outermost = at;
        if (!call_sites_is_of_standard_library(nodes[at].function, nodes[at].file,
                                               nodes[at].module))
            own = at;
    }
    return strcmp(nodes[outermost].function, root) == 0 ||
           (own >= 0 && strcmp(nodes[own].function, root) == 0);
}

/* The innermost frame of the function from frame `at` outwards; -1: none. */
static int frame_of(const struct sample *sample, int at, const char *function) {
    while (at >= 0 && strcmp(sample->nodes[at].function, function) != 0)
        at = sample->nodes[at].parent;
    return at;
}

/* In a traced call on the way from frame `at` to node `n`? Not what is computed between calls. */
static bool is_in_call(const struct sample *sample, int n, int at) {
    for (; n != at; n = sample->nodes[n].parent)
        if (api_find_internal(sample->nodes[n].function) >= 0)
            return true;
    return false;
}

/* Running samples in the stretch, by part. A sample counts at the innermost frame of the stretch's
 * function, so recursion is not counted twice. */
static void weigh(const struct source *source, const struct stretch *stretch, const char *root,
                  double weight[3]) {
    const struct sample *sample = source->sample;
    for (size_t n = 0; n < sample->n_nodes; n++) {
        if (sample->nodes[n].running == 0 || !source_under_root(sample, n, root))
            continue;
        int at = frame_of(sample, (int)n, stretch->function);
        if (at < 0 || !line_in(stretch, sample->nodes[at].line) || is_in_call(sample, (int)n, at))
            continue;
        struct source_split ignored = {0};
        weight[part_of_line(source, stretch, sample->nodes[at].line, &ignored)] +=
            (double)sample->nodes[n].running;
    }
}

static bool runs_in_loop(const struct sample *sample, size_t n, const struct facts_loop *loop) {
    for (int at = frame_of(sample, (int)n, loop->function); at >= 0;
         at = frame_of(sample, sample->nodes[at].parent, loop->function))
        if (sample->nodes[at].line >= loop->first_line && sample->nodes[at].line <= loop->last_line)
            return true;
    return false;
}

double source_sampled_share(const struct sample *sample, const char *root,
                            const struct facts_loop *loop) {
    double inside = 0, all = 0;
    for (size_t n = 0; sample && n < sample->n_nodes; n++) {
        double running = (double)sample->nodes[n].running;
        if (running == 0 || (root && !source_under_root(sample, n, root)))
            continue;
        inside += runs_in_loop(sample, n, loop) ? running : 0;
        all += running;
    }
    return all > 0 ? inside / all : 0;
}

/* A stretch that begins inside a loop that the graph does not show, and leads out of it, holds the
 * rest of the loop's rounds, and so all of its lines. */
static void widen(const struct source *source, struct stretch *stretch) {
    for (size_t i = 0; i < source->facts->n_loops; i++) {
        const struct facts_loop *loop = &source->facts->loops[i];
        if (!source->loop_is_visible[i] && is_loop_of(loop, stretch) &&
            loop->first_line <= stretch->after && loop->last_line >= stretch->after &&
            loop->last_line < stretch->before)
            stretch->after = loop->first_line - 1;
    }
}

/* Where a loop makes calls of which none was recorded, samples must tell that it ran at all. */
static bool may_have_run(const struct source *source, const struct facts_loop *loop,
                         const char *root) {
    return loop->bound != BOUND_SHARED || !loop->has_fragments ||
           source_sampled_share(source->sample, root, loop) > 0;
}

/* Which parts there are, by the loops and shares of the stretch. */
static void find_parts(const struct source *source, const struct stretch *stretch, const char *root,
                       bool parts[3], struct source_split *split) {
    const struct facts *facts = source->facts;
    for (size_t i = 0; i < facts->n_loops; i++)
        if (is_loop_of(&facts->loops[i], stretch) && line_in(stretch, facts->loops[i].first_line) &&
            may_have_run(source, &facts->loops[i], root))
            parts[part_of_line(source, stretch, facts->loops[i].first_line, split)] = true;
    for (size_t i = 0; i < facts->n_shares; i++)
        if (is_share_of(&facts->shares[i], stretch) &&
            line_in(stretch, facts->shares[i].place.line))
            parts[part_of_line(source, stretch, facts->shares[i].place.line, split)] = true;
}

struct source_split source_split_between(const struct source *source, const char *root,
                                         uint32_t from, uint32_t to) {
    struct source_split split = {0};
    struct stretches stretches = {0};
    bool parts[3] = {false};
    double weight[3] = {0};
    if (source->facts && find_stretches(source->trace, source->facts, root, from, to, &stretches)) {
        if (!stretches.items[0].wraps)
            widen(source, &stretches.items[0]);
        for (size_t i = 0; i < stretches.count; i++)
            find_parts(source, &stretches.items[i], root, parts, &split);
        for (size_t i = 0; i < stretches.count && source->sample; i++)
            weigh(source, &stretches.items[i], root, weight);
    }
    free(stretches.items);
    double total = weight[PART_REST] + weight[PART_SPLIT] + weight[PART_GROWS];
    if (total >= evidence.located_samples && (parts[PART_SPLIT] || parts[PART_GROWS])) {
        split.share = weight[PART_SPLIT] / total;
        split.growth = weight[PART_GROWS] / total;
    } else {
        split.share = parts[PART_SPLIT];
        split.may_grow = parts[PART_GROWS] && !parts[PART_SPLIT];
    }
    if (split.share == 0)
        split.why = NULL;
    return split;
}

enum rest source_rest(const struct source *source, const struct facts_loop *loop,
                      uint32_t context) {
    const struct facts *facts = source->facts;
    if (context == TRACE_NO_CONTEXT)
        return loop->rest;
    const struct trace_context *calls = &source->trace->contexts[context];
    for (size_t f = 0; f < calls->n_frames; f++)
        for (size_t s = 0; s < facts->n_shares; s++)
            if (source_frame_is_at(&calls->frames[f], &facts->shares[s].place) &&
                strcmp(facts->shares[s].callee, loop->function) == 0)
                return facts->shares[s].rest;
    return loop->rest;
}
