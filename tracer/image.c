#include "tracer/image.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "formats/catalog.h"
#include "formats/trace.h"

/* Addresses of a program are below, and the kernel's are nobody's business. */
#define MOST_ADDRESS (1ull << 47)

/* ---- threads ---- */

/* Of one thread, while the chunks are read. */
struct owner {
    uint32_t image; /* as in the segment */
    struct image_thread thread;
    bool has_begun;
    size_t capacity; /* records counted beforehand */
    struct {
        size_t count, capacity;
        struct raw_record *items;
    } late;
};

struct reader {
    uint32_t n_images; /* of the segment */
    struct raw_image *raw;
    struct map known; /* image and thread -> index into owners */
    struct {
        size_t count, capacity;
        struct owner *items;
    } owners;
    struct {
        size_t count, capacity;
        struct value {
            uint32_t image;
            struct image_value value;
        } * items;
    } values;
};

static struct owner *find_owner(struct reader *reader, const struct raw_record *mark) {
    if (mark->context >= reader->n_images || mark->value < 0 ||
        (uint32_t)mark->value >= RAW_MAX_THREADS)
        return NULL;
    uint64_t key = (uint64_t)mark->context << 32 | (uint32_t)mark->value;
    uint64_t hash = map_mix(1, key);
    int index = map_get(&reader->known, hash, -1);
    if (index >= 0)
        return &reader->owners.items[index];
    map_put(&reader->known, hash, (int)reader->owners.count);
    struct owner *owner = VECTOR_ADD(&reader->owners);
    *owner = (struct owner){
        .image = mark->context,
        .thread = {.index = mark->value, .creator = -1, .context = TRACE_NO_CONTEXT}};
    return owner;
}

static void begin_thread(struct owner *owner, const struct raw_record *mark) {
    struct image_thread *thread = &owner->thread;
    owner->has_begun = true;
    thread->start_ticks = mark->start;
    thread->tid = (int32_t)mark->duration;
    thread->start_routine = mark->object == RAW_NO_OBJECT ? 0 : mark->object;
    thread->context = mark->context;
    thread->creator = mark->value;
}

static void add_value(struct reader *reader, const struct owner *owner,
                      const struct raw_record *mark) {
    struct value *added = VECTOR_ADD(&reader->values);
    added->image = owner->image;
    added->value =
        (struct image_value){.ticks = mark->start,
                             .mutex = mark->object,
                             .look = mark->context,
                             .thread = owner->thread.index,
                             .bits = (uint32_t)mark->value | (uint64_t)mark->duration << 32};
}

static void read_mark(struct reader *reader, struct owner *owner, const struct raw_record *mark) {
    struct image_thread *thread = &owner->thread;
    switch ((enum raw_mark)mark->api) {
    case RAW_MARK_OWNER:
        break;
    case RAW_MARK_THREAD:
        begin_thread(owner, mark);
        break;
    case RAW_MARK_ATTACH:
        thread->attach_from_ticks = mark->start;
        thread->attach_to_ticks = mark->start + mark->duration;
        break;
    case RAW_MARK_END:
        thread->end_ticks = mark->start;
        break;
    case RAW_MARK_LATE:
        *VECTOR_ADD(&owner->late) = *mark;
        break;
    case RAW_MARK_VALUE:
        add_value(reader, owner, mark);
        break;
    }
}

/* Reads one chunk; `counting`: only how many records whom. */
static void read_chunk(struct reader *reader, const struct raw_record *chunk, bool counting) {
    struct owner *owner = NULL;
    for (uint32_t i = 0; i < RAW_CHUNK_RECORDS; i++) {
        struct raw_record record = chunk[i];
        if (record.start == 0)
            continue;
        if (record.api == RAW_MARK_OWNER)
            owner = find_owner(reader, &record);
        if (!owner)
            continue;
        if (record.api >= API_COUNT && !counting)
            read_mark(reader, owner, &record);
        if (record.api >= API_COUNT)
            continue;
        if (counting)
            owner->capacity++;
        else if (owner->thread.n_records < owner->capacity)
            owner->thread.records[owner->thread.n_records++] = record;
    }
}

