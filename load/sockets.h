/* The transport of the generator over real sockets: one thread, epoll. */
#ifndef PERSIK_LOAD_SOCKETS_H
#define PERSIK_LOAD_SOCKETS_H

#include "base/error.h"
#include "load/target.h"
#include "load/transport.h"

struct sockets;

/* For slots 0 .. most - 1. The target must live as long. NULL and `error`. */
struct sockets *sockets_new(const struct target *target, int most, struct error *error);
void sockets_free(struct sockets *sockets);

struct transport sockets_transport(struct sockets *sockets);

#endif
