#include "modelgen/dependencies/pool_steps.h"

/* The thread's next use; NULL: no more. */
static const struct token_use *next_use(const struct run_state *run, uint32_t thread) {
    if (!run->uses || thread >= run->uses->n_threads)
        return NULL;
    const struct thread_token_uses *uses = &run->uses->threads[thread];
    size_t next = run->threads[thread].next_use;
    return next < uses->count ? &uses->items[next] : NULL;
}

/* Uses of calls that turned out to be none (a wait with no mutex that is known) are left behind. */
static void skip_before(struct run_state *run, uint32_t thread, size_t record) {
    for (const struct token_use *use; (use = next_use(run, thread)) && use->record < record;)
        run->threads[thread].next_use++;
}

bool pool_steps_explain(struct run_state *run, uint32_t thread, size_t record) {
    skip_before(run, thread, record);
    const struct token_use *use = next_use(run, thread);
    if (!use || use->record != record || use->does != OPERATION_PAUSE)
        return false;
    run->threads[thread].next_use++;
    return true;
}

static void give(struct sync_object *pool, struct giver now, uint32_t amount) {
    for (uint32_t i = 0; i < amount; i++)
        if (pool->owed > 0)
            pool->owed--;
        else
            tokens_give(&pool->given, now);
    pool->release = now;
}

/* The step without which the last of these was not there. */
static uint32_t take(struct sync_object *pool, uint32_t amount) {
    uint32_t last = DEPENDENCIES_NONE;
    for (uint32_t i = 0; i < amount; i++) {
        if (pool->given.taken == pool->given.count) {
            pool->owed++;
            continue;
        }
        struct giver giver = tokens_take(&pool->given);
        last = giver.step == DEPENDENCIES_NONE ? last : giver.step;
    }
    return last;
}

static enum link_kind link_of(const struct token_pool *pool) {
    return pool->kind[0] == 'i' ? LINK_ITEM : pool->kind[0] == 'r' ? LINK_SPACE : LINK_PERMIT;
}

static uint32_t limit_of(struct sync_object *pool, const struct token_use *use) {
    switch (use->does) {
    case OPERATION_TAKE:
        return take(pool, use->amount);
    case OPERATION_OWE:
        take(pool, use->amount);
        return DEPENDENCIES_NONE;
    case OPERATION_PASS:
        return pool->release.step;
    case OPERATION_LEFT:
        return pool->closed.step;
    default:
        return DEPENDENCIES_NONE;
    }
}

static void add(struct run_state *run, uint32_t thread, const struct token_use *use,
                uint64_t now_ns) {
    struct sync_object *pool = run_state_object(run, use->pool);
    if (use->does == OPERATION_LEFT && pool->closed.step == DEPENDENCIES_NONE)
        return; /* it did not wait for that */
    struct dependency_step step = run_state_step(run, thread, STEP_COMPUTE);
    step.limit = limit_of(pool, use);
    step.limit_kind = (uint8_t)(step.limit == DEPENDENCIES_NONE ? LINK_NONE : link_of(pool->pool));
    step.operation = use->does;
    step.operand = use->pool;
    step.amount = use->amount;
    step.in_call = 0;
    uint32_t ended = step_log_end(&run->log, step, now_ns);
    struct giver now = {thread, ended, now_ns};
    if (use->does == OPERATION_GIVE)
        give(pool, now, use->amount);
    else if (use->does == OPERATION_CLOSE)
        pool->closed = now;
}

void pool_steps_add(struct run_state *run, uint32_t thread, bool at_return, uint64_t now_ns) {
    size_t record = run->threads[thread].at.record;
    skip_before(run, thread, record);
    for (const struct token_use *use; (use = next_use(run, thread)) && use->record == record &&
                                      use->at_return == at_return && use->does != OPERATION_PAUSE;
         run->threads[thread].next_use++)
        add(run, thread, use, now_ns);
}
