#include "critical-path/judgement.h"

const struct path_judgement path_judgement = {
#define JUDGEMENT(name, value, what, rests_on) .name = (value),
#include "critical-path/judgement.def"
#undef JUDGEMENT
};
