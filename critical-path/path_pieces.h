/* What a step is about, and what the path through it is called. Private to this room. */
#ifndef PERSIK_CRITICAL_PATH_PATH_PIECES_H
#define PERSIK_CRITICAL_PATH_PATH_PIECES_H

#include "critical-path/critical_path.h"

enum path_subject path_subject_of(const struct dependency_step *step);

/* What ended its wait: "a lock". */
const char *path_link_name(const struct dependency_step *step);

#endif
