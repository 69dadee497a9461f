/* Expressions over the variables of a monitor, as static.json and model.json have them: text in
 * postfix, parsed once into a small program, evaluated as often as needed. modelgen holds them
 * against the trace, the simulator runs them.
 *
 * Every word is a number, an operator of C (of two operands but !, ~ and "neg"; && and || evaluate
 * both sides), "$I" for the variable with index I, or "?" for what the variables do not tell.
 * Numbers are doubles; what C does with bits and remainders is done with them as 64-bit integers.
 */
#ifndef PERSIK_MODEL_POSTFIX_H
#define PERSIK_MODEL_POSTFIX_H

#include <stdbool.h>
#include <stddef.h>

/* A value that may be unknown: then `number` is 0. */
struct value {
    double number;
    bool known;
};

static inline struct value value_of(double number) {
    return (struct value){number, true};
}

static inline bool value_is_false(struct value value) {
    return value.known && value.number == 0;
}

static inline bool value_is_true(struct value value) {
    return value.known && value.number != 0;
}

/* What is unknown matters only where the other side does not decide. */
struct value value_and(struct value a, struct value b);
struct value value_or(struct value a, struct value b);

struct postfix_word; /* private */

/* Without words its value is unknown. */
struct postfix {
    size_t n_words;
    struct postfix_word *words; /* owned */
};

/* Parses `text`; `is_own` tells for each variable whether every thread has one of its own (NULL:
 * none). NULL, or what is wrong with the text: `program` is without words then, as it is for `text`
 * NULL. postfix_free() ends it. */
const char *postfix_parse(const char *text, size_t n_variables, const bool *is_own,
                          struct postfix *program);
void postfix_free(struct postfix *program);

/* The value where the variables have these values; both arrays are indexed by the variables'
 * indices. Dividing by zero gives an unknown one. */
struct value postfix_value(const struct postfix *program, const struct value *shared,
                           const struct value *own);

/* Does the program ask for something that is not in the variables? */
bool postfix_has_unknown(const struct postfix *program);

/* Does the program read the variable? */
bool postfix_reads(const struct postfix *program, size_t variable);

/* Is its value that of the variable and something else that is added or subtracted? */
bool postfix_adds_to(const struct postfix *program, size_t variable);

#endif
