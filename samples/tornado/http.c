#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A request, as far as this server looks at it. Texts lie in the worker's buffer. */
struct request {
    const char *path; /* NULL: not a request */
    bool is_get;
    bool keeps; /* the client wants to go on */
};

/* ------------------------------------------------------------------------------------ receiving */

/* Bytes of the request's head that lie in the buffer, 0 if it is not complete. */
static size_t head_bytes(const struct http *http) {
    const char *end = memmem(http->request, http->buffered, "\r\n\r\n", 4);
    return end ? (size_t)(end - http->request) + 4 : 0;
}

/* Reads until a head is complete. Its bytes; 0: the client has gone, was silent too long, or sent
 * more than a request has. */
static size_t receive_head(struct http *http) {
    size_t bytes;
    while ((bytes = head_bytes(http)) == 0) {
        if (http->buffered == HTTP_REQUEST_BYTES)
            return 0;
        ssize_t n = recv(http->connection, http->request + http->buffered,
                         HTTP_REQUEST_BYTES - http->buffered, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        http->buffered += (size_t)n;
    }
    return bytes;
}

/* Takes the head apart; its first line becomes words. */
static struct request parse_head(char *head) {
    struct request request = {NULL, strncmp(head, "GET ", 4) == 0, false};
    char *line_end = strstr(head, "\r\n");
    *line_end = '\0';
    char *path = strchr(head, ' ');
    char *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || path[1] != '/')
        return request;
    *version++ = '\0';
    if (strncmp(version, "HTTP/1.", 7) == 0)
        request.path = path + 1;
    request.keeps =
        strcmp(version, "HTTP/1.1") == 0 && !strcasestr(line_end + 1, "\nConnection: close");
    return request;
}

/* -------------------------------------------------------------------------------------- sending */

static bool send_all(const struct http *http, const char *bytes, size_t n, int flags) {
    while (n > 0) {
        ssize_t sent = send(http->connection, bytes, n, flags | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* The head of a reply; MSG_MORE holds it back for the first block. */
static bool send_head(const struct http *http, const char *status, long long length, bool keeps) {
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Length: %lld\r\nContent-Type: text/html\r\n"
                     "Connection: %s\r\n\r\n",
                     status, length, keeps ? "keep-alive" : "close");
    return send_all(http, head, (size_t)n, length > 0 ? MSG_MORE : 0);
}

static bool send_file(struct http *http, int file, long long length, bool keeps) {
    if (!send_head(http, "200 OK", length, keeps))
        return false;
    while (length > 0) {
        ssize_t n = read(file, http->block, sizeof http->block);
        if (n <= 0)
            return false; /* it has become shorter: only closing tells the client */
        if (n > length)
            n = (ssize_t)length;
        if (!send_all(http, http->block, (size_t)n, 0))
            return false;
        http->bytes += (uint64_t)n;
        length -= n;
    }
    return true;
}

/* ------------------------------------------------------------------------------------ answering */

/* Stands for a page that is made, and not only read. */
static void compute(struct http *http) {
    uint64_t x = 1; /* the same for each request: the sum does not depend on who served it */
    for (int i = 0; i < http->site->compute_rounds; i++) {
        x += 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x ^= x >> 27;
    }
    http->checksum += x;
}

/* The file's name: the root and the path without its query. False: it would leave the root. */
static bool file_name(const struct site *site, const char *path, char name[PATH_MAX]) {
    int length = (int)strcspn(path, "?#");
    bool is_folder = length > 0 && path[length - 1] == '/';
    int n = snprintf(name, PATH_MAX, "%s%.*s%s", site->root, length, path,
                     is_folder ? "index.html" : "");
    return n < PATH_MAX && !strstr(name + strlen(site->root), "/..");
}

static bool answer_get(struct http *http, const char *path, bool keeps) {
    char name[PATH_MAX];
    struct stat status;
    if (!file_name(http->site, path, name) || stat(name, &status) < 0 || !S_ISREG(status.st_mode))
        return send_head(http, "404 Not Found", 0, keeps);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return send_head(http, "403 Forbidden", 0, keeps);
    bool sent = send_file(http, file, (long long)status.st_size, keeps);
    close(file);
    return sent;
}

/* Whether the connection goes on. */
static bool answer(struct http *http, char *head) {
    struct request request = parse_head(head);
    bool keeps = request.keeps && http->site->keep_alive;
    http->requests++;
    if (!request.path || !request.is_get) {
        send_head(http, request.path ? "405 Method Not Allowed" : "400 Bad Request", 0, false);
        return false;
    }
    compute(http);
    return answer_get(http, request.path, keeps) && keeps;
}

void http_serve(struct http *http, int connection) {
    http->connection = connection;
    http->buffered = 0;
    size_t head;
    bool goes_on = true;
    while (goes_on && (head = receive_head(http)) > 0) {
        http->request[head - 1] = '\0'; /* in place of the last line feed */
        goes_on = answer(http, http->request);
        http->buffered -= head; /* what the client sent beyond it is the next request */
        memmove(http->request, http->request + head, http->buffered);
    }
    close(connection);
}
