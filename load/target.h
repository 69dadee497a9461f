/* Where the requests go: http://HOST[:PORT]/PATH, tcp://HOST:PORT, udp://HOST:PORT. */
#ifndef PERSIK_LOAD_TARGET_H
#define PERSIK_LOAD_TARGET_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum load_protocol { LOAD_HTTP, LOAD_LINES, LOAD_DATAGRAMS };

struct target {
    enum load_protocol protocol;
    char host[NI_MAXHOST];           /* without the brackets of an IPv6 address */
    char authority[NI_MAXHOST + 16]; /* HOST:PORT, as the URL has it: for the header Host */
    char port[8];
    const char *path; /* within the URL; "/" when it has none */
    struct sockaddr_storage address;
    socklen_t address_bytes;
};

/* Takes the URL apart. `url` must live as long as the target. 0, or -1 and `error`. */
int target_parse(const char *url, struct target *target, struct error *error);

/* Finds the address. One that is not of this machine's loopback network is an error unless
 * `remote`. 0, or -1 and `error`. */
int target_resolve(struct target *target, bool remote, struct error *error);

#endif
