/* modelgen/calibrate/page_reads, page_cache_size; cli/prediction/page_cache_resize: what the
 * recorded calls read of the page cache, how much that held, and what the model's calls ask a disk
 * for with another one. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/prediction/page_cache_resize.h"
#include "modelgen/calibrate/page_cache_size.h"
#include "modelgen/calibrate/page_reads.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/trace_builder.h"

#define FILE_SYSTEM (8u << 20)
#define DISK        (8u << 20)

enum { CALL_NS = 1000, FILE_PAGES = 200 };

/* What the thread's next call reads: pages of file 7, of which those from `came` on, so many, come
 * in with one request each `of_request` pages. */
struct call {
    uint64_t first;
    uint32_t asked; /* pages */
    int bytes;      /* what it got */
    uint64_t came;
    uint32_t n_came, of_request;
};

static void read_call(struct trace *trace, struct call call) {
    const struct trace_thread *thread = &trace->threads[0];
    uint64_t start_ns = (thread->n_records + 1) * 2 * CALL_NS, time_ns = start_ns + 10;
    uint32_t context = builder_context(trace, "read_it", 10, "main", 900);
    for (uint32_t at = 0; at < call.n_came; at += call.of_request) {
        builder_pages(trace, (struct trace_pages){time_ns++, 7, call.came + at, call.of_request,
                                                  FILE_SYSTEM, thread->tid, PAGES_ADDED});
        builder_block(trace, (struct trace_block){time_ns, time_ns, time_ns + 5, DISK, thread->tid,
                                                  call.of_request * TRACE_PAGE_BYTES, BLOCK_READ,
                                                  8000 + 8 * (call.came + at)});
        time_ns += 10;
    }
    builder_pages(trace, (struct trace_pages){time_ns, 7, call.first, call.asked, FILE_SYSTEM,
                                              thread->tid, PAGES_READ});
    builder_record(trace, 0, "pread", start_ns, CALL_NS, 3, context, call.bytes);
}

static struct trace *new_trace(void) {
    struct trace *trace = builder_new(1);
    builder_thread(trace, "main", -1);
    trace->meta.has_blocks = trace->meta.has_pages = true;
    return trace;
}

struct found {
    struct disk_service disks;
    struct page_reads reads;
};

static struct found find(const struct trace *trace) {
    struct found found = {.disks = disk_service_find(trace)};
    found.reads = page_reads_find(&found.disks);
    return found;
}

static void free_found(struct found *found, struct trace *trace) {
    page_reads_free(&found->reads);
    disk_service_free(&found->disks);
    trace_free(trace);
}

static void pages_are_those_of_the_calls_requests(void **state) {
    (void)state;
    struct trace *trace = new_trace();
    read_call(trace, (struct call){4, 2, 8192, 4, 8, 4}); /* four are read ahead */
    read_call(trace, (struct call){8, 2, 8192, 0, 0, 1});
    struct found found = find(trace);
    assert_int_equal(found.reads.n_calls, 2);
    assert_int_equal(found.reads.n_pages, 8);
    assert_true(found.reads.sectors[0] == 8032 && found.reads.sectors[7] == 8032 + 7 * 8);
    assert_int_equal(found.reads.group_of[0], found.reads.group_of[3]);
    assert_int_not_equal(found.reads.group_of[3], found.reads.group_of[4]);
    const struct cache_access *accesses = found.reads.accesses;
    assert_int_equal(found.reads.calls[0].n, 3);
    assert_true(accesses[0].first == 0 && accesses[0].count == 2 && !accesses[0].ahead);
    assert_true(accesses[1].first == 2 && accesses[1].count == 2 && accesses[1].ahead);
    assert_true(accesses[2].first == 4 && accesses[2].count == 4 && accesses[2].ahead);
    assert_true(found.reads.came[0][0] && found.reads.came[2][3]);
    assert_true(accesses[3].first == 4 && accesses[3].count == 2 && !found.reads.came[3][0]);
    assert_false(found.reads.warm[0] || found.reads.warm[7]);
    free_found(&found, trace);
}

/* It asks for 16 pages and gets what the file has; the kernel says in steps what is left. */
static void nothing_is_read_beyond_the_end_or_twice(void **state) {
    (void)state;
    struct trace *trace = new_trace();
    read_call(trace, (struct call){0, 16, 9000, 0, 3, 3});
    builder_pages(trace, (struct trace_pages){2 * CALL_NS + 100, 7, 2, 14, FILE_SYSTEM,
                                              trace->threads[0].tid, PAGES_READ});
    struct found found = find(trace);
    assert_int_equal(found.reads.calls[0].n, 1);
    assert_true(found.reads.accesses[0].first == 0);
    assert_in_range(found.reads.accesses[0].count, 3,
                    4); /* where in its page it began is not said */
    free_found(&found, trace);
}

