/* dependencies.persik -> struct dependencies. Nothing in the file is believed before it is checked.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/memory.h"
#include "formats/binary_input.h"
#include "formats/dependencies.h"
#include "formats/dependencies_file.h"
#include "formats/json_input.h"

#define AGAIN "remove it: `persik critical-path` makes it anew"

struct reader {
    struct binary_input input;
    ZSTD_DCtx *zstd; /* NULL: the steps and tasks are not packed */
    char *packed;    /* ZSTD_DStreamInSize() bytes of the file, of which some are not used yet: */
    ZSTD_inBuffer unused;
    size_t left; /* what zstd said last: 0, the frame has ended */
    struct error *error;
    struct dependencies *all;
};

static int truncated(struct reader *reader) {
    return error_set(reader->error, "%s: truncated: " AGAIN, reader->input.path);
}

static int corrupt(struct reader *reader, const char *what) {
    return error_set(reader->error, "%s: corrupted (%s): " AGAIN, reader->input.path, what);
}

static bool is_time(json_int_t ns) {
    return ns >= 0 && ns < (json_int_t)1 << 54;
}

/* ---- the header ---- */

static int read_frame(json_t *json, struct dependency_frame *frame) {
    const char *function, *file;
    json_t *named;
    if (json_unpack(json, "[s, o, i]", &function, &named, &frame->line) != 0)
        return -1;
    file = json_string_value(named);
    frame->function = memory_strdup(function);
    frame->file = memory_strdup(file);
    return file || json_is_null(named) ? 0 : -1;
}

static int read_place(struct reader *reader, const json_t *json, struct dependency_place *place) {
    place->frames =
        binary_input_allocate(&reader->input, json_array_size(json), sizeof *place->frames);
    if (!place->frames || !json_is_array(json))
        return -1;
    place->n_frames = json_array_size(json);
    for (size_t f = 0; f < place->n_frames; f++)
        if (read_frame(json_array_get(json, f), &place->frames[f]) != 0)
            return -1;
    return 0;
}

static int read_places(struct reader *reader, const json_t *json) {
    struct dependencies *all = reader->all;
    all->places = binary_input_allocate(&reader->input, json_array_size(json), sizeof *all->places);
    if (!all->places)
        return -1;
    all->n_places = json_array_size(json);
    for (size_t p = 0; p < all->n_places; p++)
        if (read_place(reader, json_array_get(json, p), &all->places[p]) != 0)
            return -1;
    return 0;
}

static int read_objects(struct reader *reader, const json_t *json) {
    struct dependencies *all = reader->all;
    all->objects =
        binary_input_allocate(&reader->input, json_array_size(json), sizeof *all->objects);
    if (!all->objects)
        return -1;
    all->n_objects = json_array_size(json);
    for (size_t o = 0; o < all->n_objects; o++) {
        const json_t *object = json_array_get(json, o);
        struct dependency_object *is = &all->objects[o];
        const char *kind, *name;
        is->is_pool = json_array_size(object) == 3;
        int status = is->is_pool
                         ? json_unpack((json_t *)object, "[s, s, i]", &kind, &name, &is->start)
                         : json_unpack((json_t *)object, "[s, s]", &kind, &name);
        if (status != 0)
            return -1;
        is->kind = memory_strdup(kind);
        is->name = memory_strdup(name);
    }
    return 0;
}

static int read_threads(struct reader *reader, const json_t *json) {
    struct dependencies *all = reader->all;
    all->threads =
        binary_input_allocate(&reader->input, json_array_size(json), sizeof *all->threads);
    if (!all->threads)
        return -1;
    all->n_threads = json_array_size(json);
    for (size_t t = 0; t < all->n_threads; t++) {
        const char *name;
        json_int_t start;
        int is_made;
        if (json_unpack(json_array_get(json, t), "[s, I, b]", &name, &start, &is_made) != 0 ||
            !is_time(start))
            return -1;
        all->threads[t] = (struct dependency_thread){memory_strdup(name), (uint64_t)start, is_made};
    }
    return 0;
}

#define MOST_TICK_NS 1e9

static int read_parts(struct reader *reader, json_t *json) {
    struct dependencies *all = reader->all;
    json_t *places, *objects, *threads;
    const char *task_kind = NULL;
    json_int_t start_real, records, run, lost;
    int has_cores, has_wakers;
    if (json_unpack(json, "{s:I, s:I, s:I, s:i, s:b, s:b, s:I, s:o, s:o, s:o, s?F, s?s}",
                    "start_real_ns", &start_real, "records", &records, "run_ns", &run, "cores",
                    &all->cores, "has_cores", &has_cores, "has_wakers", &has_wakers, "lost", &lost,
                    "places", &places, "objects", &objects, "threads", &threads, "tick_ns",
                    &all->tick_ns, "task_kind", &task_kind) != 0 ||
        records < 0 || lost < 0 || !is_time(run) || all->cores < 1 ||
        !(all->tick_ns >= 0 && all->tick_ns < MOST_TICK_NS))
        return -1;
    all->task_kind = memory_strdup(task_kind);
    all->start_real_ns = (uint64_t)start_real;
    all->records = (uint64_t)records;
    all->run_ns = (uint64_t)run;
    all->lost = (uint64_t)lost;
    all->has_cores = has_cores;
    all->has_wakers = has_wakers;
    int status = read_places(reader, places);
    status = status ? status : read_objects(reader, objects);
    return status ? status : read_threads(reader, threads);
}

