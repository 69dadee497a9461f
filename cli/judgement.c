#include "cli/judgement.h"

const struct judgement judgement = {
#define JUDGEMENT(name, value, what, rests_on) .name = (value),
#include "cli/judgement.def"
#undef JUDGEMENT
};
