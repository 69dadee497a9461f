#include "host/listening.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "host/process_tree.h"

/* States in the kernel's tables. */
enum { ESTABLISHED = 1, UNCONNECTED = 7 /* of UDP: receives from anybody */, LISTENS = 10 };

struct socket {
    char local[33]; /* address in hexadecimal, words as they lie in memory */
    unsigned port, state;
    uint64_t inode;
};

/* ---- the descriptors ---- */

/* Fills `inodes` with its sockets; false: it may not be looked at. */
static bool find_sockets(pid_t pid, struct map *inodes) {
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *list = opendir(path);
    if (!list)
        return errno != EACCES;
    for (struct dirent *entry; (entry = readdir(list));) {
        ssize_t length = readlinkat(dirfd(list), entry->d_name, link, sizeof link - 1);
        uint64_t inode;
        link[length > 0 ? length : 0] = '\0';
        if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1)
            map_put(inodes, inode, 1);
    }
    closedir(list);
    return true;
}

/* ---- the tables ---- */

static bool read_socket(const char *line, struct socket *socket) {
    return sscanf(
               line,
               " %*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %" SCNu64,
               socket->local, &socket->port, &socket->state, &socket->inode) == 4;
}

static void show_address(const struct socket *socket, bool udp, char text[LISTENING_BYTES]) {
    unsigned words[4] = {0};
    size_t n = strlen(socket->local) / 8;
    bool any = true;
    for (size_t i = 0; i < n && i < 4; i++) {
        sscanf(socket->local + 8 * i, "%8x", &words[i]);
        any &= words[i] == 0;
    }
    char address[INET6_ADDRSTRLEN] = "";
    inet_ntop(n == 1 ? AF_INET : AF_INET6, words, address, sizeof address);
    if (any)
        snprintf(text, LISTENING_BYTES, "%sport %u", udp ? "UDP " : "", socket->port);
    else
        snprintf(text, LISTENING_BYTES, n == 1 ? "%s%s:%u" : "%s[%s]:%u", udp ? "UDP " : "",
                 address, socket->port);
}

struct search {
    struct listening *found;
    const struct map *inodes; /* of the process at hand */
    struct map *ports;        /* TCP ports on which one of them listens */
    bool listens;
};

static void note_listener(struct search *search, const struct socket *socket, bool udp) {
    if (!search->listens && search->found->n_processes == 0)
        show_address(socket, udp, search->found->address);
    search->listens = true;
    search->found->sockets += map_mix(socket->inode, socket->port); /* in any order */
    if (!udp)
        map_put(search->ports, socket->port, 1);
}

static void look_at(struct search *search, const struct socket *socket, bool udp) {
    bool receives = socket->state == (udp ? UNCONNECTED : LISTENS) && socket->port != 0;
    if (receives && map_get(search->inodes, socket->inode, 0))
        note_listener(search, socket, udp);
    if (!udp && socket->state == ESTABLISHED && map_get(search->ports, socket->port, 0))
        search->found->connected = true;
}

static void read_table(struct search *search, pid_t pid, const char *name) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, name); /* of its network namespace */
    FILE *file = fopen(path, "re");
    struct socket socket;
    while (file && fgets(line, sizeof line, file))
        if (read_socket(line, &socket))
            look_at(search, &socket, name[0] == 'u');
    if (file)
        fclose(file);
}

/* Those that listen stand first in a table: their ports are known when connections follow. */
static void look_at_process(struct listening *found, pid_t pid, struct map *ports) {
    struct map inodes = MAP_EMPTY;
    if (!find_sockets(pid, &inodes))
        found->hidden = true;
    struct search search = {.found = found, .inodes = &inodes, .ports = ports};
    if (inodes.count > 0) {
        static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6"};
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            read_table(&search, pid, tables[i]);
    }
    map_free(&inodes);
    if (search.listens && found->n_processes++ == 0)
        found->pid = pid;
}

struct listening listening_find(pid_t root) {
    struct listening found = {0};
    struct process_tree tree = {0};
    struct map ports = MAP_EMPTY;
    process_tree_add(&tree, root, -1);
    for (size_t i = 0; i < tree.count; i++)
        look_at_process(&found, tree.items[i].pid, &ports);
    map_free(&ports);
    process_tree_close(&tree);
    return found;
}
