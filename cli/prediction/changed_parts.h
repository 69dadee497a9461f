/* What of a model is no longer as recorded, because a user changed it: said with all figures. */
#ifndef PERSIK_CLI_PREDICTION_CHANGED_PARTS_H
#define PERSIK_CLI_PREDICTION_CHANGED_PARTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct changed_part {
    char *part;   /* "worker: parse (main.c:12)", "jobs" */
    char *change; /* "computing x 0.5", "capacity 5 to 64" */
};

struct changed_parts {
    struct changed_part *items;
    size_t count, capacity;
};

/* Takes `change`, copies `part`. What is told already, of a call that the model has more than once,
 * is not told again. */
void changed_parts_add(struct changed_parts *parts, const char *part, char *change);
void changed_parts_free(struct changed_parts *parts);

/* "Changed:" and a line for each, before the tables; nothing where nothing is. */
void changed_parts_print(const struct changed_parts *parts, FILE *out);

/* [{"part", "change"}]; the caller owns it. */
json_t *changed_parts_json(const struct changed_parts *parts);

#endif
