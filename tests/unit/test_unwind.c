/* The probe's unwinder against tables and stacks that are garbage. That it finds the right chains
 * is seen in tests/unwind.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>

#include "processor/x86_64/probe/unwind.c" // NOLINT(bugprone-suspicious-include): what a walk works on

enum { STACK_BYTES = 1 << 16, WORDS = 512, MUTATIONS = 100000, MAX_FRAMES = 64 };

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static uint64_t stack_high(void) {
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    assert_int_equal(pthread_getattr_np(pthread_self(), &attributes), 0);
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    return (uint64_t)low + bytes;
}

/* What must hold of any chain, whatever the tables say. */
static void check_frames(const struct unwind_frame *frames, size_t n, uint64_t low, uint64_t high) {
    for (size_t i = 0; i < n; i++) {
        assert_true(frames[i].place >= (i == 0 ? low : frames[i - 1].place + 1));
        assert_true(frames[i].place <= high - sizeof(uint64_t));
        assert_true(*(const uint64_t *)frames[i].place == frames[i].address);
    }
}

/* ---- garbled tables ---- */

/* A copy of a library's tables, alone in its memory so that a step beyond it is noticed, and a
 * stack that looks as if that library's functions had called each other. */
struct copy {
    unsigned char *tables;
    uint64_t bytes, moved; /* from the library's to the copy */
    uint64_t n_functions;
    uint64_t *stack;
    struct unwind work;
};

static void copy_tables(struct copy *copy, void *code) {
    struct walk *walk = (struct walk *)&copy->work;
    walk->tables.code_high = 0;
    assert_true(find_tables(walk, (uint64_t)code));
    copy->bytes = walk->tables.high - walk->tables.header;
    copy->tables = malloc(copy->bytes);
    assert_non_null(copy->tables);
    memcpy(copy->tables, (const void *)walk->tables.header, copy->bytes);
    copy->moved = (uint64_t)copy->tables - walk->tables.header;
    uint32_t count;
    memcpy(&count, copy->tables + 8, sizeof count);
    copy->n_functions = count;
    copy->stack = malloc(WORDS * sizeof *copy->stack);
    assert_non_null(copy->stack);
}

static void free_copy(struct copy *copy) {
    free(copy->tables);
    free(copy->stack);
}

/* The n-th function of the copy: where it starts and where its entry is. */
static void function_of(const struct copy *copy, uint64_t n, uint64_t *start, uint64_t *entry) {
    int32_t pair[2];
    memcpy(pair, copy->tables + 12 + 8 * n, sizeof pair);
    *start = (uint64_t)copy->tables + (uint64_t)(int64_t)pair[0];
    *entry = (uint64_t)copy->tables + (uint64_t)(int64_t)pair[1];
}

static uint64_t any_code(const struct copy *copy) {
    uint64_t start, entry;
    function_of(copy, random_below(copy->n_functions), &start, &entry);
    return start + 1 + random_below(64);
}

static uint64_t any_word(const struct copy *copy) {
    switch (random_below(8)) {
    case 0:
        return random_state;
    case 1:
        return random_below(64);
    case 2:
    case 3:
        return (uint64_t)&copy->stack[random_below(WORDS)];
    default:
        return any_code(copy);
    }
}

/* Where a change matters: in the header, or in the entry of the function or what it begins with. */
static uint64_t place_to_change(const struct copy *copy, uint64_t entry) {
    uint64_t base = (uint64_t)copy->tables, at = base + random_below(12);
    uint32_t back;
    switch (random_below(8)) {
    case 0:
        break;
    case 1:
        at = base + random_below(copy->bytes);
        break;
    case 2:
    case 3:
        memcpy(&back, (const void *)(entry + 4), sizeof back);
        at = entry + 4 - back + random_below(28);
        break;
    default:
        at = entry + random_below(40);
        break;
    }
    return at - base < copy->bytes ? at - base : 0;
}

static size_t walk_copy(struct copy *copy, uint64_t code, struct unwind_frame *frames) {
    struct walk *walk = (struct walk *)&copy->work;
    uint64_t base = (uint64_t)copy->tables;
    for (size_t i = 0; i < WORDS; i++)
        copy->stack[i] = any_word(copy);
    walk->tables =
        (struct tables){.code_high = UINT64_MAX, base, .low = base, .high = base + copy->bytes};
    walk->stack_low = (uint64_t)copy->stack;
    walk->stack_high = (uint64_t)(copy->stack + WORDS);
    for (size_t i = 0; i < REGISTERS; i++)
        walk->registers[i] = any_word(copy);
    walk->registers[RSP] = (uint64_t)&copy->stack[random_below(16)];
    walk->registers[RETURN_ADDRESS] = code;
    walk->known = random_below(4) == 0 ? (1u << REGISTERS) - 1
                                       : CALLEE_SAVED | 1u << RSP | 1u << RETURN_ADDRESS;
    return walk_on(walk, frames, MAX_FRAMES);
}

