#include "load/generator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "load/batch_means.h"

enum {
    NONE = -1,
    EVENTS_AT_ONCE = 128,
    RECEIVE_BYTES = 65536, /* a datagram is no longer */
    GONE_FAILURES = 100,   /* to connect, one after the other, and */
};
#define GONE_NS 1000000000U /* for this long: then the server is gone */
#define TICK_NS 50000000U   /* signals are looked for so often, */
#define TELL_NS 200000000U  /* and progress is told */
/* A client that cannot connect tries again after a while: 64 of them would take a core. */
#define RETRY_NS 10000000U

/* A request lives from its intended time until it is answered or has failed. */
struct request {
    uint64_t intended_ns, begun_ns;
    size_t text;
    int connection; /* NONE: it waits for one */
    bool again;     /* it is sent for the second time */
    int older, newer;
};

/* CLOSED ones are in `free_slots`, KEPT ones in the list of those, BUSY ones have a request. */
struct connection {
    enum { CLOSED, KEPT, BUSY } state;
    int request;
    size_t sent;
    bool was_used; /* it has brought an answer */
    bool heard;    /* something came since the request was begun */
    struct codec codec;
    int older, newer; /* among KEPT */
};

/* A list through `older` and `newer`; the oldest is first. */
struct list {
    int first, last;
};

struct generator {
    const struct generator_options *options;
    struct schedule *schedule;
    struct load_requests *texts;
    const struct transport *transport;
    struct load_result *result;
    uint64_t start_ns, warm_end_ns, end_ns; /* end: UINT64_MAX where there is none */
    uint64_t told_ns;
    uint64_t taken; /* requests of the window */
    bool sends_no_more;

    struct request *requests;
    int *free_requests, n_free_requests;
    struct list live; /* requests, by intended time */
    int n_live, n_waiting;
    int oldest_waiting; /* all live ones from here on that have no connection */

    struct connection *connections;
    int *free_slots, n_free_slots;
    struct list kept;

    struct batch_means means;
    uint64_t answers, answers_in_window, last_answer_ns;
    uint64_t connect_failures, first_connect_failure_ns; /* since the last success */
    bool failed;                                         /* as `error` says */
    struct error *error;
    char buffer[RECEIVE_BYTES];
};

/* ---- lists ---- */

#define LIST_ADD(items, list, index)                                                               \
    do {                                                                                           \
        (items)[index].older = (list)->last;                                                       \
        (items)[index].newer = NONE;                                                               \
        *((list)->last == NONE ? &(list)->first : &(items)[(list)->last].newer) = (index);         \
        (list)->last = (index);                                                                    \
    } while (0)

#define LIST_REMOVE(items, list, index)                                                            \
    do {                                                                                           \
        int older = (items)[index].older, newer = (items)[index].newer;                            \
        *(older == NONE ? &(list)->first : &(items)[older].newer) = newer;                         \
        *(newer == NONE ? &(list)->last : &(items)[newer].older) = older;                          \
    } while (0)

/* ---- the end of a request ---- */

static uint64_t clock_ns(const struct generator *generator) {
    return generator->transport->now_ns(generator->transport->context);
}

static bool is_measured(const struct generator *generator, uint64_t intended_ns) {
    return intended_ns >= generator->warm_end_ns;
}

static void release_request(struct generator *generator, int index, uint64_t ready_ns) {
    LIST_REMOVE(generator->requests, &generator->live, index);
    generator->n_live--;
    generator->free_requests[generator->n_free_requests++] = index;
    schedule_answered(generator->schedule, ready_ns - generator->start_ns);
}

static void count_failure(struct generator *generator, uint64_t intended_ns,
                          enum load_failure failure) {
    if (is_measured(generator, intended_ns))
        generator->result->failures[failure]++;
}

static void fail_request(struct generator *generator, int index, enum load_failure failure) {
    uint64_t now = clock_ns(generator);
    count_failure(generator, generator->requests[index].intended_ns, failure);
    release_request(generator, index, failure == LOAD_NO_CONNECTION ? now + RETRY_NS : now);
}

