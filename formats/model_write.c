/* struct model -> model.json, driven by the tables of model_fields.c. The file is for people too:
 * what has its usual value is left out, indices carry the name of what they point at, and
 * anything short stays on one line. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "formats/model.h"
#include "formats/model_fields.h"

/* Fifteen digits are the most that every double keeps through text and back, so that reading and
 * writing a model again gives the same bytes. */
#define JSON_STYLE  (JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)
#define LINE_LENGTH 100
#define MAX_WHOLE   9007199254740992.0 /* 2^53 */

static json_t *write_record(const struct model *model, const struct record *record,
                            const void *from);

/* NaN and infinities have no JSON number; they are left out, and model_check() has refused them
 * where they would matter. */
static json_t *write_number(double value) {
    if (!isfinite(value))
        return NULL;
    if (value == floor(value) && fabs(value) < MAX_WHOLE)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *write_numbers(const double *numbers, size_t n) {
    json_t *json = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, write_number(numbers[i]));
    return json;
}

static json_t *write_dist(const struct dist *dist) {
    if (dist->kind == DIST_NONE)
        return NULL;
    if (dist->kind == DIST_CONSTANT)
        return write_number(dist->mean);
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(model_dist_kinds[dist->kind]));
    json_object_set_new(json, "mean", write_number(dist_mean(dist)));
    if (dist->kind == DIST_EXPONENTIAL)
        return json;
    if (dist->common > 0) {
        json_object_set_new(json, "common", write_number(dist->common));
        json_object_set_new(json, "sharers", json_integer(dist->sharers));
    }
    json_object_set_new(json, "values", write_numbers(dist->values, dist->n_values));
    return json;
}

static json_t *write_linear(const struct model *model, const struct linear *linear) {
    if (linear->n_terms == 0)
        return write_number(linear->base);
    json_t *terms = json_array();
    for (size_t i = 0; i < linear->n_terms; i++) {
        const struct linear_term *term = &linear->terms[i];
        json_t *json = json_object();
        json_object_set_new(json, "pool", json_integer(term->pool));
        const char *name = model_target_name(model, TARGET_POOL, term->pool);
        if (name)
            json_object_set_new(json, "pool_name", json_string(name));
        json_object_set_new(json, "factor", write_number(term->factor));
        json_array_append_new(terms, json);
    }
    json_t *json = json_object();
    json_object_set_new(json, "base", write_number(linear->base));
    json_object_set_new(json, "per_thread", terms);
    return json;
}

/* Does the absence of the key say the same? */
static bool is_absent(const struct linear *linear, double fallback) {
    if (!linear_is_known(linear))
        return isnan(fallback);
    return linear->base == fallback && linear->n_terms == 0;
}

static json_t *write_list(const struct model *model, const struct field *field, const char *base) {
    const char *items;
    size_t n;
    memcpy(&items, base + field->offset, sizeof items);
    memcpy(&n, base + field->count_offset, sizeof n);
    if (n == 0)
        return NULL;
    json_t *json = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(json,
                              write_record(model, field->record, items + i * field->record->bytes));
    return json;
}

static json_t *write_texts(const struct field *field, const char *base) {
    char **texts;
    size_t n;
    memcpy(&texts, base + field->offset, sizeof texts);
    memcpy(&n, base + field->count_offset, sizeof n);
    if (n == 0)
        return NULL;
    json_t *json = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(json, json_string(texts[i]));
    return json;
}

static json_t *write_text(const char *text) {
    return text && *text ? json_string(text) : NULL;
}

static json_t *write_numbers_of(const struct field *field, const char *base) {
    const double *numbers;
    size_t n;
    memcpy(&numbers, base + field->offset, sizeof numbers);
    memcpy(&n, base + field->count_offset, sizeof n);
    return n == 0 ? NULL : write_numbers(numbers, n);
}

