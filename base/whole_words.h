/* Names as people give them: a part of the whole one. */
#ifndef PERSIK_BASE_WHOLE_WORDS_H
#define PERSIK_BASE_WHOLE_WORDS_H

#include <stdbool.h>

/* Does `wanted` stand in the name as whole words, as "parse" and "main.c:12" do in
 * "ns::parse (main.c:12)", but not in "parse_all (domain.c:12)"? */
bool whole_words_stand_in(const char *wanted, const char *name);

#endif
