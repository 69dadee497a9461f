#include "simulator/clients.h"

#include "simulator/draws.h"
#include "simulator/stores.h"

/* The clock has one event for all clients: when the first of them comes. */
static void arm(struct engine *engine) {
    const struct plan *plan = engine->plan;
    uint32_t event = (uint32_t)(plan->n_threads + plan->cores + plan->n_objects + 1);
    if (engine->thinking.count > 0)
        heap_set(&engine->clock, event, heap_first(&engine->thinking)->key);
}

static int queue_of(const struct plan *plan, int client) {
    int queue = 0;
    while (client >= plan->objects[queue].first_client + plan->objects[queue].n_clients ||
           plan->objects[queue].n_clients == 0)
        queue++;
    return queue;
}

static void think(struct engine *engine, int queue, int client) {
    struct random_stream *random = &engine->objects[queue].random;
    double time_ns = draws_one(engine, engine->plan->objects[queue].think, random);
    heap_set(&engine->thinking, (uint32_t)client, engine->now_ns + time_ns);
}

void clients_reset(struct engine *engine, int object) {
    const struct plan_object *planned = &engine->plan->objects[object];
    for (int i = 0; i < planned->n_clients; i++)
        think(engine, object, planned->first_client + i);
    arm(engine);
}

void clients_come(struct engine *engine) {
    int client = (int)heap_first(&engine->thinking)->id;
    heap_remove(&engine->thinking, (uint32_t)client);
    arm(engine);
    queue_bring(engine, queue_of(engine->plan, client), client);
}

void clients_leave(struct engine *engine, int client) {
    if (client == PLAN_NONE || heap_has(&engine->thinking, (uint32_t)client))
        return;
    think(engine, queue_of(engine->plan, client), client);
    arm(engine);
}
