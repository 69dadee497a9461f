/* On what a server listens: TCP sockets that accept connections, and UDP sockets bound to a port
 * that receive from anybody, by the kernel's tables (/proc/PID/net) and the process's descriptors.
 * Sockets of the file system (AF_UNIX) do not count. */
#ifndef PERSIK_HOST_LISTENING_H
#define PERSIK_HOST_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LISTENING_BYTES 80

struct listening {
    pid_t pid;                     /* the first process that listens; 0: none does */
    size_t n_processes;            /* how many do, by a socket of their own or one they share */
    char address[LISTENING_BYTES]; /* "127.0.0.1:8080", "port 8080", "UDP port 53": of one socket */
    uint64_t sockets;              /* changes with the set of sockets */
    bool connected; /* somebody has a connection to one of the TCP ports (others: not known) */
    bool hidden;    /* some process's descriptors may not be looked at */
};

/* Of the process `root` and all below it. */
struct listening listening_find(pid_t root);

#endif
