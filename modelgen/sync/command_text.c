#include "modelgen/sync/command_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

#define OWN "own:"

struct variables {
    const char *text;
    size_t count;
    bool *is_own;
};

struct parser {
    const char *at;
    const struct variables *variables;
    FILE *postfix; /* of the expression at hand */
};

static _Noreturn void fail(const char *at) {
    log_error("internal error: a template's text is wrong at \"%s\"", at);
    abort();
}

/* ---- words ---- */

static size_t word_length(const char *text) {
    return strcspn(text, " ");
}

static void find_variables(struct variables *variables) {
    for (const char *at = variables->text; *at; at += word_length(at), at += strspn(at, " ")) {
        variables->is_own = memory_resize(variables->is_own, variables->count + 1, sizeof(bool));
        variables->is_own[variables->count++] = strncmp(at, OWN, strlen(OWN)) == 0;
    }
}

/* -1: none has that name. */
static int find_variable(const struct variables *variables, const char *name, size_t length) {
    const char *at = variables->text;
    for (size_t v = 0; v < variables->count; v++) {
        const char *own_name = variables->is_own[v] ? at + strlen(OWN) : at;
        if ((size_t)(at + word_length(at) - own_name) == length &&
            strncmp(own_name, name, length) == 0)
            return (int)v;
        at += word_length(at);
        at += strspn(at, " ");
    }
    return -1;
}

static int find_number(const struct variables *variables) {
    int number = find_variable(variables, "number", strlen("number"));
    return number >= 0 && variables->is_own[number] ? number : -1;
}

/* Skips the word, and blanks before it, where it is the next one. */
static bool accept(struct parser *parser, const char *word) {
    const char *at = parser->at + strspn(parser->at, " ");
    size_t length = strlen(word);
    if (strncmp(at, word, length) != 0 || (isalpha(*word) && isalnum(at[length])))
        return false;
    parser->at = at + length;
    return true;
}

static int name(struct parser *parser) {
    parser->at += strspn(parser->at, " ");
    size_t length = 0;
    while (isalnum(parser->at[length]) || parser->at[length] == '_')
        length++;
    int variable = find_variable(parser->variables, parser->at, length);
    if (variable < 0)
        fail(parser->at);
    parser->at += length;
    return variable;
}

/* ---- expressions: to postfix, by precedence ---- */

static void expression(struct parser *parser, size_t level);

static void operand(struct parser *parser) {
    if (accept(parser, "(")) {
        expression(parser, 0);
        if (!accept(parser, ")"))
            fail(parser->at);
        return;
    }
    parser->at += strspn(parser->at, " ");
    size_t digits = strspn(parser->at, "0123456789");
    if (digits > 0)
        fprintf(parser->postfix, "%.*s ", (int)digits, parser->at);
    else
        fprintf(parser->postfix, "$%d ", name(parser));
    parser->at += digits;
}

/* Operators of one level associate to the left; those of a later level bind more closely. Of two
 * that begin alike the longer one is first. */
static void expression(struct parser *parser, size_t level) {
    static const char *const levels[][5] = {
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "- "}};
    if (level == sizeof levels / sizeof *levels) {
        operand(parser);
        return;
    }
    expression(parser, level + 1);
    for (size_t i = 0; levels[level][i]; i++)
        if (accept(parser, levels[level][i])) {
            expression(parser, level + 1);
            fprintf(parser->postfix, "%s ", levels[level][i]);
            i = (size_t)-1;
        }
}

/* The caller frees. */
static char *postfix_of(struct parser *parser) {
    char *text;
    size_t length;
    parser->postfix = open_memstream(&text, &length);
    if (!parser->postfix)
        fail(parser->at);
    expression(parser, 0);
    fclose(parser->postfix);
    return text;
}

static void parse_postfix(const struct parser *parser, const char *text, struct postfix *program) {
    const struct variables *variables = parser->variables;
    if (postfix_parse(text, variables->count, variables->is_own, program))
        fail(parser->at);
}

/* ---- commands ---- */

static void read_action(struct parser *parser, struct command *command) {
    if (accept(parser, "signal")) {
        command->kind = COMMAND_SIGNAL;
        return;
    }
    if (accept(parser, "broadcast")) {
        command->kind = COMMAND_BROADCAST;
        return;
    }
    command->kind = accept(parser, "wait") ? COMMAND_WAIT : COMMAND_UPDATE;
    if (command->kind == COMMAND_UPDATE) {
        command->variable = name(parser);
        command->is_own = parser->variables->is_own[command->variable];
    }
    if (!accept(parser, command->kind == COMMAND_WAIT ? "while" : "="))
        fail(parser->at);
    char *value = postfix_of(parser);
    parse_postfix(parser, value, &command->value);
    free(value);
}

/* The guard's postfix, NULL: none. The caller frees. */
static char *read_guard(struct parser *parser) {
    const char *arrow = strstr(parser->at, "->"), *end = strchr(parser->at, ';');
    if (!arrow || (end && end < arrow))
        return NULL;
    char *guard = postfix_of(parser);
    if (!accept(parser, "->"))
        fail(parser->at);
    return guard;
}

static struct operation read_operation(const struct variables *variables, const char *text) {
    struct parser parser = {.at = text, .variables = variables};
    struct {
        struct command *items;
        size_t count, capacity;
    } commands = {0};
    struct operation operation = {0};
    char *last_guard = NULL;
    int branch = COMMAND_ALWAYS;
    do {
        char *guard = read_guard(&parser);
        branch = command_branch((int)commands.count, guard, last_guard, branch);
        struct command command = {.branch = branch};
        if (guard)
            parse_postfix(&parser, guard, &command.guard);
        read_action(&parser, &command);
        operation.waits |= command.kind == COMMAND_WAIT;
        *VECTOR_ADD(&commands) = command;
        free(last_guard);
        last_guard = guard;
    } while (accept(&parser, ";"));
    free(last_guard);
    if (*parser.at)
        fail(parser.at);
    operation.commands = commands.items;
    operation.n_commands = (int)commands.count;
    return operation;
}

struct command_program command_program_of_text(const char *variables_text,
                                               const char *const *operations, size_t n) {
    struct variables variables = {.text = variables_text};
    find_variables(&variables);
    struct command_program program = {.n_variables = variables.count,
                                      .number = find_number(&variables),
                                      .initial =
                                          memory_alloc(variables.count, sizeof *program.initial),
                                      .n_operations = n,
                                      .operations = memory_alloc(n, sizeof *program.operations)};
    for (size_t v = 0; v < variables.count; v++)
        program.initial[v] = value_of(0);
    for (size_t i = 0; i < n; i++)
        program.operations[i] = read_operation(&variables, operations[i]);
    free(variables.is_own);
    return program;
}
