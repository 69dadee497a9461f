/* model.json -> struct model, driven by the tables of model_fields.c. What is checked here is the
 * form of the file (keys, types); what the values mean to each other is model_check()'s. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "formats/json_input.h"
#include "formats/json_place.h"
#include "formats/model.h"
#include "formats/model_fields.h"

#define NAME_SUFFIX "_name" /* of the readable companion of an index */

struct reader {
    struct room *room; /* for what the file makes us allocate */
    struct error *error;
};

static int refuse(const struct place *place, struct reader *reader, const char *what,
                  const char *mend) {
    char where[256];
    place_text(place, where, sizeof where);
    return error_set(reader->error, "%s: %s: %s", where, what, mend);
}

static int read_record(const json_t *json, const struct record *record, void *into,
                       const struct place *place, struct reader *reader);

/* `n` things of `size` bytes, zeroed; NULL: the file is refused, so many are more than its size is
 * for. */
static void *allocate(size_t n, size_t size, const struct place *place, struct reader *reader) {
    if (room_take(reader->room, n, size))
        return memory_alloc(n, size);
    refuse(place, reader, "holds more things than the file's size is for",
           "run `persik build-model` again");
    return NULL;
}

static int read_number(const json_t *json, double *into, const struct place *place,
                       struct reader *reader) {
    if (!json_is_number(json))
        return refuse(place, reader, "not a number", "write a number here");
    *into = json_number_value(json);
    return 0;
}

static int read_int(const json_t *json, int *into, const struct place *place,
                    struct reader *reader) {
    if (!json_is_integer(json) || json_integer_value(json) > INT_MAX ||
        json_integer_value(json) < INT_MIN)
        return refuse(place, reader, "not a whole number", "write a whole number here");
    *into = (int)json_integer_value(json);
    return 0;
}

static int read_text(const json_t *json, char **into, const struct place *place,
                     struct reader *reader) {
    if (!json_is_string(json))
        return refuse(place, reader, "not a text", "write a text in double quotes here");
    *into = memory_strdup(json_string_value(json));
    return 0;
}

static int read_flag(const json_t *json, bool *into, const struct place *place,
                     struct reader *reader) {
    if (!json_is_boolean(json))
        return refuse(place, reader, "neither true nor false", "write true or false here");
    *into = json_is_true(json);
    return 0;
}

/* Enums are stored as unsigned by this compiler; they are copied through an int of equal size. */
static int read_name(const json_t *json, const char *const *names, void *into,
                     const struct place *place, struct reader *reader) {
    const char *text = json_string_value(json);
    for (int i = 0; text && names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            memcpy(into, &i, sizeof i);
            return 0;
        }
    }
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; names[i] && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                 i ? ", " : "write one of: ", names[i]);
    return refuse(place, reader, "an unknown kind", known);
}

static int read_numbers(const json_t *json, double **numbers, size_t *n, const struct place *place,
                        struct reader *reader) {
    if (!json_is_array(json) || json_array_size(json) == 0)
        return refuse(place, reader, "not a list of numbers", "write [number, ...] here");
    *numbers = allocate(json_array_size(json), sizeof **numbers, place, reader);
    if (!*numbers)
        return -1;
    *n = json_array_size(json);
    for (size_t i = 0; i < *n; i++)
        if (read_number(json_array_get(json, i), &(*numbers)[i], PLACE_INDEX(place, i), reader))
            return -1;
    return 0;
}

static int read_values(const json_t *json, struct dist *dist, const struct place *place,
                       struct reader *reader) {
    if (read_numbers(json, &dist->values, &dist->n_values, place, reader))
        return -1;
    double sum = 0;
    for (size_t i = 0; i < dist->n_values; i++)
        sum += dist->values[i];
    dist->mean = sum / (double)dist->n_values; /* "mean" in the file is for the reader */
    return 0;
}

