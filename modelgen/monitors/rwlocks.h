/* Read-write locks: each thread locks and unlocks by turns. */
#ifndef PERSIK_MODELGEN_MONITORS_RWLOCKS_H
#define PERSIK_MODELGEN_MONITORS_RWLOCKS_H

#include "modelgen/monitors/finder.h"

/* True: found, and added to the finder's monitors. */
bool rwlocks_find(const struct finder *finder);

#endif