static void count_answer(struct generator *generator, const struct request *request, uint64_t now) {
    generator->answers++;
    generator->last_answer_ns = now;
    if (now >= generator->warm_end_ns && now <= generator->end_ns)
        generator->answers_in_window++;
    if (!is_measured(generator, request->intended_ns))
        return;
    uint64_t response_ns = now - request->intended_ns;
    latency_add(generator->result->response, response_ns);
    latency_add(generator->result->service, now - request->begun_ns);
    batch_means_add(&generator->means, (double)response_ns);
}

/* ---- connections ---- */

static void close_connection(struct generator *generator, int slot) {
    struct connection *connection = &generator->connections[slot];
    if (connection->state == KEPT)
        LIST_REMOVE(generator->connections, &generator->kept, slot);
    connection->state = CLOSED;
    generator->transport->close(generator->transport->context, slot);
    generator->free_slots[generator->n_free_slots++] = slot;
}

static void keep_connection(struct generator *generator, int slot) {
    generator->connections[slot].state = KEPT;
    generator->connections[slot].was_used = true;
    LIST_ADD(generator->connections, &generator->kept, slot);
}

/* The server cannot be connected to. From the beginning: there is none. For a while: it is gone. */
static void note_no_connection(struct generator *generator, int cause) {
    uint64_t now = clock_ns(generator);
    generator->result->connection_error = cause;
    if (generator->answers == 0 && generator->connect_failures == 0 && !generator->failed)
        generator->failed = error_set(generator->error, "cannot connect: %s", strerror(cause)) < 0;
    if (generator->connect_failures++ == 0)
        generator->first_connect_failure_ns = now;
    if (generator->connect_failures >= GONE_FAILURES &&
        now - generator->first_connect_failure_ns >= GONE_NS)
        generator->result->server_gone = true;
}

/* ---- sending and receiving ---- */

static void begin_request(struct generator *generator, int index);

/* The connection of a request broke; `cause`: errno, 0 when the server closed it. On one that was
 * kept, the server may have closed it just before: that is no failure of the server, and the
 * request is sent once more. */
static void lose_connection(struct generator *generator, int slot, int cause) {
    struct connection *connection = &generator->connections[slot];
    int index = connection->request;
    struct request *request = &generator->requests[index];
    bool is_new = !connection->was_used && connection->sent == 0;
    bool never_came = cause == ECONNREFUSED || (is_new && cause != 0);
    bool is_stale = !never_came && connection->was_used && !connection->heard && !request->again;
    close_connection(generator, slot);
    if (is_stale) {
        request->again = true;
        generator->result->reconnected++;
        begin_request(generator, index);
        return;
    }
    if (never_came)
        note_no_connection(generator, cause);
    fail_request(generator, index, never_came ? LOAD_NO_CONNECTION : LOAD_CLOSED);
}

static void send_request(struct generator *generator, int slot) {
    const struct transport *transport = generator->transport;
    struct connection *connection = &generator->connections[slot];
    const struct request_text *text =
        &generator->texts->texts.items[generator->requests[connection->request].text];
    while (connection->sent < text->n) {
        ssize_t sent = transport->send(transport->context, slot, text->bytes + connection->sent,
                                       text->n - connection->sent);
        if (sent == -EAGAIN || sent == -EINTR)
            return;
        if (sent < 0) {
            lose_connection(generator, slot, (int)-sent);
            return;
        }
        connection->sent += (size_t)sent;
    }
}

static void finish_reply(struct generator *generator, int slot, bool ended) {
    struct connection *connection = &generator->connections[slot];
    int index = connection->request;
    uint64_t now = clock_ns(generator);
    int status = connection->codec.status;
    generator->connect_failures = 0;
    if (ended || connection->codec.closes || !generator->options->keep_alive)
        close_connection(generator, slot);
    else
        keep_connection(generator, slot);
    if (status >= 400) {
        if (!generator->result->bad_status)
            generator->result->bad_status = status;
        generator->answers++;
        fail_request(generator, index, LOAD_BAD_STATUS);
        return;
    }
    count_answer(generator, &generator->requests[index], now);
    release_request(generator, index, now);
}

