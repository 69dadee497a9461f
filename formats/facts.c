#include "formats/facts.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory.h"
#include "base/room.h"
#include "formats/json_input.h"
#include "formats/json_place.h"
#include "model/postfix.h"

static const char *const bound_names[] = {
    [BOUND_FIXED] = "fixed",     [BOUND_SHARE] = "share",     [BOUND_SHARED] = "shared",
    [BOUND_THREADS] = "threads", [BOUND_UNKNOWN] = "unknown", NULL,
};

static const char *const spin_names[] = {
    [SPIN_LOCK] = "lock",
    [SPIN_WAIT] = "wait",
    [SPIN_BARRIER] = "barrier",
    [SPIN_ATTEMPT] = "attempt",
    NULL,
};

static const char *const monitor_kind_names[] = {
    [MONITOR_BOUNDED_QUEUE] = "bounded queue",
    [MONITOR_UNBOUNDED_QUEUE] = "unbounded queue",
    [MONITOR_SEMAPHORE] = "semaphore",
    [MONITOR_BARRIER] = "barrier",
    [MONITOR_EVENT] = "event",
    [MONITOR_COMPLETION] = "completion",
    [MONITOR_RWLOCK] = "rwlock",
    [MONITOR_TOKEN_POOL] = "token pool",
    [MONITOR_HAND_OVER] = "hand-over",
    [MONITOR_THREAD_POOL] = "thread pool",
    [MONITOR_OTHER] = "other",
    NULL,
};

static const char *const role_names[] = {
    [FACTS_PUT] = "put",
    [FACTS_GET] = "get",
    [FACTS_CLOSE] = "close",
    [FACTS_ACQUIRE] = "acquire",
    [FACTS_RELEASE] = "release",
    [FACTS_WAIT] = "wait",
    [FACTS_SIGNAL] = "signal",
    [FACTS_ARRIVE] = "arrive",
    [FACTS_READ_LOCK] = "read lock",
    [FACTS_WRITE_LOCK] = "write lock",
    [FACTS_UNLOCK] = "unlock",
    [FACTS_SUBMIT] = "submit",
    [FACTS_RUN] = "run",
    NULL,
};

static const char *const step_names[] = {
    [STEP_UPDATE] = "update",
    [STEP_WAIT] = "wait",
    [STEP_SIGNAL] = "signal",
    [STEP_BROADCAST] = "broadcast",
    NULL,
};

static const char *const object_names[] = {
    [ON_NONE] = "none",           [ON_MUTEX] = "mutex",         [ON_RWLOCK] = "rwlock",
    [ON_CONDITION] = "condition", [ON_SEMAPHORE] = "semaphore", [ON_BARRIER] = "barrier",
    [ON_SPIN] = "spin",           [ON_ONCE] = "once",           [ON_THREAD] = "thread",
    [ON_FILE] = "file",           [ON_SOCKET] = "socket",       [ON_QUEUE] = "queue",
    [ON_ITEMS] = "items",         [ON_EVENT] = "event",         [ON_FUTEX] = "futex",
    [ON_TEAM] = "team",           [ON_SHARE] = "share",         NULL,
};

const char *facts_bound_name(enum facts_bound bound) {
    return bound_names[bound];
}

const char *facts_monitor_kind_name(enum facts_monitor_kind kind) {
    return monitor_kind_names[kind];
}

const char *facts_role_name(enum facts_role role) {
    return role_names[role];
}

bool facts_same_mutex(const struct facts_monitor *a, const struct facts_monitor *b) {
    return a == b || (a->mutex && b->mutex && strcmp(a->mutex, b->mutex) == 0);
}

bool facts_monitor_acts(const struct facts_monitor *monitor, enum facts_role role,
                        const char *function) {
    for (size_t i = 0; i < monitor->n_operations; i++)
        if (monitor->operations[i].role == role &&
            strcmp(monitor->operations[i].place.function, function) == 0)
            return true;
    return false;
}

static bool adds_units(const struct facts_monitor *monitor, const struct facts_step *step) {
    if (step->kind != STEP_UPDATE || step->change != CHANGE_OTHER ||
        strcmp(monitor->variables[step->variable].name, monitor->count) != 0)
        return false;
    struct postfix value;
    postfix_parse(step->value.postfix, monitor->n_variables, NULL, &value);
    bool adds = postfix_adds_to(&value, step->variable);
    postfix_free(&value);
    return adds;
}

