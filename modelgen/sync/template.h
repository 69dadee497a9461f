/* What a template is: a program of guarded commands (command_text.h) whose operations are the roles
 * that sections of a mutex can have, and a parameter. */
#ifndef PERSIK_MODELGEN_SYNC_TEMPLATE_H
#define PERSIK_MODELGEN_SYNC_TEMPLATE_H

#include "modelgen/sync/pattern_replay.h"

#define TEMPLATE_ROLES      3
#define TEMPLATE_PARAMETERS 2 /* values that are tried */

/* A way to bind a template to a mutex, and how it went. */
struct candidate {
    const struct section_class *site; /* where threads wait; NULL: wherever they do */
    const int *roles;                 /* per section of the trace; HISTORY_NO_ROLE */
    double parameter;
    struct tally tally;
    const struct value *shared; /* the program's variables at the end of the run */
};

struct template_row {
    const char *name;
    enum hand_made_kind kind;
    const char *variables; /* the first one is the parameter, where `fit` is set */
    const char *operations[TEMPLATE_ROLES];
    unsigned short acts[TEMPLATE_ROLES]; /* of enum pattern_act, by role */
    bool at_any_site;                    /* threads may wait at several sites of the mutex ... */
    bool at_one_site;                    /* ... or at one */
    bool few_prove_nothing;              /* few waits, that is: else one will do */

    /* Binds the history's sections to roles, in the `variant`-th way; false: there are no more.
     * A section that is left alone has none. */
    bool (*bind)(const struct finder *finder, const struct section_class *site, unsigned variant,
                 int *roles);
    /* The parameter's values worth trying, and how many these are; NULL: there is no parameter. */
    int (*fit)(const struct finder *finder, const int *roles, double values[TEMPLATE_PARAMETERS]);
    /* Is it that, and not something else that makes threads wait alike? May add violations that no
     * variable shows. NULL: yes. */
    bool (*is_told_apart)(const struct finder *finder, struct candidate *candidate);
    /* Fills in what the pattern has besides kind, acts and tally; NULL: nothing. */
    void (*finish)(const struct finder *finder, const struct candidate *candidate,
                   struct explanation *pattern);
};

#endif
