#include "model/postfix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define STACK_LIMIT 32 /* values of one expression that wait for their operator */

enum word_kind {
    WORD_NUMBER,
    WORD_SHARED,
    WORD_OWN,
    WORD_UNKNOWN,
    WORD_NOT, /* of one operand ... */
    WORD_COMPLEMENT,
    WORD_NEGATIVE,
    WORD_AND, /* ... of two */
    WORD_OR,
    WORD_PLUS,
    WORD_MINUS,
    WORD_TIMES,
    WORD_DIVIDED,
    WORD_MODULO,
    WORD_BITS_AND,
    WORD_BITS_OR,
    WORD_BITS_XOR,
    WORD_EQUAL,
    WORD_UNEQUAL,
    WORD_LESS,
    WORD_LESS_OR_EQUAL,
    WORD_GREATER,
    WORD_GREATER_OR_EQUAL,
    WORD_LEFT,
    WORD_RIGHT,
};

static const char *const operators[] = {
    [WORD_NOT] = "!",
    [WORD_COMPLEMENT] = "~",
    [WORD_NEGATIVE] = "neg",
    [WORD_AND] = "&&",
    [WORD_OR] = "||",
    [WORD_PLUS] = "+",
    [WORD_MINUS] = "-",
    [WORD_TIMES] = "*",
    [WORD_DIVIDED] = "/",
    [WORD_MODULO] = "%",
    [WORD_BITS_AND] = "&",
    [WORD_BITS_OR] = "|",
    [WORD_BITS_XOR] = "^",
    [WORD_EQUAL] = "==",
    [WORD_UNEQUAL] = "!=",
    [WORD_LESS] = "<",
    [WORD_LESS_OR_EQUAL] = "<=",
    [WORD_GREATER] = ">",
    [WORD_GREATER_OR_EQUAL] = ">=",
    [WORD_LEFT] = "<<",
    [WORD_RIGHT] = ">>",
};
#define N_OPERATORS (sizeof operators / sizeof *operators)

struct postfix_word {
    enum word_kind kind;
    size_t variable;
    double number;
};

/* ---- values ---- */

static const struct value unknown = {0, false};

struct value value_and(struct value a, struct value b) {
    if (value_is_false(a) || value_is_false(b))
        return value_of(0);
    return a.known && b.known ? value_of(1) : unknown;
}

struct value value_or(struct value a, struct value b) {
    if (value_is_true(a) || value_is_true(b))
        return value_of(1);
    return a.known && b.known ? value_of(0) : unknown;
}

/* A double beyond them has no value in C either. */
static long long whole(double number) {
    const double limit = 9.2e18;
    return number > limit    ? (long long)limit
           : number < -limit ? -(long long)limit
                             : (long long)number;
}

static struct value of_bits(enum word_kind kind, long long x, long long y) {
    bool may_shift = y >= 0 && y < 63;
    long long quotient = y ? x / y : 0;
    switch (kind) {
    case WORD_DIVIDED:
        return y ? value_of((double)quotient) : unknown;
    case WORD_MODULO:
        return y ? value_of((double)(x % y)) : unknown;
    case WORD_BITS_AND:
        return value_of((double)(x & y));
    case WORD_BITS_OR:
        return value_of((double)(x | y));
    case WORD_BITS_XOR:
        return value_of((double)(x ^ y));
    case WORD_LEFT:
        return may_shift ? value_of((double)(long long)((unsigned long long)x << y)) : unknown;
    default:
        return may_shift ? value_of((double)(x >> y)) : unknown;
    }
}

static struct value of_two(enum word_kind kind, struct value a, struct value b) {
    if (kind == WORD_AND)
        return value_and(a, b);
    if (kind == WORD_OR)
        return value_or(a, b);
    if (!a.known || !b.known)
        return unknown;
    switch (kind) {
    case WORD_PLUS:
        return value_of(a.number + b.number);
    case WORD_MINUS:
        return value_of(a.number - b.number);
    case WORD_TIMES:
        return value_of(a.number * b.number);
    case WORD_EQUAL:
        return value_of(a.number == b.number);
    case WORD_UNEQUAL:
        return value_of(a.number != b.number);
    case WORD_LESS:
        return value_of(a.number < b.number);
    case WORD_LESS_OR_EQUAL:
        return value_of(a.number <= b.number);
    case WORD_GREATER:
        return value_of(a.number > b.number);
    case WORD_GREATER_OR_EQUAL:
        return value_of(a.number >= b.number);
    default:
        return of_bits(kind, whole(a.number), whole(b.number));
    }
}

static struct value of_one(enum word_kind kind, struct value a) {
    if (!a.known)
        return unknown;
    return kind == WORD_NOT          ? value_of(a.number == 0)
           : kind == WORD_COMPLEMENT ? value_of((double)~whole(a.number))
                                     : value_of(-a.number);
}

/* ---- parsing ---- */

