/* What the probe finds in the loaded objects' tables, against what dlsym finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "tracer/probe/elf.c" // NOLINT(bugprone-suspicious-include): both kinds of hash tables

static const char *const names[] = {
#define API(name, ...)     #name,
#define VARIANT(name, ...) #name,
#define BUFFERED           VARIANT
#define FUTURE             VARIANT
#define SAME               VARIANT
#include "formats/catalog.def"
#include "tracer/probe/variants.def"
#undef API
#undef VARIANT
#undef BUFFERED
#undef FUTURE
#undef SAME
    "strlen", /* chosen by the processor */
    "no_such_function",
};

enum { N_NAMES = sizeof names / sizeof *names };

/* Without a version dlsym gives libc's conditions of before 2002. */
static void *by_dlsym(const char *name) {
    void *found = dlsym(RTLD_NEXT, name), *newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    bool is_old = newer != NULL && found == dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
    return is_old ? newer : found;
}

static void test_all_names_of_the_catalog(void **state) {
    (void)state;
    static void *places[N_NAMES];
    static struct elf_wanted wanted[N_NAMES];
    for (size_t i = 0; i < N_NAMES; i++)
        wanted[i] = (struct elf_wanted){names[i], &places[i]};
    elf_resolve(wanted, N_NAMES);
    size_t n_found = 0;
    for (size_t i = 0; i < N_NAMES; i++) {
        if (places[i] != by_dlsym(names[i]) || elf_next(names[i], NULL) != places[i])
            fail_msg("%s: %p, dlsym %p", names[i], places[i], by_dlsym(names[i]));
        n_found += places[i] != NULL;
    }
    assert_true(n_found > N_NAMES / 2);
}

static void test_known_places_are_left_alone(void **state) {
    (void)state;
    void *place = &place;
    elf_resolve(&(struct elf_wanted){"read", &place}, 1);
    assert_ptr_equal(place, &place);
}

static void test_versions(void **state) {
    (void)state;
    assert_ptr_equal(elf_next("pthread_cond_wait", "GLIBC_2.2.5"),
                     dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.2.5"));
    assert_ptr_equal(elf_next("pthread_cond_wait", "GLIBC_2.3.2"),
                     dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2"));
    assert_null(elf_next("pthread_cond_wait", "GLIBC_9.9"));
    assert_null(elf_next("no_such_function", "GLIBC_2.2.5"));
}

static void test_a_library_loaded_for_its_loader_alone(void **state) {
    (void)state;
    assert_null(elf_anywhere("td_log"));
    void *library = dlopen("libthread_db.so.1", RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(library);
    assert_non_null(elf_anywhere("td_log"));
    assert_ptr_equal(elf_anywhere("td_log"), dlsym(library, "td_log"));
    assert_null(elf_anywhere("no_such_function"));
    dlclose(library);
    assert_null(elf_anywhere("td_log"));
}

static bool open_libc(struct object *object) {
    for (const struct link_map *map = own_map(); map != NULL; map = map->l_next)
        if (open_object(object, map->l_addr, (uint64_t)map->l_ld) &&
            is_string(object, object->own_name, C_LIBRARY))
            return true;
    return false;
}

/* Every library may have one of them only. */
static void test_both_kinds_of_hash_tables(void **state) {
    (void)state;
    struct object gnu = {0}, old;
    assert_true(open_libc(&gnu));
    if (gnu.gnu_hash == 0 || gnu.hash == 0)
        skip();
    old = gnu;
    old.gnu_hash = 0;
    for (size_t i = 0; i < N_NAMES; i++) {
        struct name name = name_of(names[i], NULL);
        assert_ptr_equal(look_in(&gnu, &name), look_in(&old, &name));
    }
}

/* The tables end where the object does, wherever that is. */
static void test_tables_cut_short(void **state) {
    (void)state;
    struct object whole = {0};
    assert_true(open_libc(&whole));
    for (uint64_t bytes = 0; bytes < whole.high - whole.low; bytes += 1013) {
        struct object cut = whole;
        cut.high = cut.low + bytes;
        if (bytes % 2 != 0)
            cut.gnu_hash = 0;
        struct name name = name_of(names[bytes % N_NAMES], bytes % 3 != 0 ? NULL : "GLIBC_2.2.5");
        const ElfW(Sym) *symbol = find_symbol(&cut, &name);
        assert_true(symbol == NULL || (uint64_t)(symbol + 1) <= cut.high);
    }
}

/* Its dynamic section has offsets where others have addresses. */
static void test_the_kernels_object_is_never_taken(void **state) {
    (void)state;
    struct object object = {0};
    uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
    for (const struct link_map *map = own_map(); map != NULL; map = map->l_next)
        assert_true(!open_object(&object, map->l_addr, (uint64_t)map->l_ld) ||
                    !has(&object, kernels, 1));
    assert_null(elf_anywhere("__vdso_clock_gettime"));
}

static void *check_tid(void *offset) {
    assert_int_equal(*(const int *)((const char *)pthread_self() + *(const int *)offset), gettid());
    return NULL;
}

static void test_where_a_threads_id_is(void **state) {
    (void)state;
    int offset = elf_pthread_tid_offset();
    assert_true(offset > 0);
    check_tid(&offset);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, check_tid, &offset), 0);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_names_of_the_catalog),
        cmocka_unit_test(test_known_places_are_left_alone),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_a_library_loaded_for_its_loader_alone),
        cmocka_unit_test(test_both_kinds_of_hash_tables),
        cmocka_unit_test(test_tables_cut_short),
        cmocka_unit_test(test_the_kernels_object_is_never_taken),
        cmocka_unit_test(test_where_a_threads_id_is),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
