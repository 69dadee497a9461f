#include "modelgen/sync/templates.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/evidence.h"
#include "modelgen/sync/group_commit_cost.h"
#include "modelgen/sync/operation_classes.h"
#include "modelgen/sync/replay.h"

static bool is_at(const struct finder *finder, size_t section, const struct section_class *site) {
    return !site || class_is_same_operation(class_at(finder, section), site);
}

/* ---- barrier: all but the last of each round wait, and the last wakes them ---- */

static bool bind_arrivals(const struct finder *finder, const struct section_class *site,
                          unsigned variant, int *roles) {
    for (size_t i = 0; i < finder->history.count && variant == 0; i++)
        if (is_at(finder, finder->history.items[i], site))
            roles[finder->history.items[i]] = 0;
    return variant == 0;
}

/* Most rounds' size, as told by the thread that does not wait: it is the last one. */
static int fit_parties(const struct finder *finder, const int *roles,
                       double values[TEMPLATE_PARAMETERS]) {
    size_t n_threads = finder->trace->n_threads, arrived = 0, rounds = 0, parties = 0;
    size_t *sizes = memory_alloc(n_threads + 1, sizeof *sizes);
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (roles[section] == HISTORY_NO_ROLE)
            continue;
        arrived++;
        if (section_at(finder, section)->n_waits > 0 && arrived < n_threads)
            continue;
        sizes[arrived]++;
        rounds++;
        arrived = 0;
    }
    for (size_t n = 2; n <= n_threads; n++)
        if (sizes[n] > sizes[parties])
            parties = n;
    free(sizes);
    values[0] = (double)parties;
    return rounds >= 2 && parties > 0 ? 1 : 0;
}

/* Does the thread tell anybody before its wait is over? The last one to leave may tell the next
 * round to come in. */
static bool tells_before(const struct finder *finder, size_t index) {
    const struct section *section = section_at(finder, index);
    const struct trace_record *records = finder->trace->threads[section->thread].records;
    for (size_t i = 0; i < section->n_signals && section->n_waits > 0; i++) {
        size_t record = finder->sections->signals[section->first_signal + i].record;
        if (records[record].start_ns < passed_at(finder, index))
            return true;
    }
    return false;
}

/* Is each thread that comes there this one, or made by it? */
static bool makes_all(const struct finder *finder, const struct candidate *candidate, int creator) {
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        int thread = section_at(finder, section)->thread;
        if (candidate->roles[section] != HISTORY_NO_ROLE && thread != creator &&
            finder->trace->threads[thread].creator != creator)
            return false;
    }
    return true;
}

/* Who makes the others may come by a place of its own, as where the compiler wrote the barrier out
 * in their function alone. It takes two of them, and many waits, to show that all meet. The thread;
 * -1: nobody may. */
static int who_may_come_apart(const struct finder *finder, const struct candidate *candidate) {
    if (candidate->parameter < 3 || candidate->tally.waited < evidence.convincing_turns)
        return -1;
    int any = section_at(finder, finder->history.items[0])->thread;
    int maker = finder->trace->threads[any].creator;
    return makes_all(finder, candidate, any)                   ? any
           : maker >= 0 && makes_all(finder, candidate, maker) ? maker
                                                               : -1;
}

/* All come to a round at the same place: else it may be a thread that waits for another one. */
static bool is_a_meeting(const struct finder *finder, struct candidate *candidate) {
    size_t parties = (size_t)candidate->parameter, arrived = 0;
    const struct section_class *first = NULL;
    int apart = who_may_come_apart(finder, candidate);
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (candidate->roles[section] == HISTORY_NO_ROLE)
            continue;
        bool is_apart = section_at(finder, section)->thread == apart;
        first = arrived == 0 ? NULL : first;
        first = first || is_apart ? first : class_at(finder, section);
        arrived = (arrived + 1) % parties;
        const struct contradiction wrong = {section_at(finder, section)->acquire_ns, section,
                                            section_at(finder, section)->n_waits > 0, 0};
        bool is_elsewhere = !is_apart && !is_at(finder, section, first);
        if (is_elsewhere || tells_before(finder, section))
            tally_add_violation(&candidate->tally, &wrong);
    }
    return true;
}

