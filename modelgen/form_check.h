/* Are the forms of passes.def as their readers take for granted? The runner asks after each pass
 * for what it wrote. A check costs no more than to look at the form once. */
#ifndef PERSIK_MODELGEN_FORM_CHECK_H
#define PERSIK_MODELGEN_FORM_CHECK_H

#include "base/error.h"

struct build;

/* `form` as passes.def names it. -1 and `error`, "thread 3, step 7 (get): works on ...": it breaks
 * a rule. Forms without a check are always sound. */
int form_check(const char *form, const struct build *build, struct error *error);

#endif
