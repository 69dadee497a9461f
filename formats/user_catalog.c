#include "formats/user_catalog.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const user_monitor_kinds[USER_MONITOR_KINDS] = {
    [USER_BOUNDED_QUEUE] = "bounded queue",
    [USER_UNBOUNDED_QUEUE] = "unbounded queue",
    [USER_SEMAPHORE] = "semaphore",
    [USER_BARRIER] = "barrier",
    [USER_EVENT] = "event",
    [USER_COMPLETION] = "completion",
    [USER_RWLOCK] = "rwlock",
    [USER_TOKEN_POOL] = "token pool",
    [USER_HAND_OVER] = "hand-over",
    [USER_THREAD_POOL] = "thread pool",
    [USER_OTHER] = "other",
    [USER_IGNORED] = "ignored",
    [USER_STATEMENTS] = "statements",
};

/* The first word of a line, and the role it stands for. */
static const struct role {
    const char *word;
    enum api api;
    enum api spinning; /* when waiting burns CPU, for those that have a role of their own then */
} roles[] = {
    {"lock", ROLE_lock, ROLE_spin_lock},
    {"try-lock", ROLE_trylock, ROLE_spin_trylock},
    {"unlock", ROLE_unlock, ROLE_spin_unlock},
    {"read-lock", ROLE_read_lock, ROLE_read_lock},
    {"write-lock", ROLE_write_lock, ROLE_write_lock},
    {"rw-unlock", ROLE_rw_unlock, ROLE_rw_unlock},
    {"create-semaphore", ROLE_create_semaphore, ROLE_create_semaphore},
    {"acquire", ROLE_acquire, ROLE_acquire},
    {"try-acquire", ROLE_tryacquire, ROLE_tryacquire},
    {"release", ROLE_release, ROLE_release},
    {"create-barrier", ROLE_create_barrier, ROLE_create_barrier},
    {"barrier", ROLE_barrier, ROLE_barrier},
    {"create-queue", ROLE_create_queue, ROLE_create_queue},
    {"put", ROLE_put, ROLE_put},
    {"try-put", ROLE_tryput, ROLE_tryput},
    {"get", ROLE_get, ROLE_get},
    {"try-get", ROLE_tryget, ROLE_tryget},
    {"close", ROLE_close_queue, ROLE_close_queue},
    {"wait", ROLE_wait, ROLE_wait},
    {"signal", ROLE_signal, ROLE_signal},
    {"task", ROLE_task, ROLE_task},
    {"task-begin", ROLE_task_from, ROLE_task_from},
    {"task-end", ROLE_task_until, ROLE_task_until},
    {"ignore", API_COUNT, API_COUNT},
};
#define N_ROLES (sizeof roles / sizeof *roles)

static const struct {
    const char *word;
    enum user_failure failure;
} failures[] = {
    {"false", USER_FALSE},       {"true", USER_TRUE}, {"null", USER_NULL},
    {"not-null", USER_NOT_NULL}, {"zero", USER_ZERO}, {"nonzero", USER_NONZERO},
    {"negative", USER_NEGATIVE},
};

struct parser {
    struct user_catalog *catalog;
    const char *path;
    int line;
    struct error *error;
};

static int __attribute__((format(printf, 2, 3)))
refuse(const struct parser *parser, const char *format, ...) {
    va_list arguments;
    char text[512];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(parser->error, "%s:%d: %s", parser->path, parser->line, text);
}

/* ---- words ---- */

/* The next word of `*rest`, ended with a zero, or NULL at the end of the line. A word in quotes may
 * hold blanks. */
static char *next_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t");
    if (*word == '\0' || *word == '#')
        return NULL;
    size_t length;
    if (*word == '"') {
        word++;
        length = strcspn(word, "\"");
    } else {
        length = strcspn(word, " \t");
    }
    *rest = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word;
}

