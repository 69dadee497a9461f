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

/* Names out of a program need not be UTF-8, which JSON is. */
static json_t *text_json(const char *text) {
    char *shown = printable(text);
    json_t *json = json_string(shown);
    free(shown);
    return json;
}

static json_t *log_json(const struct decision_log *log) {
    json_t *decisions = json_array();
    for (size_t i = 0; i < log->count; i++) {
        json_t *item = json_object();
        json_object_set_new(item, "pass", text_json(log->items[i].pass));
        json_object_set_new(item, "subject", text_json(log->items[i].subject));
        json_object_set_new(item, "verdict", text_json(log->items[i].verdict));
        json_object_set_new(item, "evidence", text_json(log->items[i].evidence));
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
    free(log->items);
    *log = (struct decision_log){0};
}
