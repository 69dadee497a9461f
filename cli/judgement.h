/* The thresholds of cli/judgement.def, by name. */
#ifndef PERSIK_CLI_JUDGEMENT_H
#define PERSIK_CLI_JUDGEMENT_H

struct judgement {
#define JUDGEMENT(name, value, what, rests_on) double name;
#include "cli/judgement.def"
#undef JUDGEMENT
};

extern const struct judgement judgement;

#endif
