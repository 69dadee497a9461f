/* A folder of its own for a test program that writes files. */
#ifndef PERSIK_TESTS_SCRATCH_FOLDER_H
#define PERSIK_TESTS_SCRATCH_FOLDER_H

/* Its path, once it was made. */
extern char scratch_folder[];

/* Set-up and tear-down for cmocka: makes a new, empty one among the temporary files; removes it
 * with all that is in it. 0, or what cmocka takes for a failure. */
int scratch_folder_make(void **state);
int scratch_folder_remove(void **state);

/* Removes it if it is empty: a failure if a test left something there. */
int scratch_folder_remove_empty(void **state);

/* The path of a file in it; the caller's, to be freed. */
char *scratch_folder_path(const char *name);

#endif
