/* Tries templates on a mutex: binds roles, fits the parameter, replays, and keeps the best. */
#ifndef PERSIK_MODELGEN_SYNC_TEMPLATE_SEARCH_H
#define PERSIK_MODELGEN_SYNC_TEMPLATE_SEARCH_H

#include "modelgen/sync/template.h"

/* True: the template explains the sections of the finder's mutex, and is among its monitors'
 * patterns. */
bool template_search_find(const struct finder *finder, const struct template_row *row);

#endif