static int read_dist(const json_t *json, struct dist *dist, const struct place *place,
                     struct reader *reader) {
    if (json_is_number(json)) {
        dist->kind = DIST_CONSTANT;
        return read_number(json, &dist->mean, place, reader);
    }
    if (!json_is_object(json))
        return refuse(place, reader, "not a distribution",
                      "write a number, or {\"kind\": ..., ...} as docs/formats.md says");
    if (read_name(json_object_get(json, "kind"), model_dist_kinds, &dist->kind,
                  PLACE_KEY(place, "kind"), reader))
        return -1;
    const char *key;
    json_t *ignored;
    json_object_foreach((json_t *)json, key, ignored) {
        if (strcmp(key, "kind") != 0 && strcmp(key, "mean") != 0 && strcmp(key, "values") != 0 &&
            strcmp(key, "common") != 0 && strcmp(key, "sharers") != 0)
            return refuse(PLACE_KEY(place, key), reader, "an unknown key",
                          "a distribution has kind, mean, common, sharers and values");
    }
    const json_t *common = json_object_get(json, "common");
    double sharers = 0;
    if (common && (read_number(common, &dist->common, PLACE_KEY(place, "common"), reader) ||
                   read_number(json_object_get(json, "sharers"), &sharers,
                               PLACE_KEY(place, "sharers"), reader)))
        return -1;
    dist->sharers = sharers >= 1 && sharers <= INT_MAX ? (int)sharers : 0;
    if (dist->kind == DIST_EMPIRICAL || dist->kind == DIST_UNIFORM)
        return read_values(json_object_get(json, "values"), dist, PLACE_KEY(place, "values"),
                           reader);
    if (dist->kind == DIST_NONE)
        return 0;
    return read_number(json_object_get(json, "mean"), &dist->mean, PLACE_KEY(place, "mean"),
                       reader);
}

static int read_term(const json_t *json, struct linear_term *term, const struct place *place,
                     struct reader *reader) {
    const char *key;
    json_t *ignored;
    json_object_foreach((json_t *)json, key, ignored) {
        if (strcmp(key, "pool") != 0 && strcmp(key, "pool" NAME_SUFFIX) != 0 &&
            strcmp(key, "factor") != 0)
            return refuse(PLACE_KEY(place, key), reader, "an unknown key",
                          "a term has pool and factor");
    }
    if (read_int(json_object_get(json, "pool"), &term->pool, PLACE_KEY(place, "pool"), reader))
        return -1;
    return read_number(json_object_get(json, "factor"), &term->factor, PLACE_KEY(place, "factor"),
                       reader);
}

static int read_linear(const json_t *json, struct linear *linear, const struct place *place,
                       struct reader *reader) {
    if (json_is_number(json))
        return read_number(json, &linear->base, place, reader);
    const json_t *terms = json_object_get(json, "per_thread");
    if (!json_is_array(terms))
        return refuse(place, reader, "not a quantity",
                      "write a number, or {\"base\": ..., \"per_thread\": [...]}");
    if (read_number(json_object_get(json, "base"), &linear->base, PLACE_KEY(place, "base"), reader))
        return -1;
    linear->terms = allocate(json_array_size(terms), sizeof *linear->terms, place, reader);
    if (!linear->terms)
        return -1;
    linear->n_terms = json_array_size(terms);
    for (size_t i = 0; i < linear->n_terms; i++) {
        const struct place *here = PLACE_INDEX(PLACE_KEY(place, "per_thread"), i);
        if (read_term(json_array_get(terms, i), &linear->terms[i], here, reader))
            return -1;
    }
    return 0;
}

static int read_list(const json_t *json, const struct field *field, char *base,
                     const struct place *place, struct reader *reader) {
    if (!json_is_array(json))
        return refuse(place, reader, "not a list", "write [...] here");
    size_t n = json_array_size(json);
    char *items = allocate(n, field->record->bytes, place, reader);
    if (!items)
        return -1;
    memcpy(base + field->offset, &items, sizeof items);
    memcpy(base + field->count_offset, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        if (read_record(json_array_get(json, i), field->record, items + i * field->record->bytes,
                        PLACE_INDEX(place, i), reader))
            return -1;
    }
    return 0;
}

static int read_texts(const json_t *json, const struct field *field, char *base,
                      const struct place *place, struct reader *reader) {
    if (!json_is_array(json))
        return refuse(place, reader, "not a list", "write [...] here");
    size_t n = json_array_size(json);
    char **texts = allocate(n, sizeof *texts, place, reader);
    if (!texts)
        return -1;
    memcpy(base + field->offset, &texts, sizeof texts);
    memcpy(base + field->count_offset, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        if (read_text(json_array_get(json, i), &texts[i], PLACE_INDEX(place, i), reader))
            return -1;
    }
    return 0;
}

