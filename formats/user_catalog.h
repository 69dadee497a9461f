/* The user's catalog: what functions of the program's own do, and what its objects are.
 *
 * A text file, one statement a line, described in docs/formats.md:
 *
 *     put      ring_push  object=arg0 fails=false
 *     monitor  "struct pool.lock" is bounded queue amount=8
 *
 * The tracer wraps the functions and records their calls as those of the catalog's roles
 * (formats/catalog.def); modelgen takes the user's word for the monitors. */
#ifndef PERSIK_FORMATS_USER_CATALOG_H
#define PERSIK_FORMATS_USER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/catalog.h"

#define USER_MAX_FUNCTIONS 256
#define USER_MAX_ARGUMENT  5 /* what is passed in registers */

/* Where an object or an amount comes from. */
enum user_source {
    USER_NOTHING,
    USER_ARGUMENT, /* number: which, from 0 */
    USER_RESULT,   /* what the function returns */
    USER_NUMBER,   /* amounts only */
    USER_NAME,     /* objects only. number: the same for the same name, from 1 */
};

struct user_value {
    enum user_source source;
    int64_t number;
};

/* Which result says that the function came back with nothing done. */
enum user_failure {
    USER_NEVER,
    USER_FALSE, /* a bool: 8 bits */
    USER_TRUE,
    USER_NULL,     /* a pointer: 64 bits */
    USER_NOT_NULL, /* also for 64-bit integers */
    USER_ZERO,     /* an int: 32 bits */
    USER_NONZERO,
    USER_NEGATIVE,
};

/* Without calls: the probe library uses these where nothing may be called. */

static inline bool user_result_fails(enum user_failure fails, uint64_t result) {
    switch (fails) {
    case USER_NEVER:
        return false;
    case USER_FALSE:
        return (uint8_t)result == 0;
    case USER_TRUE:
        return (uint8_t)result != 0;
    case USER_NULL:
        return result == 0;
    case USER_NOT_NULL:
        return result != 0;
    case USER_ZERO:
        return (uint32_t)result == 0;
    case USER_NONZERO:
        return (uint32_t)result != 0;
    case USER_NEGATIVE:
        return (int32_t)result < 0;
    }
    return false;
}

/* Flags of the records of a role's calls (formats/trace.h). */
unsigned user_role_flags(enum api role, bool spins);

/* Are the calls that a function of this role makes its own business? Not those of constructors:
 * they make threads; nor those inside a task. */
bool user_role_hides(enum api role);

/* Does it say only where a task begins or ends? */
bool user_role_marks_tasks(enum api role);

struct user_function {
    char *name;   /* the linker's */
    enum api api; /* its role; API_COUNT: calls made inside are not looked at */
    struct user_value object, amount;
    enum user_failure fails;
    bool spins; /* waiting burns CPU */
    int line;   /* in the file; 0: not from a file */
};

enum user_monitor_kind {
    USER_BOUNDED_QUEUE,
    USER_UNBOUNDED_QUEUE,
    USER_SEMAPHORE,
    USER_BARRIER,
    USER_EVENT,
    USER_COMPLETION,
    USER_RWLOCK,
    USER_TOKEN_POOL,
    USER_HAND_OVER,
    USER_THREAD_POOL,
    USER_OTHER,
    USER_IGNORED,
    USER_STATEMENTS, /* whatever it is, its statements are to be simulated */
    USER_MONITOR_KINDS
};

/* As the file and the reports call them. */
extern const char *const user_monitor_kinds[USER_MONITOR_KINDS];

struct user_monitor {
    char *name; /* as in static.json: "struct pool.lock", "global:jobs.mutex" */
    enum user_monitor_kind kind;
    double amount; /* -1: not given */
    int line;
};

struct user_catalog {
    char *path; /* for messages; NULL: not from a file */
    struct {
        size_t count, capacity;
        struct user_function *items;
    } functions;
    struct {
        size_t count, capacity;
        struct user_monitor *items;
    } monitors;
    struct {
        size_t count, capacity;
        char **items;
    } names; /* of objects: number - 1 is the index */
};

/* NULL and `error` ("FILE:LINE: what: mend") on the first bad line. user_catalog_free() ends it. */
struct user_catalog *user_catalog_load(const char *path, struct error *error);
char *user_catalog_text(const char *path,
                        struct error *error); /* of the file; the caller frees it */
struct user_catalog *user_catalog_parse(const char *text, const char *path, struct error *error);
void user_catalog_free(struct user_catalog *catalog);

/* The function of this name, or NULL. */
const struct user_function *user_catalog_find(const struct user_catalog *catalog, const char *name);

/* Adds a function that is not there yet; its name is copied. */
void user_catalog_add(struct user_catalog *catalog, const struct user_function *function);

/* The object of this name as a value. */
struct user_value user_catalog_name(struct user_catalog *catalog, const char *name);

#endif
