/* Decisions of passes for the decision log, read off the forms that they wrote. */
#ifndef PERSIK_MODELGEN_BUILD_LOG_H
#define PERSIK_MODELGEN_BUILD_LOG_H

#include "modelgen/build.h"

/* "mutex 0x..., first used in put (queue.c:31)" for people; the caller frees. */
char *build_log_object_name(const struct build *build, int object);

/* What an explanation says the mutex is: "queue", "tokens", "barrier", "statements" ... */
const char *build_log_verdict(const struct explanation *explanation);

/* The explanations from number `first` on: what each is, and how many decisions agree. */
void build_log_explanations(const char *pass, struct build *build, size_t first);
/* Candidates from number `first` on that do not explain their mutex, and what refutes each first;
 * or which are outdone, with their score. */
void build_log_rejected(const char *pass, struct build *build, size_t first);
/* Mutexes about which so few waits tell that they are the first to be doubted. */
void build_log_suspects(const char *pass, const struct build *build);

/* How many threads each pool has, and whether it follows the number of threads. */
void build_log_pools(const char *pass, const struct build *build);

/* The model's objects, with the evidence for each. */
void build_log_objects(const char *pass, const struct build *build);

/* From here on what was decided on mutexes, and on objects that filters made, is known to be on the
 * objects of the model that came of them; ... */
void build_log_name_objects(struct build *build);
/* ... and on what people call them. */
void build_log_name_recognised(struct build *build);

/* How large the graph is, to tell what a pass that works on all of it changed. */
struct graph_counts {
    size_t nodes, edges;
};
struct graph_counts build_log_count_graph(const struct build *build);

/* What became of the graph since `before`; nothing changed: nothing is logged. */
void build_log_graph(const char *pass, const struct build *build, struct graph_counts before);

/* The objects that the program made itself, and what else each might have been. */
void build_log_recognised(const char *pass, const struct build *build);

/* How the work of each pool follows the number of threads. */
void build_log_rules(const char *pass, const struct build *build);

#endif
