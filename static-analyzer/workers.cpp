#include "static-analyzer/workers.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "base/log.h"
}
#include "static-analyzer/cache.h"

namespace persik {

namespace {

/* A syntax tree takes some 100 MB: the bound keeps many cores from taking all memory. */
size_t max_workers() {
    const long most = 16;
    return (size_t)std::clamp(sysconf(_SC_NPROCESSORS_ONLN), 1L, most);
}

const size_t none = SIZE_MAX;

/* A worker sends, for each of its files, the index first, so that a crash can be told, then the
 * unit's length and text. */
struct Worker {
    pid_t pid;
    int pipe; /* its results come from here */
    std::string received;
    size_t current; /* index of what it works on, or none */
};

bool write_all(int descriptor, const void *from, size_t size) {
    const char *next = static_cast<const char *>(from);
    while (size > 0) {
        ssize_t n = write(descriptor, next, size);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            next += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* Takes the text of the unit of sources[index]; empty if the parser crashed. */
using Extracted = std::function<void(size_t index, const std::string &text)>;

/* Whoever is free takes the next file: files differ much in size. */
class Pool {
  public:
    Pool(const std::vector<Source> &sources, std::vector<size_t> wanted, Extracted done)
        : sources(sources), wanted(std::move(wanted)), done(std::move(done)) {
        void *shared =
            mmap(nullptr, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            throw std::bad_alloc();
        taken = new (shared) std::atomic<size_t>(0);
    }
    ~Pool() {
        munmap(taken, sizeof *taken);
    }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    void run() {
        const size_t most = std::min(max_workers(), wanted.size());
        while (*taken < wanted.size() || !workers.empty()) {
            while (*taken < wanted.size() && workers.size() < most && start_worker()) {
            }
            if (!workers.empty())
                wait_for_output();
            else if (size_t i = (*taken)++; i < wanted.size()) /* no process to be had */
                done(wanted[i], unit_write(extract_unit(sources[wanted[i]])));
        }
    }

  private:
    const std::vector<Source> &sources;
    std::vector<size_t> wanted; /* indices */
    Extracted done;
    std::atomic<size_t> *taken; /* of `wanted`, by all processes together */
    std::vector<Worker> workers;

    bool start_worker() {
        int ends[2];
        if (pipe(ends) != 0)
            return false;
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            _exit(work(ends[1]) ? 0 : 1);
        }
        close(ends[1]);
        if (pid < 0) {
            close(ends[0]);
            return false;
        }
        workers.push_back({pid, ends[0], "", none});
        return true;
    }

    bool work(int out) {
        for (size_t i; (i = (*taken)++) < wanted.size();) {
            size_t index = wanted[i];
            if (!write_all(out, &index, sizeof index))
                return false;
            std::string text = unit_write(extract_unit(sources[index]));
            size_t size = text.size();
            if (!write_all(out, &size, sizeof size) || !write_all(out, text.data(), size))
                return false;
        }
        return true;
    }

    void wait_for_output() {
        std::vector<pollfd> waiting;
        waiting.reserve(workers.size());
        for (const Worker &worker : workers)
            waiting.push_back({worker.pipe, POLLIN, 0});
        poll(waiting.data(), waiting.size(), -1);
        for (size_t i = waiting.size(); i-- > 0;) {
            if (waiting[i].revents == 0 || read_some(workers[i]))
                continue;
            Worker finished = std::move(workers[i]);
            workers.erase(workers.begin() + (long)i);
            end_worker(finished);
        }
    }

    /* Takes what the worker has written; false at its end. */
    bool read_some(Worker &worker) {
        char block[65536];
        ssize_t n = read(worker.pipe, block, sizeof block);
        if (n <= 0)
            return n < 0 && errno == EINTR;
        worker.received.append(block, (size_t)n);
        take_results(worker);
        return true;
    }

    void take_results(Worker &worker) {
        std::string &in = worker.received;
        size_t number;
        while (in.size() >= sizeof number) {
            memcpy(&number, in.data(), sizeof number);
            if (worker.current == none) {
                worker.current = number;
                in.erase(0, sizeof number);
                continue;
            }
            if (in.size() - sizeof number < number)
                return;
            done(worker.current, in.substr(sizeof number, number));
            worker.current = none;
            in.erase(0, sizeof number + number);
        }
    }

    void end_worker(const Worker &worker) {
        close(worker.pipe);
        waitpid(worker.pid, nullptr, 0);
        if (worker.current != none)
            done(worker.current, "");
    }
};

Unit crashed(const Source &source) {
    Unit unit;
    unit.file = source.file;
    unit.problems.push_back(source.file + ": the parser crashed on it");
    return unit;
}

} // namespace

std::vector<Unit> extract_all(const std::vector<Source> &sources, const std::string &cache_folder,
                              size_t &from_cache) {
    Cache cache(cache_folder);
    std::vector<Unit> units(sources.size());
    std::vector<size_t> wanted;
    for (size_t i = 0; i < sources.size(); i++)
        if (!cache.load(sources[i], units[i]))
            wanted.push_back(i);
    from_cache = sources.size() - wanted.size();
    size_t extracted = 0;
    auto show = [&] {
        progress_show("analysing the source", (double)extracted / (double)wanted.size());
    };
    Pool pool(sources, wanted, [&](size_t index, const std::string &text) {
        const Source &source = sources[index];
        Unit &unit = units[index];
        unit = Unit();
        if (!unit_read(text, unit))
            unit = crashed(source);
        else if (unit.parsed && !unit.lacks_header)
            cache.save(source, unit, text);
        extracted++;
        show();
    });
    if (!wanted.empty())
        show();
    pool.run();
    progress_end();
    cache.tidy();
    return units;
}

} // namespace persik
