#include "modelgen/rewrite/semaphore_mailboxes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "modelgen/events/source_correlation.h"
#include "modelgen/rewrite/mailbox_group.h"
#include "modelgen/rewrite/private_semaphores.h"

enum { NOBODY = -1, SEVERAL = -2 };

/* The threads that take a semaphore and release it: one thread, or NOBODY, or SEVERAL. */
struct post {
    int taker, giver;
};

struct mail {
    const struct trace *trace;
    struct private_semaphores semaphores;
    struct post *posts; /* per semaphore */
};

static void note(int *who, size_t thread) {
    *who = *who == NOBODY || *who == (int)thread ? (int)thread : SEVERAL;
}

static struct mail read_mail(const struct trace *trace) {
    struct mail mail = {.trace = trace, .semaphores = private_semaphores_find(trace)};
    mail.posts = memory_alloc(mail.semaphores.count, sizeof *mail.posts);
    for (size_t s = 0; s < mail.semaphores.count; s++)
        mail.posts[s] = (struct post){NOBODY, NOBODY};
    for (size_t c = 0; c < mail.semaphores.calls.count; c++) {
        const struct call *call = &mail.semaphores.calls.items[c];
        struct post *post = &mail.posts[call->semaphore];
        note(call->takes ? &post->taker : &post->giver, call->thread);
    }
    return mail;
}

static void free_mail(struct mail *mail) {
    private_semaphores_free(&mail->semaphores);
    free(mail->posts);
}

/* ---- a group of workers ---- */

struct office {
    const struct mail *mail;
    struct mailbox_group group;
    struct mailbox **mailbox_of; /* per thread; NULL: it is no worker of the group */
    bool *is_news;               /* per semaphore: workers alone tell the creator alone */
};

static void find_news(struct office *office) {
    const struct mail *mail = office->mail;
    for (size_t s = 0; s < mail->semaphores.count; s++)
        office->is_news[s] = mail->posts[s].taker == (int)office->group.creator;
    for (size_t c = 0; c < mail->semaphores.calls.count; c++) {
        const struct call *call = &mail->semaphores.calls.items[c];
        if (!call->takes && !office->mailbox_of[call->thread])
            office->is_news[call->semaphore] = false;
    }
}

/* Whose command comes by the semaphore; NULL: nobody's. */
static struct mailbox *commanded_by(const struct office *office, int semaphore) {
    const struct post *post = &office->mail->posts[semaphore];
    return post->giver == (int)office->group.creator && post->taker >= 0
               ? office->mailbox_of[post->taker]
               : NULL;
}

/* What the creator learns to be done: what the only one who tells it so has done, or any. NULL:
 * nothing is. */
static struct mailbox *done_by(const struct office *office, int semaphore) {
    int teller = office->mail->posts[semaphore].giver;
    if (teller >= 0)
        return office->mailbox_of[teller];
    for (size_t i = 0; i < office->group.n_mailboxes; i++) {
        struct mailbox *mailbox = &office->group.mailboxes[i];
        if (mailbox->outstanding && !mailbox->commanded && !mailbox->running)
            return mailbox;
    }
    return NULL;
}

static void replay_call(struct office *office, const struct call *call) {
    size_t creator = office->group.creator;
    uint64_t from_ns = call_record(office->mail->trace, call)->start_ns;
    struct mailbox *mailbox = commanded_by(office, call->semaphore);
    if (mailbox && call->takes) {
        mailbox_take(mailbox, call->record, from_ns, call->time_ns);
    } else if (mailbox) {
        mailbox_give(mailbox, creator, call->record, call->time_ns);
    } else if (office->is_news[call->semaphore] && !call->takes) {
        mailbox_finish(office->mailbox_of[call->thread], call->record, call->time_ns);
    } else if (office->is_news[call->semaphore]) {
        mailbox = done_by(office, call->semaphore);
        if (mailbox)
            mailbox_collect(mailbox, creator, call->record, from_ns, call->time_ns);
        else
            office->group.mailboxes[0].is_wrong = true;
    }
}

