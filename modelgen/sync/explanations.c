#include "modelgen/sync/explanations.h"

#include "modelgen/sync/guards.h"
#include "modelgen/sync/patterns.h"
#include "modelgen/sync/statements.h"

bool monitors_guard(const struct monitors *monitors, size_t class_index) {
    return guards_explain(monitors->guards, monitors->n_guards, class_index);
}

bool monitors_explain(const struct monitors *monitors, size_t section) {
    if (monitors_guard(monitors, (size_t)monitors->class_of[section]))
        return true;
    for (size_t i = 0; i < monitors->n_statements; i++)
        if (monitors->statements[i].section_of[section] != MODEL_NONE)
            return true;
    for (size_t p = 0; p < monitors->n_patterns; p++)
        if (monitors->patterns[p].acts[section])
            return true;
    return false;
}

void monitors_forget(struct monitors *monitors, int mutex) {
    size_t kept = 0;
    for (size_t g = 0; g < monitors->n_guards; g++)
        if (monitors->guards[g].mutex == mutex)
            guard_free(&monitors->guards[g]);
        else
            monitors->guards[kept++] = monitors->guards[g];
    monitors->n_guards = kept;
    patterns_forget(monitors, mutex);
}