static void finish_barrier(const struct finder *finder, const struct candidate *candidate,
                           struct explanation *pattern) {
    (void)finder;
    pattern->pattern.parties = (int)candidate->parameter;
}

/* A macro is written out wherever the program has it, perhaps for one round each. */
const struct template_row template_barrier = {
    .name = "barrier",
    .kind = HAND_MADE_BARRIER,
    .variables = "parties arrived generation own:mine",
    .operations = {"mine = generation; "
                   "arrived = arrived + 1; "
                   "arrived == parties -> arrived = 0; "
                   "arrived == parties -> generation = generation + 1; "
                   "arrived == parties -> broadcast; "
                   "wait while generation == mine"},
    .acts = {ACT_ARRIVE},
    .at_any_site = true,
    .at_one_site = true,
    .bind = bind_arrivals,
    .fit = fit_parties,
    .is_told_apart = is_a_meeting,
    .finish = finish_barrier,
};

/* ---- read-write lock: each thread locks and unlocks by turns ---- */

enum { RWLOCK_READ, RWLOCK_WRITE, RWLOCK_UNLOCK };

#define LOCKING_SITES 8

struct locking_sites {
    const struct section_class *items[LOCKING_SITES];
    int count;
};

/* Its number; -1: there is no room for it, or it is none of them and not to be added. */
static int site_number(struct locking_sites *sites, const struct section_class *class, bool add) {
    for (int i = 0; i < sites->count; i++)
        if (class_is_same_operation(sites->items[i], class))
            return i;
    if (!add || sites->count == LOCKING_SITES)
        return -1;
    sites->items[sites->count] = class;
    return sites->count++;
}

/* Sets unlocking sections' roles, and of the locking ones the number of their site. False: the
 * sections are no such pairs. */
static bool pair_sections(const struct finder *finder, struct locking_sites *locks, int *roles) {
    bool *holds = memory_alloc(finder->trace->n_threads, sizeof *holds), are_pairs = true;
    struct locking_sites unlocks = {0};
    for (size_t i = 0; i < finder->history.count && are_pairs; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        bool unlocks_now = holds[section->thread];
        int site = site_number(unlocks_now ? &unlocks : locks, class_at(finder, index), true);
        are_pairs = site >= 0 && !(unlocks_now && section->n_waits > 0);
        roles[index] = unlocks_now ? RWLOCK_UNLOCK : RWLOCK_UNLOCK + 1 + site;
        holds[section->thread] = !unlocks_now;
    }
    for (int i = 0; i < locks->count; i++)
        are_pairs &= site_number(&unlocks, locks->items[i], false) < 0;
    free(holds);
    return are_pairs;
}

/* Bit number = a locking site, of those that write: some do, not all. */
static bool bind_locks(const struct finder *finder, const struct section_class *site,
                       unsigned variant, int *roles) {
    (void)site;
    struct locking_sites locks = {0};
    unsigned writers = variant + 1;
    if (!pair_sections(finder, &locks, roles) || writers + 1 >= 1U << locks.count)
        return false;
    for (size_t i = 0; i < finder->history.count; i++) {
        int *role = &roles[finder->history.items[i]];
        if (*role > RWLOCK_UNLOCK)
            *role = writers >> (*role - RWLOCK_UNLOCK - 1) & 1 ? RWLOCK_WRITE : RWLOCK_READ;
    }
    return true;
}

static int fit_preference(const struct finder *finder, const int *roles,
                          double values[TEMPLATE_PARAMETERS]) {
    (void)finder;
    (void)roles;
    values[0] = 0;
    values[1] = 1;
    return 2;
}

#define RWLOCK_MOST 3 /* variable */

/* Readers were in together. */
static bool is_shared(const struct finder *finder, struct candidate *candidate) {
    (void)finder;
    return candidate->shared[RWLOCK_MOST].number > 1;
}

static void finish_rwlock(const struct finder *finder, const struct candidate *candidate,
                          struct explanation *pattern) {
    (void)finder;
    pattern->pattern.writers_first = candidate->parameter > 0;
}

