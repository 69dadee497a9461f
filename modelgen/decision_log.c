#include "modelgen/decision_log.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/printable.h"

#define DECISIONS_VERSION 1

static struct decision_log *current;

struct decision_log *decision_log_use(struct decision_log *log) {
    struct decision_log *before = current;
    current = log;
    return before;
}

void decision(const char *pass, const char *subject, const char *verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *evidence = memory_vformat(format, arguments);
    va_end(arguments);
    log_debug("%s: %s: %s: %s", pass, subject, verdict, evidence);
    if (current)
        *VECTOR_ADD(current) = (struct decision){memory_strdup(pass), memory_strdup(subject),
                                                 memory_strdup(verdict), memory_strdup(evidence)};
    free(evidence);
}

void decision_alias(const char *subject, const char *name) {
    if (current && strcmp(subject, name) != 0)
        *VECTOR_ADD(&current->aliases) =
            (struct decision_alias){memory_strdup(subject), memory_strdup(name)};
}

struct names {
    const char **items;
    size_t count, capacity;
};

static bool has_name(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

/* Aliases of aliases count: a place in the source, the object used there, its name in the model. */
void decision_log_mark(const struct decision_log *log, const char *name, bool *on) {
    struct names known = {0};
    *VECTOR_ADD(&known) = name;
    for (size_t before = 0; before < known.count;) {
        before = known.count;
        for (size_t i = 0; i < log->aliases.count; i++) {
            const struct decision_alias *alias = &log->aliases.items[i];
            if (has_name(&known, alias->name) && !has_name(&known, alias->subject))
                *VECTOR_ADD(&known) = alias->subject;
        }
    }
    for (size_t i = 0; i < log->count; i++)
        on[i] |= has_name(&known, log->items[i].subject);
    free(known.items);
}

/* Names out of a program need not be UTF-8, which JSON is. */
static json_t *text_json(const char *text) {
    char *shown = printable(text);
    json_t *json = json_string(shown);
    free(shown);
    return json;
}

/* By which other names the subject is known; NULL: by none. */
static json_t *aliases_json(const struct decision_log *log, const char *subject) {
    json_t *names = json_object(); /* as a set */
    for (size_t i = 0; i < log->aliases.count; i++)
        if (strcmp(log->aliases.items[i].subject, subject) == 0) {
            char *shown = printable(log->aliases.items[i].name);
            json_object_set_new(names, shown, json_null());
            free(shown);
        }
    json_t *list = json_object_size(names) > 0 ? json_array() : NULL;
    const char *name;
    json_t *unused;
    json_object_foreach(names, name, unused) {
        json_array_append_new(list, json_string(name));
    }
    json_decref(names);
    return list;
}

static json_t *log_json(const struct decision_log *log) {
    json_t *decisions = json_array();
    for (size_t i = 0; i < log->count; i++) {
        json_t *item = json_object();
        json_object_set_new(item, "pass", text_json(log->items[i].pass));
        json_object_set_new(item, "subject", text_json(log->items[i].subject));
        json_object_set_new(item, "verdict", text_json(log->items[i].verdict));
        json_object_set_new(item, "evidence", text_json(log->items[i].evidence));
        json_t *aliases = aliases_json(log, log->items[i].subject);
        if (aliases)
            json_object_set_new(item, "aliases", aliases);
        json_array_append_new(decisions, item);
    }
    json_t *json = json_object();
    json_object_set_new(json, "version", json_integer(DECISIONS_VERSION));
    json_object_set_new(json, "decisions", decisions);
    return json;
}

int decision_log_save(const struct decision_log *log, const char *path, struct error *error) {
    struct output output;
    if (output_begin(&output, path) < 0)
        return error_set(error, "cannot write %s: %s", path, strerror(errno));
    json_t *json = log_json(log);
    int status = json_dumpf(json, output.file, JSON_INDENT(2));
    json_decref(json);
    if (status == 0 && fputc('\n', output.file) != EOF)
        status = output_commit(&output);
    else {
        output_abandon(&output);
        status = -1;
    }
    return status == 0 ? 0 : error_set(error, "cannot write %s: %s", path, strerror(errno));
}

void decision_log_free(struct decision_log *log) {
    for (size_t i = 0; i < log->count; i++) {
        free(log->items[i].pass);
        free(log->items[i].subject);
        free(log->items[i].verdict);
        free(log->items[i].evidence);
    }
    for (size_t i = 0; i < log->aliases.count; i++) {
        free(log->aliases.items[i].subject);
        free(log->aliases.items[i].name);
    }
    free(log->aliases.items);
    free(log->items);
    *log = (struct decision_log){0};
}
