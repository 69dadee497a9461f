/* The user's word against what the source seemed to say. */
#ifndef PERSIK_FORMATS_USER_WORD_H
#define PERSIK_FORMATS_USER_WORD_H

#include "formats/facts.h"
#include "formats/user_catalog.h"

/* Monitors of `facts` become what the catalog says they are; loops in functions that it names, or
 * that try one of these, wait in a way that is known. -1 and `error` when there is no monitor of
 * that name. */
int user_word_apply(const struct user_catalog *catalog, struct facts *facts, struct error *error);

#endif