const struct template_row template_rwlock = {
    .name = "read-write lock",
    .kind = HAND_MADE_RWLOCK,
    .variables = "writers_first readers writers most queued own:mine",
    .operations =
        {
            [RWLOCK_READ] = "wait while writers > 0 || (writers_first && queued > 0); "
                            "readers = readers + 1; "
                            "readers > most -> most = readers; "
                            "mine = 0",
            [RWLOCK_WRITE] = "mine = 0; "
                             "readers > 0 || writers > 0 -> mine = 1; "
                             "queued = queued + mine; "
                             "wait while readers > 0 || writers > 0; "
                             "queued = queued - mine; "
                             "writers = writers + 1; "
                             "mine = 1",
            [RWLOCK_UNLOCK] = "writers = writers - mine; "
                              "readers = readers - (1 - mine)",
        },
    .acts = {[RWLOCK_READ] = ACT_READ, [RWLOCK_WRITE] = ACT_WRITE, [RWLOCK_UNLOCK] = ACT_UNLOCK},
    .at_any_site = true,
    .bind = bind_locks,
    .fit = fit_preference,
    .is_told_apart = is_shared,
    .finish = finish_rwlock,
};

/* ---- group commit: the first one does the work of all that have come until it begins ---- */

enum { COMMIT_LEAD, COMMIT_LED, COMMIT_TELL };

/* The thread's next section that does what those do that tell, before it comes again;
 * PATTERN_NO_SECTION: none. */
static size_t next_telling(const struct finder *finder, size_t section,
                           const struct section_class *site, const bool *is_telling) {
    size_t end = finder->monitors->first_of_thread[section_at(finder, section)->thread + 1];
    for (size_t s = section + 1; s < end; s++) {
        if (section_at(finder, s)->mutex != finder->mutex)
            continue;
        if (class_is_same_operation(class_at(finder, s), site))
            return PATTERN_NO_SECTION;
        if (is_telling[finder->monitors->class_of[s]])
            return s;
    }
    return PATTERN_NO_SECTION;
}

/* Per class; the caller frees. */
static bool *find_telling(const struct finder *finder, const struct section_class *site) {
    const struct monitors *monitors = finder->monitors;
    bool *is_telling = memory_alloc(monitors->n_classes, sizeof *is_telling);
    for (size_t c = 0; c < monitors->n_classes; c++)
        for (size_t d = 0; d < monitors->n_classes; d++)
            is_telling[c] |= monitors->classes[d].mutex == finder->mutex &&
                             class_tells(&monitors->classes[d], site) &&
                             class_is_same_operation(&monitors->classes[c], &monitors->classes[d]);
    return is_telling;
}

static bool bind_commits(const struct finder *finder, const struct section_class *site,
                         unsigned variant, int *roles) {
    if (variant > 0)
        return false;
    bool *is_telling = find_telling(finder, site);
    size_t n[TEMPLATE_ROLES] = {0};
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (!class_is_same_operation(class_at(finder, section), site))
            continue;
        size_t telling = next_telling(finder, section, site, is_telling);
        roles[section] = telling == PATTERN_NO_SECTION ? COMMIT_LED : COMMIT_LEAD;
        n[roles[section]]++;
        if (telling != PATTERN_NO_SECTION)
            roles[telling] = COMMIT_TELL;
    }
    free(is_telling);
    return n[COMMIT_LEAD] >= evidence.convincing_turns &&
           n[COMMIT_LED] >= evidence.convincing_turns;
}

const struct template_row template_group_commit = {
    .name = "group commit",
    .kind = HAND_MADE_HAND_OVER,
    .variables = "came first own:mine own:end",
    .operations = {[COMMIT_LEAD] = "mine = came; "
                                   "came = came + 1; "
                                   "wait while mine != first; "
                                   "end = came",
                   [COMMIT_LED] = "mine = came; "
                                  "came = came + 1; "
                                  "wait while mine >= first",
                   [COMMIT_TELL] = "first = end"},
    .acts = {[COMMIT_LEAD] = ACT_DRAW | ACT_TURN,
             [COMMIT_LED] = ACT_DRAW | ACT_TURN | ACT_LED,
             [COMMIT_TELL] = ACT_PASS},
    .at_one_site = true,
    .bind = bind_commits,
    .finish = group_commit_finish,
};