static void check_copy(void *code, int changes) {
    struct copy copy;
    struct unwind_frame frames[MAX_FRAMES];
    size_t n_frames = 0;
    copy_tables(&copy, code);
    for (int i = 0; i < MUTATIONS / 4; i++) {
        uint64_t start, entry, at[4];
        unsigned char before[4];
        function_of(&copy, random_below(copy.n_functions), &start, &entry);
        for (int c = 0; c < changes; c++) {
            at[c] = place_to_change(&copy, entry);
            before[c] = copy.tables[at[c]];
        }
        for (int c = 0; c < changes; c++)
            copy.tables[at[c]] = (unsigned char)random_below(256);
        size_t n = walk_copy(&copy, start + random_below(64), frames);
        check_frames(frames, n, (uint64_t)copy.stack, (uint64_t)(copy.stack + WORDS));
        n_frames += n;
        for (int c = changes - 1; c >= 0; c--)
            copy.tables[at[c]] = before[c];
    }
    assert_true(n_frames > MUTATIONS / 100); /* else nothing was tried */
    free_copy(&copy);
}

static void test_garbled_tables_end_the_walk(void **state) {
    (void)state;
    for (int changes = 1; changes <= 4; changes += 3) {
        check_copy((void *)&walk_on, changes); /* of the test itself */
        check_copy(dlsym(RTLD_NEXT, "qsort"), changes);
    }
}

/* ---- garbage on a real stack ---- */

static struct {
    struct unwind work;
    struct unwind_frame frames[MAX_FRAMES];
    size_t n;
    uint64_t high;
} seen;

static __attribute__((noinline)) void look(void) {
    struct unwind_registers here;
    UNWIND_HERE(&here);
    seen.n = unwind_walk(&seen.work, &here, seen.high, seen.frames, MAX_FRAMES);
    check_frames(seen.frames, seen.n, here.rsp, seen.high);
}

static __attribute__((noinline)) int deep(int depth) {
    if (depth == 0)
        look();
    int below = depth == 0 ? 0 : deep(depth - 1);
    __asm__ volatile("" ::: "memory");
    return below + 1;
}

static void test_a_deep_chain_is_cut(void **state) {
    (void)state;
    seen.high = stack_high();
    deep(10 * MAX_FRAMES);
    assert_int_equal(seen.n, MAX_FRAMES);
}

/* As hand-written assembly does: rbp holds something else, and the tables of this function, which
 * keeps its frame in rbp, do not know. */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void mislead(uint64_t rbp) {
    void (*callee)(void) = look;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "subq $128, %%rsp\n\t" /* beyond the red zone */
                     "andq $-16, %%rsp\n\t"
                     "pushq %%rbp\n\t"
                     "pushq %%rbp\n\t"
                     "movq %0, %%rbp\n\t"
                     "call *%1\n\t"
                     "popq %%rbp\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(rbp), "+a"(callee)
                     :
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void test_wrong_tables_end_the_walk(void **state) {
    (void)state;
    seen.high = stack_high();
    uint64_t low = (uint64_t)__builtin_frame_address(0);
    const uint64_t values[] = {0,       0x1234560, UINT64_MAX,   low - 4096,
                               low + 1, seen.high, seen.high - 8};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        mislead(values[i]);
        assert_true(seen.n >= 1);
    }
#ifndef __SANITIZE_ADDRESS__ /* it does not like to see its guards between variables read */
    for (int i = 0; i < 1000; i++)
        mislead(low + random_below(seen.high - low));
#endif
}

/* ---- stacks of the program's own ---- */

static ucontext_t main_context, coroutine_context;

static void coroutine(void) {
    look();
}

static void run_coroutine(char *stack) {
    assert_int_equal(getcontext(&coroutine_context), 0);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = STACK_BYTES;
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, coroutine, 0);
    assert_int_equal(swapcontext(&main_context, &coroutine_context), 0);
}

static void test_a_coroutines_chain_ends_where_it_began(void **state) {
    (void)state;
    char *stack = malloc(STACK_BYTES);
    assert_non_null(stack);
    seen.high = (uint64_t)stack + STACK_BYTES;
    run_coroutine(stack);
    assert_in_range(seen.n, 1, 3);
    free(stack);
}

static void test_a_coroutine_on_its_makers_stack_ends_too(void **state) {
    (void)state;
    char stack[STACK_BYTES];
    seen.high = stack_high();
    run_coroutine(stack);
    assert_in_range(seen.n, 1, 3);
}

static void test_an_empty_stack_has_no_frames(void **state) {
    (void)state;
    struct unwind_registers here;
    UNWIND_HERE(&here);
    assert_int_equal(unwind_walk(&seen.work, &here, here.rsp, seen.frames, MAX_FRAMES), 0);
    assert_int_equal(unwind_walk(&seen.work, &here, 0, seen.frames, MAX_FRAMES), 0);
    here.rip = 0x1000;
    assert_int_equal(unwind_walk(&seen.work, &here, stack_high(), seen.frames, MAX_FRAMES), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garbled_tables_end_the_walk),
        cmocka_unit_test(test_a_deep_chain_is_cut),
        cmocka_unit_test(test_wrong_tables_end_the_walk),
        cmocka_unit_test(test_a_coroutines_chain_ends_where_it_began),
        cmocka_unit_test(test_a_coroutine_on_its_makers_stack_ends_too),
        cmocka_unit_test(test_an_empty_stack_has_no_frames),
    };
    return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
