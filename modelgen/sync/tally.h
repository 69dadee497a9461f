/* How far an explanation agrees with the run. */
#ifndef PERSIK_MODELGEN_SYNC_TALLY_H
#define PERSIK_MODELGEN_SYNC_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTRADICTIONS_SHOWN 3

/* An evaluation that the explanation does not explain. */
struct contradiction {
    uint64_t time_ns;
    size_t section; /* index into sections */
    bool waited;    /* although it need not have; else it went on although it should not */
    double counter;
};

struct tally {
    double decisions; /* critical sections of which the explanation says what they have to do */
    double waited, violations;
    double wrong_waits; /* among the violations */
    /* Of programs that the source proposes: */
    double unknown;         /* predicates that depend on what the source does not tell */
    double unknown_signals; /* may have been given or not */
    double untold;          /* sections that signalled though none of their commands does */
    double strange;         /* sections that wait or signal, of which there are no commands */
    size_t n_contradictions;
    struct contradiction contradictions[CONTRADICTIONS_SHOWN]; /* the first ones */
};

/* Notes a section that waited or went on at once; `wrong` tells where the explanation says
 * otherwise, NULL: nowhere. */
void tally_add(struct tally *tally, bool waited, const struct contradiction *wrong);

/* One that was noted as right is found to be wrong. */
void tally_add_violation(struct tally *tally, const struct contradiction *wrong);

/* Are there no more violations among the decisions than clocks and races make? */
bool violations_are_few(double violations, double decisions);

/* Are so many, though few, more than clocks and races make? */
bool violations_are_doubtful(double violations, double decisions);

/* Are the violations few, among the waits, too? */
bool tally_is_acceptable(const struct tally *tally);

#endif
