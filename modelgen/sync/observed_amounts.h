/* How much there is of what threads wait for, as the program's variables held it in the traced run
 * (trace_value): a limit, or a counter that shows how much was left. Where nobody had to wait, and
 * the source does not tell, nothing else does. */
#ifndef PERSIK_MODELGEN_SYNC_OBSERVED_AMOUNTS_H
#define PERSIK_MODELGEN_SYNC_OBSERVED_AMOUNTS_H

#include "formats/trace.h"
#include "modelgen/sync/monitor.h"

struct observed_amount {
    const struct trace_value *value; /* that tells; NULL: none does. Belongs to the trace */
    double number;                   /* at the start of the run */
};

/* How much there is at the start of what the guard's waiters take one of: what the counter of its
 * proposal held, less what critical sections had changed before; or what the variable held of which
 * the proposal's amount is made. The guard has its mutex, proposal and waiters. */
struct observed_amount observed_amounts_of(const struct trace *trace,
                                           const struct sections *sections,
                                           const struct monitors *monitors,
                                           const struct explanation *guard);

#endif