bool facts_monitor_in_units(const struct facts_monitor *monitor) {
    for (size_t s = 0; monitor->count && s < monitor->n_sections; s++)
        for (size_t i = 0; i < monitor->sections[s].n_steps; i++)
            if (adds_units(monitor, &monitor->sections[s].steps[i]))
                return true;
    return false;
}

/* ---- reading ---- */

/* The first complaint wins; what is read after it does not matter any more. */
struct reader {
    const char *path;
    struct error *error;
    struct room *room; /* for what the file makes us allocate */
    bool failed;
};

static void complain(struct reader *reader, const struct place *place, const char *key,
                     const char *what) {
    if (reader->failed)
        return;
    reader->failed = true;
    char where[256] = "";
    if (place)
        place_text(place, where, sizeof where);
    error_set(reader->error, "%s: %s%s%s %s: run persik analyze again", reader->path, where,
              *where ? "." : "", key, what);
}

static char *read_text(struct reader *reader, const struct place *place, const json_t *object,
                       const char *key, bool required) {
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value))
        return memory_strdup(json_string_value(value));
    if (required || (value && !json_is_null(value)))
        complain(reader, place, key, "is not a text");
    return NULL;
}

static double read_number(struct reader *reader, const struct place *place, const json_t *object,
                          const char *key, double fallback) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return fallback;
    if (!json_is_number(value))
        complain(reader, place, key, "is not a number");
    return json_number_value(value);
}

static int read_int(struct reader *reader, const struct place *place, const json_t *object,
                    const char *key) {
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > 1000000000)
        complain(reader, place, key, "is not a line or column");
    return (int)number;
}

static bool read_flag(struct reader *reader, const struct place *place, const json_t *object,
                      const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        complain(reader, place, key, "is not true or false");
    return json_is_true(value);
}

