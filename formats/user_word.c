#include "formats/user_word.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const enum facts_monitor_kind kinds[] = {
    [USER_BOUNDED_QUEUE] = MONITOR_BOUNDED_QUEUE,
    [USER_UNBOUNDED_QUEUE] = MONITOR_UNBOUNDED_QUEUE,
    [USER_SEMAPHORE] = MONITOR_SEMAPHORE,
    [USER_BARRIER] = MONITOR_BARRIER,
    [USER_EVENT] = MONITOR_EVENT,
    [USER_COMPLETION] = MONITOR_COMPLETION,
    [USER_RWLOCK] = MONITOR_RWLOCK,
    [USER_TOKEN_POOL] = MONITOR_TOKEN_POOL,
    [USER_HAND_OVER] = MONITOR_HAND_OVER,
    [USER_THREAD_POOL] = MONITOR_THREAD_POOL,
    [USER_OTHER] = MONITOR_OTHER,
    [USER_IGNORED] = MONITOR_OTHER,
};

static bool is_called(const struct facts_monitor *monitor, const char *name) {
    return (monitor->name && strcmp(monitor->name, name) == 0) ||
           (monitor->mutex && strcmp(monitor->mutex, name) == 0);
}

static void overrule(const struct user_monitor *word, struct facts_monitor *monitor) {
    if (word->kind == USER_STATEMENTS) {
        monitor->statements = true;
        return;
    }
    monitor->kind = kinds[word->kind];
    monitor->ignored = word->kind == USER_IGNORED;
    monitor->users_word = true;
    if (word->amount < 0)
        return;
    facts_forget_amount(&monitor->amount);
    monitor->amount = (struct facts_amount){
        .text = memory_format("%g", word->amount), .offset = word->amount, .constant = true};
}

static int apply_monitor(const struct user_catalog *catalog, const struct user_monitor *word,
                         struct facts *facts, struct error *error) {
    bool found = false;
    for (size_t m = 0; m < facts->n_monitors; m++)
        if (is_called(&facts->monitors[m], word->name)) {
            overrule(word, &facts->monitors[m]);
            found = true;
        }
    if (!found)
        return error_set(
            error,
            "%s:%d: \"%s\": static.json has no monitor of that name: give its \"name\" "
            "or \"mutex\" from there",
            catalog->path ? catalog->path : "catalog", word->line, word->name);
    return 0;
}

/* Does the user say how the function waits? */
static bool knows(const struct user_catalog *catalog, const char *name) {
    const struct user_function *function = user_catalog_find(catalog, name);
    return function && !user_role_marks_tasks(function->api);
}

int user_word_apply(const struct user_catalog *catalog, struct facts *facts, struct error *error) {
    for (size_t i = 0; i < catalog->monitors.count; i++)
        if (apply_monitor(catalog, &catalog->monitors.items[i], facts, error) != 0)
            return -1;
    for (size_t s = facts->n_spins; s-- > 0;) {
        const struct facts_spin *spin = &facts->spins[s];
        if (knows(catalog, spin->function) || (spin->attempt && knows(catalog, spin->attempt)))
            facts_remove_spin(facts, s);
    }
    return 0;
}
