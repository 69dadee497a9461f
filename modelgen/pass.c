#include "modelgen/pass.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

static bool is_same(const char *chosen, const char *name) {
    return chosen && strcmp(chosen, name) == 0;
}

static const struct pass *pass_named(const struct pass_list *list, const char *name) {
    for (size_t p = 0; p < list->n_passes; p++)
        if (strcmp(list->passes[p].name, name) == 0)
            return &list->passes[p];
    return NULL;
}

static bool is_left_out(const struct pass_choice *choice, const char *name) {
    for (size_t i = 0; i < choice->n_without; i++)
        if (strcmp(choice->without[i], name) == 0)
            return true;
    return false;
}

/* The name of the first of the forms. */
static const char *form_name(const struct pass_list *list, unsigned forms) {
    for (size_t f = 0; f < list->n_forms; f++)
        if (forms & 1U << f)
            return list->forms[f].name;
    return "a form that is not in the list";
}

int pass_list_check(const struct pass_list *list, struct error *error) {
    unsigned written = 0;
    for (size_t p = 0; p < list->n_passes; p++) {
        const struct pass *pass = &list->passes[p];
        unsigned unwritten = pass->reads & ~written;
        if (unwritten)
            return error_set(error,
                             "pass '%s' reads '%s', which no pass before it writes: move it "
                             "behind one that does",
                             pass->name, form_name(list, unwritten));
        unsigned first_written = pass->writes & ~written;
        if (pass->optional && first_written)
            return error_set(error,
                             "pass '%s' is optional, but the first to write '%s': have an earlier "
                             "pass write what stands there without it",
                             pass->name, form_name(list, first_written));
        written |= pass->writes;
    }
    return 0;
}

static const struct pass *check_name(const struct pass_list *list, const char *option,
                                     const char *name, struct error *error) {
    const struct pass *pass = pass_named(list, name);
    if (!pass)
        error_set(error, "%s %s: no such pass: `persik build-model --list-passes` names them",
                  option, name);
    return pass;
}

int pass_choice_check(const struct pass_list *list, const struct pass_choice *choice,
                      struct error *error) {
    const struct pass *stop = NULL, *dumped = NULL;
    for (size_t i = 0; i < choice->n_without; i++) {
        const struct pass *pass = check_name(list, "--without", choice->without[i], error);
        if (!pass)
            return -1;
        if (!pass->optional)
            return error_set(error, "--without %s: there is no model without this pass",
                             pass->name);
    }
    if (choice->stop_after && !(stop = check_name(list, "--stop-after", choice->stop_after, error)))
        return -1;
    if (choice->dump_after &&
        !(dumped = check_name(list, "--dump-after", choice->dump_after, error)))
        return -1;
    if (dumped && is_left_out(choice, dumped->name))
        return error_set(error, "--dump-after %s: --without leaves this pass out", dumped->name);
    if (dumped && stop && dumped > stop)
        return error_set(error, "--dump-after %s: that pass comes behind --stop-after %s",
                         dumped->name, stop->name);
    return 0;
}

static void dump(const struct pass_list *list, const struct pass *pass, const struct build *build,
                 FILE *out) {
    if (pass->writes == 0)
        fprintf(out, "== %s writes no form\n", pass->name);
    for (size_t f = 0; f < list->n_forms; f++)
        if (pass->writes & 1U << f) {
            fprintf(out, "== %s after %s: %s\n", list->forms[f].name, pass->name,
                    list->forms[f].what);
            list->forms[f].dump(build, out);
        }
}

static double ms_since(uint64_t began_ns) {
    return (double)(clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns) / 1e6;
}

/* The forms that the pass wrote. A broken one is a fault of persik's, not of the recording. */
static int find_broken(const struct pass_list *list, const struct pass *pass,
                       const struct build *build, struct error *error) {
    struct error broken;
    for (size_t f = 0; list->check && f < list->n_forms; f++)
        if (pass->writes & 1U << f && list->check(list->forms[f].name, build, &broken) < 0)
            return error_set(error,
                             "internal error: pass '%s' broke the form '%s': %s: report it with "
                             "this recording",
                             pass->name, list->forms[f].name, broken.text);
    return 0;
}

/* A rule that does not hold for a program that nobody has seen may be the rule's fault: a user gets
 * the model, with the doubt. */
static int check(const struct pass_list *list, const struct pass_choice *choice,
                 const struct pass *pass, struct build *build, struct error *error) {
    uint64_t began_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct error broken;
    int status = find_broken(list, pass, build, &broken);
    log_debug("pass %s: checked in %.1f ms", pass->name, ms_since(began_ns));
    if (status == 0)
        return 0;
    if (choice->strict)
        return error_set(error, "%s", broken.text);
    log_warning("%s; the model may be wrong", broken.text);
    if (list->broke)
        list->broke(build, broken.text);
    return 0;
}

static void run(const struct pass_list *list, const struct pass *pass, struct build *build) {
    uint64_t began_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (list->begin)
        list->begin(pass, build);
    pass->run(build);
    log_debug("pass %s: %.1f ms", pass->name, ms_since(began_ns));
}

enum pass_end pass_run(const struct pass_list *list, const struct pass_choice *choice,
                       struct build *build, FILE *out, struct error *error) {
    for (size_t p = 0; p < list->n_passes; p++) {
        const struct pass *pass = &list->passes[p];
        bool runs = !is_left_out(choice, pass->name);
        if (runs)
            run(list, pass, build);
        else
            log_debug("pass %s: left out", pass->name);
        if (runs && is_same(choice->dump_after, pass->name))
            dump(list, pass, build, out);
        if (runs && check(list, choice, pass, build, error) < 0)
            return PASS_BROKEN;
        if (runs && list->done)
            list->done(pass, build);
        if (is_same(choice->stop_after, pass->name))
            return PASS_STOPPED;
    }
    return PASS_END;
}

/* "events teams"; "-" for none. */
static char *form_names(const struct pass_list *list, unsigned forms) {
    char *names = memory_strdup(forms ? "" : "-");
    for (size_t f = 0; f < list->n_forms; f++)
        if (forms & 1U << f) {
            char *longer = memory_format("%s%s%s", names, *names ? " " : "", list->forms[f].name);
            free(names);
            names = longer;
        }
    return names;
}

void pass_list_print(const struct pass_list *list, FILE *out) {
    for (size_t p = 0; p < list->n_passes; p++) {
        const struct pass *pass = &list->passes[p];
        char *reads = form_names(list, pass->reads), *writes = form_names(list, pass->writes);
        fprintf(out, "%s%s\n    %s -> %s\n    %s\n", pass->name,
                pass->optional ? " (optional)" : "", reads, writes, pass->why);
        free(reads);
        free(writes);
    }
}