/* Index into `names`, which ends with NULL. */
static int read_name(struct reader *reader, const struct place *place, const json_t *object,
                     const char *key, const char *const *names) {
    const char *text = json_string_value(json_object_get(object, key));
    for (int i = 0; text && names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    complain(reader, place, key, "is none of the known kinds");
    return 0;
}

/* The array at `key`, with room for its `size`-byte elements in `*items`; NULL if there is none. */
static const json_t *read_list(struct reader *reader, const struct place *place,
                               const json_t *object, const char *key, size_t size, void *items,
                               size_t *count) {
    const json_t *list = json_object_get(object, key);
    if (!json_is_array(list)) {
        complain(reader, place, key, "is not a list");
        return NULL;
    }
    if (!room_take(reader->room, json_array_size(list), size)) {
        complain(reader, place, key, "holds more things than the file's size is for");
        return NULL;
    }
    void *block = json_array_size(list) ? memory_alloc(json_array_size(list), size) : NULL;
    memcpy(items, &block, sizeof(void *));
    *count = json_array_size(list);
    return list;
}

static void read_texts(struct reader *reader, const struct place *place, const json_t *object,
                       const char *key, char ***texts, size_t *count) {
    const json_t *list = read_list(reader, place, object, key, sizeof(char *), texts, count);
    for (size_t i = 0; list && i < *count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            complain(reader, place, key, "is not a list of texts");
        (*texts)[i] = memory_strdup(text);
    }
}

static void read_call(struct reader *reader, const struct place *place, const json_t *object,
                      void *element) {
    struct facts_place *out = element;
    out->file = read_text(reader, place, object, "file", true);
    out->function = read_text(reader, place, object, "function", true);
    out->line = read_int(reader, place, object, "line");
    out->column = read_int(reader, place, object, "column");
}

static void read_place(struct reader *reader, const struct place *place, const json_t *object,
                       const char *key, struct facts_place *out) {
    const struct place here = {.above = place, .key = key};
    read_call(reader, &here, json_object_get(object, key), out);
}

static void read_fragment(struct reader *reader, const struct place *place, const json_t *object,
                          void *element) {
    struct facts_fragment *fragment = element;
    read_place(reader, place, object, "place", &fragment->place);
    bool hidden = json_object_get(object, "spelling") != NULL;
    read_place(reader, place, object, hidden ? "spelling" : "place", &fragment->spelling);
    fragment->object = read_text(reader, place, object, "object", false);
    const char *name = json_string_value(json_object_get(object, "api"));
    int api = name ? api_find(name) : -1;
    if (api < 0)
        complain(reader, place, "api", "is not in the catalog");
    fragment->api = api < 0 ? 0 : (enum api)api;
}

static enum rest read_rest(struct reader *reader, const struct place *place, const json_t *object) {
    if (!json_object_get(object, "rest"))
        return REST_NONE;
    return (enum rest)read_name(reader, place, object, "rest", rest_names);
}

static void read_loop(struct reader *reader, const struct place *place, const json_t *object,
                      void *element) {
    struct facts_loop *loop = element;
    loop->file = read_text(reader, place, object, "file", true);
    loop->function = read_text(reader, place, object, "function", true);
    loop->first_line = read_int(reader, place, object, "first_line");
    loop->last_line = read_int(reader, place, object, "last_line");
    loop->bound = (enum facts_bound)read_name(reader, place, object, "bound", bound_names);
    loop->rest = read_rest(reader, place, object);
    loop->has_fragments = read_flag(reader, place, object, "has_fragments");
    loop->waits = json_object_get(object, "waits") && read_flag(reader, place, object, "waits");
    loop->factor = read_number(reader, place, object, "factor", 0);
    loop->offset = read_number(reader, place, object, "offset", 0);
    loop->why = read_text(reader, place, object, "why", true);
}

static void read_spin(struct reader *reader, const struct place *place, const json_t *object,
                      void *element) {
    struct facts_spin *spin = element;
    spin->file = read_text(reader, place, object, "file", true);
    spin->function = read_text(reader, place, object, "function", true);
    spin->first_line = read_int(reader, place, object, "first_line");
    spin->last_line = read_int(reader, place, object, "last_line");
    spin->kind = (enum facts_spin_kind)read_name(reader, place, object, "kind", spin_names);
    spin->variable = read_text(reader, place, object, "variable", true);
    read_texts(reader, place, object, "changed_by", &spin->changed_by, &spin->n_changed_by);
    spin->attempt = read_text(reader, place, object, "attempt", false);
    spin->works = read_flag(reader, place, object, "works");
    if (json_object_get(object, "leads_to"))
        read_texts(reader, place, object, "leads_to", &spin->leads_to, &spin->n_leads_to);
}

static void read_share(struct reader *reader, const struct place *place, const json_t *object,
                       void *element) {
    struct facts_share *share = element;
    read_place(reader, place, object, "place", &share->place);
    share->rest = read_rest(reader, place, object);
    share->callee = read_text(reader, place, object, "callee", true);
    share->why = read_text(reader, place, object, "why", true);
    share->shared = json_object_get(object, "shared") && read_flag(reader, place, object, "shared");
}

static void read_solo(struct reader *reader, const struct place *place, const json_t *object,
                      void *element) {
    struct facts_solo *solo = element;
    solo->file = read_text(reader, place, object, "file", true);
    solo->function = read_text(reader, place, object, "function", true);
    solo->first_line = read_int(reader, place, object, "first_line");
    solo->last_line = read_int(reader, place, object, "last_line");
    solo->others = read_flag(reader, place, object, "others");
}

static void read_lambda(struct reader *reader, const struct place *place, const json_t *object,
                        void *element) {
    struct facts_lambda *lambda = element;
    lambda->file = read_text(reader, place, object, "file", true);
    lambda->name = read_text(reader, place, object, "name", true);
    lambda->first_line = read_int(reader, place, object, "first_line");
    lambda->last_line = read_int(reader, place, object, "last_line");
}

typedef void read_element(struct reader *, const struct place *, const json_t *, void *);

/* `items`: address of the pointer to the first element, of `size` bytes each. */
static void read_elements(struct reader *reader, const struct place *place, const json_t *object,
                          const char *key, size_t size, read_element *read, void *items,
                          size_t *count) {
    const json_t *list = read_list(reader, place, object, key, size, items, count);
    const struct place above = {.above = place, .key = key};
    char *element;
    memcpy(&element, items, sizeof element);
    for (size_t i = 0; list && i < *count; i++, element += size) {
        const struct place here = {.above = &above, .index = i};
        read(reader, &here, json_array_get(list, i), element);
    }
}

#define READ_ELEMENTS(reader, place, object, parent, list, read)                                   \
    read_elements(reader, place, object, #list, sizeof *(parent)->list, read, &(parent)->list,     \
                  &(parent)->n_##list)

/* Absent: 0. */
static int read_thread_number(struct reader *reader, const struct place *place, const char *key,
                              const json_t *value) {
    json_int_t number = json_integer_value(value);
    if (value && (!json_is_integer(value) || number < 0 || number > 1000000000))
        complain(reader, place, key, "is not a number of threads");
    return (int)number;
}

static void read_one_of(struct reader *reader, const struct place *place, const json_t *object,
                        struct facts_count *count) {
    const json_t *list = read_list(reader, place, object, "one_of", sizeof *count->one_of,
                                   &count->one_of, &count->n_one_of);
    for (size_t i = 0; list && i < count->n_one_of; i++)
        count->one_of[i] = read_thread_number(reader, place, "one_of", json_array_get(list, i));
}

static void read_count(struct reader *reader, const struct place *place, const json_t *object,
                       void *element) {
    struct facts_count *count = element;
    READ_ELEMENTS(reader, place, object, count, calls, read_call);
    count->text = read_text(reader, place, object, "text", true);
    count->follows_threads = json_object_get(object, "factor") != NULL;
    if (!count->follows_threads) {
        read_one_of(reader, place, object, count);
        count->one_alone = read_flag(reader, place, object, "one_alone");
        return;
    }
    count->factor = read_number(reader, place, object, "factor", 0);
    count->offset = read_number(reader, place, object, "offset", 0);
    count->at_most =
        read_thread_number(reader, place, "at_most", json_object_get(object, "at_most"));
    count->at_least =
        read_thread_number(reader, place, "at_least", json_object_get(object, "at_least"));
}

static void read_creation(struct reader *reader, const struct place *place, const json_t *object,
                          void *element) {
    struct facts_creation *creation = element;
    read_place(reader, place, object, "place", &creation->place);
    creation->object = (enum api_object)read_name(reader, place, object, "object", object_names);
    creation->name = read_text(reader, place, object, "name", false);
    creation->amount = read_text(reader, place, object, "amount", false);
    creation->factor = read_number(reader, place, object, "factor", 0);
    creation->offset = read_number(reader, place, object, "offset", 0);
    creation->follows_threads = json_object_get(object, "factor") != NULL;
    creation->constant = !creation->follows_threads && json_object_get(object, "offset") != NULL;
    creation->per_thread = read_flag(reader, place, object, "per_thread");
    creation->one_thread = read_text(reader, place, object, "one_thread", false);
    creation->divides_work =
        json_object_get(object, "divides_work") && read_flag(reader, place, object, "divides_work");
    if (json_object_get(object, "counts"))
        READ_ELEMENTS(reader, place, object, creation, counts, read_count);
}

/* ---- monitors ---- */

static void read_operation(struct reader *reader, const struct place *place, const json_t *object,
                           void *element) {
    struct facts_operation *operation = element;
    operation->role = (enum facts_role)read_name(reader, place, object, "as", role_names);
    read_place(reader, place, object, "place", &operation->place);
}

static void read_numbers(struct reader *reader, const struct place *place, const json_t *object,
                         struct facts_amount *amount) {
    amount->text = read_text(reader, place, object, "text", true);
    amount->factor = read_number(reader, place, object, "factor", 0);
    amount->offset = read_number(reader, place, object, "offset", 0);
    amount->follows_threads = json_object_get(object, "factor") != NULL;
    amount->constant = !amount->follows_threads && json_object_get(object, "offset") != NULL;
}

static void read_choice(struct reader *reader, const struct place *place, const json_t *object,
                        void *element) {
    struct facts_choice *choice = element;
    read_numbers(reader, place, object, &choice->amount);
    if (json_object_get(object, "place"))
        read_place(reader, place, object, "place", &choice->place);
}

/* Nothing there: nothing known. */
static void read_amount(struct reader *reader, const struct place *place, const json_t *object,
                        const char *key, struct facts_amount *amount) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return;
    const struct place here = {.above = place, .key = key};
    read_numbers(reader, &here, value, amount);
    if (json_object_get(value, "choices"))
        READ_ELEMENTS(reader, &here, value, amount, choices, read_choice);
}

static void read_expression(struct reader *reader, const struct place *place, const json_t *object,
                            const char *key, struct facts_expression *expression) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return;
    const struct place here = {.above = place, .key = key};
    expression->text = read_text(reader, &here, value, "text", true);
    expression->postfix = read_text(reader, &here, value, "postfix", true);
}