/* NULL when the field's absence says the same, or when it cannot be said. */
static json_t *write_value(const struct model *model, const struct field *field, const char *base) {
    const void *from = base + field->offset;
    int whole = 0;
    switch (field->type) {
    case FIELD_TEXT:
        return write_text(*(char *const *)from);
    case FIELD_TEXT_OR_NULL:
        return *(char *const *)from ? json_string(*(char *const *)from) : NULL;
    case FIELD_NUMBER:
        if (!field->required && *(const double *)from == field->fallback)
            return NULL;
        return write_number(*(const double *)from);
    case FIELD_INT:
    case FIELD_INDEX:
    case FIELD_NAME:
        memcpy(&whole, from, sizeof whole);
        if (!field->required && whole == (int)field->fallback)
            return NULL;
        return field->names ? json_string(field->names[whole]) : json_integer(whole);
    case FIELD_FLAG:
        return *(const bool *)from ? json_true() : NULL;
    case FIELD_DIST:
        return write_dist(from);
    case FIELD_LINEAR:
        if (!field->required && is_absent(from, field->fallback))
            return NULL;
        return write_linear(model, from);
    case FIELD_RECORD:
        return write_record(model, field->record, from);
    case FIELD_LIST:
        return write_list(model, field, base);
    case FIELD_TEXTS:
        return write_texts(field, base);
    case FIELD_NUMBERS:
        return write_numbers_of(field, base);
    }
    return NULL;
}

static json_t *write_record(const struct model *model, const struct record *record,
                            const void *from) {
    const char *base = from;
    json_t *json = json_object();
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        json_t *value = write_value(model, field, base);
        if (!value && field->required && field->type == FIELD_TEXT)
            value = json_string("");
        if (!value || (json_is_object(value) && json_object_size(value) == 0)) {
            json_decref(value);
            continue;
        }
        json_object_set_new(json, field->key, value);
        if (field->type != FIELD_INDEX)
            continue;
        const char *name = model_target_name(model, field->refers, (int)json_integer_value(value));
        char key[64];
        snprintf(key, sizeof key, "%s_name", field->key);
        if (name)
            json_object_set_new(json, key, json_string(name));
    }
    return json;
}

/* Jansson either puts everything on one line or every number on a line of its own; this puts
 * what fits on one line, and lists of numbers always. */
static int print_json(FILE *file, const json_t *json, int depth) {
    char *line = json_dumps(json, JSON_STYLE);
    if (!line)
        return -1;
    bool is_numbers = json_is_array(json) && json_is_number(json_array_get(json, 0));
    bool is_leaf = !json_is_array(json) && !json_is_object(json);
    if (is_leaf || is_numbers || strlen(line) + 4 * (size_t)depth < LINE_LENGTH) {
        fputs(line, file);
        free(line);
        return 0;
    }
    free(line);
    int status = 0;
    const char *separator = "";
    if (json_is_array(json)) {
        fputc('[', file);
        for (size_t i = 0; i < json_array_size(json); i++, separator = ",") {
            fprintf(file, "%s\n%*s", separator, 4 * (depth + 1), "");
            status |= print_json(file, json_array_get(json, i), depth + 1);
        }
        fprintf(file, "\n%*s]", 4 * depth, "");
        return status;
    }
    const char *key;
    json_t *value;
    fputc('{', file);
    json_object_foreach((json_t *)json, key, value) {
        fprintf(file, "%s\n%*s\"%s\": ", separator, 4 * (depth + 1), "", key);
        status |= print_json(file, value, depth + 1);
        separator = ",";
    }
    fprintf(file, "\n%*s}", 4 * depth, "");
    return status;
}

int model_save(const struct model *model, const char *path, struct error *error) {
    if (model_check(model, error))
        return error_prefix(error, "%s: not written", path);
    struct output output;
    int status = output_begin(&output, path);
    if (status == 0) {
        json_t *json = write_record(model, &model_record, model);
        int printed = print_json(output.file, json, 0);
        json_decref(json);
        fputc('\n', output.file);
        if (printed != 0)
            output_abandon(&output);
        status = printed ? -1 : output_commit(&output);
    }
    if (status)
        error_set(error, "%s: cannot write the model: %s: free some space or choose another folder",
                  path, strerror(errno));
    return status;
}
