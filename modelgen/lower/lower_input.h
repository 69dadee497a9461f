/* What is known of the traced run when its threads' records are lowered to steps. */
#ifndef PERSIK_MODELGEN_LOWER_LOWER_INPUT_H
#define PERSIK_MODELGEN_LOWER_LOWER_INPUT_H

#include <stdint.h>

#include "modelgen/calibrate/commits.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "modelgen/calibrate/disk_service.h"
#include "modelgen/calibrate/write_back.h"
#include "modelgen/events/thread_states.h"
#include "modelgen/rewrite/requests_as_tasks.h"
#include "modelgen/sync/monitor.h"
#include "modelgen/threads/thread_pools.h"

struct lower_input {
    const struct trace *trace;
    const struct facts *facts;        /* NULL without source */
    const struct facts *thread_facts; /* also NULL when it does not show how threads are created */
    const struct thread_pools *pools;
    const struct sections *sections;
    struct monitors *monitors; /* guards get their model objects */
    const struct thread_states *timelines;
    const struct disk_service *disks;
    const struct measured_disks *measured_disks; /* elsewhere; NULL: none */
    const struct commits *commits;
    const struct write_back *write_back;
    struct outside_queues *outside; /* give their distributions to the model */
    const uint32_t *places;         /* per context: see source_places */
    double insignificant_share;     /* of the run */
};

#endif