static void read_variable(struct reader *reader, const struct place *place, const json_t *object,
                          void *element) {
    struct facts_variable *variable = element;
    variable->name = read_text(reader, place, object, "name", true);
    variable->local = read_flag(reader, place, object, "local");
    read_amount(reader, place, object, "initial", &variable->initial);
}

static void read_update(struct reader *reader, const struct place *place, const json_t *object,
                        struct facts_step *step) {
    step->variable = (size_t)read_int(reader, place, object, "variable");
    bool adds = json_object_get(object, "add") != NULL;
    bool sets = json_object_get(object, "set") != NULL;
    step->change = adds ? CHANGE_ADD : sets ? CHANGE_SET : CHANGE_OTHER;
    step->by = read_number(reader, place, object, adds ? "add" : "set", 0);
}

static void read_step(struct reader *reader, const struct place *place, const json_t *object,
                      void *element) {
    struct facts_step *step = element;
    step->kind = (enum facts_step_kind)read_name(reader, place, object, "do", step_names);
    read_expression(reader, place, object, "if", &step->guard);
    if (step->kind == STEP_UPDATE)
        read_update(reader, place, object, step);
    else
        step->condition = read_text(reader, place, object, "condition", true);
    if (step->kind == STEP_WAIT)
        step->timed = read_flag(reader, place, object, "timed");
    step->early = json_is_true(json_object_get(object, "early"));
    if (step->kind == STEP_UPDATE || step->kind == STEP_WAIT)
        read_expression(reader, place, object, step->kind == STEP_WAIT ? "while" : "value",
                        &step->value);
}