static int compare_records(const void *left, const void *right) {
    const struct raw_record *a = left;
    const struct raw_record *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Sorts, and leaves out the second of two equal ones, which are there when a chunk was taken out
 * whose next owner was killed before it had emptied it. */
static void tidy_records(struct image_thread *thread) {
    struct raw_record *records = thread->records;
    bool sorted = true;
    for (size_t i = 1; i < thread->n_records && sorted; i++)
        sorted = records[i].start >= records[i - 1].start;
    if (!sorted)
        qsort(records, thread->n_records, sizeof *records, compare_records);
    size_t kept = 0;
    for (size_t i = 0; i < thread->n_records; i++)
        if (kept == 0 || memcmp(&records[i], &records[kept - 1], sizeof *records) != 0)
            records[kept++] = records[i];
    thread->n_records = kept;
}

/* Completes the call that began with this time stamp, if it lacks its end. */
static void complete(struct image_thread *thread, const struct raw_record *late) {
    struct raw_record *found = thread->n_records == 0
                                   ? NULL
                                   : bsearch(late, thread->records, thread->n_records,
                                             sizeof *thread->records, compare_records);
    if (!found || !(found->flags & TRACE_UNFINISHED))
        return;
    found->duration = late->duration;
    found->object = late->object;
    found->flags = late->flags;
    found->value = late->value;
}

/* Records behind its end tell that a child of vfork, which runs in its parent's memory, said so. */
static uint64_t checked_end(const struct image_thread *thread, uint64_t end_ticks) {
    bool goes_on =
        thread->n_records > 0 && thread->records[thread->n_records - 1].start > end_ticks;
    return goes_on ? 0 : end_ticks;
}

/* A thread whose first chunk was lost has no beginning, and nobody knows which one it was. */
static void end_owner(struct reader *reader, struct owner *owner) {
    tidy_records(&owner->thread);
    owner->thread.end_ticks = checked_end(&owner->thread, owner->thread.end_ticks);
    for (size_t i = 0; i < owner->late.count; i++)
        complete(&owner->thread, &owner->late.items[i]);
    free(owner->late.items);
    if (owner->has_begun)
        return;
    reader->raw[owner->image].lost += owner->thread.n_records;
    image_thread_free(&owner->thread);
}

static int compare_owners(const void *left, const void *right) {
    const struct owner *a = left;
    const struct owner *b = right;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return (a->thread.index > b->thread.index) - (a->thread.index < b->thread.index);
}

static void read_chunks(struct reader *reader, struct segment *segment) {
    size_t n;
    const struct raw_record *records = segment_records(segment, &n);
    for (size_t i = 0; i < n; i++)
        read_chunk(reader, records + i * RAW_CHUNK_RECORDS, true);
    for (size_t i = 0; i < reader->owners.count; i++) {
        struct owner *owner = &reader->owners.items[i];
        owner->thread.records = memory_alloc(owner->capacity, sizeof *owner->thread.records);
    }
    for (size_t i = 0; i < n; i++)
        read_chunk(reader, records + i * RAW_CHUNK_RECORDS, false);
    for (size_t i = 0; i < reader->owners.count; i++)
        end_owner(reader, &reader->owners.items[i]);
    VECTOR_SORT(&reader->owners, compare_owners);
}

void image_thread_free(struct image_thread *thread) {
    free(thread->records);
    thread->records = NULL;
    thread->n_records = 0;
}

/* ---- modules and contexts ---- */

/* One line as the kernel writes it. A path with a line break would be two, and is nobody's. */
static char *add_line(char *maps, const struct raw_module *module, uint32_t number) {
    if (module->high <= module->low || module->high > MOST_ADDRESS || module->path[0] == '\0' ||
        strchr(module->path, '\n'))
        return maps;
    char *longer =
        memory_format("%s%lx-%lx r-xp 00000000 00:01 %u %s\n", maps, (unsigned long)module->low,
                      (unsigned long)module->high, number + 1, module->path);
    free(maps);
    return longer;
}

static char *make_maps(const struct raw_segment *shared, uint32_t root) {
    uint32_t n = shared->n_modules < RAW_MAX_MODULES ? shared->n_modules : RAW_MAX_MODULES;
    char *maps = memory_strdup("");
    for (uint32_t i = 0; i < n; i++) {
        struct raw_module module = shared->modules[i];
        module.path[sizeof module.path - 1] = '\0';
        if (module.root == root)
            maps = add_line(maps, &module, i);
    }
    return maps;
}

static void read_contexts(struct images *images, const struct raw_segment *shared) {
    uint32_t n = shared->n_contexts;
    images->n_contexts = n < RAW_MAX_CONTEXTS ? n : RAW_MAX_CONTEXTS;
    images->contexts = memory_alloc(images->n_contexts, sizeof *images->contexts);
    memcpy(images->contexts, shared->contexts, images->n_contexts * sizeof *images->contexts);
    for (size_t i = 0; i < images->n_contexts; i++)
        if (images->contexts[i].depth > RAW_MAX_DEPTH)
            images->contexts[i].depth = RAW_MAX_DEPTH;
}

/* ---- images ---- */

static void take_threads(struct reader *reader, struct image *image, uint32_t number) {
    size_t first = 0;
    while (first < reader->owners.count && reader->owners.items[first].image < number)
        first++;
    size_t n = 0;
    while (first + n < reader->owners.count && reader->owners.items[first + n].image == number)
        n++;
    image->threads = memory_alloc(n, sizeof *image->threads);
    for (size_t i = 0; i < n; i++) {
        struct owner *owner = &reader->owners.items[first + i];
        if (!owner->has_begun)
            continue;
        image->threads[image->n_threads++] = owner->thread;
        owner->thread.records = NULL;
    }
}

static void take_values(const struct reader *reader, struct image *image, uint32_t number) {
    image->values = memory_alloc(reader->values.count, sizeof *image->values);
    for (size_t i = 0; i < reader->values.count; i++)
        if (reader->values.items[i].image == number)
            image->values[image->n_values++] = reader->values.items[i].value;
}

static int compare_images(const void *left, const void *right) {
    const struct image *a = left;
    const struct image *b = right;
    return (a->process.start_ticks > b->process.start_ticks) -
           (a->process.start_ticks < b->process.start_ticks);
}

static void check_end(struct image *image) {
    for (size_t i = 0; i < image->n_threads; i++)
        image->process.end_ticks = checked_end(&image->threads[i], image->process.end_ticks);
    if (image->process.end_ticks == 0)
        image->process.flags &= ~(uint32_t)(RAW_EXITED | RAW_EXECED);
}

static void number_images(struct images *images) {
    for (size_t i = 0; i < images->count; i++)
        for (size_t before = 0; before < i; before++)
            images->items[i].number +=
                images->items[before].process.pid == images->items[i].process.pid;
}

void images_read(struct images *images, struct segment *segment) {
    const struct raw_segment *shared = segment_shared(segment);
    uint32_t n = shared->n_images;
    struct reader reader = {.n_images = n < RAW_MAX_IMAGES ? n : RAW_MAX_IMAGES};
    images->unseen = n - reader.n_images;
    reader.raw = memory_alloc(reader.n_images, sizeof *reader.raw);
    memcpy(reader.raw, shared->images, reader.n_images * sizeof *reader.raw);
    read_contexts(images, shared);
    read_chunks(&reader, segment);
    images->items = memory_alloc(reader.n_images, sizeof *images->items);
    for (uint32_t i = 0; i < reader.n_images; i++) {
        if (reader.raw[i].version != RAW_VERSION)
            continue;
        struct image *image = &images->items[images->count++];
        image->process = reader.raw[i];
        take_threads(&reader, image, i);
        take_values(&reader, image, i);
        check_end(image);
        image->maps = make_maps(shared, image->process.root);
    }
    VECTOR_SORT(images, compare_images);
    number_images(images);
    for (size_t i = 0; i < reader.owners.count; i++) /* of images that never were complete */
        image_thread_free(&reader.owners.items[i].thread);
    map_free(&reader.known);
    free(reader.owners.items);
    free(reader.values.items);
    free(reader.raw);
}

void images_free(struct images *images) {
    for (size_t i = 0; i < images->count; i++) {
        struct image *image = &images->items[i];
        for (size_t t = 0; t < image->n_threads; t++)
            image_thread_free(&image->threads[t]);
        free(image->threads);
        free(image->values);
        free(image->maps);
    }
    free(images->items);
    free(images->contexts);
    *images = (struct images){0};
}

void images_delete(const char *directory) {
    static const char *const ours[] = {RAW_SEGMENT, RAW_RECORDS, RAW_WRAPS, RAW_LOOKS};
    DIR *folder = opendir(directory);
    for (size_t i = 0; folder && i < sizeof ours / sizeof *ours; i++)
        unlinkat(dirfd(folder), ours[i], 0);
    if (folder)
        closedir(folder);
    rmdir(directory);
}
