/* model/page_cache: which of the recorded reads a cache of a given size would have missed. */
/* tests/run: beside others */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/page_cache.h"

enum { PAGES = 64, READS = 3000 };

static uint64_t random_state;

static int random_below(int n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)n);
}

static int groups[PAGES];
static bool warm[PAGES];
static struct cache_access accesses[READS];

/* Every page is a group of its own, and none was there at the beginning. */
static struct cache_reads no_reads(void) {
    for (int i = 0; i < PAGES; i++) {
        groups[i] = i;
        warm[i] = false;
    }
    return (struct cache_reads){accesses, 0, groups, warm, PAGES};
}

static void read_pages(struct cache_reads *reads, int first, int count) {
    accesses[reads->n++] = (struct cache_access){first, count, false};
}

/* All of them, at random; smaller numbers more often. */
static struct cache_reads random_reads(uint64_t seed) {
    struct cache_reads reads = no_reads();
    random_state = seed;
    while (reads.n < READS)
        read_pages(&reads, random_below(1 + random_below(PAGES)), 1);
    return reads;
}

static size_t count_misses(const struct cache_reads *reads, enum cache_rule rule, int pages) {
    struct cache_misses misses =
        page_cache_replay(reads, rule, (double)pages * PAGE_CACHE_PAGE_BYTES);
    size_t n = 0;
    for (size_t i = 0; i < misses.count; i++)
        n += (size_t)misses.items[i].count;
    free(misses.items);
    return n;
}

/* The pages that were read since this one was, itself among them; PAGES + 1: it was not. */
static int stack_distance(const struct cache_reads *reads, size_t at) {
    bool between[PAGES] = {false};
    int distance = 1;
    for (size_t i = at; i-- > 0;) {
        int page = reads->accesses[i].first;
        if (page == reads->accesses[at].first)
            return distance;
        distance += !between[page];
        between[page] = true;
    }
    return PAGES + 1;
}

static void lru_misses_what_is_farther_down_the_stack(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct cache_reads reads = random_reads(seed);
        for (int pages = 1; pages <= PAGES; pages += 7) {
            struct cache_misses misses =
                page_cache_replay(&reads, CACHE_LRU, pages * PAGE_CACHE_PAGE_BYTES);
            size_t m = 0;
            for (size_t i = 0; i < reads.n; i++) {
                bool missed = m < misses.count && misses.items[m].access == i;
                assert_int_equal(missed, stack_distance(&reads, i) > pages);
                m += missed;
            }
            free(misses.items);
        }
    }
}

static void nothing_is_missed_twice_where_all_fits(void **state) {
    (void)state;
    struct cache_reads reads = random_reads(4);
    bool was_read[PAGES] = {false};
    size_t different = 0;
    for (size_t i = 0; i < reads.n; i++) {
        different += !was_read[accesses[i].first];
        was_read[accesses[i].first] = true;
    }
    for (enum cache_rule rule = 0; rule < CACHE_RULES; rule++) {
        assert_int_equal(count_misses(&reads, rule, PAGES + 1), different);
        struct cache_misses misses = page_cache_replay(&reads, rule, INFINITY);
        assert_int_equal(misses.count, different);
        free(misses.items);
    }
}

static void a_cache_of_one_page_holds_the_last_one(void **state) {
    (void)state;
    struct cache_reads reads = no_reads();
    read_pages(&reads, 0, 1);
    read_pages(&reads, 0, 1);
    read_pages(&reads, 1, 1);
    read_pages(&reads, 0, 1);
    for (enum cache_rule rule = 0; rule < CACHE_RULES; rule++)
        assert_int_equal(count_misses(&reads, rule, 1), 3);
}

/* The kernel frees 32 pages at once, so that there must be some of both kinds. */
static void what_was_read_twice_stays_when_a_scan_comes(void **state) {
    (void)state;
    struct cache_reads reads = no_reads();
    for (int round = 0; round < 2; round++)
        read_pages(&reads, 0, 8);
    read_pages(&reads, 8, PAGES - 8);
    size_t before = count_misses(&reads, CACHE_TWO_LISTS, 40);
    read_pages(&reads, 0, 8);
    assert_int_equal(count_misses(&reads, CACHE_TWO_LISTS, 40), before);
    assert_int_equal(count_misses(&reads, CACHE_LRU, 40), before + 8);
}

static void a_miss_brings_the_rest_of_its_group(void **state) {
    (void)state;
    struct cache_reads reads = no_reads();
    for (int i = 0; i < PAGES; i++)
        groups[i] = i / 8;
    read_pages(&reads, 2, 2);
    read_pages(&reads, 6, 1);
    read_pages(&reads, 1, 1);
    struct cache_misses misses = page_cache_replay(&reads, CACHE_TWO_LISTS, INFINITY);
    assert_int_equal(misses.count, 2);
    assert_int_equal(misses.items[0].access, 0);
    assert_int_equal(misses.items[0].first, 2);
    assert_int_equal(misses.items[0].count, 6);
    assert_int_equal(misses.items[1].access, 2);
    assert_int_equal(misses.items[1].count, 1);
    free(misses.items);
}

static void what_comes_ahead_has_not_been_read(void **state) {
    (void)state;
    struct cache_reads reads = no_reads();
    accesses[reads.n++] = (struct cache_access){0, 4, true};
    read_pages(&reads, 0, 4);
    assert_int_equal(count_misses(&reads, CACHE_LRU, PAGES), 4);
}

/* As if the same had gone on before: what is read last before it ends is there when it begins. */
static void what_was_there_before_is_found_if_it_fits(void **state) {
    (void)state;
    struct cache_reads reads = no_reads();
    read_pages(&reads, 0, 16);
    read_pages(&reads, 16, 16);
    for (int i = 0; i < 16; i++)
        warm[i] = true;
    assert_int_equal(count_misses(&reads, CACHE_LRU, PAGES), 16);
    assert_int_equal(count_misses(&reads, CACHE_LRU, 16), 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_misses_what_is_farther_down_the_stack),
        cmocka_unit_test(nothing_is_missed_twice_where_all_fits),
        cmocka_unit_test(a_cache_of_one_page_holds_the_last_one),
        cmocka_unit_test(what_was_read_twice_stays_when_a_scan_comes),
        cmocka_unit_test(a_miss_brings_the_rest_of_its_group),
        cmocka_unit_test(what_comes_ahead_has_not_been_read),
        cmocka_unit_test(what_was_there_before_is_found_if_it_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