static int read_field(const json_t *json, const struct field *field, char *base,
                      const struct place *place, struct reader *reader) {
    void *into = base + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_TEXT_OR_NULL:
        return read_text(json, into, place, reader);
    case FIELD_NUMBER:
        return read_number(json, into, place, reader);
    case FIELD_INT:
    case FIELD_INDEX:
        return read_int(json, into, place, reader);
    case FIELD_FLAG:
        return read_flag(json, into, place, reader);
    case FIELD_NAME:
        return read_name(json, field->names, into, place, reader);
    case FIELD_DIST:
        return read_dist(json, into, place, reader);
    case FIELD_LINEAR:
        return read_linear(json, into, place, reader);
    case FIELD_RECORD:
        return read_record(json, field->record, into, place, reader);
    case FIELD_LIST:
        return read_list(json, field, base, place, reader);
    case FIELD_TEXTS:
        return read_texts(json, field, base, place, reader);
    case FIELD_NUMBERS:
        return read_numbers(json, into, (size_t *)(void *)(base + field->count_offset), place,
                            reader);
    }
    return refuse(place, reader, "a field without a type", "report this defect");
}

/* Gives every field the value that its absence means. */
static void set_absent(const struct record *record, char *base) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        void *into = base + field->offset;
        int whole = isnan(field->fallback) ? 0 : (int)field->fallback;
        if (field->type == FIELD_LINEAR)
            *(struct linear *)into = (struct linear){.base = field->fallback};
        else if (field->type == FIELD_NUMBER)
            memcpy(into, &field->fallback, sizeof field->fallback);
        else if (field->type == FIELD_INT || field->type == FIELD_INDEX ||
                 field->type == FIELD_NAME)
            memcpy(into, &whole, sizeof whole);
        else if (field->type == FIELD_RECORD)
            set_absent(field->record, into);
    }
}

static bool is_known_key(const struct record *record, const char *key) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        size_t length = strlen(field->key);
        if (strncmp(key, field->key, length) != 0)
            continue;
        if (key[length] == '\0' ||
            (field->type == FIELD_INDEX && strcmp(key + length, NAME_SUFFIX) == 0))
            return true;
    }
    return false;
}

static int read_record(const json_t *json, const struct record *record, void *into,
                       const struct place *place, struct reader *reader) {
    set_absent(record, into);
    if (!json_is_object(json))
        return refuse(place, reader, "not an object", "write {...} here");
    const char *key;
    json_t *ignored;
    json_object_foreach((json_t *)json, key, ignored) {
        if (!is_known_key(record, key))
            return refuse(PLACE_KEY(place, key), reader, "an unknown key",
                          "correct its spelling (docs/formats.md lists the keys) or remove it");
    }
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        const json_t *value = json_object_get(json, field->key);
        const struct place *here = PLACE_KEY(place, field->key);
        if (value) {
            if (read_field(value, field, into, here, reader))
                return -1;
        } else if (field->required) {
            return refuse(here, reader, "missing", "add it, or run `persik build-model` again");
        } else if (field->type == FIELD_TEXT) {
            char *empty = memory_strdup("");
            memcpy((char *)into + field->offset, &empty, sizeof empty);
        }
    }
    return 0;
}

/* Before anything else, so that a newer file is not blamed for its new keys. */
static int check_version(const json_t *json, struct error *error) {
    const json_t *version = json_object_get(json, "version");
    if (!json_is_integer(version))
        return error_set(error, "version: missing: this is not a persik model; run `persik "
                                "build-model`");
    if (json_integer_value(version) > MODEL_VERSION)
        return error_set(error,
                         "version %lld is newer than this persik, which reads up to %d: use a "
                         "newer persik, or run `persik build-model` again with this one",
                         (long long)json_integer_value(version), MODEL_VERSION);
    return 0;
}

struct model *model_load(const char *path, struct error *error) {
    struct room room;
    json_t *json = json_read_file(path, &room, "cannot open the model",
                                  "run `persik build-model` first, or name another model",
                                  "run `persik build-model` again", error);
    struct reader reader = {.room = &room, .error = error};
    struct model *model = NULL;
    if (json && check_version(json, error) == 0) {
        model = memory_alloc(1, sizeof *model);
        if (read_record(json, &model_record, model, PLACE_KEY(NULL, ""), &reader) ||
            model_check(model, error)) {
            model_free(model);
            model = NULL;
        } else {
            model_find_pools(model);
        }
    }
    json_decref(json);
    if (!model)
        error_prefix(error, "%s", path);
    return model;
}
