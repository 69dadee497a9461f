/* What the critical sections of a mutex often are together: well-known objects, each a row.
 * template_search.h tries them. A "broadcast" in a row's program says that the section must wake
 * others; none, that it may: programs look first whether anybody waits.
 *
 * A new template is one row here, and its line in a table of monitor_search.c. */
#ifndef PERSIK_MODELGEN_SYNC_TEMPLATES_H
#define PERSIK_MODELGEN_SYNC_TEMPLATES_H

#include "modelgen/sync/template.h"

extern const struct template_row template_barrier, template_rwlock, template_group_commit,
    template_generation;

#endif
