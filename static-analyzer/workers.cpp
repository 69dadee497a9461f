#include "static-analyzer/workers.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "static-analyzer/cache.h"

namespace persik {

namespace {

/* A syntax tree takes some 100 MB: the bound keeps many cores from taking all memory. */
size_t max_workers() {
    const long most = 16;
    return (size_t)std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, most);
}

struct Worker {
    size_t source; /* index */
    pid_t pid;
    int pipe; /* its result comes from here */
    std::string text;
};

bool write_all(int descriptor, const std::string &text) {
    size_t done = 0;
    while (done < text.size()) {
        ssize_t n = write(descriptor, text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            done += (size_t)n;
    }
    return true;
}

bool start_worker(const std::vector<Source> &sources, size_t index, std::vector<Worker> &workers) {
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    if (pid == 0) {
        close(ends[0]);
        bool written = write_all(ends[1], unit_write(extract_unit(sources[index])));
        _exit(written ? 0 : 1);
    }
    close(ends[1]);
    workers.push_back({index, pid, ends[0], ""});
    return true;
}

/* Takes what the worker has written; false at its end. */
bool read_some(Worker &worker) {
    char block[65536];
    ssize_t n = read(worker.pipe, block, sizeof block);
    if (n > 0)
        worker.text.append(block, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

void wait_for_output(std::vector<Worker> &workers, std::vector<Worker> &finished) {
    std::vector<pollfd> waiting;
    waiting.reserve(workers.size());
    for (const Worker &worker : workers)
        waiting.push_back({worker.pipe, POLLIN, 0});
    poll(waiting.data(), waiting.size(), -1);
    for (size_t i = waiting.size(); i-- > 0;) {
        if (waiting[i].revents == 0 || read_some(workers[i]))
            continue;
        finished.push_back(std::move(workers[i]));
        workers.erase(workers.begin() + (long)i);
    }
}

Unit finish_worker(const Worker &worker, const Source &source, Cache &cache) {
    int status = 0;
    close(worker.pipe);
    waitpid(worker.pid, &status, 0);
    Unit unit;
    if (status == 0 && unit_read(worker.text, unit)) {
        if (unit.problems.empty())
            cache.save(source, unit);
        return unit;
    }
    unit = Unit();
    unit.file = source.file;
    unit.problems.push_back(source.file + ": the parser crashed on it");
    return unit;
}

} // namespace

std::vector<Unit> extract_all(const std::vector<Source> &sources, const std::string &cache_folder,
                              size_t &from_cache) {
    Cache cache(cache_folder);
    from_cache = 0;
    std::vector<Unit> units(sources.size());
    std::vector<Worker> workers;
    size_t next = 0;
    while (next < sources.size() || !workers.empty()) {
        while (next < sources.size() && workers.size() < max_workers()) {
            size_t index = next++;
            if (cache.load(sources[index], units[index])) {
                from_cache++;
                continue;
            }
            units[index] = Unit();
            if (!start_worker(sources, index, workers)) {
                units[index] = extract_unit(sources[index]);
                continue;
            }
        }
        std::vector<Worker> finished;
        if (!workers.empty())
            wait_for_output(workers, finished);
        for (const Worker &worker : finished)
            units[worker.source] = finish_worker(worker, sources[worker.source], cache);
    }
    cache.tidy();
    return units;
}

} // namespace persik
