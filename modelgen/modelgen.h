/* Stage 4: trace + facts + samples -> model.
 *
 * In: DIRECTORY/trace.persik, and when there DIRECTORY/evictions-1.persik ...,
 * DIRECTORY/static.json and DIRECTORY/sample.json. Out: a model (formats/model.h) that reproduces
 * the traced run. Open passes.def first: it
 * lists what is done, in order. */
#ifndef PERSIK_MODELGEN_MODELGEN_H
#define PERSIK_MODELGEN_MODELGEN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "formats/dependencies.h"
#include "formats/facts.h"
#include "formats/model.h"
#include "formats/sample.h"
#include "formats/trace.h"
#include "modelgen/calibrate/cache_reload_costs.h"
#include "modelgen/calibrate/disk_conditions.h"
#include "modelgen/decision_log.h"
#include "modelgen/graph/file_mix.h"
#include "modelgen/pass.h"
#include "modelgen/scaling/other_run.h"

/* How a model does when it is simulated. */
struct modelgen_trial {
    double misfit; /* by which it misses the run, as a share; INFINITY: it cannot be simulated */
    bool stalls;   /* all its threads came to wait for nothing */
    bool guesses;  /* ... or ends of waits had to be guessed */
    bool fails;    /* so much was left undone that it has no figures */
};

/* What the recorded run took, without what the probes did in its threads by themselves: what the
 * model of it must reproduce. */
struct modelgen_measured {
    double run_ns;
    double cpu_ns;      /* of all threads; NAN: scheduling was not recorded */
    double requests;    /* that a server answered; then `run_ns` is from the first to the last; 0 */
    double response_ns; /* mean, from arrival to the last byte of the answer; 0: not known */
    double ended_ns;    /* CPU time behind the ends of threads (modelgen/calibrate/thread_ends.h);
                         * in the model, but not in `cpu_ns`. 0: little, or not known */
};

struct modelgen_options {
    const struct cache_reload_costs
        *reload_costs; /* what losing their caches costs threads, cache_reload_costs_measure();
                        * NULL: not known */
    const struct measured_disks
        *measured_disks;        /* what `persik calibrate` measured; NULL: nothing */
    double insignificant_share; /* t of the paper, section 3: 0 = 0.0005 of the run */
    size_t max_nodes; /* nodes are told apart by what came before only up to so many; 0 = 100 */
    /* Simulates the run that the model was built from; NULL: nobody does. Where its threads wait
     * for ever, which the real ones did not, and it misses the run by much, what was concluded from
     * little evidence is doubted, object by object. */
    struct modelgen_trial (*try_out)(const struct model *model, void *context);
    void *context; /* of try_out */
    struct modelgen_measured
        *measured;                   /* is filled before the model is tried out; NULL: not kept */
    const struct file_mix *file_mix; /* NULL: no other mix of requests is asked for */
    struct model **mixed;            /* with that: is set to its model. The caller frees it */
    struct pass_choice passes;       /* all zero: each is run; must have been checked. Only
                                      * modelgen_run_passes() stops */
    FILE *dump; /* where passes.dump_after prints: what that pass wrote for the model that is given
                 * in the end; NULL: nowhere */
    struct decision_log *decisions; /* those that led to that model; NULL: not kept. The caller
                                     * frees them: decision_log_free() */
};

/* Debug information calls all lambdas operator(): gives the trace and the samples the source's
 * names for them, so that what it says about one is not taken for another. Comes before
 * modelgen_build(). `facts` and `sample` may be NULL. */
void modelgen_name_lambdas(const struct facts *facts, struct trace *trace, struct sample *sample);

/* For people who read a trace: each call is where the program's own code makes it, not inside a
 * wrapper or the C++ library, and threads of that library begin in the program's function. No model
 * is to be built of it any more. */
void modelgen_name_calls(struct trace *trace);

/* Builds the model. `facts` and `sample` may be NULL: then what only the source can tell is
 * guessed from the trace and a note in the model says so. NULL and `error` when the trace
 * holds nothing to model. The caller owns the model (model_free). The caller simulates it and
 * records the self-check with modelgen_add_check. */
struct model *modelgen_build(const struct trace *trace, const struct facts *facts,
                             const struct sample *sample, const struct modelgen_options *options,
                             struct error *error);

/* Runs the passes up to options->passes.stop_after, and builds no model. -1 and `error`: there is
 * nothing to model. */
int modelgen_run_passes(const struct trace *trace, const struct facts *facts,
                        const struct sample *sample, const struct modelgen_options *options,
                        struct error *error);

/* Do the passes that it names exist, and can the model do without those it leaves out? -1 and
 * `error`: no. */
int modelgen_check_passes(const struct pass_choice *choice, struct error *error);

/* Has no model explain waits by the candidate from now on. False: there is none of that name. */
bool modelgen_leave_out_candidate(const char *name);

/* Each pass in the order in which they run: its name, what it reads and writes, and why there. Then
 * the candidates. */
void modelgen_list_passes(FILE *out);

/* Asks for more or less evidence in all models from now on: NAME=VALUE. -1 and `error`: there is no
 * such threshold, or no number above 0. */
int modelgen_set_evidence(const char *assignment, struct error *error);

/* Each threshold of evidence: its name, value and meaning. */
void modelgen_list_evidence(FILE *out);

/* Corrects the CPU demands by what the runs without probes took. What is compared with the traced
 * run itself comes before. Where threads spin for locks, their CPU time tells nothing.
 * `reload_costs` as the model was built with, `measured` as that gave it. */
void modelgen_correct(struct model *model, const struct trace *trace,
                      const struct cache_reload_costs *reload_costs,
                      const struct modelgen_measured *measured);

/* Compares the model's CPU demands with what the runs on one core took: see
 * modelgen/calibrate/one_core.h. `measured` as modelgen_build() gave it. */
void modelgen_compare_one_core(struct model *model, const struct trace *trace,
                               const struct modelgen_measured *measured, double simulated_cpu_ns);
void modelgen_note_one_core(struct model *model, double ratio, bool turns_explain);

/* Multiplies all CPU demands. */
void modelgen_scale_demands(struct model *model, double factor);

/* Appends to what is not modelled exactly, why the model has no self-check. */
void modelgen_add_standstill(struct model *model, const char *reason);

/* Appends a line of the self-check: measured in the traced run against simulated. */
void modelgen_add_check(struct model *model, const char *what, double measured, double simulated);

/* Makes the model's pool follow another rule (PARTITION_SHARED, FIXED or PERTHREAD) than the one it
 * was built with. -1 and `error` where that makes no sense; the model is then as before. */
int modelgen_repartition(struct model *model, int pool, enum partition rule, struct error *error);

/* Gives the pool, whose rule is not known or a guess, the one that its own run and another one,
 * with another number of threads, tell together; if none, its rule says so. A guess stays where the
 * pool, with as many threads in the model, computes for `simulated_ns`, as in the other run. */
void modelgen_learn_rule(struct model *model, int pool, struct pool_seen other,
                         double simulated_ns);

/* The trace as a graph of what each thread did and what ended each of its waits, for
 * critical-path/. `facts` may be NULL: objects are then called by where they are used. Needs no
 * model. The caller frees it with dependencies_free(). */
struct dependencies *modelgen_dependencies(const struct trace *trace, const struct facts *facts);

/* Graphviz source of the three tiers. */
int modelgen_write_dot(const struct model *model, FILE *out);

#endif
