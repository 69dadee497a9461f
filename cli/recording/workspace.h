/* persik.data/: where the stages meet. A stage that runs the program writes into a new folder
 * beside it, which takes its place only when the stage has succeeded; a failing run leaves
 * what was there untouched, a succeeding one keeps it as persik.data.old. */
#ifndef PERSIK_CLI_RECORDING_WORKSPACE_H
#define PERSIK_CLI_RECORDING_WORKSPACE_H

#include <stdbool.h>

#include "base/error.h"
#include "formats/facts.h"
#include "formats/trace.h"

#define WORKSPACE_TRACE     "trace.persik"
#define WORKSPACE_SAMPLE    "sample.json"
#define WORKSPACE_STACKS    "stacks.folded"
#define WORKSPACE_FACTS     "static.json"
#define WORKSPACE_MODEL     "model.json"
#define WORKSPACE_DECISIONS "decisions.json"
#define WORKSPACE_DOT       "model.dot"
#define WORKSPACE_SVG       "model.svg"
#define WORKSPACE_CACHE     "analyze-cache"
#define WORKSPACE_CATALOG   "catalog"
#define WORKSPACE_STEPS     "dependencies.persik"

#define WORKSPACE_EVICTIONS "evictions-%zu.persik" /* from 1 on */

#define WORKSPACE_OTHER "threads-%d" /* a recording of the same program with so many threads */

struct workspace {
    char *directory; /* what it will be called */
    char *building;  /* where the stages write, mode 0700 */
    /* The rest is workspace.c's. */
    char *name, *building_name; /* of both, in `parent` */
    int parent, folder;         /* descriptors; that of `building` holds its lock */
};

/* Creates the folder to write into, and removes those of runs that were killed. 0, or -1 and
 * `error` when it cannot be created, or when something else than a recording of this user's has its
 * name or that of the one before. */
int workspace_begin(struct workspace *workspace, const char *directory, struct error *error);

/* The stages succeeded: entries of the old folder named in `carried` (NULL-terminated) that were
 * not written anew move along, then the new folder takes the old one's place in one step. */
int workspace_commit(struct workspace *workspace, const char *const *carried, struct error *error);

/* The stages failed: removes what they wrote. */
void workspace_abandon(struct workspace *workspace);

/* As much of that as another thread may do while the stages run: for interrupt_on_second(). */
void workspace_clean(void *workspace);

/* DIRECTORY/NAME, freed by the caller. */
char *workspace_path(const char *directory, const char *name);
bool workspace_has(const char *directory, const char *name);

/* DIRECTORY/threads-N, freed by the caller. */
char *workspace_other(const char *directory, int threads);

/* For which N there is such a recording, with a trace, in rising order: *threads is the caller's to
 * free. Returns how many. */
size_t workspace_others(const char *directory, int **threads);

/* Makes DIRECTORY/threads-N, for the stages to write into. 0, or -1 and `error`. */
int workspace_make_other(const char *directory, int threads, struct error *error);

/* Removes it again, with all that they wrote. */
void workspace_drop_other(const char *directory, int threads);

/* DIRECTORY/trace.persik. Says `persik profile` when there is none. */
struct trace *workspace_load_trace(const char *directory, struct error *error);

/* DIRECTORY/static.json, the caller's to free; NULL where there is none. 0, or -1 and `error` when
 * it cannot be read. */
int workspace_load_facts(const char *directory, struct facts **facts, struct error *error);

#endif
