/* One HTTP/1.1 connection: requests for files below a root. No thread, no lock. */
#ifndef TORNADO_HTTP_H
#define TORNADO_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_REQUEST_BYTES = 8192,
    HTTP_BLOCK_BYTES = 65536, /* of a file, read and sent at once */
};

struct site {
    const char *root;   /* folder */
    bool keep_alive;    /* else one request per connection */
    int compute_rounds; /* for each request, before the file is looked for */
};

/* What a worker needs while it serves; one per thread. */
struct http {
    const struct site *site;
    /* results */
    uint64_t requests, bytes, checksum;
    /* of the connection */
    int connection;
    size_t buffered;
    char request[HTTP_REQUEST_BYTES + 1];
    char block[HTTP_BLOCK_BYTES];
};

/* Serves the connection until it is over, and closes it. */
void http_serve(struct http *http, int connection);

#endif
