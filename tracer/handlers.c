#include "tracer/handlers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracer/symbols.h"

/* SIG_DFL and SIG_IGN are no functions; glibc has handlers of its own for two signals. */
#define LAST_NO_FUNCTION 1
#define SIGNAL_CANCEL    32
#define SIGNAL_SETXID    33

static void handle_delivery(const struct ftrace_event *event, void *context) {
    struct handlers *handlers = context;
    int signal = (int)tracepoint_value(event->data, event->bytes, handlers->signal);
    uint64_t address = tracepoint_value(event->data, event->bytes, handlers->address);
    if (!map_get(handlers->threads, (uint64_t)event->tid, 0) || address <= LAST_NO_FUNCTION ||
        signal == SIGNAL_CANCEL || signal == SIGNAL_SETXID)
        return;
    for (size_t i = 0; i < handlers->items.count; i++) {
        struct handler_runs *known = &handlers->items.items[i];
        if (known->address == address && known->signal == signal) {
            known->runs++;
            return;
        }
    }
    *VECTOR_ADD(&handlers->items) = (struct handler_runs){address, signal, 1};
}

void handlers_attach(struct handlers *handlers, struct ftrace *ftrace, const struct map *threads) {
    struct tracepoint delivered;
    if (tracepoint_open(&delivered, "signal", "signal_deliver") != 0)
        return;
    handlers->threads = threads;
    handlers->signal = tracepoint_field(&delivered, "sig");
    handlers->address = tracepoint_field(&delivered, "sa_handler");
    if (handlers->signal.size && handlers->address.size)
        ftrace_add(ftrace, &delivered, handle_delivery, handlers);
    tracepoint_close(&delivered);
}

static bool is_made_in(const struct trace_context *context, const char *function) {
    for (size_t f = 0; f < context->n_frames; f++)
        if (strcmp(context->frames[f].function, function) == 0)
            return true;
    return false;
}

static uint64_t calls_made_in(const struct trace *trace, const char *function) {
    bool *is_in = memory_alloc(trace->n_contexts, sizeof *is_in);
    for (size_t c = 0; c < trace->n_contexts; c++)
        is_in[c] = is_made_in(&trace->contexts[c], function);
    uint64_t calls = 0;
    for (size_t t = 0; t < trace->n_threads; t++)
        for (size_t r = 0; r < trace->threads[t].n_records; r++) {
            uint32_t context = trace->threads[t].records[r].context;
            calls += context != TRACE_NO_CONTEXT && is_in[context];
        }
    free(is_in);
    return calls;
}

static char *describe(const struct handler_runs *handler, const char *function, uint64_t calls) {
    return memory_format("%llu calls were made in %s, the handler of signal %d (%s), which ran "
                         "%llu times: the model does not know what brings them, and how often",
                         (unsigned long long)calls, function, handler->signal,
                         strsignal(handler->signal), (unsigned long long)handler->runs);
}

/* The same function may serve several signals: it is one. */
static void add_handler(const struct handler_runs *found, char *function,
                        struct trace_elsewhere *elsewhere) {
    for (size_t i = 0; i < elsewhere->n_handlers; i++)
        if (strcmp(elsewhere->handler[i].function, function) == 0) {
            elsewhere->handler[i].runs += found->runs;
            free(function);
            return;
        }
    elsewhere->handler =
        memory_resize(elsewhere->handler, elsewhere->n_handlers + 1, sizeof *elsewhere->handler);
    elsewhere->handler[elsewhere->n_handlers++] =
        (struct trace_handler){function, found->signal, found->runs};
}

void handlers_describe(const struct handlers *handlers, struct trace *trace, char *const *maps,
                       size_t n_maps) {
    if (handlers->items.count == 0 || n_maps == 0 || !maps[0])
        return;
    struct error unused;
    struct trace_elsewhere *elsewhere = &trace->meta.elsewhere;
    struct symbols *symbols = symbols_open(maps[0], &unused);
    uint64_t most = 0;
    for (size_t i = 0; symbols && i < handlers->items.count; i++) {
        char *function = symbols_function(symbols, handlers->items.items[i].address);
        uint64_t calls = calls_made_in(trace, function);
        if (calls > most) {
            free(elsewhere->handlers);
            elsewhere->handlers = describe(&handlers->items.items[i], function, calls);
            most = calls;
        }
        if (calls > 0)
            add_handler(&handlers->items.items[i], function, elsewhere);
        else
            free(function);
    }
    symbols_close(symbols);
}

void handlers_free(struct handlers *handlers) {
    free(handlers->items.items);
    *handlers = (struct handlers){0};
}
