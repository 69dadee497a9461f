/* Page faults of mapped files for which a thread waited, shown as reads.
 *
 * No call tells of them: the thread computes, touches a page that is not in memory, and sleeps
 * until a disk has brought it. The kernel tells the requests, when the thread slept, and
 * (Linux 6.13 and later) that it touched a mapped file. Such a wait is a disk step of the model as
 * that of a read() is. A request that is made ahead, while the thread goes on, is one of its own,
 * which nobody waited for. */
#ifndef PERSIK_MODELGEN_REWRITE_PAGE_FAULTS_H
#define PERSIK_MODELGEN_REWRITE_PAGE_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/facts.h"
#include "formats/sample.h"
#include "modelgen/events/event_log.h"

/* What a thread computes between two of its calls, and its page faults there, which have a call
 * site of their own. */
struct fault_fragment {
    uint32_t before, after; /* call sites of the calls; TRACE_NO_CONTEXT: the thread's start, end */
    uint32_t context;       /* of the faults */
    struct trace_context calls;
    char *name;
};

struct page_faults {
    struct fault_fragment *fragments; /* by context, which follow each other */
    size_t n_fragments;
    size_t n_faults, n_requests;
    size_t n_ahead; /* of the requests, those that no thread waited for when it made them */
};

/* Shows them, behind all filters that ask which call follows which. Nothing where scheduling or
 * requests were not recorded. `facts` and `sample`, which may be NULL, name the places; `sample`
 * must outlive the log, and so must the result. page_faults_free() ends that. */
struct page_faults page_faults_as_reads(struct event_log *log, const struct facts *facts,
                                        const struct sample *sample);
void page_faults_free(struct page_faults *faults);

/* The fragment whose faults have this call site; NULL: it is another one's. `faults` may be NULL.
 */
const struct fault_fragment *page_faults_fragment(const struct page_faults *faults,
                                                  uint32_t context);

#endif
