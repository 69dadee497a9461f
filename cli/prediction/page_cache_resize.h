/* The model with a page cache of another size. */
#ifndef PERSIK_CLI_PREDICTION_PAGE_CACHE_RESIZE_H
#define PERSIK_CLI_PREDICTION_PAGE_CACHE_RESIZE_H

#include "cli/prediction/changed_parts.h"
#include "formats/model.h"

/* Makes the model's calls ask its disks for what a cache of `size_bytes` would have missed of the
 * recorded reads, in their order; adds to `parts` what that changes. -1 and `error`: that cannot be
 * told of this model, and why. */
int page_cache_resize(struct model *model, double size_bytes, struct changed_parts *parts,
                      struct error *error);

/* Makes them ask for what the recorded run's cache would have missed of the reads, where these are
 * no longer those that it had (modelgen/graph/file_mix.h). -1 and `error`: that is not known. */
int page_cache_refill(struct model *model, struct error *error);

#endif
