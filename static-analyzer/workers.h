/* Many files, as many at a time as there are cores. */
#ifndef PERSIK_STATIC_ANALYZER_WORKERS_H
#define PERSIK_STATIC_ANALYZER_WORKERS_H

#include <string>
#include <vector>

#include "static-analyzer/extract.h"

namespace persik {

/* Extracts every source, in processes that take one after another: a crash of the parser costs one
 * file, which then has a problem in its unit.
 * `cache_folder`: for results that still hold (cache.h), empty for none; `from_cache`: how many
 * did. Order as in `sources`. */
std::vector<Unit> extract_all(const std::vector<Source> &sources, const std::string &cache_folder,
                              size_t &from_cache);

} // namespace persik

#endif
