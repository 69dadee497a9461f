#include "modelgen/sync/passages.h"

#include "modelgen/sync/replay.h"

enum { PASSED, AWAITS }; /* at one moment a number passes before it is asked for */

static const char variables[] = "passed";
static const char *const operations[] = {
    [PASSED] = "passed = 1", [AWAITS] = "wait while passed == 0"};

/* Each number is an instance of the program. Not in order yet. */
static struct object_history history_of(const struct finder *finder,
                                        const struct passages *passages, bool of_own) {
    struct object_history history = {.n_instances = passages->count};
    for (size_t i = 0; i < passages->count; i++) {
        const struct passage *passage = &passages->items[i];
        object_history_add(
            &history, finder->sections,
            (struct history_event){.section = (unsigned)passage->wait_section,
                                   .instance = (unsigned)(of_own ? i : i - 1),
                                   .role = of_own || i > 0 ? AWAITS : HISTORY_NO_ROLE});
        object_history_add_effect(&history,
                                  (struct history_event){.time_ns = passage->passed_ns,
                                                         .section = (unsigned)passage->pass_section,
                                                         .instance = (unsigned)i,
                                                         .role = PASSED});
    }
    return history;
}

struct tally passages_replay(const struct finder *finder, const struct passages *passages,
                             bool of_own) {
    return replay_text(finder->sections, history_of(finder, passages, of_own), variables,
                       operations, sizeof operations / sizeof *operations);
}