static void read_section(struct reader *reader, const struct place *place, const json_t *object,
                         void *element) {
    struct facts_section *section = element;
    read_place(reader, place, object, "place", &section->place);
    READ_ELEMENTS(reader, place, object, section, steps, read_step);
}

static void check_variables(struct reader *reader, const struct place *place,
                            const struct facts_monitor *monitor) {
    for (size_t s = 0; s < monitor->n_sections; s++)
        for (size_t i = 0; i < monitor->sections[s].n_steps; i++)
            if (monitor->sections[s].steps[i].kind == STEP_UPDATE &&
                monitor->sections[s].steps[i].variable >= monitor->n_variables)
                complain(reader, place, "sections", "changes a variable that is not there");
}

static void read_monitor(struct reader *reader, const struct place *place, const json_t *object,
                         void *element) {
    struct facts_monitor *monitor = element;
    monitor->kind =
        (enum facts_monitor_kind)read_name(reader, place, object, "kind", monitor_kind_names);
    monitor->name = read_text(reader, place, object, "name", true);
    monitor->mutex = read_text(reader, place, object, "mutex", true);
    read_texts(reader, place, object, "conditions", &monitor->conditions, &monitor->n_conditions);
    READ_ELEMENTS(reader, place, object, monitor, operations, read_operation);
    monitor->count = read_text(reader, place, object, "count", false);
    read_amount(reader, place, object, "amount", &monitor->amount);
    READ_ELEMENTS(reader, place, object, monitor, variables, read_variable);
    READ_ELEMENTS(reader, place, object, monitor, sections, read_section);
    monitor->why = read_text(reader, place, object, "why", true);
    if (!reader->failed)
        check_variables(reader, place, monitor);
}

/* ---- the whole ---- */