static void what_was_there_before_has_its_neighbours_place(void **state) {
    (void)state;
    struct trace *trace = new_trace();
    read_call(trace, (struct call){10, 1, 4096, 10, 1, 1});
    read_call(trace, (struct call){12, 1, 4096, 0, 0, 1});
    struct found found = find(trace);
    assert_int_equal(found.reads.n_pages, 2);
    assert_true(found.reads.warm[1] && !found.reads.warm[0]);
    assert_true(found.reads.sectors[1] == found.reads.sectors[0] + 16);
    free_found(&found, trace);
}

/* ---- sizes ---- */

static uint64_t random_state;

static uint64_t random_below(uint64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* Reads of single pages, which an LRU cache of so many pages has, or not (0: chance decides, one in
 * two). */
static struct trace *random_trace(size_t n, size_t pages) {
    struct trace *trace = new_trace();
    uint64_t used[FILE_PAGES] = {0}; /* when last; 0: never */
    random_state = 7;
    for (size_t i = 1; i <= n; i++) {
        uint64_t page = random_below(1 + random_below(FILE_PAGES));
        size_t newer = 0;
        for (size_t other = 0; other < FILE_PAGES; other++)
            newer += used[other] > used[page];
        bool comes = used[page] == 0 || (pages > 0 ? newer >= pages : random_below(2) == 0);
        used[page] = i;
        read_call(trace, (struct call){page, 1, 4096, page, comes, 1});
    }
    return trace;
}

static void free_cache(struct page_cache *cache) {
    free(cache->unknown);
    free(cache->groups);
    free(cache->calls);
}

static void the_size_is_that_which_explains_the_reads(void **state) {
    (void)state;
    struct trace *trace = random_trace(4000, 60);
    struct found found = find(trace);
    struct page_cache cache = page_cache_size_find(&found.reads);
    assert_null(cache.unknown);
    assert_int_equal(cache.rule, CACHE_LRU);
    assert_true(fabs(cache.size_bytes / PAGE_CACHE_PAGE_BYTES - 60) <= 1);
    assert_true(cache.agreement > 0.99);
    free_cache(&cache);
    free_found(&found, trace);
}

static void where_chance_decides_no_size_does(void **state) {
    (void)state;
    struct trace *trace = random_trace(4000, 0);
    struct found found = find(trace);
    struct page_cache cache = page_cache_size_find(&found.reads);
    assert_non_null(cache.unknown);
    free_cache(&cache);
    free_found(&found, trace);
}

static void mapped_files_are_not_known(void **state) {
    (void)state;
    struct trace *trace = random_trace(500, 60);
    builder_pages(trace, (struct trace_pages){1, 9, 0, 2000, FILE_SYSTEM, trace->threads[0].tid,
                                              PAGES_MAPPED});
    struct found found = find(trace);
    struct page_cache cache = page_cache_size_find(&found.reads);
    assert_non_null(strstr(cache.unknown, "mapped"));
    free_cache(&cache);
    free_found(&found, trace);
}

static void a_cache_that_held_all_has_no_size(void **state) {
    (void)state;
    struct trace *trace = random_trace(2000, FILE_PAGES);
    struct found found = find(trace);
    struct page_cache cache = page_cache_size_find(&found.reads);
    assert_null(cache.unknown);
    assert_true(cache.size_bytes == 0);
    assert_true(cache.read_bytes == (double)found.reads.n_pages * PAGE_CACHE_PAGE_BYTES);
    free_cache(&cache);
    free_found(&found, trace);
}

/* ---- the model ---- */

/* An io node of four calls, on two groups of two pages: of the first, the second, the first, and a
 * call that reads nothing of the cache but has a request of its own. */
static struct model *resized(double pages, double *requests) {
    static const double groups[] = {2, 0, 800, 2, 0, 1600};
    static const double reads[] = {1, 0, 2, 0, 1, 2, 2, 0, 1, 0, 2, 0};
    static const double calls[] = {1, 800, 16, 0, 1, 1600, 16, 0, 0, 1, 4000, 8, 0};
    static const double numbers[] = {0, 1, 2, -1};
    struct model *model = memory_alloc(1, sizeof *model);
    struct node *node = model->nodes = memory_alloc(1, sizeof *node);
    struct page_cache *cache = &model->page_cache;
    model->n_nodes = 1;
    *node =
        (struct node){.kind = NODE_IO,
                      .n_calls = 13,
                      .calls = memcpy(memory_alloc(13, sizeof(double)), calls, sizeof calls),
                      .n_reads = 4,
                      .reads = memcpy(memory_alloc(4, sizeof(double)), numbers, sizeof numbers)};
    cache->groups = memcpy(memory_alloc(6, sizeof(double)), groups, sizeof groups);
    cache->n_groups = 6;
    cache->calls = memcpy(memory_alloc(12, sizeof(double)), reads, sizeof reads);
    cache->n_calls = 12;
    cache->rule = CACHE_LRU;
    cache->read_bytes = 4 * PAGE_CACHE_PAGE_BYTES;
    struct changed_parts parts = {0};
    struct error error;
    assert_int_equal(page_cache_resize(model, pages * PAGE_CACHE_PAGE_BYTES, &parts, &error), 0);
    assert_int_equal(parts.count, 1);
    changed_parts_free(&parts);
    *requests = 0;
    for (size_t i = 0; i < node->n_calls; i += 1 + 3 * (size_t)node->calls[i])
        *requests += node->calls[i];
    return model;
}

static void a_smaller_cache_asks_again(void **state) {
    (void)state;
    double requests;
    struct model *model = resized(4, &requests);
    assert_true(requests == 3);
    model_free(model);
    model = resized(2, &requests);
    const struct node *node = &model->nodes[0];
    assert_true(requests == 4);
    assert_true(node->calls[8] == 1 && node->calls[9] == 800 && node->calls[10] == 16);
    assert_true(node->calls[12] == 1 && node->calls[13] == 4000); /* as recorded */
    model_free(model);
}

/* The call that brought the first group in is no part of the reads any more. */
static void what_is_no_longer_read_comes_in_for_the_next_one(void **state) {
    (void)state;
    double requests;
    struct model *model = resized(4, &requests);
    struct page_cache *cache = &model->page_cache;
    struct node *node = &model->nodes[0];
    cache->n_calls -= 4;
    for (size_t i = 0; i < cache->n_calls; i++)
        cache->calls[i] = cache->calls[i + 4];
    static const double calls[] = {1, 1600, 16, 0, 0, 1, 4000, 8, 0};
    static const double reads[] = {0, 1, -1};
    memcpy(node->calls, calls, sizeof calls);
    memcpy(node->reads, reads, sizeof reads);
    node->n_calls = 9;
    node->n_reads = 3;
    struct error error;
    assert_int_equal(page_cache_refill(model, &error), 0);
    assert_true(node->calls[0] == 1 && node->calls[1] == 1600);
    assert_true(node->calls[4] == 1 && node->calls[5] == 800 && node->calls[6] == 16);
    assert_true(node->calls[8] == 1 && node->calls[9] == 4000); /* as recorded */
    cache->unknown = memory_strdup("nobody knows");
    assert_int_equal(page_cache_refill(model, &error), -1);
    assert_string_equal(error.text, "--file-mix: nobody knows");
    model_free(model);
}

static void what_was_not_recorded_is_refused(void **state) {
    (void)state;
    struct model model = {0};
    struct changed_parts parts = {0};
    struct error error;
    assert_int_equal(page_cache_resize(&model, 1e6, &parts, &error), -1);
    assert_non_null(strstr(error.text, "does not tell what was read"));
    model.page_cache.unknown = memory_strdup("the kernel does not say");
    assert_int_equal(page_cache_resize(&model, 1e6, &parts, &error), -1);
    assert_non_null(strstr(error.text, "the kernel does not say"));
    free(model.page_cache.unknown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_those_of_the_calls_requests),
        cmocka_unit_test(nothing_is_read_beyond_the_end_or_twice),
        cmocka_unit_test(what_was_there_before_has_its_neighbours_place),
        cmocka_unit_test(the_size_is_that_which_explains_the_reads),
        cmocka_unit_test(where_chance_decides_no_size_does),
        cmocka_unit_test(mapped_files_are_not_known),
        cmocka_unit_test(a_cache_that_held_all_has_no_size),
        cmocka_unit_test(a_smaller_cache_asks_again),
        cmocka_unit_test(what_is_no_longer_read_comes_in_for_the_next_one),
        cmocka_unit_test(what_was_not_recorded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