/* What came: `n` bytes, 0 at the end. Whether there may be more of it. */
static bool take_bytes(struct generator *generator, int slot, size_t n, bool ended) {
    struct connection *connection = &generator->connections[slot];
    bool is_end = n == 0 && generator->options->protocol != LOAD_DATAGRAMS;
    connection->heard = connection->heard || !is_end;
    enum codec_state state = is_end ? codec_end(&connection->codec)
                                    : codec_feed(&connection->codec, generator->buffer, n);
    if (state == CODEC_MORE && !is_end)
        return true;
    if (state == CODEC_MORE) {
        lose_connection(generator, slot, 0);
    } else if (state == CODEC_DONE) {
        finish_reply(generator, slot, ended || is_end);
    } else {
        int index = connection->request;
        close_connection(generator, slot);
        fail_request(generator, index, LOAD_MALFORMED);
    }
    return false;
}

static void receive_reply(struct generator *generator, int slot, bool ended) {
    const struct transport *transport = generator->transport;
    ssize_t n;
    do {
        n = transport->receive(transport->context, slot, generator->buffer,
                               sizeof generator->buffer);
        if (n == -EAGAIN || n == -EINTR)
            return;
        if (n < 0) {
            lose_connection(generator, slot, (int)-n);
            return;
        }
    } while (take_bytes(generator, slot, (size_t)n, ended));
}

/* Nobody asked a kept connection: that it can be read means that the server has closed it, or
 * speaks unasked. */
static void check_kept(struct generator *generator, int slot) {
    const struct transport *transport = generator->transport;
    ssize_t n =
        transport->receive(transport->context, slot, generator->buffer, sizeof generator->buffer);
    if (n != -EAGAIN && n != -EINTR)
        close_connection(generator, slot);
}

static void take_event(struct generator *generator, const struct transport_event *event) {
    struct connection *connection = &generator->connections[event->slot];
    if (connection->state == KEPT && event->readable)
        check_kept(generator, event->slot);
    if (connection->state == BUSY && event->writable)
        send_request(generator, event->slot);
    if (connection->state == BUSY && event->readable)
        receive_reply(generator, event->slot, event->ended);
}

/* ---- the begin of a request ---- */

/* A connection for a request, which there is: the kept one that has rested longest, so that the
 * server's threads share the work when each has some of the connections; else, and for what is sent
 * again, a new one. */
static int find_connection(struct generator *generator, bool again) {
    int slot = generator->kept.first;
    if (slot != NONE && !again) {
        LIST_REMOVE(generator->connections, &generator->kept, slot);
        return slot;
    }
    return generator->free_slots[--generator->n_free_slots];
}

static bool connection_is_left(const struct generator *generator) {
    return generator->kept.first != NONE || generator->n_free_slots > 0;
}

static int open_connection(struct generator *generator, int slot) {
    const struct transport *transport = generator->transport;
    generator->connections[slot].was_used = false;
    generator->result->connections++;
    return transport->open(transport->context, slot);
}

/* There is a connection for it. */
static void begin_request(struct generator *generator, int index) {
    struct request *request = &generator->requests[index];
    int slot = find_connection(generator, request->again);
    struct connection *connection = &generator->connections[slot];
    if (!request->again)
        request->begun_ns = clock_ns(generator);
    if (connection->state == CLOSED) {
        int cause = open_connection(generator, slot);
        if (cause < 0) {
            generator->free_slots[generator->n_free_slots++] = slot;
            note_no_connection(generator, -cause);
            fail_request(generator, index, LOAD_NO_CONNECTION);
            return;
        }
    }
    request->connection = slot;
    connection->state = BUSY;
    connection->request = index;
    connection->sent = 0;
    connection->heard = false;
    codec_begin(&connection->codec, generator->options->protocol, generator->options->until);
    send_request(generator, slot);
}

