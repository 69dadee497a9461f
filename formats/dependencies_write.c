/* struct dependencies -> dependencies.persik. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/room.h"
#include "formats/binary_input.h"
#include "formats/dependencies.h"
#include "formats/dependencies_file.h"

/* JSON holds only UTF-8, and names of a program's need not be. */
static json_t *write_text(const char *text) {
    json_t *json = text ? json_string(text) : json_null();
    return json ? json : json_string("?");
}

static json_t *write_places(const struct dependencies *all) {
    json_t *places = json_array();
    for (size_t p = 0; p < all->n_places; p++) {
        json_t *frames = json_array();
        for (size_t f = 0; f < all->places[p].n_frames; f++) {
            const struct dependency_frame *frame = &all->places[p].frames[f];
            json_array_append_new(frames, json_pack("[o, o, i]", write_text(frame->function),
                                                    write_text(frame->file), frame->line));
        }
        json_array_append_new(places, frames);
    }
    return places;
}

static json_t *write_objects(const struct dependencies *all) {
    json_t *objects = json_array();
    for (size_t o = 0; o < all->n_objects; o++) {
        const struct dependency_object *object = &all->objects[o];
        json_t *json = json_pack("[o, o]", write_text(object->kind), write_text(object->name));
        if (object->is_pool)
            json_array_append_new(json, json_integer(object->start));
        json_array_append_new(objects, json);
    }
    return objects;
}

static json_t *write_threads(const struct dependencies *all) {
    json_t *threads = json_array();
    for (size_t t = 0; t < all->n_threads; t++) {
        const struct dependency_thread *thread = &all->threads[t];
        json_array_append_new(threads, json_pack("[o, I, b]", write_text(thread->name),
                                                 (json_int_t)thread->start_ns, thread->is_made));
    }
    return threads;
}

static char *write_header(const struct dependencies *all) {
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:i, s:b, s:b, s:I, s:f, s:o, s:o, s:o, s:s*}", "start_real_ns",
                  (json_int_t)all->start_real_ns, "records", (json_int_t)all->records, "run_ns",
                  (json_int_t)all->run_ns, "cores", all->cores, "has_cores", all->has_cores,
                  "has_wakers", all->has_wakers, "lost", (json_int_t)all->lost, "tick_ns",
                  all->tick_ns, "places", write_places(all), "objects", write_objects(all),
                  "threads", write_threads(all), "task_kind", all->task_kind);
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static bool write_items(FILE *file, const void *items, size_t size, size_t n) {
    return n == 0 || fwrite(items, size, n, file) == n;
}

struct packer {
    FILE *file;
    ZSTD_CCtx *zstd;
    size_t capacity;
    char *packed; /* `capacity` bytes */
};

/* False: errno says why. */
static bool pack(struct packer *packer, const void *items, size_t bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in = {.src = items, .size = bytes};
    size_t left;
    do {
        ZSTD_outBuffer out = {.dst = packer->packed, .size = packer->capacity};
        left = ZSTD_compressStream2(packer->zstd, &out, &in, end);
        if (ZSTD_isError(left)) {
            errno = ENOMEM;
            return false;
        }
        if (!write_items(packer->file, packer->packed, 1, out.pos))
            return false;
    } while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
    return true;
}

static bool write_packed(FILE *file, const struct dependencies *all) {
    struct packer packer = {
        .file = file, .zstd = ZSTD_createCCtx(), .capacity = ZSTD_CStreamOutSize()};
    packer.packed = memory_alloc(packer.capacity, 1);
    ZSTD_CCtx_setParameter(packer.zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(packer.zstd, ZSTD_c_windowLog, DEPENDENCIES_WINDOW_LOG);
    ZSTD_CCtx_setParameter(packer.zstd, ZSTD_c_checksumFlag, 1);
    bool written = pack(&packer, all->steps, all->n_steps * sizeof *all->steps, ZSTD_e_continue) &&
                   pack(&packer, all->tasks, all->n_tasks * sizeof *all->tasks, ZSTD_e_end);
    free(packer.packed);
    ZSTD_freeCCtx(packer.zstd);
    return written;
}

/* What a reader takes of its room. */
static uint64_t needed_room(const struct dependencies *all, size_t text_bytes) {
    uint64_t bytes = DEPENDENCIES_ROOM + text_bytes * (uint64_t)ROOM_OF_TEXT +
                     all->n_steps * sizeof *all->steps + all->n_tasks * sizeof *all->tasks;
    for (size_t p = 0; p < all->n_places; p++)
        bytes += all->places[p].n_frames * (uint64_t)ROOM_OF_FRAME;
    return bytes;
}

static bool write_padding(FILE *file, uint64_t needed) {
    off_t worth = (off_t)room_file_bytes(needed);
    return fflush(file) == 0 && (ftello(file) >= worth || ftruncate(fileno(file), worth) == 0);
}

static bool write_all(FILE *file, const struct dependencies *all, const char *text) {
    struct dependencies_head head = {.version = DEPENDENCIES_VERSION,
                                     .n_tasks = (uint32_t)all->n_tasks,
                                     .text_bytes = strlen(text),
                                     .n_steps = all->n_steps};
    memcpy(head.magic, DEPENDENCIES_MAGIC, sizeof head.magic);
    return write_items(file, &head, sizeof head, 1) &&
           write_items(file, text, 1, head.text_bytes) && write_packed(file, all) &&
           write_padding(file, needed_room(all, head.text_bytes));
}

int dependencies_save(const struct dependencies *all, const char *path, struct error *error) {
    struct output output;
    if (output_begin(&output, path) != 0)
        return error_set(error, "%s: %s: choose a folder you may write to", path, strerror(errno));
    char *text = write_header(all);
    bool written = text && write_all(output.file, all, text);
    free(text);
    int cause = written ? 0 : errno;
    if (!written)
        output_abandon(&output);
    else if (output_commit(&output) != 0)
        cause = errno;
    if (!written || cause)
        return error_set(error, "%s: %s: make room or choose another folder", path,
                         strerror(cause));
    return 0;
}
