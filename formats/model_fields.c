#include "formats/model_fields.h"

#include <math.h>

const char *const model_object_kinds[] = {"mutex",   "rwlock", "spin",  "tokens",  "queue", "flag",
                                          "barrier", "disk",   "order", "monitor", "link",  NULL};

const char *const model_node_kinds[] = {
    "start",   "end",     "step",       "lock",     "unlock",  "rdlock",     "wrlock", "rwunlock",
    "acquire", "release", "put",        "get",      "close",   "wait",       "signal", "barrier",
    "draw",    "turn",    "advance",    "pass",     "collect", "statements", "create", "join",
    "sleep",   "io",      "task_begin", "task_end", NULL};

const char *const model_statement_kinds[] = {"update", "wait", "signal", "broadcast", NULL};

const char *const model_outcomes[] = {"any", "yes", "no", NULL};

const char *const model_takers[] = {"any", "first", "last", "leader", NULL};

const char *const model_dist_kinds[] = {"none",        "constant", "empirical",
                                        "exponential", "uniform",  NULL};

const char *const model_cache_rules[] = {"two lists", "least recently used", NULL};

const char *const model_monitor_kinds[] = {
    "bounded queue", "unbounded queue", "semaphore", "barrier",     "event", "completion",
    "rwlock",        "token pool",      "hand-over", "thread pool", "other", NULL};

const char *const model_monitor_roles[] = {"put",    "get",    "close",  "acquire",   "release",
                                           "wait",   "signal", "arrive", "read lock", "write lock",
                                           "unlock", "submit", "run",    NULL};

const char *const model_modelled[] = {"exact", "fallback", "none", NULL};

#define AT(owner, member) .key = #member, .offset = offsetof(struct owner, member)
#define TEXT(owner, member)                                                                        \
    { AT(owner, member), .type = FIELD_TEXT }
#define NUMBER(owner, member, absent)                                                              \
    { AT(owner, member), .type = FIELD_NUMBER, .fallback = (absent) }
#define NEEDED(owner, member, kind)                                                                \
    { AT(owner, member), .type = (kind), .required = true }
#define COUNT(owner, member)                                                                       \
    { AT(owner, member), .type = FIELD_INT }
#define FLAG(owner, member)                                                                        \
    { AT(owner, member), .type = FIELD_FLAG }
#define DIST(owner, member)                                                                        \
    { AT(owner, member), .type = FIELD_DIST }
#define LINEAR(owner, member)                                                                      \
    { AT(owner, member), .type = FIELD_LINEAR }
#define LINEAR_IF_KNOWN(owner, member)                                                             \
    { AT(owner, member), .type = FIELD_LINEAR, .fallback = NAN }
#define INDEX(owner, member, target)                                                               \
    { AT(owner, member), .type = FIELD_INDEX, .fallback = MODEL_NONE, .refers = (target) }
#define RECORD(owner, member, shape)                                                               \
    { AT(owner, member), .type = FIELD_RECORD, .record = &(shape) }