static int read_header(struct reader *reader, uint64_t bytes) {
    char *text = binary_input_allocate(&reader->input, bytes, 1);
    if (!text)
        return corrupt(reader, "header");
    int status = binary_input_take(&reader->input, text, bytes) ? 0 : truncated(reader);
    json_t *json = status ? NULL : json_parse(text, bytes, 0, &reader->input.room, NULL);
    if (!status && (!json || read_parts(reader, json) != 0))
        status = corrupt(reader, "header");
    json_decref(json);
    free(text);
    return status;
}

/* ---- what is packed ---- */

static bool refill(struct reader *reader) {
    struct binary_input *input = &reader->input;
    uint64_t left = input->size - input->offset, most = ZSTD_DStreamInSize();
    size_t bytes = (size_t)(left < most ? left : most);
    if (bytes == 0 || !binary_input_take(input, reader->packed, bytes))
        return false;
    reader->unused = (ZSTD_inBuffer){.src = reader->packed, .size = bytes};
    return true;
}

/* One call of zstd. */
static int unpack_some(struct reader *reader, ZSTD_outBuffer *out) {
    if (reader->unused.pos == reader->unused.size && !refill(reader))
        return truncated(reader);
    reader->left = ZSTD_decompressStream(reader->zstd, out, &reader->unused);
    return ZSTD_isError(reader->left) ? corrupt(reader, "checksum") : 0;
}

static int take(struct reader *reader, void *to, size_t bytes) {
    if (!reader->zstd)
        return binary_input_take(&reader->input, to, bytes) ? 0 : truncated(reader);
    ZSTD_outBuffer out = {.dst = to, .size = bytes};
    while (out.pos < out.size) {
        if (reader->left == 0)
            return corrupt(reader, "length");
        if (unpack_some(reader, &out) != 0)
            return -1;
    }
    return 0;
}

/* Its checksum stands at its end. */
static int end_packed(struct reader *reader) {
    char more;
    ZSTD_outBuffer out = {.dst = &more, .size = 1};
    while (reader->zstd && reader->left > 0)
        if (unpack_some(reader, &out) != 0)
            return -1;
    return out.pos == 0 ? 0 : corrupt(reader, "length");
}

/* ---- the steps ---- */

static bool is_index(uint32_t index, size_t n) {
    return index == DEPENDENCIES_NONE || index < n;
}

static const char *check_step(const struct dependencies *all, size_t index,
                              const uint64_t *now_ns) {
    const struct dependency_step *step = &all->steps[index];
    if (step->thread >= all->n_threads || !is_index(step->place, all->n_places) ||
        !is_index(step->object, all->n_objects))
        return "a step's thread, place or object";
    if (step->kind >= STEP_KINDS || step->cause_kind >= LINK_KINDS ||
        step->limit_kind >= LINK_KINDS || step->witness > WITNESS_DENIES || step->in_call > 1)
        return "a step's kind";
    if (step->operation >= OPERATIONS || !is_index(step->operand, all->n_objects) ||
        (step->operation != OPERATION_NONE && step->operand == DEPENDENCIES_NONE))
        return "a step's operation";
    bool is_of_pool = step->operation >= OPERATION_OWE && step->operation <= OPERATION_CLOSE;
    if (is_of_pool && !all->objects[step->operand].is_pool)
        return "a step's operation on what is no pool";
    if (!is_index(step->cause, index) || !is_index(step->limit, index))
        return "a step that depends on itself or on a later one: a cycle";
    if (step->end_ns < now_ns[step->thread] || step->end_ns > all->run_ns)
        return "a step's time";
    bool is_late =
        (step->cause != DEPENDENCIES_NONE && all->steps[step->cause].end_ns > step->end_ns) ||
        (step->limit != DEPENDENCIES_NONE && all->steps[step->limit].end_ns > step->end_ns);
    return is_late ? "a step that ends before its cause" : NULL;
}

static int check_steps(struct reader *reader) {
    const struct dependencies *all = reader->all;
    uint64_t *now_ns = memory_alloc(all->n_threads, sizeof *now_ns);
    const char *fault = NULL;
    for (size_t t = 0; t < all->n_threads; t++)
        now_ns[t] = all->threads[t].start_ns;
    for (size_t i = 0; i < all->n_steps && !fault; i++) {
        fault = check_step(all, i, now_ns);
        if (!fault)
            now_ns[all->steps[i].thread] = all->steps[i].end_ns;
    }
    free(now_ns);
    return fault ? corrupt(reader, fault) : 0;
}

