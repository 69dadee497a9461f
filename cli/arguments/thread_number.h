/* The number of threads in a program's arguments, so that the program can be run with another. */
#ifndef PERSIK_CLI_ARGUMENTS_THREAD_NUMBER_H
#define PERSIK_CLI_ARGUMENTS_THREAD_NUMBER_H

#include "base/error.h"

/* Where it stands: `argument` begins with `length` bytes, behind which `rest` follows the number.
 */
struct thread_number {
    int argument; /* from 1 on */
    int length;
    const char *rest; /* in the argument */
    int threads;      /* as it stands there */
};

/* It is written as {threads=4}; or it is the end of the one argument that has "thread" in its
 * option's name, as in `--threads 4`, `--threads=4` or `-threads4`; or the only argument that ends
 * in a number. -1 and `error` where none or several are: it is to be written as {threads=4} then.
 * `program` is NULL-terminated and stays the caller's. */
int thread_number_find(char *const *program, struct thread_number *number, struct error *error);

/* The program's arguments with so many threads, NULL-terminated; the caller frees the array and
 * its strings with placeholder_free(). */
char **thread_number_replace(char *const *program, const struct thread_number *number, int threads);

#endif
