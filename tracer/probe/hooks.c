/* Programs compiled with -finstrument-functions call these at the start and the end of every
 * function, inlined ones too. What is called as a function is wrapped, and its hooks are part of
 * it; what was inlined is seen here, without arguments and result. */
#include "tracer/probe/elf.h"
#include "tracer/probe/inside.h"
#include "tracer/probe/wrap_record.h"

#define SLOTS     1024 /* a power of 2, well above USER_MAX_FUNCTIONS */
#define MAX_FRAME (64u << 10)

static struct slot {
    uint64_t address; /* of the function; 0 = free */
    uint32_t number;  /* of its wrap */
    struct raw_wrap *raw;
} slots[SLOTS];
static bool any;

/* The hooked function that hides what it calls, of this thread. */
static _Thread_local struct {
    uint64_t address, depth; /* it may be recursive */
    struct probe_call call;
} hooked __attribute__((tls_model("initial-exec")));

typedef void hook(void *function, void *site);

static struct slot *find(uint64_t address) {
    uint64_t at = (address * 0x9e3779b97f4a7c15ull) >> 54;
    while (slots[at % SLOTS].address != 0 && slots[at % SLOTS].address != address)
        at++;
    return &slots[at % SLOTS];
}

void hooks_add(uint64_t address, uint32_t number, struct raw_wrap *raw) {
    *find(address) = (struct slot){address, number, raw};
    any = true;
}

/* What the record would need cannot be seen here. */
static bool is_blind(const struct wrap *wrap) {
    return wrap->object_source != USER_NAME || wrap->amount_source == USER_ARGUMENT ||
           wrap->fails != USER_NEVER;
}

/* Where the frame that the function was inlined into keeps its return address, which the compiler
 * tells us: when something else lies there, the function was left without a word. 0: not found. */
static uint64_t find_return_place(struct probe_site site, uint64_t caller) {
    uint64_t place = (site.cfa + 7) & ~7ull;
    uint64_t end = place + MAX_FRAME;
    if (place < probe_thread.stack_low || probe_thread.stack_high < sizeof caller)
        return 0;
    if (end > probe_thread.stack_high - sizeof caller)
        end = probe_thread.stack_high - sizeof caller;
    for (; place <= end; place += sizeof caller)
        if (*(const uint64_t *)place == caller)
            return place;
    return 0;
}

/* The same function in the same frame: it was left by longjmp and is called anew. */
static bool is_again(const struct slot *slot, uint64_t place) {
    return hooked.address == slot->address && (probe_thread.inside & 1) != 0 &&
           probe_thread.inside == (place | 1);
}

static void enter(const struct slot *slot, struct probe_site site, uint64_t caller) {
    const struct wrap *wrap = &wraps[slot->number];
    if (wrap_is_inside()) {
        if ((probe_thread.inside & 1) == 0 || hooked.address != slot->address)
            return;
        if (!is_again(slot, find_return_place(site, caller))) {
            hooked.depth++;
            return;
        }
        wrap_forget();
    }
    if (!probe_recording())
        return;
    if (wrap->api < API_COUNT && is_blind(wrap)) {
        __atomic_fetch_add(&slot->raw->unseen, 1, __ATOMIC_RELAXED);
        return;
    }
    hooked.address = slot->address;
    hooked.depth = 1;
    hooked.call = (struct probe_call){0};
    if (wrap->api < API_COUNT)
        hooked.call = probe_begin(probe_context(site), (enum api)wrap->api,
                                  (uint64_t)wrap->object_number, wrap->flags);
    uint64_t place = wrap->quiet ? find_return_place(site, caller) : 0;
    if (place == 0)
        return;
    probe_thread.inside_end = probe_thread.end;
    probe_thread.inside_caller = caller;
    probe_thread.inside = place | 1;
    probe_thread.end = 0;
}

static void leave(const struct slot *slot) {
    if (hooked.address != slot->address || --hooked.depth > 0)
        return;
    const struct wrap *wrap = &wraps[slot->number];
    hooked.address = 0;
    if (wrap->quiet && (probe_thread.inside & 1) != 0)
        wrap_forget();
    probe_end(&hooked.call, wrap->flags, (int32_t)wrap->amount_number);
}

/* The hooks that ours stand in front of: libc's, which do nothing, or some profiler's. */
static void pass_on(hook **real, const char *name, void *function, void *site) {
    if (*real == NULL)
        *(void **)real = elf_next(name, NULL);
    if (*real != NULL)
        (*real)(function, site);
}

PROBE_EXPORT hook __cyg_profile_func_enter, __cyg_profile_func_exit;

void __cyg_profile_func_enter(void *function, void *site) {
    static hook *real;
    pass_on(&real, "__cyg_profile_func_enter", function, site);
    if (any) {
        const struct slot *slot = find((uint64_t)function);
        if (slot->address != 0)
            enter(slot, PROBE_SITE, (uint64_t)site);
    }
}

void __cyg_profile_func_exit(void *function, void *site) {
    static hook *real;
    if (any) {
        const struct slot *slot = find((uint64_t)function);
        if (slot->address != 0)
            leave(slot);
    }
    pass_on(&real, "__cyg_profile_func_exit", function, site);
}
