/* Loops that all threads leave when they have done a total together:
 * while (done < total) { ...; atomic_fetch_add(&done, n); } */
#ifndef PERSIK_STATIC_ANALYZER_PROGRESS_H
#define PERSIK_STATIC_ANALYZER_PROGRESS_H

#include <string>

#include "static-analyzer/own_data.h"
#include "static-analyzer/program.h"

namespace persik {

/* The count that the loop's rounds move on for all threads (atomically or under a lock), that
 * nothing else moves, that is no thread's own, and that `condition` compares, itself or by a
 * function that it calls. The key; empty: there is none. */
std::string joint_progress(const Program &program, const OwnData &own, const Flow &flow,
                           const Loop &loop, const Expr &condition);

} // namespace persik

#endif
