/* Where threads block that no probe sees: in calls that the catalog does not have. */
#ifndef PERSIK_MODELGEN_REPORT_UNEXPLAINED_TIME_H
#define PERSIK_MODELGEN_REPORT_UNEXPLAINED_TIME_H

#include "formats/sample.h"

/* "get, called from main (server.cpp:33)": the place that the stack samples found most threads
 * blocked at, NULL if at none. The caller frees. */
char *unexplained_time_place(const struct sample *sample);

#endif
