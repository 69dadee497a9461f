#include "formats/client_result.h"

#include <math.h>
#include <stdbool.h>

#include "formats/json_input.h"

/* NaN where there is no number, or one that cannot be. */
static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(found) && found >= 0 ? found : NAN;
}

int client_result_read(const char *path, struct client_result *result, struct error *error) {
    struct room room;
    json_t *json = json_read_file(path, &room, "cannot read what the load measured",
                                  "it must write to $PERSIK_LOAD_RESULT",
                                  "see client results in docs/formats.md", error);
    if (!json)
        return -1;
    const json_t *response = json_object_get(json, "response_ns");
    double errors = number(json, "errors");
    *result = (struct client_result){.requests = number(json, "requests"),
                                     .errors = isnan(errors) ? 0 : errors,
                                     .seconds = number(json, "seconds"),
                                     .throughput_hz = number(json, "throughput_per_s"),
                                     .response_ns = number(response, "mean"),
                                     .response_p95_ns = number(response, "p95")};
    json_decref(json);
    if (result->requests > 0 && result->throughput_hz > 0)
        return 0;
    return error_set(error,
                     "%s: it has no requests and throughput_per_s above 0: see client results "
                     "in docs/formats.md",
                     path);
}