static bool parse_number(const char *text, int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* argN */
static bool parse_argument(const char *text, int64_t *number) {
    return strncmp(text, "arg", 3) == 0 && isdigit((unsigned char)text[3]) &&
           parse_number(text + 3, number);
}

static bool is_name(const char *text) {
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_' || *text == '-')
        text++;
    return *text == '\0';
}

/* ---- functions ---- */

static int check_argument(const struct parser *parser, const char *text, int64_t number) {
    if (number <= USER_MAX_ARGUMENT)
        return 0;
    return refuse(parser, "%s: only arguments passed in registers can be seen: arg0 to arg%d", text,
                  USER_MAX_ARGUMENT);
}

static int parse_object(struct parser *parser, struct user_function *function, const char *text) {
    struct user_value *object = &function->object;
    if (parse_argument(text, &object->number)) {
        object->source = USER_ARGUMENT;
        return check_argument(parser, text, object->number);
    }
    if (strcmp(text, "result") == 0)
        *object = (struct user_value){USER_RESULT, 0};
    else if (is_name(text))
        *object = user_catalog_name(parser->catalog, text);
    else
        return refuse(parser, "object=%s: give argN, result, or a name of your own", text);
    return 0;
}

static int parse_amount(struct parser *parser, struct user_function *function, const char *text) {
    struct user_value *amount = &function->amount;
    if (parse_argument(text, &amount->number)) {
        amount->source = USER_ARGUMENT;
        return check_argument(parser, text, amount->number);
    }
    if (!parse_number(text, &amount->number) || amount->number < 0 || amount->number > INT32_MAX)
        return refuse(parser, "amount=%s: give argN or a number", text);
    amount->source = USER_NUMBER;
    return 0;
}

static int parse_failure(const struct parser *parser, struct user_function *function,
                         const char *text) {
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (strcmp(text, failures[i].word) == 0) {
            function->fails = failures[i].failure;
            return 0;
        }
    return refuse(parser, "fails=%s: give false, true, null, not-null, zero, nonzero or negative",
                  text);
}

static bool is_try(enum api api) {
    enum api_op op = api_catalog[api].op;
    return op == OP_TRYLOCK || op == OP_TRYACQUIRE || op == OP_TRYPUT || op == OP_TRYGET;
}

/* What a role cannot do without, or cannot do with. */
static int check_function(const struct parser *parser, const struct user_function *function,
                          const char *role) {
    if (function->api == API_COUNT) {
        if (function->object.source || function->amount.source || function->fails)
            return refuse(parser, "ignore takes the function's name and nothing else");
        return 0;
    }
    if (user_role_marks_tasks(function->api) &&
        (function->object.source || function->amount.source || function->fails || function->spins))
        return refuse(parser, "%s takes the function's name and nothing else", role);
    enum api_op op = api_catalog[function->api].op;
    if (is_try(function->api) && function->fails == USER_NEVER)
        return refuse(parser, "%s %s: say which result means that it failed: fails=false ...", role,
                      function->name);
    if (op == OP_INIT && function->amount.source == USER_NOTHING)
        return refuse(parser, "%s %s: say how many: amount=argN or a number", role, function->name);
    if (function->amount.source && op != OP_INIT && op != OP_BARRIER)
        return refuse(parser, "%s %s: amount= is for what creates, and for barriers", role,
                      function->name);
    return 0;
}

static int parse_option(struct parser *parser, struct user_function *function, char *word) {
    if (strcmp(word, "spins") == 0) {
        function->spins = true;
        return 0;
    }
    char *value = strchr(word, '=');
    if (value) {
        *value++ = '\0';
        if (strcmp(word, "object") == 0)
            return parse_object(parser, function, value);
        if (strcmp(word, "amount") == 0)
            return parse_amount(parser, function, value);
        if (strcmp(word, "fails") == 0)
            return parse_failure(parser, function, value);
    }
    return refuse(parser, "unknown word '%s': give object=, amount=, fails= or spins", word);
}

static int parse_function(struct parser *parser, const struct role *role, char *rest) {
    char *name = next_word(&rest);
    if (!name || strchr(name, '='))
        return refuse(parser, "%s of which function: give its name", role->word);
    if (user_catalog_find(parser->catalog, name))
        return refuse(parser, "%s has a line already: remove one", name);
    if (api_find(name) >= 0)
        return refuse(parser, "%s is in persik's own catalog: remove the line", name);
    if (parser->catalog->functions.count == USER_MAX_FUNCTIONS)
        return refuse(parser, "more than %d functions: remove some", USER_MAX_FUNCTIONS);
    struct user_function function = {.name = name, .api = role->api, .line = parser->line};
    if (role->api != API_COUNT && !user_role_marks_tasks(role->api))
        function.object = (struct user_value){USER_ARGUMENT, 0};
    else
        function.object = (struct user_value){USER_NOTHING, 0};
    for (char *word = next_word(&rest); word; word = next_word(&rest))
        if (parse_option(parser, &function, word) != 0)
            return -1;
    if (function.spins)
        function.api = role->spinning;
    if (check_function(parser, &function, role->word) != 0)
        return -1;
    user_catalog_add(parser->catalog, &function);
    return 0;
}

/* ---- monitors ---- */

/* "NAME" is KIND [amount=N] */
static int parse_monitor(struct parser *parser, char *rest) {
    char *name = next_word(&rest);
    char *is = name ? next_word(&rest) : NULL;
    if (!is || strcmp(is, "is") != 0)
        return refuse(parser, "monitor: write monitor \"NAME\" is KIND");
    struct user_monitor monitor = {.kind = USER_MONITOR_KINDS, .amount = -1, .line = parser->line};
    char kind[64] = "";
    for (char *word = next_word(&rest); word; word = next_word(&rest)) {
        int64_t amount;
        if (strncmp(word, "amount=", strlen("amount=")) == 0) {
            if (!parse_number(word + strlen("amount="), &amount) || amount < 0)
                return refuse(parser, "%s: give a number", word);
            monitor.amount = (double)amount;
            continue;
        }
        size_t used = strlen(kind);
        snprintf(kind + used, sizeof kind - used, "%s%s", used ? " " : "", word);
    }
    for (int i = 0; i < USER_MONITOR_KINDS; i++)
        if (strcmp(kind, user_monitor_kinds[i]) == 0)
            monitor.kind = (enum user_monitor_kind)i;
    if (monitor.kind == USER_MONITOR_KINDS)
        return refuse(parser,
                      "unknown kind '%s': give bounded queue, unbounded queue, semaphore, barrier, "
                      "event, completion, rwlock, token pool, hand-over, thread pool, other, "
                      "ignored or statements",
                      kind);
    monitor.name = memory_strdup(name);
    *VECTOR_ADD(&parser->catalog->monitors) = monitor;
    return 0;
}

/* ---- the file ---- */

/* Whoever says that all locks spin need not say it of what unlocks them too. */
static void spread_spinning(struct user_catalog *catalog) {
    bool spinning = false;
    for (size_t i = 0; i < catalog->functions.count; i++) {
        if (catalog->functions.items[i].api == ROLE_lock)
            return;
        spinning |= catalog->functions.items[i].api == ROLE_spin_lock;
    }
    for (size_t i = 0; spinning && i < catalog->functions.count; i++)
        if (catalog->functions.items[i].api == ROLE_unlock)
            catalog->functions.items[i].api = ROLE_spin_unlock;
}

static int parse_line(struct parser *parser, char *line) {
    char *word = next_word(&line);
    if (!word)
        return 0;
    if (strcmp(word, "monitor") == 0)
        return parse_monitor(parser, line);
    for (size_t i = 0; i < N_ROLES; i++)
        if (strcmp(word, roles[i].word) == 0)
            return parse_function(parser, &roles[i], line);
    return refuse(parser,
                  "unknown role '%s': give put, get, lock, unlock, barrier, ... as in persik(1)",
                  word);
}

struct user_catalog *user_catalog_parse(const char *text, const char *path, struct error *error) {
    struct user_catalog *catalog = memory_alloc(1, sizeof *catalog);
    catalog->path = memory_strdup(path);
    struct parser parser = {.catalog = catalog, .path = path, .error = error};
    char *copy = memory_strdup(text);
    char *rest = copy;
    int status = 0;
    for (char *line = strsep(&rest, "\n"); line && status == 0; line = strsep(&rest, "\n")) {
        parser.line++;
        line[strcspn(line, "\r")] = '\0';
        status = parse_line(&parser, line);
    }
    free(copy);
    if (status == 0) {
        spread_spinning(catalog);
        return catalog;
    }
    user_catalog_free(catalog);
    return NULL;
}

char *user_catalog_text(const char *path, struct error *error) {
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = file ? getdelim(&text, &capacity, '\0', file) : -1;
    if (!file || (length < 0 && ferror(file))) {
        error_set(error, "%s: %s: give the catalog's path", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (length <= 0) {
        free(text);
        text = memory_strdup("");
    }
    if (file)
        fclose(file);
    return text;
}

struct user_catalog *user_catalog_load(const char *path, struct error *error) {
    char *text = user_catalog_text(path, error);
    struct user_catalog *catalog = text ? user_catalog_parse(text, path, error) : NULL;
    free(text);
    return catalog;
}

void user_catalog_free(struct user_catalog *catalog) {
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->functions.count; i++)
        free(catalog->functions.items[i].name);
    for (size_t i = 0; i < catalog->monitors.count; i++)
        free(catalog->monitors.items[i].name);
    for (size_t i = 0; i < catalog->names.count; i++)
        free(catalog->names.items[i]);
    free(catalog->functions.items);
    free(catalog->monitors.items);
    free(catalog->names.items);
    free(catalog->path);
    free(catalog);
}

const struct user_function *user_catalog_find(const struct user_catalog *catalog,
                                              const char *name) {
    for (size_t i = 0; i < catalog->functions.count; i++)
        if (strcmp(catalog->functions.items[i].name, name) == 0)
            return &catalog->functions.items[i];
    return NULL;
}

void user_catalog_add(struct user_catalog *catalog, const struct user_function *function) {
    struct user_function *added = VECTOR_ADD(&catalog->functions);
    *added = *function;
    added->name = memory_strdup(function->name);
}

struct user_value user_catalog_name(struct user_catalog *catalog, const char *name) {
    size_t i = 0;
    while (i < catalog->names.count && strcmp(catalog->names.items[i], name) != 0)
        i++;
    if (i == catalog->names.count)
        *VECTOR_ADD(&catalog->names) = memory_strdup(name);
    return (struct user_value){USER_NAME, (int64_t)i + 1};
}
