/* host/listening.c and host/process_tree.c, on children of this test. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/listening.h"
#include "host/process_tree.h"

/* A socket of that family and type, bound to a free port of the loopback. */
static int bound(int family, int type, int *port) {
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    socklen_t length = sizeof address;
    if (family == AF_INET)
        ((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int made = socket(family, type, 0);
    assert_true(made >= 0 && bind(made, (struct sockaddr *)&address, length) == 0 &&
                getsockname(made, (struct sockaddr *)&address, &length) == 0);
    *port = ntohs(((struct sockaddr_in *)&address)->sin_port); /* in IPv6 at the same place */
    return made;
}

/* A child that has what this process has, and sleeps. */
static pid_t sleeping_child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

static void end_child(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_socket_counts_from_when_it_listens(void **state) {
    (void)state;
    int port;
    int server = bound(AF_INET, SOCK_STREAM, &port);
    assert_int_equal(listening_find(getpid()).pid, 0);
    listen(server, 1);
    struct listening found = listening_find(getpid());
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    assert_int_equal(found.pid, getpid());
    assert_int_equal(found.n_processes, 1);
    assert_string_equal(found.address, address);
    assert_false(found.connected);
    close(server);
    assert_int_equal(listening_find(getpid()).pid, 0);
}

static void all_addresses_are_shown_by_the_port(void **state) {
    (void)state;
    int port;
    int server = bound(AF_INET6, SOCK_STREAM, &port);
    listen(server, 1);
    char address[64];
    snprintf(address, sizeof address, "port %d", port);
    assert_string_equal(listening_find(getpid()).address, address);
    close(server);
}

static void a_udp_socket_listens_unless_it_is_connected(void **state) {
    (void)state;
    int port;
    int server = bound(AF_INET, SOCK_DGRAM, &port);
    char address[64];
    snprintf(address, sizeof address, "UDP 127.0.0.1:%d", port);
    assert_string_equal(listening_find(getpid()).address, address);
    struct sockaddr_in self;
    socklen_t length = sizeof self;
    getsockname(server, (struct sockaddr *)&self, &length);
    assert_int_equal(connect(server, (struct sockaddr *)&self, length), 0);
    assert_int_equal(listening_find(getpid()).pid, 0);
    close(server);
}

static void a_connection_is_seen(void **state) {
    (void)state;
    int port;
    int server = bound(AF_INET, SOCK_STREAM, &port);
    listen(server, 1);
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    getsockname(server, (struct sockaddr *)&address, &length);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
    assert_true(listening_find(getpid()).connected);
    close(client);
    close(server);
}

static void sockets_change_with_each_that_listens(void **state) {
    (void)state;
    int port;
    int one = bound(AF_INET, SOCK_STREAM, &port), other = bound(AF_INET, SOCK_STREAM, &port);
    listen(one, 1);
    uint64_t before = listening_find(getpid()).sockets;
    assert_int_equal(listening_find(getpid()).sockets, before);
    listen(other, 1);
    assert_int_not_equal(listening_find(getpid()).sockets, before);
    close(one);
    close(other);
}

static void a_child_is_found_below_its_parent(void **state) {
    (void)state;
    int port;
    int server = bound(AF_INET, SOCK_STREAM, &port);
    listen(server, 1);
    pid_t child = sleeping_child();
    assert_int_equal(listening_find(getpid()).n_processes, 2);
    close(server);
    struct listening found = listening_find(getpid());
    assert_int_equal(found.pid, child);
    assert_int_equal(found.n_processes, 1);
    end_child(child);
    assert_int_equal(listening_find(getpid()).pid, 0);
}

static void a_tree_holds_whom_it_lists(void **state) {
    (void)state;
    pid_t child = sleeping_child();
    struct process_tree tree = {0};
    process_tree_add(&tree, getpid(), -1);
    assert_int_equal(tree.count, 2);
    assert_int_equal(tree.items[1].pid, child);
    assert_false(process_has_ended(tree.items[1].handle));
    end_child(child);
    assert_true(process_has_ended(tree.items[1].handle));
    process_signal(tree.items[1].handle, SIGKILL); /* whoever may have its number now */
    process_tree_close(&tree);
}

static void a_tree_is_waited_for(void **state) {
    (void)state;
    struct process_tree tree = {0};
    pid_t child = sleeping_child();
    int handle = process_open(child);
    process_tree_add(&tree, child, handle);
    assert_false(process_tree_wait(&tree, 10));
    process_tree_signal(&tree, SIGTERM);
    assert_true(process_tree_wait(&tree, 60000));
    process_tree_close(&tree);
    process_tree_add(&tree, child, handle); /* its number is still there, it has ended */
    assert_int_equal(tree.count, 0);
    process_tree_close(&tree);
    close(handle);
    waitpid(child, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_counts_from_when_it_listens),
        cmocka_unit_test(all_addresses_are_shown_by_the_port),
        cmocka_unit_test(a_udp_socket_listens_unless_it_is_connected),
        cmocka_unit_test(a_connection_is_seen),
        cmocka_unit_test(sockets_change_with_each_that_listens),
        cmocka_unit_test(a_child_is_found_below_its_parent),
        cmocka_unit_test(a_tree_holds_whom_it_lists),
        cmocka_unit_test(a_tree_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