static int fetch_steps(struct reader *reader) {
    struct dependencies *all = reader->all;
    if (all->has_operations)
        return take(reader, all->steps, all->n_steps * sizeof *all->steps);
    for (size_t i = 0; i < all->n_steps; i++) {
        if (take(reader, &all->steps[i], DEPENDENCIES_STEP_1) != 0)
            return -1;
        all->steps[i].operand = DEPENDENCIES_NONE;
    }
    return 0;
}

static int read_steps(struct reader *reader, uint64_t n) {
    struct dependencies *all = reader->all;
    all->steps = binary_input_allocate(&reader->input, n, sizeof *all->steps);
    if (!all->steps)
        return corrupt(reader, "number of steps");
    all->n_steps = n;
    int status = fetch_steps(reader);
    return status ? status : check_steps(reader);
}

/* ---- the tasks ---- */

static bool is_task(const struct dependencies *all, const struct dependency_task *task) {
    return task->end < all->n_steps && is_index(task->taken, all->n_steps) &&
           task->begin_ns <= task->end_ns && is_time((json_int_t)task->end_ns);
}

static int read_tasks(struct reader *reader, uint64_t n) {
    struct dependencies *all = reader->all;
    all->tasks = binary_input_allocate(&reader->input, n, sizeof *all->tasks);
    if (!all->tasks || (n > 0 && !all->task_kind))
        return corrupt(reader, "number of tasks");
    if (take(reader, all->tasks, n * sizeof *all->tasks) != 0)
        return -1;
    all->n_tasks = n;
    for (size_t i = 0; i < n; i++)
        if (!is_task(all, &all->tasks[i]))
            return corrupt(reader, "a task");
    return 0;
}

/* ---- the file ---- */

/* Of a file that is not packed. */
static int check_length(struct reader *reader, const struct dependencies_head *head) {
    uint64_t rest = reader->input.size - sizeof *head;
    size_t step =
        reader->all->has_operations ? sizeof(struct dependency_step) : DEPENDENCIES_STEP_1;
    uint64_t tasks = head->n_tasks * sizeof(struct dependency_task);
    if (tasks > rest || head->text_bytes > rest - tasks ||
        head->n_steps > (rest - tasks - head->text_bytes) / step)
        return truncated(reader);
    bool is_whole = head->n_steps * step == rest - tasks - head->text_bytes;
    return is_whole ? 0 : corrupt(reader, "length");
}

static int read_head(struct reader *reader, struct dependencies_head *head) {
    bool is_short = reader->input.size < sizeof *head;
    size_t bytes = is_short ? reader->input.size : sizeof *head;
    if (!binary_input_take(&reader->input, head, bytes))
        return truncated(reader);
    if (bytes < sizeof head->magic ||
        memcmp(head->magic, DEPENDENCIES_MAGIC, sizeof head->magic) != 0)
        return error_set(reader->error, "%s: holds no dependencies: " AGAIN, reader->input.path);
    if (is_short)
        return truncated(reader);
    if (head->version < DEPENDENCIES_OLDEST || head->version > DEPENDENCIES_VERSION)
        return error_set(reader->error,
                         "%s: format version %u, this persik reads %d: use the persik that wrote "
                         "it, or " AGAIN,
                         reader->input.path, head->version, DEPENDENCIES_VERSION);
    reader->all->version = head->version;
    reader->all->has_operations = head->version > DEPENDENCIES_OLDEST;
    if (head->version < DEPENDENCIES_WITH_TASKS)
        head->n_tasks = 0;
    if (head->n_steps >= DEPENDENCIES_NONE)
        return corrupt(reader, "length");
    if (head->version < DEPENDENCIES_PACKED)
        return check_length(reader, head);
    if (head->text_bytes > reader->input.size - sizeof *head)
        return truncated(reader);
    reader->zstd = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax, DEPENDENCIES_WINDOW_LOG);
    reader->packed = memory_alloc(ZSTD_DStreamInSize(), 1);
    reader->left = 1;
    return 0;
}

static int read_all(struct reader *reader) {
    struct dependencies_head head;
    int status = read_head(reader, &head);
    status = status ? status : read_header(reader, head.text_bytes);
    status = status ? status : read_steps(reader, head.n_steps);
    status = status ? status : read_tasks(reader, head.n_tasks);
    return status ? status : end_packed(reader);
}

struct dependencies *dependencies_load(const char *path, struct error *error) {
    struct reader reader = {.error = error};
    if (binary_input_open(&reader.input, path, "persik critical-path", error) != 0)
        return NULL;
    reader.all = memory_alloc(1, sizeof *reader.all);
    int failed = read_all(&reader);
    ZSTD_freeDCtx(reader.zstd);
    free(reader.packed);
    binary_input_close(&reader.input);
    if (failed) {
        dependencies_free(reader.all);
        return NULL;
    }
    return reader.all;
}