/* One that ended while it waited for a command. */
static void end_waiting(const struct office *office, struct mailbox *mailbox) {
    const struct trace_thread *worker = &office->mail->trace->threads[mailbox->worker];
    if (worker->n_records == 0 || mailbox->commanded || mailbox->running || mailbox->outstanding)
        return;
    size_t at = worker->n_records - 1;
    const struct trace_record *last = &worker->records[at];
    int semaphore = private_semaphores_of(&office->mail->semaphores, last);
    if (last->flags & TRACE_UNFINISHED && semaphore >= 0 &&
        commanded_by(office, semaphore) == mailbox)
        mailbox_end_waiting(mailbox, at, last->start_ns, trace_end_ns(last));
}

static void replay(struct office *office) {
    const struct calls *calls = &office->mail->semaphores.calls;
    for (size_t c = 0; c < calls->count; c++)
        replay_call(office, &calls->items[c]);
    for (size_t i = 0; i < office->group.n_mailboxes; i++) {
        struct mailbox *mailbox = &office->group.mailboxes[i];
        mailbox->is_wrong |= mailbox->edits.count == 0;
        end_waiting(office, mailbox);
    }
}

/* Would there be several such workers, were there more threads? As the source says, if it is known:
 * the semaphores of one that is always alone say all by themselves. */
static bool may_be_several(const struct office *office, const struct facts *facts) {
    const struct trace *trace = office->mail->trace;
    uint32_t created = trace->threads[office->group.mailboxes[0].worker].creation_context;
    bool several = !facts || office->group.n_mailboxes > 1;
    for (size_t c = 0; facts && c < facts->n_creations && !several; c++)
        several = facts->creations[c].object == ON_THREAD && facts->creations[c].per_thread &&
                  source_passes(trace, created, &facts->creations[c].place);
    return several;
}

static void show_group(struct event_log *log, const struct mail *mail, const struct facts *facts,
                       size_t thread, bool **dropped) {
    struct office office = {.mail = mail, .group = mailbox_group_of(mail->trace, thread)};
    office.mailbox_of = memory_alloc(mail->trace->n_threads, sizeof(struct mailbox *));
    office.is_news = memory_alloc(mail->semaphores.count, sizeof *office.is_news);
    for (size_t i = 0; i < office.group.n_mailboxes; i++)
        office.mailbox_of[office.group.mailboxes[i].worker] = &office.group.mailboxes[i];
    find_news(&office);
    replay(&office);
    if (may_be_several(&office, facts) && mailbox_group_is_believed(&office.group))
        mailbox_group_show(log, &office.group, dropped);
    free(office.mailbox_of);
    free(office.is_news);
    mailbox_group_free(&office.group);
}

/* Does the thread's creator alone tell it something by a semaphore? */
static bool *find_commanded(const struct mail *mail) {
    bool *is_commanded = memory_alloc(mail->trace->n_threads, sizeof *is_commanded);
    for (size_t s = 0; s < mail->semaphores.count; s++) {
        const struct post *post = &mail->posts[s];
        if (post->taker >= 0 && post->giver >= 0)
            is_commanded[post->taker] |= mail->trace->threads[post->taker].creator == post->giver;
    }
    return is_commanded;
}

void semaphore_mailboxes_as_queues(struct event_log *log, const struct facts *facts) {
    struct mail mail = read_mail(&log->trace);
    bool *is_commanded = find_commanded(&mail);
    bool **dropped = event_log_flags(log);
    for (size_t t = 0; t < log->trace.n_threads; t++)
        if (is_commanded[t] && mailbox_group_begins_with(&log->trace, t))
            show_group(log, &mail, facts, t, dropped);
    event_log_drop_all(log, dropped);
    free(is_commanded);
    free_mail(&mail);
}
