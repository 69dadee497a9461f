/* static.json, as facts_load() in formats/facts.c reads it. */
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <jansson.h>

extern "C" {
#include "base/output.h"
}
#include "static-analyzer/findings.h"

namespace persik {

namespace {

const char *const object_names[] = {"none",  "mutex", "rwlock", "condition", "semaphore", "barrier",
                                    "spin",  "once",  "thread", "file",      "socket",    "queue",
                                    "items", "event", "futex",  "team",      "share"};
static_assert(sizeof object_names / sizeof *object_names == ON_SHARE + 1, "one for each kind");
const char *const bound_names[] = {"fixed", "share", "shared", "threads", "unknown"};
const char *const spin_names[] = {"lock", "wait", "barrier", "attempt"};
const char *const monitor_names[] = {"bounded queue", "unbounded queue", "semaphore", "barrier",
                                     "event",         "completion",      "rwlock",    "token pool",
                                     "hand-over",     "thread pool",     "other"};
const char *const role_names[] = {"put",    "get",    "close",  "acquire",   "release",
                                  "wait",   "signal", "arrive", "read lock", "write lock",
                                  "unlock", "submit", "run"};
const char *const step_names[] = {"update", "wait", "signal", "broadcast"};

json_t *text(const std::string &value) {
    return json_stringn(value.data(), value.size());
}

json_t *name(const std::string &key) {
    return key.empty() ? json_null() : text(key_display(key));
}

json_t *place_object(const std::string &file, const std::string &function, int line, int column) {
    return json_pack("{s:o, s:o, s:i, s:i}", "file", text(file), "function",
                     text(key_display(function)), "line", line, "column", column);
}

json_t *place(const Place &place, const std::string &function) {
    return place_object(place.file, function, place.line, place.column);
}

json_t *names(const std::vector<std::string> &keys) {
    json_t *array = json_array();
    for (const std::string &key : keys)
        json_array_append_new(array, text(key_display(key)));
    return array;
}

json_t *to_json(const Fragment &fragment) {
    const Place &at = fragment.place;
    json_t *object = json_pack("{s:o, s:s, s:o}", "place", place(at, fragment.function), "api",
                               catalog_info(fragment.api).name, "object", name(fragment.object));
    if (at.spelling_file != at.file || at.spelling_line != at.line ||
        at.spelling_column != at.column)
        json_object_set_new(object, "spelling",
                            place_object(at.spelling_file, fragment.function, at.spelling_line,
                                         at.spelling_column));
    return object;
}

void set_rest(json_t *object, enum rest rest) {
    static const char *const names[] = {nullptr, "even", "last", "chunks"};
    if (names[rest])
        json_object_set_new(object, "rest", json_string(names[rest]));
}

json_t *to_json(const LoopFact &loop) {
    json_t *object = json_pack("{s:o, s:o, s:i, s:i, s:s, s:b, s:o}", "file", text(loop.file),
                               "function", name(loop.function), "first_line", loop.first_line,
                               "last_line", loop.last_line, "bound", bound_names[loop.bound],
                               "has_fragments", loop.has_fragments, "why", text(loop.why));
    if (loop.waits)
        json_object_set_new(object, "waits", json_true());
    if (loop.rounds) {
        json_object_set_new(object, "factor", json_real(loop.rounds->factor));
        json_object_set_new(object, "offset", json_real(loop.rounds->offset));
    }
    set_rest(object, loop.rest);
    return object;
}

json_t *to_json(const Spin &spin) {
    return json_pack("{s:o, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:b, s:o}", "file", text(spin.file),
                     "function", name(spin.function), "first_line", spin.first_line, "last_line",
                     spin.last_line, "kind", spin_names[spin.kind], "variable", name(spin.variable),
                     "changed_by", names({spin.changed_by.begin(), spin.changed_by.end()}),
                     "attempt", name(spin.attempt), "works", spin.works, "leads_to",
                     names({spin.leads_to.begin(), spin.leads_to.end()}));
}

json_t *to_json(const Solo &solo) {
    return json_pack("{s:o, s:o, s:i, s:i, s:b}", "file", text(solo.file), "function",
                     name(solo.function), "first_line", solo.first_line, "last_line",
                     solo.last_line, "others", solo.others);
}

json_t *to_json(const Lambda &lambda) {
    return json_pack("{s:o, s:o, s:i, s:i}", "file", text(lambda.file), "name",
                     name(lambda.function), "first_line", lambda.first_line, "last_line",
                     lambda.last_line);
}

json_t *to_json(const ShareFact &share) {
    json_t *object = json_pack("{s:o, s:o, s:o}", "place", place(share.place, share.function),
                               "callee", name(share.callee), "why", text(share.why));
    set_rest(object, share.rest);
    if (share.shared)
        json_object_set_new(object, "shared", json_true());
    return object;
}

void set_numbers(json_t *object, const Amount &amount) {
    if (amount.follows_threads)
        json_object_set_new(object, "factor", json_real(amount.factor));
    if (amount.follows_threads || amount.constant)
        json_object_set_new(object, "offset", json_real(amount.offset));
}

json_t *to_json(const ThreadCount::Call &call) {
    return place(call.place, call.function);
}

json_t *to_json(double threads) {
    return json_integer((json_int_t)threads);
}

template <typename T> json_t *list(const T &items);

json_t *to_json(const ThreadCount &count) {
    json_t *object = json_pack("{s:o, s:o}", "calls", list(count.calls), "text", text(count.text));
    const Extent &extent = count.extent;
    if (extent.kind == Extent::Fixed) {
        json_object_set_new(object, "one_of", list(extent.values));
        json_object_set_new(object, "one_alone", json_boolean(extent.one_alone));
        return object;
    }
    json_object_set_new(object, "factor", json_real(extent.linear.factor));
    json_object_set_new(object, "offset", json_real(extent.linear.offset));
    if (extent.most)
        json_object_set_new(object, "at_most", to_json(*extent.most));
    if (extent.least)
        json_object_set_new(object, "at_least", to_json(*extent.least));
    return object;
}

json_t *to_json(const Creation &creation) {
    json_t *object =
        json_pack("{s:o, s:s, s:o, s:b}", "place", place(creation.place, creation.function),
                  "object", object_names[creation.object], "name", name(creation.name),
                  "per_thread", creation.per_thread);
    if (creation.divides_work)
        json_object_set_new(object, "divides_work", json_true());
    if (!creation.one_thread.empty())
        json_object_set_new(object, "one_thread", json_string(creation.one_thread.c_str()));
    if (!creation.counts.empty())
        json_object_set_new(object, "counts", list(creation.counts));
    const Amount &amount = creation.amount;
    if (amount.text.empty())
        return object;
    json_object_set_new(object, "amount", text(amount.text));
    set_numbers(object, amount);
    return object;
}

json_t *to_json(const std::string &line) {
    return text(line);
}

json_t *to_json(const Amount &amount) {
    json_t *object = json_pack("{s:o}", "text", text(amount.text));
    set_numbers(object, amount);
    if (!amount.place.file.empty())
        json_object_set_new(object, "place", place(amount.place, amount.function));
    return object;
}

void set_amount(json_t *object, const char *key, const Amount &amount) {
    if (amount.text.empty())
        return;
    json_t *value = to_json(amount);
    if (!amount.choices.empty())
        json_object_set_new(value, "choices", list(amount.choices));
    json_object_set_new(object, key, value);
}

void set_formula(json_t *object, const char *key, const Formula &formula) {
    if (!formula.text.empty())
        json_object_set_new(
            object, key,
            json_pack("{s:o, s:o}", "text", text(formula.text), "postfix", text(formula.postfix)));
}

json_t *to_json(const MonitorOperation &operation) {
    return json_pack("{s:s, s:o}", "as", role_names[operation.role], "place",
                     place(operation.place, operation.function));
}

json_t *to_json(const MonitorVariable &variable) {
    json_t *object =
        json_pack("{s:o, s:b}", "name", name(variable.key), "local", key_is_local(variable.key));
    set_amount(object, "initial", variable.initial);
    return object;
}

json_t *to_json(const MonitorStep &step) {
    json_t *object = json_pack("{s:s}", "do", step_names[step.kind]);
    set_formula(object, "if", step.guard);
    if (step.kind == STEP_UPDATE) {
        json_object_set_new(object, "variable", json_integer((json_int_t)step.variable));
        if (step.change != CHANGE_OTHER)
            json_object_set_new(object, step.change == CHANGE_ADD ? "add" : "set",
                                json_real(step.by));
    } else {
        json_object_set_new(object, "condition", name(step.condition));
    }
    if (step.kind == STEP_WAIT)
        json_object_set_new(object, "timed", json_boolean(step.timed));
    if (step.early)
        json_object_set_new(object, "early", json_true());
    set_formula(object, step.kind == STEP_WAIT ? "while" : "value", step.value);
    return object;
}

json_t *to_json(const MonitorSection &section) {
    return json_pack("{s:o, s:o}", "place", place(section.place, section.function), "steps",
                     list(section.steps));
}

json_t *to_json(const Monitor &monitor) {
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                               monitor_names[monitor.kind], "name", name(monitor.name), "mutex",
                               name(monitor.mutex), "conditions", names(monitor.conditions),
                               "operations", list(monitor.operations), "count", name(monitor.count),
                               "variables", list(monitor.variables), "sections",
                               list(monitor.sections), "why", text(monitor.why));
    set_amount(object, "amount", monitor.amount);
    return object;
}

json_t *to_json(const CoreCap &cap) {
    return json_pack("{s:f, s:f, s:b, s:b, s:o}", "factor", cap.limit.factor, "offset",
                     cap.limit.offset, "online", cap.online, "unclear", cap.unclear, "text",
                     text(cap.text));
}

template <typename T> json_t *list(const T &items) {
    json_t *array = json_array();
    for (const auto &item : items)
        json_array_append_new(array, to_json(item));
    return array;
}

} // namespace

bool findings_save(const Findings &findings, const std::string &path, std::string &error) {
    json_t *root = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", FACTS_VERSION,
        "thread_count", name(findings.thread_count), "files", list(findings.files), "problems",
        list(findings.problems), "creations", list(findings.creations), "monitors",
        list(findings.monitors), "loops", list(findings.loops), "spins", list(findings.spins),
        "shares", list(findings.shares), "lambdas", list(findings.lambdas), "solos",
        list(findings.solos), "fragments", list(findings.fragments));
    if (findings.core_cap.found)
        json_object_set_new(root, "core_cap", to_json(findings.core_cap));
    struct output output = {};
    bool written = root && output_begin(&output, path.c_str()) == 0;
    if (written && json_dumpf(root, output.file, JSON_INDENT(1)) != 0) {
        output_abandon(&output);
        written = false;
    } else if (written) {
        written = output_commit(&output) == 0;
    }
    if (!written)
        error = "cannot write " + path + ": " + strerror(errno);
    json_decref(root);
    return written;
}

} // namespace persik
