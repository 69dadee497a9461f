/* Stage 2's result, static.json: what the source says about the program.
 *
 * Places are (file, line, column) of the expansion: where the debug information of the compiled
 * program puts the call. Functions are named as the linker names them. */
#ifndef PERSIK_FORMATS_FACTS_H
#define PERSIK_FORMATS_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "formats/catalog.h"
#include "model/partition.h"

#define FACTS_VERSION 2

struct facts_place {
    char *file;     /* absolute path */
    char *function; /* enclosing */
    int line, column;
};

/* A call to a catalog function. */
struct facts_fragment {
    struct facts_place place;    /* of the expansion */
    struct facts_place spelling; /* where it is written, when a macro hides it; else the same */
    enum api api;
    char *object; /* the object as an access path by type: "struct queue.mutex", "global:lock",
                   * "local:f.m"; NULL when not nameable */
};

/* How a loop's end depends on the number of threads. */
enum facts_bound {
    BOUND_FIXED,   /* on constants, input or data: each thread that runs it does all of it */
    BOUND_SHARE,   /* on the thread's index or n / threads: a fixed total is split */
    BOUND_SHARED,  /* on state that all threads consume together (a counter or list under a
                    * lock, an atomic, a queue's answer): first come, first served */
    BOUND_THREADS, /* on the thread count itself: one round per thread (create, join, merge) */
    BOUND_UNKNOWN,
};

struct facts_loop {
    char *file;
    char *function;
    int first_line, last_line;
    enum facts_bound bound;
    enum rest rest;        /* of a share: who gets what the division leaves over */
    bool has_fragments;    /* a catalog call inside, directly or through calls */
    bool waits;            /* on a condition variable, until a predicate holds */
    double factor, offset; /* BOUND_THREADS: its rounds are factor * threads + offset; factor 0: it
                            * is not told how many */
    char *why;             /* the expression and variable that decide, for the reader */
};

/* What a loop that waits by looking again and again seems to be part of. */
enum facts_spin_kind {
    SPIN_LOCK,    /* each round tries to take the variable */
    SPIN_WAIT,    /* until others have changed it */
    SPIN_BARRIER, /* ... which this function does too, when it is the last */
    SPIN_ATTEMPT, /* repeats a call that may fail */
};

struct facts_spin {
    char *file, *function;
    int first_line, last_line;
    enum facts_spin_kind kind;
    char *variable; /* access path */
    size_t n_changed_by;
    char **changed_by; /* functions */
    char *attempt;     /* the function that is tried; NULL */
    bool works;        /* the loop also does the work that comes of the attempt */
    size_t n_leads_to;
    char **leads_to; /* functions called on ways out of the loop, when the waiting is over */
};

/* A call statement whose callee (transitively) runs a loop of kind BOUND_SHARE, or of BOUND_SHARED
 * without any fragment inside: seen from the caller, this line's computation is split among the
 * threads. */
struct facts_share {
    struct facts_place place;
    enum rest rest;
    char *callee;
    char *why;
    bool shared; /* who has more time takes more of it */
};

/* Lines of a branch by the thread's number that has fragments in it, directly or through calls. */
struct facts_solo {
    char *file, *function;
    int first_line, last_line;
    bool others; /* who comes here are all threads but one; else it is that one alone */
};

/* Debug information gives all lambdas one name, and the source each its own. */
struct facts_lambda {
    char *file, *name;
    int first_line, last_line;
};

/* How many threads a creation makes where these calls, all of them, lead to it. */
struct facts_count {
    size_t n_calls;
    struct facts_place *calls; /* the innermost first; none: whoever calls */
    char *text;                /* what decides, for the reader */
    bool follows_threads;      /* factor * threads + offset ... */
    double factor, offset;
    int at_most, at_least; /* ... within these; 0: no such bound */
    size_t n_one_of;
    int *one_of;    /* else: one of these, which the thread count does not decide ... */
    bool one_alone; /* ... but 1 where that is 1 */
};

/* Where an object or a thread comes to life. */
struct facts_creation {
    struct facts_place place;
    enum api_object object;
    char *name;    /* access path as in facts_fragment.object; for threads the start routine */
    char *amount;  /* parties, permits, capacity: the expression; NULL without */
    double factor; /* amount = factor * threads + offset, when it follows the thread count... */
    double offset;
    bool follows_threads; /* ... as told by this */
    bool constant;        /* amount is the constant `offset` */
    bool per_thread;      /* one for each thread: in a loop over them, on demand up to their
                           * number, or by halving it ... */
    bool divides_work;    /* ... and each gets a part of its creator's work with it */
    char *one_thread; /* "threads > 1 in main": with one thread the program goes another way than
                       * to this; NULL: nothing of the kind is seen */
    /* Of such a loop, where the calls that lead to it differ in how many that is: those of which it
     * is known. */
    size_t n_counts;
    struct facts_count *counts;
};

enum facts_monitor_kind {
    MONITOR_BOUNDED_QUEUE,
    MONITOR_UNBOUNDED_QUEUE,
    MONITOR_SEMAPHORE,
    MONITOR_BARRIER,
    MONITOR_EVENT,      /* latch, one-shot event, flag, future */
    MONITOR_COMPLETION, /* wait until all outstanding work is done */
    MONITOR_RWLOCK,
    MONITOR_TOKEN_POOL,  /* list of free buffers and the like; what is taken comes back */
    MONITOR_HAND_OVER,   /* wait for one's own number or turn */
    MONITOR_THREAD_POOL, /* queue of tasks which those that get them run */
    MONITOR_OTHER,       /* its sections are understood, but they make none of these */
};