static void read_core_cap(struct reader *reader, const json_t *root, struct facts_core_cap *cap) {
    const json_t *object = json_object_get(root, "core_cap");
    const struct place *place = PLACE_KEY(NULL, "core_cap");
    if (!object)
        return;
    cap->text = read_text(reader, place, object, "text", true);
    cap->online = read_flag(reader, place, object, "online");
    cap->unclear = read_flag(reader, place, object, "unclear");
    cap->factor = read_number(reader, place, object, "factor", 0);
    cap->offset = read_number(reader, place, object, "offset", 0);
}

static void read_facts(struct reader *reader, const json_t *root, struct facts *facts) {
    read_core_cap(reader, root, &facts->core_cap);
    facts->thread_count = read_text(reader, NULL, root, "thread_count", false);
    READ_ELEMENTS(reader, NULL, root, facts, fragments, read_fragment);
    READ_ELEMENTS(reader, NULL, root, facts, loops, read_loop);
    if (json_object_get(root, "spins"))
        READ_ELEMENTS(reader, NULL, root, facts, spins, read_spin);
    READ_ELEMENTS(reader, NULL, root, facts, shares, read_share);
    if (json_object_get(root, "lambdas"))
        READ_ELEMENTS(reader, NULL, root, facts, lambdas, read_lambda);
    if (json_object_get(root, "solos"))
        READ_ELEMENTS(reader, NULL, root, facts, solos, read_solo);
    READ_ELEMENTS(reader, NULL, root, facts, creations, read_creation);
    READ_ELEMENTS(reader, NULL, root, facts, monitors, read_monitor);
    read_texts(reader, NULL, root, "files", &facts->files, &facts->n_files);
    read_texts(reader, NULL, root, "problems", &facts->problems, &facts->n_problems);
}

static int check_version(const char *path, const json_t *root, struct error *error) {
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version))
        return error_set(error, "%s is not a facts file: run persik analyze", path);
    if (json_integer_value(version) != FACTS_VERSION)
        return error_set(error,
                         "%s has version %lld, this persik reads %d: run persik analyze again",
                         path, (long long)json_integer_value(version), FACTS_VERSION);
    return 0;
}

struct facts *facts_load(const char *path, struct error *error) {
    struct room room;
    json_t *root = json_read_file(path, &room, "cannot open the facts", "run persik analyze",
                                  "run persik analyze again", error);
    if (!root) {
        error_prefix(error, "%s", path);
        return NULL;
    }
    struct facts *facts = NULL;
    if (check_version(path, root, error) == 0) {
        struct reader reader = {.path = path, .error = error, .room = &room};
        facts = memory_alloc(1, sizeof *facts);
        facts->version = FACTS_VERSION;
        read_facts(&reader, root, facts);
        if (reader.failed) {
            facts_free(facts);
            facts = NULL;
        }
    }
    json_decref(root);
    return facts;
}

/* ---- freeing ---- */

static void free_place(struct facts_place *place) {
    free(place->file);
    free(place->function);
}

