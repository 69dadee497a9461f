/* What a person may have meant by a name that does not exist. */
#ifndef PERSIK_CLI_TEXT_NEAREST_H
#define PERSIK_CLI_TEXT_NEAREST_H

#include <stddef.h>

/* How many letters must be changed, added or left out until `wanted` is a part of `name`, upper and
 * lower case being the same (Sellers 1980). */
size_t nearest_distance(const char *wanted, const char *name);

/* "'put', 'get' and 7 others": the nearest names first, as many as fit a line. The caller frees. */
char *nearest_list(const char *wanted, const char *const *names, size_t n);

#endif
