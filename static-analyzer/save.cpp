/* static.json, as facts_load() in formats/facts.c reads it. */
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <jansson.h>

#include "static-analyzer/findings.h"

namespace persik {

namespace {

const char *const object_names[] = {"none", "mutex", "rwlock", "condition", "semaphore", "barrier",
                                    "spin", "once",  "thread", "file",      "socket",    "queue"};
const char *const bound_names[] = {"fixed", "share", "shared", "threads", "unknown"};
const char *const monitor_names[] = {"bounded_queue", "unbounded_queue", "semaphore",
                                     "barrier",       "latch",           "other"};

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

json_t *to_json(const LoopFact &loop) {
    return json_pack("{s:o, s:o, s:i, s:i, s:s, s:b, s:o}", "file", text(loop.file), "function",
                     name(loop.function), "first_line", loop.first_line, "last_line",
                     loop.last_line, "bound", bound_names[loop.bound], "has_fragments",
                     loop.has_fragments, "why", text(loop.why));
}

json_t *to_json(const ShareFact &share) {
    return json_pack("{s:o, s:o, s:o}", "place", place(share.place, share.function), "callee",
                     name(share.callee), "why", text(share.why));
}

json_t *to_json(const Creation &creation) {
    json_t *object =
        json_pack("{s:o, s:s, s:o, s:b}", "place", place(creation.place, creation.function),
                  "object", object_names[creation.object], "name", name(creation.name),
                  "per_thread", creation.per_thread);
    if (creation.amount.empty())
        return object;
    json_object_set_new(object, "amount", text(creation.amount));
    if (creation.follows_threads)
        json_object_set_new(object, "factor", json_real(creation.factor));
    if (creation.follows_threads || creation.constant)
        json_object_set_new(object, "offset", json_real(creation.offset));
    return object;
}

json_t *to_json(const Monitor &monitor) {
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", monitor_names[monitor.kind],
        "name", name(monitor.name), "mutex", name(monitor.mutex), "conditions",
        names(monitor.conditions), "puts", names(monitor.puts), "gets", names(monitor.gets),
        "closes", names(monitor.closes), "count", name(monitor.count), "why", text(monitor.why));
    if (!monitor.capacity.empty())
        json_object_set_new(object, "capacity", text(monitor.capacity));
    if (monitor.capacity_value >= 0)
        json_object_set_new(object, "capacity_value", json_real(monitor.capacity_value));
    return object;
}

json_t *to_json(const std::string &line) {
    return text(line);
}

template <typename T> json_t *list(const std::vector<T> &items) {
    json_t *array = json_array();
    for (const T &item : items)
        json_array_append_new(array, to_json(item));
    return array;
}

} // namespace

bool findings_save(const Findings &findings, const std::string &path, std::string &error) {
    json_t *root =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", FACTS_VERSION,
                  "thread_count", name(findings.thread_count), "files", list(findings.files),
                  "problems", list(findings.problems), "creations", list(findings.creations),
                  "monitors", list(findings.monitors), "loops", list(findings.loops), "shares",
                  list(findings.shares), "fragments", list(findings.fragments));
    std::string draft = path + ".new";
    bool written = root && json_dump_file(root, draft.c_str(), JSON_INDENT(1)) == 0 &&
                   rename(draft.c_str(), path.c_str()) == 0;
    if (!written) {
        error = "cannot write " + path + ": " + strerror(errno);
        remove(draft.c_str());
    }
    json_decref(root);
    return written;
}

} // namespace persik