static void free_texts(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static void free_fragments(struct facts *facts) {
    for (size_t i = 0; i < facts->n_fragments; i++) {
        free_place(&facts->fragments[i].place);
        free_place(&facts->fragments[i].spelling);
        free(facts->fragments[i].object);
    }
    free(facts->fragments);
}

static void free_spin(struct facts_spin *spin) {
    free(spin->file);
    free(spin->function);
    free(spin->variable);
    free_texts(spin->changed_by, spin->n_changed_by);
    free_texts(spin->leads_to, spin->n_leads_to);
    free(spin->attempt);
}

void facts_remove_spin(struct facts *facts, size_t index) {
    free_spin(&facts->spins[index]);
    facts->n_spins--;
    for (size_t i = index; i < facts->n_spins; i++)
        facts->spins[i] = facts->spins[i + 1];
}

static void free_loops(struct facts *facts) {
    for (size_t i = 0; i < facts->n_loops; i++) {
        free(facts->loops[i].file);
        free(facts->loops[i].function);
        free(facts->loops[i].why);
    }
    free(facts->loops);
    for (size_t i = 0; i < facts->n_spins; i++)
        free_spin(&facts->spins[i]);
    free(facts->spins);
    for (size_t i = 0; i < facts->n_shares; i++) {
        free_place(&facts->shares[i].place);
        free(facts->shares[i].callee);
        free(facts->shares[i].why);
    }
    free(facts->shares);
    for (size_t i = 0; i < facts->n_lambdas; i++) {
        free(facts->lambdas[i].file);
        free(facts->lambdas[i].name);
    }
    free(facts->lambdas);
    for (size_t i = 0; i < facts->n_solos; i++) {
        free(facts->solos[i].file);
        free(facts->solos[i].function);
    }
    free(facts->solos);
}

static void free_expression(struct facts_expression *expression) {
    free(expression->text);
    free(expression->postfix);
}

static void free_section(struct facts_section *section) {
    free_place(&section->place);
    for (size_t i = 0; i < section->n_steps; i++) {
        free_expression(&section->steps[i].guard);
        free_expression(&section->steps[i].value);
        free(section->steps[i].condition);
    }
    free(section->steps);
}

void facts_forget_amount(struct facts_amount *amount) {
    free(amount->text);
    for (size_t i = 0; i < amount->n_choices; i++) {
        free(amount->choices[i].amount.text);
        free_place(&amount->choices[i].place);
    }
    free(amount->choices);
    *amount = (struct facts_amount){0};
}

/* Cuts " + 1" or " - 1" off its end. False: it does not end so. */
static bool cut_number(char *text, double *number) {
    char *sign = NULL, *end;
    for (char *at = text; *at; at++)
        if (strncmp(at, " + ", 3) == 0 || strncmp(at, " - ", 3) == 0)
            sign = at;
    if (!sign || sign[3] == '\0')
        return false;
    *number = strtod(sign + 3, &end) * (sign[1] == '-' ? -1 : 1);
    if (*end != '\0')
        return false;
    *sign = '\0';
    return true;
}

char *facts_amount_variable(const struct facts_amount *amount, double *more) {
    double number;
    *more = 0;
    if (!amount->text)
        return NULL;
    char *path = memory_strdup(amount->text);
    while (cut_number(path, &number))
        *more += number;
    if (!strpbrk(path, "()[]?*+-/<>&|!=,\"") && strncmp(path, "local:", 6) != 0 &&
        strpbrk(path, ".:"))
        return path;
    free(path);
    return NULL;
}

static void free_monitor(struct facts_monitor *monitor) {
    free(monitor->name);
    free(monitor->mutex);
    free_texts(monitor->conditions, monitor->n_conditions);
    for (size_t i = 0; i < monitor->n_operations; i++)
        free_place(&monitor->operations[i].place);
    free(monitor->operations);
    free(monitor->count);
    facts_forget_amount(&monitor->amount);
    for (size_t i = 0; i < monitor->n_variables; i++) {
        free(monitor->variables[i].name);
        facts_forget_amount(&monitor->variables[i].initial);
    }
    free(monitor->variables);
    for (size_t i = 0; i < monitor->n_sections; i++)
        free_section(&monitor->sections[i]);
    free(monitor->sections);
    free(monitor->why);
}

static void free_creation(struct facts_creation *creation) {
    free_place(&creation->place);
    free(creation->name);
    free(creation->amount);
    free(creation->one_thread);
    for (size_t i = 0; i < creation->n_counts; i++) {
        struct facts_count *count = &creation->counts[i];
        for (size_t c = 0; c < count->n_calls; c++)
            free_place(&count->calls[c]);
        free(count->calls);
        free(count->text);
        free(count->one_of);
    }
    free(creation->counts);
}

static void free_objects(struct facts *facts) {
    for (size_t i = 0; i < facts->n_creations; i++)
        free_creation(&facts->creations[i]);
    free(facts->creations);
    for (size_t i = 0; i < facts->n_monitors; i++)
        free_monitor(&facts->monitors[i]);
    free(facts->monitors);
}

void facts_free(struct facts *facts) {
    if (!facts)
        return;
    free(facts->thread_count);
    free(facts->core_cap.text);
    free_fragments(facts);
    free_loops(facts);
    free_objects(facts);
    free_texts(facts->files, facts->n_files);
    free_texts(facts->problems, facts->n_problems);
    free(facts);
}
