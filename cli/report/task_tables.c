#include "cli/report/task_tables.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/report/path_tables.h"
#include "cli/text/quantity.h"

static bool are_all(const struct task_path *path) {
    return path->n_slowest == path->n_tasks;
}

/* ---- how far it can be relied on ---- */

static void print_group(const struct task_path *path, enum task_group group, FILE *out) {
    double response_ns = path->groups[group].response_ns, path_ns = path->groups[group].path_ns;
    char response[QUANTITY_BYTES], waits[QUANTITY_BYTES], found[QUANTITY_BYTES];
    fprintf(out, "%s on average, %s of it until a thread takes them; the paths together: %s",
            quantity_show(response_ns, UNIT_TIME, response),
            quantity_show(path->groups[group].waits_ns, UNIT_TIME, waits),
            quantity_show(path_ns, UNIT_TIME, found));
    if (response_ns > 0)
        fprintf(out, " (%+.2f %%)", 100 * (path_ns / response_ns - 1));
    fputc('\n', out);
}

void task_path_print(const struct task_path *path, FILE *out) {
    fprintf(out, "%zu %s: ", path->n_tasks, path->what);
    print_group(path, TASKS_ALL, out);
    if (are_all(path))
        return;
    char least[QUANTITY_BYTES];
    fprintf(out, "the slowest %zu, of %s and more: ", path->n_slowest,
            quantity_show(path->at_least_ns, UNIT_TIME, least));
    print_group(path, TASKS_SLOWEST, out);
}

static json_t *group_json(const struct task_path *path, enum task_group group, size_t n) {
    return json_pack("{s:I, s:f, s:f, s:f}", "tasks", (json_int_t)n, "response_ns",
                     path->groups[group].response_ns, "path_ns", path->groups[group].path_ns,
                     "until_taken_ns", path->groups[group].waits_ns);
}

json_t *task_path_json(const struct task_path *path) {
    return json_pack("{s:s, s:f, s:o, s:o}", "what", path->what, "slowest_from_ns",
                     path->at_least_ns, "slowest", group_json(path, TASKS_SLOWEST, path->n_slowest),
                     "all", group_json(path, TASKS_ALL, path->n_tasks));
}

/* ---- by what is done ---- */

static const struct table_column columns[] = {
    {"slowest_ns", "slowest"}, {"slowest_share", "share"}, {"mean_ns", "average"},
    {"mean_share", "share"},   {"times", "times"},         {"when", "when"},
    {"what", "what"},          {"where", "where"},
};

/* Of all tasks: the slowest are no group of their own. */
static const struct table_column columns_of_all[] = {
    {"slowest_ns", NULL}, {"slowest_share", NULL}, {"mean_ns", "average"}, {"mean_share", "share"},
    {"times", NULL},      {"when", "when"},        {"what", "what"},       {"where", "where"},
};

#define N_COLUMNS (sizeof columns / sizeof *columns)

static const char *const parts[] = {[TASK_WAITS] = "waits", [TASK_IN_WORK] = "in work"};

struct table *task_table(const struct task_path *path, size_t most) {
    struct table *table = table_new(are_all(path) ? columns_of_all : columns, N_COLUMNS);
    TABLE_SPARE(table, "times", "mean_share");
    for (size_t r = 0; r < path->n_rows && r < most; r++) {
        const struct task_row *row = &path->rows[r];
        double slowest_ns = row->path_ns[TASKS_SLOWEST], mean_ns = row->path_ns[TASKS_ALL];
        table_add_number(table, slowest_ns, UNIT_TIME);
        table_add_number(table, slowest_ns / path->groups[TASKS_SLOWEST].path_ns, UNIT_SHARE);
        table_add_number(table, mean_ns, UNIT_TIME);
        table_add_number(table, mean_ns / path->groups[TASKS_ALL].path_ns, UNIT_SHARE);
        table_add_number(table, slowest_ns / mean_ns, UNIT_NONE);
        table_add_text(table, parts[row->part]);
        table_add_text(table, path_subject_name(row->subject));
        table_add_text(table, row->name);
    }
    return table;
}

/* ---- by lock or queue ---- */

static const struct table_column object_columns[] = {
    {"slowest_held_ns", "slowest, held"},
    {"mean_held_ns", "average, held"},
    {"slowest_handed_ns", "slowest, handed over"},
    {"mean_handed_ns", "average, handed over"},
    {"object", "lock or queue"},
};

static const struct table_column object_columns_of_all[] = {
    {"slowest_held_ns", NULL},         {"mean_held_ns", "held"},    {"slowest_handed_ns", NULL},
    {"mean_handed_ns", "handed over"}, {"object", "lock or queue"},
};

static double slowest_of(const struct task_object *object) {
    return object->held_ns[TASKS_SLOWEST] + object->waited_ns[TASKS_SLOWEST];
}

static int compare_objects(const void *left, const void *right) {
    const struct task_object *a = *(const struct task_object *const *)left;
    const struct task_object *b = *(const struct task_object *const *)right;
    return (slowest_of(a) < slowest_of(b)) - (slowest_of(a) > slowest_of(b));
}

struct table *task_object_table(const struct task_path *path, size_t most) {
    struct table *table = table_new(are_all(path) ? object_columns_of_all : object_columns,
                                    sizeof object_columns / sizeof *object_columns);
    const struct task_object **objects =
        memory_alloc(path->n_objects, sizeof(struct task_object *));
    size_t n = 0;
    for (size_t o = 0; o < path->n_objects; o++)
        if (path->objects[o].held_ns[TASKS_ALL] + path->objects[o].waited_ns[TASKS_ALL] > 0)
            objects[n++] = &path->objects[o];
    if (n > 0)
        qsort(objects, n, sizeof(struct task_object *), compare_objects);
    for (size_t o = 0; o < n && o < most; o++) {
        table_add_number(table, objects[o]->held_ns[TASKS_SLOWEST], UNIT_TIME);
        table_add_number(table, objects[o]->held_ns[TASKS_ALL], UNIT_TIME);
        table_add_number(table, objects[o]->waited_ns[TASKS_SLOWEST], UNIT_TIME);
        table_add_number(table, objects[o]->waited_ns[TASKS_ALL], UNIT_TIME);
        table_add_text(table, objects[o]->name);
    }
    free(objects);
    return table;
}
