#include "modelgen/report/inlined_semaphores.h"

#include <string.h>

#include "base/path.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/notes.h"

static bool is_semaphore(const struct facts_fragment *fragment) {
    return fragment->object && api_catalog[fragment->api].object == ON_SEMAPHORE;
}

static bool was_called(const struct trace *trace, const struct facts_fragment *fragment) {
    for (size_t c = 0; c < trace->n_contexts; c++)
        if (source_passes(trace, (uint32_t)c, &fragment->place))
            return true;
    return false;
}

/* Was one of the places called that work on the same semaphore, or is this not the first of them?
 */
static bool is_known(const struct trace *trace, const struct facts *facts, size_t number) {
    for (size_t f = 0; f < facts->n_fragments; f++)
        if (is_semaphore(&facts->fragments[f]) &&
            strcmp(facts->fragments[f].object, facts->fragments[number].object) == 0 &&
            (f < number || was_called(trace, &facts->fragments[f])))
            return true;
    return false;
}

void inlined_semaphores_note(const struct trace *trace, const struct facts *facts,
                             struct model *model) {
    for (size_t f = 0; facts && f < facts->n_fragments; f++) {
        const struct facts_fragment *fragment = &facts->fragments[f];
        if (is_semaphore(fragment) && !is_known(trace, facts, f))
            notes_add(
                model,
                "semaphore %s (%s:%d): no call for it was recorded, as of a "
                "std::counting_semaphore for which nobody had to wait: that threads wait for it "
                "with more threads or cores is not modelled",
                fragment->object, path_name(fragment->place.file), fragment->place.line);
    }
}
