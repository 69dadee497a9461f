/* What the generator wants of a network and a clock. `sockets.h` has the real one; tests have one
 * of their own, whose clock stands still while nothing waits. */
#ifndef PERSIK_LOAD_TRANSPORT_H
#define PERSIK_LOAD_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct transport_event {
    int slot;
    bool readable, writable;
    bool ended; /* the other side has closed, or the connection has failed */
};

/* Connections are known by a slot, 0 .. the limit that both sides agreed on. Nothing blocks but
 * `wait`. Errors are negative errno values; -EAGAIN: an event will tell. */
struct transport {
    void *context;
    uint64_t (*now_ns)(void *context);
    /* Begins to connect. 0 or an error. */
    int (*open)(void *context, int slot);
    /* Bytes sent or received (0: the other side has closed), or an error; that of a connection
     * which did not come about is told by `send`. */
    ssize_t (*send)(void *context, int slot, const char *bytes, size_t n);
    ssize_t (*receive)(void *context, int slot, char *bytes, size_t n);
    void (*close)(void *context, int slot);
    /* Waits until something happens or the clock says `until_ns`. Number of events, 0 to `most`, or
     * an error. An event is told once, and may be of a connection that had the slot before: what is
     * true, `send` and `receive` say. */
    int (*wait)(void *context, uint64_t until_ns, struct transport_event *events, int most);
};

#endif
