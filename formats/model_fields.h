/* The shape of model.json, told once: which key belongs to which struct field, of which type, and
 * what its absence means. The reader and the writer both walk these tables, so what one writes the
 * other reads, and a key that is in no table is a typing error. Private to formats/. */
#ifndef PERSIK_FORMATS_MODEL_FIELDS_H
#define PERSIK_FORMATS_MODEL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/model.h"

enum field_type {
    FIELD_TEXT,         /* char *; absent = "" */
    FIELD_TEXT_OR_NULL, /* char *; absent = NULL */
    FIELD_NUMBER,       /* double */
    FIELD_INT,          /* int */
    FIELD_FLAG,         /* bool */
    FIELD_NAME,         /* an enum, by `names` */
    FIELD_INDEX,        /* int, into `refers`; a readable "<key>_name" is written next to it */
    FIELD_DIST,         /* struct dist */
    FIELD_LINEAR,       /* struct linear */
    FIELD_RECORD,       /* a struct inside, by `record` */
    FIELD_LIST,         /* pointer to structs, by `record`, and their number at `count_offset` */
    FIELD_TEXTS,        /* char **, and their number at `count_offset` */
    FIELD_NUMBERS,      /* double *, and their number at `count_offset` */
};

enum field_target { TARGET_OBJECT, TARGET_POOL, TARGET_NODE };

struct record;

struct field {
    const char *key;
    size_t offset;
    double fallback; /* NUMBER, INT, NAME, INDEX, LINEAR: the value of an absent key */
    const char *const *names;
    const struct record *record;
    size_t count_offset;
    enum field_type type;
    enum field_target refers;
    bool required;
};

struct record {
    size_t bytes;
    size_t n_fields;
    const struct field *fields;
};

extern const struct record model_record;

/* NULL-terminated, in the order of the enums. */
extern const char *const model_object_kinds[];
extern const char *const model_node_kinds[];
extern const char *const model_statement_kinds[];
extern const char *const model_outcomes[];
extern const char *const model_takers[];
extern const char *const model_dist_kinds[];
extern const char *const model_cache_rules[];
extern const char *const model_monitor_kinds[];
extern const char *const model_monitor_roles[];
extern const char *const model_modelled[];

/* The name of object, pool or node number `index`; NULL when there is none. */
const char *model_target_name(const struct model *model, enum field_target target, int index);

#endif
