/* Flattens function bodies into what they do, with the locks held (program.h). */
#ifndef PERSIK_STATIC_ANALYZER_FLOW_H
#define PERSIK_STATIC_ANALYZER_FLOW_H

#include "static-analyzer/program.h"

namespace persik {

/* (Re)builds all flows with what is known of the functions' effects on locks so far. True when
 * those effects have changed and another round would tell more. */
bool flow_build(Program &program);

} // namespace persik

#endif
