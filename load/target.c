#include "load/target.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *prefix;
    enum load_protocol protocol;
    const char *port; /* NULL: must be given */
} schemes[] = {
    {"http://", LOAD_HTTP, "80"},
    {"tcp://", LOAD_LINES, NULL},
    {"udp://", LOAD_DATAGRAMS, NULL},
};

static int bad_url(const char *url, struct error *error) {
    return error_set(error,
                     "'%s' is no target: give http://HOST[:PORT]/PATH, tcp://HOST:PORT or "
                     "udp://HOST:PORT",
                     url);
}

/* HOST or HOST:PORT or [ADDRESS]:PORT, `length` characters. */
static int parse_authority(const char *text, size_t length, struct target *target) {
    if (length == 0 || length >= sizeof target->authority)
        return -1;
    snprintf(target->authority, sizeof target->authority, "%.*s", (int)length, text);
    char *authority = target->authority;
    char *host = authority, *end = strchr(authority, ':');
    if (*authority == '[') {
        host++;
        end = strchr(authority, ']');
        if (!end || (end[1] && end[1] != ':'))
            return -1;
    }
    size_t host_length = end ? (size_t)(end - host) : strlen(host);
    if (host_length == 0 || host_length >= sizeof target->host)
        return -1;
    snprintf(target->host, sizeof target->host, "%.*s", (int)host_length, host);
    const char *port = end ? strchr(end, ':') : NULL;
    if (!port)
        return *target->port ? 0 : -1;
    char *rest;
    long number = strtol(port + 1, &rest, 10);
    if (rest == port + 1 || *rest || number < 1 || number > 65535)
        return -1;
    snprintf(target->port, sizeof target->port, "%ld", number);
    return 0;
}

/* What would end a request's first line, or be read as more than one. */
static bool is_clean(const char *path) {
    for (; *path; path++)
        if ((unsigned char)*path <= ' ' || *path == 0x7f)
            return false;
    return true;
}

int target_parse(const char *url, struct target *target, struct error *error) {
    *target = (struct target){.path = "/"};
    size_t i = 0, n = sizeof schemes / sizeof *schemes;
    while (i < n && strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) != 0)
        i++;
    if (i == n)
        return bad_url(url, error);
    target->protocol = schemes[i].protocol;
    if (schemes[i].port)
        snprintf(target->port, sizeof target->port, "%s", schemes[i].port);
    const char *authority = url + strlen(schemes[i].prefix);
    size_t length = strcspn(authority, "/");
    if (authority[length])
        target->path = authority + length;
    bool has_path = strcmp(target->path, "/") != 0;
    if (parse_authority(authority, length, target) < 0 || !is_clean(url) ||
        (has_path && target->protocol != LOAD_HTTP))
        return bad_url(url, error);
    return 0;
}

static bool is_loopback(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *internet = (const struct sockaddr_in *)address;
        return ntohl(internet->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

int target_resolve(struct target *target, bool remote, struct error *error) {
    struct addrinfo *found, hints = {.ai_family = AF_UNSPEC};
    hints.ai_socktype = target->protocol == LOAD_DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM;
    int cause = getaddrinfo(target->host, target->port, &hints, &found);
    if (cause)
        return error_set(error, "no address of '%s': %s", target->host, gai_strerror(cause));
    memcpy(&target->address, found->ai_addr, found->ai_addrlen);
    target->address_bytes = found->ai_addrlen;
    freeaddrinfo(found);
    if (!remote && !is_loopback(&target->address))
        return error_set(error,
                         "%s is not this machine's own loopback address: load on another's server "
                         "may do harm, and the network would be part of the times; if you may, add "
                         "--remote",
                         target->host);
    return 0;
}
