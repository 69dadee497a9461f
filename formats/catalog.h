/* The API catalog: every function that persik understands, from one table, catalog.def.
 * The static analyser classifies calls with it, the tracer generates its interposers from it,
 * modelgen reads events with it, the manual prints it. */
#ifndef PERSIK_FORMATS_CATALOG_H
#define PERSIK_FORMATS_CATALOG_H

#include <stdbool.h>

enum api_class {
    CLASS_SYNC,
    CLASS_IN,
    CLASS_OUT,
    CLASS_IO,
    CLASS_THREAD,
    CLASS_CREATE,
    CLASS_TIME
};

/* What a call does to its object. */
enum api_op {
    OP_NONE,
    /* mutex, spin */
    OP_LOCK,
    OP_TRYLOCK,
    OP_TIMEDLOCK,
    OP_UNLOCK,
    /* rwlock */
    OP_RDLOCK,
    OP_TRYRDLOCK,
    OP_TIMEDRDLOCK,
    OP_WRLOCK,
    OP_TRYWRLOCK,
    OP_TIMEDWRLOCK,
    OP_RWUNLOCK,
    /* condition */
    OP_WAIT,
    OP_TIMEDWAIT,
    OP_SIGNAL,
    OP_BROADCAST,
    /* semaphore */
    OP_ACQUIRE,
    OP_TRYACQUIRE,
    OP_TIMEDACQUIRE,
    OP_RELEASE,
    OP_BARRIER,
    OP_ONCE,
    /* objects come and go; value = permits, parties */
    OP_INIT,
    OP_DESTROY,
    /* threads; value = index of the other thread */
    OP_CREATE,
    OP_JOIN,
    OP_TRYJOIN,
    OP_DETACH,
    OP_EXIT,
    OP_BIND,   /* to some of the cores */
    OP_NOTIFY, /* sends a signal to a thread, or to a process; then value = its number */
    OP_YIELD,
    OP_SLEEP,
    OP_TIMER, /* waits for what comes by a clock of its own, however long the last took */
    /* I/O; value = bytes or the return value */
    OP_OPEN,
    OP_CLOSE,
    OP_READ,
    OP_WRITE,
    OP_SYNC,
    OP_STAT,
    OP_SEEK,
    OP_POLL,
    OP_ACCEPT,
    OP_CONNECT,
    OP_SEND,
    OP_RECEIVE,
    /* queues of items in memory */
    OP_PUT,
    OP_TRYPUT,
    OP_GET,
    OP_TRYGET,
    /* teams */
    OP_FORK,
    OP_FIRST_TAKE,  /* comes to a supply that the team shares, and takes from it; value: got some */
    OP_TAKE,        /* again, from the supply met last */
    OP_FIRST_SPLIT, /* the same where the shares follow the size of the team */
    OP_TAKE_SPLIT,
    OP_FIRST_GUIDED, /* the same where they also become smaller: all are ready at the same time */
    OP_TAKE_GUIDED,
    OP_ORDERED,
    OP_TASK,
    OP_TASKWAIT,
    OP_WHO, /* asks for its own number, the first time in a region */
    OP_COUNT
};

/* What kind of object argument `object` names. */
enum api_object {
    ON_NONE,
    ON_MUTEX,
    ON_RWLOCK,
    ON_CONDITION,
    ON_SEMAPHORE,
    ON_BARRIER,
    ON_SPIN,
    ON_ONCE,
    ON_THREAD,
    ON_FILE, /* descriptor or FILE * */
    ON_SOCKET,
    ON_QUEUE, /* message queue */
    ON_ITEMS, /* queue of items in memory */
    ON_EVENT, /* happens once and stays */
    ON_FUTEX, /* a word of memory, by whose address threads wait and wake */
    ON_TEAM,
    ON_SHARE, /* work that a team shares */
};

/* How the probe handles the call (tracer/probe):
 *   PLAIN     time stamp only, cannot block (unlock, signal)
 *   TRY       try the non-blocking form first; a time stamp if it succeeds, start and end if not
 *   TIMED     start and end
 *   BUFFERED  as TIMED, but no record where the stream's buffer serves the call
 *   SPECIAL   written by hand in the probe library (pthread_create, fork, _exit ...) */
enum api_probe { PROBE_PLAIN, PROBE_TRY, PROBE_TIMED, PROBE_BUFFERED, PROBE_SPECIAL };

enum api {
#define API(name, ...)  API_##name,
#define ROLE(name, ...) ROLE_##name,
#include "formats/catalog.def"
#undef API
    API_COUNT
};

struct api_info {
    const char *name;
    enum api_class api_class;
    enum api_object object;
    enum api_op op;
    enum api_probe probe;
    int object_argument;  /* 0-based; -1 none */
    int mutex_argument;   /* condition waits: the mutex; else -1 */
    int amount_argument;  /* parties, permits, bytes asked; else -1 */
    int timeout_argument; /* else -1 */
};

/* Indexed by enum api. */
extern const struct api_info api_catalog[API_COUNT];

/* What kinds of objects are called in all that is printed, by enum api_object. (In static.json they
 * have names of their own, which stay as they are: see facts.h.) */
extern const char *const api_object_names[];

/* Index by name, or -1. Linear in the catalog; for start-up only. */
int api_find(const char *name);

/* The same by the name that the C library gives its function inside: "___pthread_cond_wait",
 * "__libc_read", or to a part of it: "__pthread_mutex_unlock_usercnt". Only the library's own names
 * begin with two underscores: a program's "read_int" is no part of read(). */
int api_find_internal(const char *name);

/* Is it an entry of OpenMP's runtime? Its threads spin before they block. */
bool api_is_openmp(enum api api);

#endif