/* What a function does with such an object. */
enum facts_role {
    FACTS_PUT,
    FACTS_GET,
    FACTS_CLOSE,
    FACTS_ACQUIRE,
    FACTS_RELEASE,
    FACTS_WAIT,
    FACTS_SIGNAL,
    FACTS_ARRIVE,
    FACTS_READ_LOCK,
    FACTS_WRITE_LOCK,
    FACTS_UNLOCK,
    FACTS_SUBMIT,
    FACTS_RUN,
};

struct facts_operation {
    enum facts_role role;
    /* The call that takes the mutex, by itself or inside a wrapper; `function` is the one that
     * acts. One function may have several such sections. */
    struct facts_place place;
};

/* What an object is made with: capacity, parties, initial count. */
struct facts_amount {
    char *text;            /* expression; NULL: nothing is known */
    double factor, offset; /* factor * threads + offset ... */
    bool follows_threads;  /* ... as told by this */
    bool constant;         /* it is the constant `offset` */
    /* Where the program sets it in several ways, those that can be told; there may be more. */
    size_t n_choices;
    struct facts_choice *choices;
};

/* One of several amounts, which has no choices itself. */
struct facts_choice {
    struct facts_amount amount;
    struct facts_place place; /* of objects that are made by this call; `file` NULL: of any */
};

/* In `postfix` every word is a number, an operator of C (of two operands but !, ~ and "neg"; && and
 * || evaluate both sides), "$I" for the variable with index I of the monitor, or "?" for what
 * the monitor's variables do not tell. */
struct facts_expression {
    char *text; /* as written, for the reader */
    char *postfix;
};

/* What predicates and updates of a monitor read and change. */
struct facts_variable {
    char *name;                  /* access path */
    bool local;                  /* of each thread that is in a section, as its ticket */
    struct facts_amount initial; /* value at the start */
};

enum facts_step_kind { STEP_UPDATE, STEP_WAIT, STEP_SIGNAL, STEP_BROADCAST };

enum facts_change {
    CHANGE_ADD,   /* by the constant `by`, which may be negative */
    CHANGE_SET,   /* to the constant `by` */
    CHANGE_OTHER, /* to `value` */
};

/* A guarded command. */
struct facts_step {
    enum facts_step_kind kind;
    struct facts_expression guard; /* happens only where this holds; text NULL: always */
    size_t variable;               /* of an update: index into the monitor's variables */
    enum facts_change change;
    double by;
    struct facts_expression value; /* the variable's new one, or of a wait what it waits WHILE */
    char *condition;               /* else: access path */
    bool timed;                    /* of a wait: it may give up */
    bool early; /* the section may wait behind it, on any condition of the mutex, and
                 * not in front of it */
};

/* A critical section of the monitor's mutex: what it does with the monitor's variables and
 * conditions, in the order of the text. A signal behind the unlock is its last step. */
struct facts_section {
    struct facts_place place; /* as of an operation */
    size_t n_steps;
    struct facts_step *steps;
};

/* A proposal: this mutex with these conditions is such an object. modelgen confirms or refutes it
 * on the trace. */
struct facts_monitor {
    enum facts_monitor_kind kind;
    /* Not in the file (formats/user_word.h): what it is is the user's word; is to be nothing; its
     * statements are to be simulated whatever it is. */
    bool users_word, ignored, statements;
    char *name;  /* type or variable: "struct queue" */
    char *mutex; /* access path */
    size_t n_conditions, n_operations, n_variables, n_sections;
    char **conditions; /* access paths */
    struct facts_operation *operations;
    char *count;                /* variable that counts, e.g. "struct queue.count"; may be NULL */
    struct facts_amount amount; /* capacity, parties or initial count */
    struct facts_variable *variables;
    struct facts_section *sections;
    char *why; /* predicates read, for the reader */
};

/* The program keeps its thread count within factor * cores + offset. */
struct facts_core_cap {
    char *text;   /* the expression that decides; NULL: nothing of the kind is seen */
    bool online;  /* of the machine's cores, else of those that the program may use */
    bool unclear; /* there are several such limits, which differ */
    double factor, offset;
};

struct facts {
    int version;
    char *thread_count; /* the variable that bounds the creating loop; NULL not found */
    struct facts_core_cap core_cap;
    size_t n_fragments, n_loops, n_spins, n_shares, n_lambdas, n_solos, n_creations, n_monitors,
        n_files, n_problems;
    struct facts_fragment *fragments;
    struct facts_loop *loops;
    struct facts_spin *spins;
    struct facts_share *shares;
    struct facts_lambda *lambdas;
    struct facts_solo *solos;
    struct facts_creation *creations;
    struct facts_monitor *monitors;
    char **files;    /* analysed */
    char **problems; /* what could not be parsed or found, one line each */
};

void facts_forget_amount(struct facts_amount *amount);

/* The access path of the one variable that the amount is made of, and what is added to it: 1 of
 * "struct queue.size + 1". NULL: it is made of something else. free() it. */
char *facts_amount_variable(const struct facts_amount *amount, double *more);

struct facts *facts_load(const char *path, struct error *error);
void facts_free(struct facts *facts);

/* Forgets facts->spins[index]. */
void facts_remove_spin(struct facts *facts, size_t index);

const char *facts_bound_name(enum facts_bound bound);
const char *facts_monitor_kind_name(enum facts_monitor_kind kind);
const char *facts_role_name(enum facts_role role);

/* Are they of the same mutex, as the source names it? */
bool facts_same_mutex(const struct facts_monitor *a, const struct facts_monitor *b);

/* Does the source add to its count, or subtract from it, what it does not tell? Such as the bytes
 * of what is taken. */
bool facts_monitor_in_units(const struct facts_monitor *monitor);

/* Is `function` one of those that act as `role`? */
bool facts_monitor_acts(const struct facts_monitor *monitor, enum facts_role role,
                        const char *function);

#endif
