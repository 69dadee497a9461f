#include "modelgen/report/unexplained_time.h"

#include "base/memory.h"
#include "base/path.h"
#include "modelgen/events/blocked_place.h"

char *unexplained_time_place(const struct sample *sample) {
    struct blocked_place place = blocked_place_find(sample, NULL);
    if (!place.frame)
        return NULL;
    return memory_format("%s%s%s (%s:%d)", place.called ? place.called : "",
                         place.called ? ", called from " : "", place.frame->function,
                         path_name(place.frame->file), place.frame->line);
}
