#include "modelgen/lower/self_feeding_queue.h"

/* What happens to the queue in the order of threads, each in the order of time. */
struct traffic {
    int pool; /* of all that take; -1: none yet */
    bool takers_differ;
    int last_taker; /* thread */
    double taken, put;
    double put_back; /* by threads that had taken before */
    int closer;      /* pool of who closes it; -1: nobody */
};

static void note_take(struct traffic *traffic, int thread, int pool) {
    traffic->takers_differ |= traffic->pool >= 0 && traffic->pool != pool;
    traffic->pool = pool;
    traffic->last_taker = thread;
    traffic->taken++;
}

static struct traffic traffic_of(const struct lower_input *input,
                                 const struct poison_pills *poison_pills, size_t g) {
    const struct explanation *guard = &input->monitors->explanations.items[g];
    struct traffic traffic = {.pool = -1, .last_taker = -1, .closer = -1};
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section *section = &input->sections->sections[s];
        int class_index = input->monitors->class_of[s];
        if (section->mutex != guard->mutex)
            continue;
        int pool = input->pools->pool_of[section->thread],
            weight = guard->counter.weight[class_index];
        enum poison_pill poison_pill = poison_pills_of(poison_pills, g, s);
        if (poison_pill == POISON_PILL_FIRST || class_index == guard->counter.close_class)
            traffic.closer = pool;
        else if (poison_pills_takes_work(poison_pills, input->monitors, g, s))
            note_take(&traffic, section->thread, pool);
        else if (poison_pills_puts_work(poison_pills, input->monitors, g, s)) {
            traffic.put += weight;
            traffic.put_back += traffic.last_taker == section->thread ? weight : 0;
        }
    }
    return traffic;
}

double self_feeding_queue_total(const struct lower_input *input,
                                const struct poison_pills *poison_pills, size_t guard) {
    const struct explanation *of = &input->monitors->explanations.items[guard];
    if (of->by != BY_COUNTER || of->counter.kind != GUARD_QUEUE || of->counter.tries)
        return 0;
    struct traffic traffic = traffic_of(input, poison_pills, guard);
    bool refilled = traffic.put_back > 0 && traffic.put == traffic.taken;
    bool closes_itself = traffic.closer >= 0 && traffic.closer == traffic.pool;
    return refilled && closes_itself && !traffic.takers_differ ? traffic.taken : 0;
}
