/* What a step is about, as it is reported. */
#ifndef PERSIK_CRITICAL_PATH_PATH_SUBJECT_H
#define PERSIK_CRITICAL_PATH_PATH_SUBJECT_H

#include "formats/dependencies.h"

/* What a row of the report is about. */
enum path_subject {
    PATH_COMPUTING, /* by function */
    PATH_SLEEPING,  /* by function */
    PATH_DEVICE,    /* by function */
    PATH_OUTSIDE,   /* by function */
    PATH_UNKNOWN,   /* by function: waits that nothing explains */
    PATH_CORE,      /* ready, but others of the program had the core */
    PATH_WAKING,    /* ready, until a core took it up: one that idled, or had other processes */
    PATH_HAND_OVER, /* by kind of link: from what ended a wait until the end of the wait */
    PATH_SUBJECTS
};

enum path_subject path_subject_of(const struct dependency_step *step);

/* Its thread works while it holds the lock that is its object. */
bool path_holds_a_lock(const struct dependency_step *step);

/* "parse (parse.c:31)", and "mutex struct queue.lock": owned by the caller. */
char *path_place_name(const struct dependency_place *place);
char *path_object_name(const struct dependency_object *object);

/* What ended its wait: "a lock". */
const char *path_link_name(const struct dependency_step *step);

#endif