#define LIST(owner, member, shape)                                                                 \
    {                                                                                              \
        AT(owner, member), .type = FIELD_LIST, .record = &(shape),                                 \
                           .count_offset = offsetof(struct owner, n_##member)                      \
    }
#define NAME(owner, member, names_)                                                                \
    { AT(owner, member), .type = FIELD_NAME, .required = true, .names = (names_) }
#define TEXTS(owner, member)                                                                       \
    { AT(owner, member), .type = FIELD_TEXTS, .count_offset = offsetof(struct owner, n_##member) }
#define NUMBERS(owner, member)                                                                     \
    { AT(owner, member), .type = FIELD_NUMBERS, .count_offset = offsetof(struct owner, n_##member) }
#define SHAPE(owner, table)                                                                        \
    {                                                                                              \
        .bytes = sizeof(struct owner), .n_fields = sizeof(table) / sizeof *(table),                \
        .fields = (table)                                                                          \
    }

static const struct field scaling_fields[] = {
    NUMBER(scaling, share, 0),
    NUMBER(scaling, growth, 0),
    NUMBER(scaling, less, 0),
    {AT(scaling, rest), .type = FIELD_NAME, .fallback = REST_NONE, .names = rest_names},
    NUMBER(scaling, total, 0),
    INDEX(scaling, pool, TARGET_POOL),
};
static const struct record scaling_record = SHAPE(scaling, scaling_fields);

static const struct field expression_fields[] = {
    {AT(expression, text), .type = FIELD_TEXT_OR_NULL},
    {AT(expression, postfix), .type = FIELD_TEXT_OR_NULL},
};
static const struct record expression_record = SHAPE(expression, expression_fields);

/* Under a key that is a word of C. */
#define EXPRESSION(member, key_)                                                                   \
    {                                                                                              \
        .key = (key_), .offset = offsetof(struct statement, member), .type = FIELD_RECORD,         \
        .record = &expression_record                                                               \
    }
static const struct field statement_fields[] = {
    {.key = "do",
     .offset = offsetof(struct statement, kind),
     .type = FIELD_NAME,
     .required = true,
     .names = model_statement_kinds},
    EXPRESSION(guard, "if"),
    {AT(statement, variable), .type = FIELD_INT, .fallback = MODEL_NONE},
    {AT(statement, condition), .type = FIELD_INT, .fallback = MODEL_NONE},
    EXPRESSION(value, "value"),
    EXPRESSION(predicate, "while"),
    FLAG(statement, answers),
};
static const struct record statement_record = SHAPE(statement, statement_fields);

static const struct field section_fields[] = {
    NEEDED(statement_section, name, FIELD_TEXT),
    LIST(statement_section, statements, statement_record),
};
static const struct record section_record = SHAPE(statement_section, section_fields);

static const struct field variable_fields[] = {
    NEEDED(monitor_variable, name, FIELD_TEXT),
    NEEDED(monitor_variable, initial, FIELD_LINEAR),
    FLAG(monitor_variable, per_thread),
};
static const struct record variable_record = SHAPE(monitor_variable, variable_fields);

static const struct field distance_fields[] = {
    NEEDED(disk_distance, least, FIELD_NUMBER),
    DIST(disk_distance, service_ns),
};
static const struct record distance_record = SHAPE(disk_distance, distance_fields);

static const struct field object_fields[] = {
    NEEDED(object, name, FIELD_TEXT),
    NAME(object, kind, model_object_kinds),
    LINEAR(object, amount),
    LINEAR(object, refilled_after),
    FLAG(object, bounded),
    FLAG(object, spins),
    FLAG(object, writers_first),
    FLAG(object, wakes_all),
    FLAG(object, when_enough),
    FLAG(object, when_empty),
    FLAG(object, handed),
    FLAG(object, condition),
    INDEX(object, condition_of, TARGET_OBJECT),
    FLAG(object, in_steps),
    NUMBER(object, distance, 0),
    NUMBER(object, lead, 0),
    FLAG(object, in_rounds),
    FLAG(object, in_groups),
    FLAG(object, by_kernel),
    NUMBER(object, led_cpu_ns, 0),
    INDEX(object, dealt_to, TARGET_POOL),
    NUMBER(object, initial_items, 0),
    {AT(object, item_kind), .type = FIELD_INT},
    NUMBER(object, items_in_all, 0),
    DIST(object, service_ns),
    NUMBER(object, servers, 1),
    NUMBER(object, room_ns, 0),
    LIST(object, distances, distance_record),
    NUMBER(object, least_depth, 0),
    NUMBER(object, most_depth, 0),
    FLAG(object, never_continued),
    DIST(object, alone_ns),
    DIST(object, interarrival_ns),
    NUMBERS(object, gaps),
    NUMBER(object, arrivals, 0),
    NUMBER(object, clients, 0),
    DIST(object, think_ns),
    INDEX(object, comes_by, TARGET_OBJECT),
    INDEX(object, goes_by, TARGET_OBJECT),
    FLAG(object, returned_first),
    FLAG(object, connects),
    DIST(object, request_bytes),
    DIST(object, reply_bytes),
    NUMBER(object, latency_ns, 0),
    NUMBER(object, bytes_per_s, 0),
    LIST(object, variables, variable_record),
    TEXTS(object, conditions),
    LIST(object, sections, section_record),
    {AT(object, evidence), .type = FIELD_TEXT_OR_NULL},
};
static const struct record object_record = SHAPE(object, object_fields);

static const struct field part_fields[] = {
    {AT(hand_made_part, object), .type = FIELD_INDEX, .required = true, .refers = TARGET_OBJECT},
};
static const struct record part_record = SHAPE(hand_made_part, part_fields);

static const struct field operation_fields[] = {
    NAME(hand_made_operation, as, model_monitor_roles),
    NEEDED(hand_made_operation, function, FIELD_TEXT),
};
static const struct record operation_record = SHAPE(hand_made_operation, operation_fields);

static const struct field monitor_fields[] = {
    NEEDED(hand_made, name, FIELD_TEXT),
    NAME(hand_made, kind, model_monitor_kinds),
    LINEAR_IF_KNOWN(hand_made, amount),
    LIST(hand_made, made_of, part_record),
    LIST(hand_made, operations, operation_record),
    NUMBER(hand_made, replayed, 0),
    NUMBER(hand_made, violations, 0),
    NUMBER(hand_made, confidence, 0),
    NAME(hand_made, how, model_modelled),
    TEXT(hand_made, why),
    TEXTS(hand_made, evidence),
};
static const struct record monitor_record = SHAPE(hand_made, monitor_fields);

static const struct field waiting_fields[] = {
    NEEDED(waiting_share, what, FIELD_TEXT),
    NAME(waiting_share, how, model_modelled),
    NEEDED(waiting_share, wait_ns, FIELD_NUMBER),
};
static const struct record waiting_record = SHAPE(waiting_share, waiting_fields);

static const struct field refill_fields[] = {
    NEEDED(refill_point, away_ns, FIELD_NUMBER),
    NEEDED(refill_point, cpu_ns, FIELD_NUMBER),
};
static const struct record refill_record = SHAPE(refill_point, refill_fields);

static const struct field pool_fields[] = {
    NEEDED(pool, name, FIELD_TEXT),
    TEXT(pool, origin),
    NEEDED(pool, threads, FIELD_LINEAR),
    NEEDED(pool, profiled_threads, FIELD_INT),
    NUMBER(pool, profiled_cpu_ns, 0),
    FLAG(pool, scales),
    NUMBER(pool, asked_factor, 0),
    NUMBER(pool, asked_offset, 0),
    COUNT(pool, most_threads),
    COUNT(pool, least_threads),
    NUMBER(pool, cores_factor, 0),
    NUMBER(pool, cores_offset, 0),
    FLAG(pool, cores_online),
    FLAG(pool, at_start),
    FLAG(pool, with_creator),
    FLAG(pool, per_task),
    FLAG(pool, kept),
    FLAG(pool, awake),
    NUMBER(pool, sleep_cpu_ns, 0),
    {AT(pool, entry), .type = FIELD_INDEX, .required = true, .refers = TARGET_NODE},
    {AT(pool, partition), .type = FIELD_NAME, .fallback = PARTITION_NONE, .names = partition_names},
    NUMBER(pool, confidence, 0),
    TEXT(pool, rule),
    TEXT(pool, one_thread),
    TEXT(pool, tree),
    TEXT(pool, uncounted),
    TEXT(pool, capped),
    TEXT(pool, remade),
    NUMBER(pool, given_ns, 0),
    NUMBER(pool, displaces_per_ns, 0),
    NUMBER(pool, cold_cpu_ns, 0),
    NUMBER(pool, cold_pace_ns, 0),
    LIST(pool, refill, refill_record),
};
static const struct record pool_record = SHAPE(pool, pool_fields);

static const struct field edge_fields[] = {
    {AT(edge, to), .type = FIELD_INDEX, .required = true, .refers = TARGET_NODE},
    {AT(edge, when), .type = FIELD_NAME, .fallback = OUTCOME_ANY, .names = model_outcomes},
    NUMBER(edge, probability, 1),
    NUMBER(edge, first, 0),
    DIST(edge, runs),
    RECORD(edge, runs_scaling, scaling_record),
    FLAG(edge, leaves),
    {AT(edge, taker), .type = FIELD_NAME, .fallback = TAKER_ANY, .names = model_takers},
    DIST(edge, cpu_ns),
    RECORD(edge, cpu_scaling, scaling_record),
    NUMBERS(edge, cpu_by_place),
};
static const struct record edge_record = SHAPE(edge, edge_fields);

static const struct field node_fields[] = {
    NEEDED(node, name, FIELD_TEXT),
    NAME(node, kind, model_node_kinds),
    INDEX(node, object, TARGET_OBJECT),
    INDEX(node, mutex, TARGET_OBJECT),
    INDEX(node, target_pool, TARGET_POOL),
    {AT(node, section), .type = FIELD_INT},
    {AT(node, item_kind), .type = FIELD_INT},
    NUMBER(node, count, 0),
    RECORD(node, count_scaling, scaling_record),
    DIST(node, counts),
    FLAG(node, gives_back),
    NUMBER(node, timeout_ns, -1),
    NUMBERS(node, course),
    DIST(node, stays),
    RECORD(node, stays_scaling, scaling_record),
    DIST(node, cpu_ns),
    DIST(node, wait_ns),
    FLAG(node, by_clock),
    DIST(node, operations),
    DIST(node, service_ns),
    DIST(node, near_ns),
    {AT(node, stream), .type = FIELD_INT},
    FLAG(node, ahead),
    NUMBERS(node, calls),
    NUMBERS(node, reads),
    NUMBERS(node, goes_on),
    NUMBERS(node, tasks),
    LIST(node, edges, edge_record),
};
static const struct record node_record = SHAPE(node, node_fields);

#define PIECE(name, member)                                                                        \
    { .key = (name), .offset = offsetof(struct machine, pace.member), .type = FIELD_NUMBER }
static const struct field machine_fields[] = {
    NEEDED(machine, cores, FIELD_INT),
    NEEDED(machine, quantum_ns, FIELD_NUMBER),
    NUMBER(machine, tick_ns, 0),
    NUMBER(machine, pull_share, 1),
    NUMBER(machine, switch_cpu_ns, 0),
    NUMBER(machine, block_cpu_ns, 0),
    NUMBER(machine, wake_cpu_ns, 0),
    NUMBER(machine, preempt_ns, 0),
    DIST(machine, wake_latency_ns),
    NUMBER(machine, brief_idle_ns, 0),
    DIST(machine, brief_latency_ns),
    FLAG(machine, signals_wait),
    PIECE("computing_ns", piece_ns[PACE_COMPUTING]),
    PIECE("memory_ns", piece_ns[PACE_MEMORY]),
    PIECE("fastest_computing_ns", fastest_ns[PACE_COMPUTING]),
    PIECE("fastest_memory_ns", fastest_ns[PACE_MEMORY]),
    NUMBER(machine, busy_cores, 0),
    NUMBER(machine, shared_locks_hz, 0),
};
static const struct record machine_record = SHAPE(machine, machine_fields);

static const struct field page_cache_fields[] = {
    {AT(page_cache, unknown), .type = FIELD_TEXT_OR_NULL},
    NUMBER(page_cache, size_bytes, 0),
    NUMBER(page_cache, read_bytes, 0),
    {AT(page_cache, rule), .type = FIELD_NAME, .names = model_cache_rules},
    NUMBER(page_cache, agreement, 0),
    NUMBERS(page_cache, groups),
    NUMBERS(page_cache, calls),
};
static const struct record page_cache_record = SHAPE(page_cache, page_cache_fields);

static const struct field check_fields[] = {
    NEEDED(model_check, what, FIELD_TEXT),
    NEEDED(model_check, measured, FIELD_NUMBER),
    NEEDED(model_check, simulated, FIELD_NUMBER),
};
static const struct record check_record = SHAPE(model_check, check_fields);

static const struct field model_fields[] = {
    NEEDED(model, version, FIELD_INT),
    TEXT(model, program),
    TEXT(model, built),
    TEXT(model, host),
    TEXT(model, build_id),
    NUMBER(model, measured_run_ns, 0),
    NUMBER(model, explained_share, 0),
    NUMBER(model, perturbation, NAN),
    NUMBER(model, probe_ns, 0),
    NUMBER(model, cpu_correction, 1),
    NUMBER(model, cpu_spread, 0),
    NUMBER(model, plain_cpu_ns, 0),
    NUMBER(model, plain_cpu_spread, 0),
    NUMBER(model, one_core_cpu_ns, 0),
    NUMBER(model, foreign_share, 0),
    NUMBER(model, slowed_share, 0),
    NUMBER(model, throttled_share, 0),
    NUMBER(model, one_core_cpu, 0),
    NUMBER(model, one_core_doubt, 0),
    NUMBER(model, stopped_share, 0),
    TEXT(model, asks_cores),
    TEXT(model, file_mix),
    TEXT(model, unpredicted),
    TEXT(model, standstill),
    NUMBER(model, lost_events, 0),
    {AT(model, machine), .type = FIELD_RECORD, .required = true, .record = &machine_record},
    {AT(model, page_cache), .type = FIELD_RECORD, .record = &page_cache_record},
    LIST(model, objects, object_record),
    LIST(model, monitors, monitor_record),
    LIST(model, waiting, waiting_record),
    LIST(model, pools, pool_record),
    LIST(model, nodes, node_record),
    TEXTS(model, outside),
    TEXTS(model, notes),
    LIST(model, checks, check_record),
};
const struct record model_record = SHAPE(model, model_fields);

const char *model_target_name(const struct model *model, enum field_target target, int index) {
    if (index < 0)
        return NULL;
    size_t i = (size_t)index;
    switch (target) {
    case TARGET_OBJECT:
        return i < model->n_objects ? model->objects[i].name : NULL;
    case TARGET_POOL:
        return i < model->n_pools ? model->pools[i].name : NULL;
    case TARGET_NODE:
        return i < model->n_nodes ? model->nodes[i].name : NULL;
    }
    return NULL;
}

const char *object_kind_name(enum object_kind kind) {
    return model_object_kinds[kind];
}

const char *node_kind_name(enum node_kind kind) {
    return model_node_kinds[kind];
}

const char *taker_name(enum taker taker) {
    return model_takers[taker];
}

const char *hand_made_kind_name(enum hand_made_kind kind) {
    return model_monitor_kinds[kind];
}

const char *hand_made_role_name(enum hand_made_role role) {
    return model_monitor_roles[role];
}

const char *modelled_name(enum modelled how) {
    return model_modelled[how];
}