static size_t operands_of(enum word_kind kind) {
    return kind < WORD_NOT ? 0 : kind < WORD_AND ? 1 : 2;
}

/* NULL, or what is wrong. */
static const char *parse_variable(const char *text, size_t n_variables, const bool *is_own,
                                  struct postfix_word *word) {
    char *end;
    errno = 0;
    word->variable = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || word->variable >= n_variables)
        return "a variable that is not there";
    word->kind = is_own && is_own[word->variable] ? WORD_OWN : WORD_SHARED;
    return NULL;
}

static const char *parse_word(const char *text, size_t n_variables, const bool *is_own,
                              struct postfix_word *word) {
    if (text[0] == '$')
        return parse_variable(text + 1, n_variables, is_own, word);
    if (strcmp(text, "?") == 0) {
        word->kind = WORD_UNKNOWN;
        return NULL;
    }
    for (size_t i = 0; i < N_OPERATORS; i++)
        if (operators[i] && strcmp(text, operators[i]) == 0) {
            word->kind = (enum word_kind)i;
            return NULL;
        }
    char *end;
    const char *digits = text + (text[0] == '-');
    word->kind = WORD_NUMBER;
    word->number = strtod(text, &end);
    return *digits >= '0' && *digits <= '9' && !*end ? NULL : "an unknown word";
}

const char *postfix_parse(const char *text, size_t n_variables, const bool *is_own,
                          struct postfix *program) {
    struct {
        struct postfix_word *items;
        size_t count, capacity;
    } words = {0};
    char *copy = memory_strdup(text ? text : ""), *rest = NULL;
    const char *wrong = NULL;
    size_t depth = 0;
    for (char *next = strtok_r(copy, " ", &rest); next && !wrong;
         next = strtok_r(NULL, " ", &rest)) {
        struct postfix_word word = {0};
        wrong = parse_word(next, n_variables, is_own, &word);
        size_t needs = operands_of(word.kind);
        if (!wrong && depth < needs)
            wrong = "an operator without its operands";
        else if (!wrong && depth - needs == STACK_LIMIT)
            wrong = "too many values that wait for their operator";
        depth = depth - needs + 1;
        *VECTOR_ADD(&words) = word;
    }
    free(copy);
    if (text && !wrong && depth != 1)
        wrong = depth ? "values without an operator" : "nothing";
    if (wrong) {
        free(words.items);
        *program = (struct postfix){0};
        return wrong;
    }
    *program = (struct postfix){words.count, words.items};
    return NULL;
}

void postfix_free(struct postfix *program) {
    free(program->words);
    *program = (struct postfix){0};
}

/* ---- evaluating ---- */

struct value postfix_value(const struct postfix *program, const struct value *shared,
                           const struct value *own) {
    struct value stack[STACK_LIMIT] = {0};
    size_t depth = 0;
    for (size_t i = 0; i < program->n_words; i++) {
        const struct postfix_word *word = &program->words[i];
        switch (operands_of(word->kind)) {
        case 0:
            stack[depth++] = word->kind == WORD_NUMBER   ? value_of(word->number)
                             : word->kind == WORD_SHARED ? shared[word->variable]
                             : word->kind == WORD_OWN    ? own[word->variable]
                                                         : unknown;
            break;
        case 1:
            stack[depth - 1] = of_one(word->kind, stack[depth - 1]);
            break;
        default:
            depth--;
            stack[depth - 1] = of_two(word->kind, stack[depth - 1], stack[depth]);
        }
    }
    return stack[0];
}

bool postfix_has_unknown(const struct postfix *program) {
    for (size_t i = 0; i < program->n_words; i++)
        if (program->words[i].kind == WORD_UNKNOWN)
            return true;
    return program->n_words == 0;
}

static bool is_variable(const struct postfix_word *word, size_t variable) {
    return (word->kind == WORD_SHARED || word->kind == WORD_OWN) && word->variable == variable;
}

bool postfix_reads(const struct postfix *program, size_t variable) {
    for (size_t i = 0; i < program->n_words; i++)
        if (is_variable(&program->words[i], variable))
            return true;
    return false;
}

/* Where the right operand of the last word, which has two, begins. */
static size_t right_operand(const struct postfix *program) {
    size_t at = program->n_words - 1;
    for (size_t wanted = 1; wanted > 0;) {
        at--;
        wanted = wanted + operands_of(program->words[at].kind) - 1;
    }
    return at;
}

bool postfix_adds_to(const struct postfix *program, size_t variable) {
    enum word_kind last =
        program->n_words > 2 ? program->words[program->n_words - 1].kind : WORD_UNKNOWN;
    if (last != WORD_PLUS && last != WORD_MINUS)
        return false;
    size_t right = right_operand(program);
    bool is_left = right == 1 && is_variable(&program->words[0], variable);
    bool is_right = last == WORD_PLUS && right == program->n_words - 2 &&
                    is_variable(&program->words[right], variable);
    return is_left != is_right;
}