/* ---- generations: a thread's n-th turn comes with the n-th opening ---- */

enum { GENERATION_TURN, GENERATION_OPEN };

/* Does nobody else wait on the site's condition? */
static bool is_condition_own(const struct finder *finder, const struct section_class *site) {
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        for (size_t w = 0; w < section->n_waits; w++)
            if (finder->sections->waits[section->first_wait + w].condition == site->waits_on &&
                !class_is_same_operation(class_at(finder, index), site))
                return false;
    }
    return true;
}

static bool bind_rounds(const struct finder *finder, const struct section_class *site,
                        unsigned variant, int *roles) {
    if (variant > 0 || site->mixed_waits || !is_condition_own(finder, site))
        return false;
    size_t openings = 0;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t section = finder->history.items[i];
        if (class_is_same_operation(class_at(finder, section), site)) {
            roles[section] = GENERATION_TURN;
        } else if (class_tells(class_at(finder, section), site)) {
            roles[section] = GENERATION_OPEN;
            openings++;
        }
    }
    return openings >= evidence.convincing_turns;
}

static int compare_passes(const void *a, const void *b, void *finder) {
    uint64_t x = passed_at(finder, *(const size_t *)a), y = passed_at(finder, *(const size_t *)b);
    return (x > y) - (x < y);
}

/* Turns in the order in which their threads went on; the caller frees the items. */
static struct order_list turns_as_passed(const struct finder *finder, const int *roles) {
    struct order_list turns = {0};
    for (size_t i = 0; i < finder->history.count; i++)
        if (roles[finder->history.items[i]] == GENERATION_TURN)
            *VECTOR_ADD(&turns) = finder->history.items[i];
    if (turns.count)
        qsort_r(turns.items, turns.count, sizeof *turns.items, compare_passes, (void *)finder);
    return turns;
}

static bool is_any_behind(const struct finder *finder, const size_t *gone, size_t round) {
    for (size_t t = 0; t < finder->trace->n_threads; t++)
        if (gone[t] > 0 && gone[t] < round)
            return true;
    return false;
}

/* How often a thread waited for its next round while others had not gone on by this one: were it
 * permits that it waits for, it would have taken one of theirs. */
static double count_early_waits(const struct finder *finder, const int *roles) {
    struct order_list passes = turns_as_passed(finder, roles);
    size_t *gone = memory_alloc(finder->trace->n_threads, sizeof *gone), next = 0;
    double early = 0;
    for (size_t i = 0; i < finder->history.count; i++) {
        size_t index = finder->history.items[i];
        const struct section *section = section_at(finder, index);
        for (; next < passes.count && passed_at(finder, passes.items[next]) < section->acquire_ns;
             next++)
            gone[section_at(finder, passes.items[next])->thread]++;
        early += roles[index] == GENERATION_TURN && section->n_waits > 0 &&
                 is_any_behind(finder, gone, gone[section->thread]);
    }
    free(passes.items);
    free(gone);
    return early;
}

static bool are_rounds(const struct finder *finder, struct candidate *candidate) {
    bool is_said = finder->monitors->own_numbers[candidate->site - finder->monitors->classes] &&
                   candidate->tally.violations == 0;
    return is_said || count_early_waits(finder, candidate->roles) > candidate->tally.violations;
}

static void finish_rounds(const struct finder *finder, const struct candidate *candidate,
                          struct explanation *pattern) {
    (void)finder;
    (void)candidate;
    pattern->pattern.in_rounds = true;
}

const struct template_row template_generation = {
    .name = "generations",
    .kind = HAND_MADE_EVENT,
    .variables = "opened own:mine",
    .operations = {[GENERATION_TURN] = "wait while opened <= mine; "
                                       "mine = mine + 1",
                   [GENERATION_OPEN] = "opened = opened + 1"},
    .acts = {[GENERATION_TURN] = ACT_TURN, [GENERATION_OPEN] = ACT_PASS},
    .at_one_site = true,
    .few_prove_nothing = true,
    .bind = bind_rounds,
    .is_told_apart = are_rounds,
    .finish = finish_rounds,
};