static void begin_waiting(struct generator *generator) {
    while (generator->n_waiting > 0 && connection_is_left(generator) && !generator->failed) {
        int index = generator->oldest_waiting;
        generator->oldest_waiting = generator->requests[index].newer;
        generator->n_waiting--;
        begin_request(generator, index);
    }
}

static void add_request(struct generator *generator, uint64_t intended_ns) {
    if (generator->n_free_requests == 0) {
        count_failure(generator, intended_ns, LOAD_NOT_SENT);
        schedule_answered(generator->schedule, clock_ns(generator) - generator->start_ns);
        return;
    }
    int index = generator->free_requests[--generator->n_free_requests];
    generator->requests[index] = (struct request){.intended_ns = intended_ns,
                                                  .text = load_requests_draw(generator->texts),
                                                  .connection = NONE};
    LIST_ADD(generator->requests, &generator->live, index);
    generator->n_live++;
    if (generator->n_waiting++ == 0)
        generator->oldest_waiting = index;
}

/* When the next request is to be sent. False: not now, or never again. */
static bool next_intended(struct generator *generator, uint64_t *intended_ns) {
    if (generator->sends_no_more || !schedule_next(generator->schedule, intended_ns))
        return false;
    *intended_ns += generator->start_ns;
    return true;
}

/* Does the next request still belong to the run? */
static bool is_within(const struct generator *generator, uint64_t intended_ns) {
    return intended_ns < generator->end_ns &&
           (generator->options->requests == 0 || generator->taken < generator->options->requests);
}

static void take_due(struct generator *generator) {
    uint64_t intended_ns, now;
    while (next_intended(generator, &intended_ns) && (now = clock_ns(generator)) >= intended_ns) {
        if (!is_within(generator, intended_ns)) {
            generator->sends_no_more = true;
            return;
        }
        schedule_take(generator->schedule);
        if (is_measured(generator, intended_ns)) {
            generator->taken++;
            latency_add(generator->result->lateness, now - intended_ns);
        }
        add_request(generator, intended_ns);
        begin_waiting(generator);
    }
    generator->sends_no_more = generator->sends_no_more || schedule_is_over(generator->schedule) ||
                               clock_ns(generator) >= generator->end_ns ||
                               !is_within(generator, generator->warm_end_ns);
}

/* Live requests stand in the order of their intended times, so that the first one expires first. */
static void expire(struct generator *generator) {
    uint64_t now = clock_ns(generator);
    int index;
    while ((index = generator->live.first) != NONE &&
           generator->requests[index].intended_ns + generator->options->timeout_ns <= now) {
        int slot = generator->requests[index].connection;
        if (slot != NONE) {
            close_connection(generator, slot);
        } else {
            generator->oldest_waiting = generator->requests[index].newer;
            generator->n_waiting--;
        }
        fail_request(generator, index, LOAD_TIMEOUT);
    }
}

/* ---- the run ---- */

static uint64_t wait_until_ns(struct generator *generator) {
    uint64_t until = clock_ns(generator) + TICK_NS, intended_ns;
    if (next_intended(generator, &intended_ns) && intended_ns < until)
        until = intended_ns;
    if (generator->live.first != NONE) {
        uint64_t expires =
            generator->requests[generator->live.first].intended_ns + generator->options->timeout_ns;
        until = expires < until ? expires : until;
    }
    return !generator->sends_no_more && generator->end_ns < until ? generator->end_ns : until;
}

static void tell_progress(struct generator *generator) {
    uint64_t now = clock_ns(generator);
    if (now - generator->told_ns < TELL_NS)
        return;
    generator->told_ns = now;
    double fraction = -1;
    if (generator->options->duration_ns)
        fraction =
            (double)(now - generator->start_ns) / (double)(generator->end_ns - generator->start_ns);
    else if (generator->options->requests)
        fraction = (double)generator->taken / (double)generator->options->requests;
    progress_show("sending requests", fraction > 1 ? 1 : fraction);
}

