/* The CPU quota that control groups give this process: of its own group and all around it. */
#ifndef PERSIK_HOST_QUOTA_H
#define PERSIK_HOST_QUOTA_H

#include <stdint.h>

struct quota {
    double cores;          /* what the tightest group may use on average; 0: as many as there are */
    uint64_t throttled_ns; /* that the groups with a quota have been stopped for so far, each of
                            * their cores by itself (version 1) or together (version 2) */
};

/* Reads ROOT/proc/self/cgroup, ROOT/proc/self/mountinfo and the groups' files below ROOT, both
 * versions; "" for this machine. What cannot be read sets no limit. */
struct quota quota_read(const char *root);

#endif
