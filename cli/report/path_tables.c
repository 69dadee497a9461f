#include "cli/report/path_tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static const char *const subjects[PATH_SUBJECTS] = {
    [PATH_COMPUTING] = "computing",
    [PATH_SLEEPING] = "sleeping",
    [PATH_DEVICE] = "waiting for a disk",
    [PATH_OUTSIDE] = "waiting for what comes from outside",
    [PATH_UNKNOWN] = "waiting, not known for what",
    [PATH_CORE] = "ready, while others of the program have the core",
    [PATH_WAKING] = "ready, until a core takes it up",
    [PATH_HAND_OVER] = "handed over by",
};

const char *path_subject_name(enum path_subject subject) {
    return subjects[subject];
}

static const struct table_column path_columns[] = {
    {"share", "share"},
    {"path_ns", "on the path"},
    {"total_ns", "of all threads"},
    {"cpu_share", "of all CPU"},
    {"least_slack_ns", "least slack"},
    {"mean_slack_ns", "mean slack"},
    {"visits", "visits"},
    {"what", "what"},
    {"where", "where"},
};

static const struct table_column object_columns[] = {
    {"hand_overs", "hand-overs"}, {"held_share", "held"}, {"waited_ns", "waited for"},
    {"slack_ns", "slack"},        {"limit", "limit"},     {"closed", "reached"},
    {"object", "lock or queue"},
};

static const struct table_column thread_columns[] = {
    {"share", "share"},
    {"cpu_ns", "computes"},
    {"slack_ns", "slack"},
    {"thread", "thread"},
};

#define N_COLUMNS(columns) (sizeof(columns) / sizeof *(columns))

struct table *path_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(path_columns, N_COLUMNS(path_columns));
    TABLE_SPARE(table, "least_slack_ns", "mean_slack_ns", "cpu_share", "total_ns");
    for (size_t r = 0; r < path->n_rows && r < most; r++) {
        const struct path_row *row = &path->rows[r];
        bool computes = row->subject == PATH_COMPUTING && path->cpu_ns > 0;
        table_add_number(table, row->path_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, row->path_ns, UNIT_TIME);
        table_add_number(table, row->total_ns, UNIT_TIME);
        table_add_number(table, computes ? row->total_ns / path->cpu_ns : NAN, UNIT_SHARE);
        table_add_number(table, row->least_slack_ns, UNIT_TIME);
        table_add_number(table, row->mean_slack_ns, UNIT_TIME);
        table_add_integer(table, (long)row->visits);
        table_add_text(table, path_subject_name(row->subject));
        table_add_text(table, row->name);
    }
    return table;
}

static bool matters(const struct path_object *object) {
    return object->handed > 0 || object->closed > 0 || object->held_ns > 0 || object->waited_ns > 0;
}

static int compare_objects(const void *left, const void *right) {
    const struct path_object *a = *(const struct path_object *const *)left;
    const struct path_object *b = *(const struct path_object *const *)right;
    if (a->handed != b->handed)
        return a->handed > b->handed ? -1 : 1;
    return (a->waited_ns < b->waited_ns) - (a->waited_ns > b->waited_ns);
}

struct table *path_object_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(object_columns, N_COLUMNS(object_columns));
    TABLE_SPARE(table, "slack_ns", "waited_ns");
    const struct path_object **objects =
        memory_alloc(path->n_objects, sizeof(struct path_object *));
    size_t n = 0;
    for (size_t o = 0; o < path->n_objects; o++)
        if (matters(&path->objects[o]))
            objects[n++] = &path->objects[o];
    if (n > 0)
        qsort(objects, n, sizeof(struct path_object *), compare_objects);
    for (size_t o = 0; o < n && o < most; o++) {
        table_add_integer(table, (long)objects[o]->handed);
        table_add_number(table, objects[o]->held_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, objects[o]->waited_ns, UNIT_TIME);
        table_add_number(table, objects[o]->slack_ns, UNIT_TIME);
        table_add_number(table, objects[o]->limit, UNIT_NONE);
        table_add_integer(table, (long)objects[o]->closed);
        table_add_text(table, objects[o]->name);
    }
    free(objects);
    return table;
}

struct table *path_thread_table(const struct critical_path *path, size_t most) {
    struct table *table = table_new(thread_columns, N_COLUMNS(thread_columns));
    for (size_t t = 0; t < path->n_threads && t < most; t++) {
        const struct path_thread *thread = &path->threads[t];
        if (!isfinite(thread->slack_ns)) /* stands for a barrier */
            continue;
        table_add_number(table, thread->path_ns / path->checks.traced_ns, UNIT_SHARE);
        table_add_number(table, thread->cpu_ns, UNIT_TIME);
        table_add_number(table, thread->slack_ns, UNIT_TIME);
        table_add_text(table, thread->name);
    }
    return table;
}
