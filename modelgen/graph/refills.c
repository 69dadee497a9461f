#include "modelgen/graph/refills.h"

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

static struct traffic traffic_of(const struct stream_input *input,
                                 const struct farewells *farewells, size_t g) {
    const struct guard *guard = &input->monitors->guards[g];
    struct traffic traffic = {.pool = -1, .last_taker = -1, .closer = -1};
    for (size_t s = 0; s < input->sections->n_sections; s++) {
        const struct section *section = &input->sections->sections[s];
        int class_index = input->monitors->class_of[s];
        if (section->mutex != guard->mutex)
            continue;
        int pool = input->pools->pool_of[section->thread], weight = guard->weight[class_index];
        enum farewell farewell = farewells_of(farewells, g, s);
        if (farewell == FAREWELL_FIRST || class_index == guard->close_class)
            traffic.closer = pool;
        else if (farewells_takes_work(farewells, input->monitors, g, s))
            note_take(&traffic, section->thread, pool);
        else if (farewells_puts_work(farewells, input->monitors, g, s)) {
            traffic.put += weight;
            traffic.put_back += traffic.last_taker == section->thread ? weight : 0;
        }
    }
    return traffic;
}

double refills_total(const struct stream_input *input, const struct farewells *farewells,
                     size_t guard) {
    const struct guard *of = &input->monitors->guards[guard];
    if (of->kind != GUARD_QUEUE || of->tries)
        return 0;
    struct traffic traffic = traffic_of(input, farewells, guard);
    bool refilled = traffic.put_back > 0 && traffic.put == traffic.taken;
    bool closes_itself = traffic.closer >= 0 && traffic.closer == traffic.pool;
    return refilled && closes_itself && !traffic.takers_differ ? traffic.taken : 0;
}