static bool goes_on(struct generator *generator) {
    if (interrupt_signal())
        generator->result->interrupted = true;
    return !generator->failed && !generator->result->interrupted &&
           !generator->result->server_gone && (!generator->sends_no_more || generator->n_live > 0);
}

static int run_loop(struct generator *generator) {
    const struct transport *transport = generator->transport;
    struct transport_event events[EVENTS_AT_ONCE];
    while (take_due(generator), goes_on(generator)) {
        int n =
            transport->wait(transport->context, wait_until_ns(generator), events, EVENTS_AT_ONCE);
        if (n < 0)
            return error_set(generator->error, "cannot wait for replies: %s", strerror(-n));
        for (int i = 0; i < n; i++)
            take_event(generator, &events[i]);
        expire(generator);
        begin_waiting(generator);
        tell_progress(generator);
    }
    return generator->failed ? -1 : 0;
}

static void begin_run(struct generator *generator) {
    const struct generator_options *options = generator->options;
    generator->requests = memory_alloc((size_t)options->max_in_flight, sizeof *generator->requests);
    generator->free_requests =
        memory_alloc((size_t)options->max_in_flight, sizeof *generator->free_requests);
    for (int i = options->max_in_flight; i-- > 0;)
        generator->free_requests[generator->n_free_requests++] = i;
    generator->connections =
        memory_alloc((size_t)options->connections, sizeof *generator->connections);
    generator->free_slots =
        memory_alloc((size_t)options->connections, sizeof *generator->free_slots);
    for (int i = options->connections; i-- > 0;)
        generator->free_slots[generator->n_free_slots++] = i;
    generator->live = generator->kept = (struct list){NONE, NONE};
    generator->result->response = latency_new();
    generator->result->service = latency_new();
    generator->result->lateness = latency_new();
    generator->start_ns = clock_ns(generator);
    generator->warm_end_ns = generator->start_ns + options->warm_up_ns;
    generator->end_ns =
        options->duration_ns ? generator->warm_end_ns + options->duration_ns : UINT64_MAX;
}

/* Until when answers count for the throughput. */
static uint64_t window_end_ns(struct generator *generator) {
    uint64_t now = clock_ns(generator);
    bool reached_number =
        generator->options->requests && generator->taken >= generator->options->requests;
    if (reached_number || schedule_is_over(generator->schedule))
        now = generator->last_answer_ns;
    return now < generator->end_ns ? now : generator->end_ns;
}

static void end_run(struct generator *generator) {
    struct load_result *result = generator->result;
    uint64_t end = window_end_ns(generator);
    result->seconds =
        end > generator->warm_end_ns ? (double)(end - generator->warm_end_ns) / 1e9 : 0;
    if (result->seconds > 0)
        result->throughput_hz = (double)generator->answers_in_window / result->seconds;
    result->response_half_width_ns = batch_means_half_width(&generator->means);
    for (int i = generator->live.first; i != NONE; i = generator->requests[i].newer)
        result->unanswered += is_measured(generator, generator->requests[i].intended_ns);
    for (int slot = 0; slot < generator->options->connections; slot++)
        if (generator->connections[slot].state != CLOSED)
            close_connection(generator, slot);
}

int generator_run(const struct generator_options *options, struct schedule *schedule,
                  struct load_requests *requests, const struct transport *transport,
                  struct load_result *result, struct error *error) {
    struct generator *generator = memory_alloc(1, sizeof *generator);
    generator->options = options;
    generator->schedule = schedule;
    generator->texts = requests;
    generator->transport = transport;
    generator->result = result;
    generator->error = error;
    begin_run(generator);
    int status = run_loop(generator);
    progress_end();
    end_run(generator);
    free(generator->requests);
    free(generator->free_requests);
    free(generator->connections);
    free(generator->free_slots);
    free(generator);
    return status;
}
