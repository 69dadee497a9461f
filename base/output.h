/* Output files that appear whole or not at all. What is written goes into a nameless file of the
 * same folder, which takes the name only when it is complete: a reader never sees half of it, an
 * earlier file stays when there is no room for the new one, a symbolic link of that name is
 * replaced and not followed, and nothing is left behind by a process that is killed. */
#ifndef PERSIK_BASE_OUTPUT_H
#define PERSIK_BASE_OUTPUT_H

#include <stdio.h>

struct output {
    FILE *file; /* write here */
    /* The rest is output.c's. */
    int folder;    /* descriptor */
    char *name;    /* in that folder */
    char *partial; /* its name until it is complete */
    int nameless;  /* the folder's file system has such files */
};

/* Begins to write the file `path`, private to the user (mode 0600). 0, or -1 and errno. */
int output_begin(struct output *output, const char *path);

/* Ends it: the file takes its name once all of it is on the disk. 0, or -1 and errno when it could
 * not be written; then whatever had the name has it still. */
int output_commit(struct output *output);

/* Ends it: forgets what was written. Keeps errno. */
void output_abandon(struct output *output);

#endif
