/* Passes: each turns forms of the recorded run into others, in the order of a list.
 *
 * A form is one way to hold the run: records of threads, pools, critical sections, steps, a graph.
 * The list says of each pass which forms it reads and which it writes, so that an order in which a
 * form would be read before it is written is refused instead of giving a wrong model. */
#ifndef PERSIK_MODELGEN_PASS_H
#define PERSIK_MODELGEN_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* What the passes of a list work on: all forms. Only they look into it. */
struct build;

struct form {
    const char *name, *what;
    void (*dump)(const struct build *build, FILE *out); /* as text, one thing a line */
};

/* Forms are bits: 1 << index into the list's forms. */
struct pass {
    const char *name;
    unsigned reads, writes;
    bool optional; /* the model can do without it: what it writes, an earlier pass wrote already */
    const char *why; /* it stands where it does */
    void (*run)(struct build *build);
};

struct pass_list {
    const struct pass *passes;
    size_t n_passes;
    const struct form *forms;
    size_t n_forms;
    void (*begin)(const struct pass *pass, struct build *build); /* before each; NULL: nothing */
    void (*done)(const struct pass *pass,
                 struct build *build); /* after each, once it is checked; NULL: nothing */
    /* Is the form of that name as its readers need it? -1 and `error`: no. NULL: all always are. */
    int (*check)(const char *form, const struct build *build, struct error *error);
    /* Where the run goes on behind a form that is not: keeps what was wrong for the reader of the
     * result. NULL: nothing. */
    void (*broke)(struct build *build, const char *what);
};

/* What a person asks for; all zero: run everything. Names are those of passes. */
struct pass_choice {
    const char *stop_after; /* NULL: none */
    const char *dump_after; /* print what this pass wrote; NULL: none */
    const char **without;   /* leave these out */
    size_t n_without;
    bool strict; /* a form that a pass broke ends the run: for tests; else it is said */
};

/* Is each form written before it is read, also without the passes that are optional? -1 and
 * `error`: no. */
int pass_list_check(const struct pass_list *list, struct error *error);

/* -1 and `error`: the choice names a pass that does not exist, leaves one out that is not optional,
 * or prints one that it does not run. */
int pass_choice_check(const struct pass_list *list, const struct pass_choice *choice,
                      struct error *error);

/* How far a list was run. */
enum pass_end {
    PASS_END,     /* to its end */
    PASS_STOPPED, /* as far as the choice wants */
    PASS_BROKEN,  /* a pass wrote a form wrong, and the choice is strict */
};

/* Runs the passes that the choice leaves, in order, and checks what each wrote; what the choice
 * wants printed goes to `out`, also of the pass that wrote it wrong. List and choice must have been
 * checked. With PASS_BROKEN, `error` names pass, form and rule. */
enum pass_end pass_run(const struct pass_list *list, const struct pass_choice *choice,
                       struct build *build, FILE *out, struct error *error);

/* One line for each pass: its name, what it reads and writes, why it stands there. */
void pass_list_print(const struct pass_list *list, FILE *out);

#endif
