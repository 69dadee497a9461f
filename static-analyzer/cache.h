/* Results per file, kept from one analysis to the next, also of other programs and recordings.
 *
 * An entry is found by the file's path, its options, this program and the parser's version, and
 * holds only as long as the file and every header it includes have the content they had. (A new
 * header in front of another of its name goes unseen; what lacks one is not kept at all.) What does
 * not hold, or cannot be read, is as if it were not there. Sources are private, so is what is kept
 * of them: folder 0700, entries 0600.
 *
 * Any number of analyses may use one folder at a time: an entry appears whole, by a rename. After
 * an analysis that added entries, those not used for 30 days go, and beyond 1 GiB those that were
 * used longest ago; an entry's modification time is when it was last used. */
#ifndef PERSIK_STATIC_ANALYZER_CACHE_H
#define PERSIK_STATIC_ANALYZER_CACHE_H

#include <map>
#include <string>

#include "static-analyzer/extract.h"

namespace persik {

class Cache {
  public:
    /* `folder` is made when something is saved; empty: nothing is kept. */
    explicit Cache(std::string folder);

    /* False if there is no entry that holds. */
    bool load(const Source &source, Unit &unit);

    /* `text`: of the unit, as unit_write() gives it. A cache that cannot be written is only slow.
     */
    void save(const Source &source, const Unit &unit, const std::string &text);

    /* Removes what killed analyses left half written and, if any was saved, entries that are too
     * old or too many. */
    void tidy() const;

  private:
    std::string folder;
    bool saved = false;
    std::string program;                        /* digest of this program and the parser */
    std::map<std::string, std::string> digests; /* of files, by path; each is read once */

    std::string entry(const Source &source) const;
    void remove_drafts() const;
    const std::string &digest_of(const std::string &path);
    std::string dependencies(const Unit &unit);
};

} // namespace persik

#endif
