/* The thresholds of critical-path/judgement.def, by name. */
#ifndef PERSIK_CRITICAL_PATH_JUDGEMENT_H
#define PERSIK_CRITICAL_PATH_JUDGEMENT_H

struct path_judgement {
#define JUDGEMENT(name, value, what, rests_on) double name;
#include "critical-path/judgement.def"
#undef JUDGEMENT
};

extern const struct path_judgement path_judgement;

#endif
