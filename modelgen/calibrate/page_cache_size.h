/* How much of what was read the page cache held, and by which rule pages left it: what explains
 * best which of the recorded reads found what they wanted. */
#ifndef PERSIK_MODELGEN_CALIBRATE_PAGE_CACHE_SIZE_H
#define PERSIK_MODELGEN_CALIBRATE_PAGE_CACHE_SIZE_H

#include "formats/model.h"
#include "modelgen/calibrate/page_reads.h"

/* The model's page cache, with its groups and calls, and the cause where no size explains the
 * reads.
 */
struct page_cache page_cache_size_find(const struct page_reads *reads);

#endif
