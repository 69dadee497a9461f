#include "static-analyzer/workers.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA1.h"

namespace fs = std::filesystem;

namespace persik {

namespace {

constexpr size_t max_workers = 2;

struct Worker {
    size_t source; /* index */
    pid_t pid;
    int pipe; /* its result comes from here */
    std::string text;
};

/* ---- cache: one file per source, named by all that its result depends on ---- */

std::string read_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void hash_age(llvm::SHA1 &hash, const fs::path &file) {
    std::error_code ignored;
    auto changed = fs::last_write_time(file, ignored).time_since_epoch().count();
    hash.update(file.string() + std::to_string(changed));
}

/* Name by content, options and this program itself. Of headers it is the time of change of all
 * that lie beside the source and in its -I folders: cheap, and wrong only towards analysing once
 * more. */
std::string cache_name(const Source &source) {
    llvm::SHA1 hash;
    std::error_code ignored;
    hash_age(hash, fs::read_symlink("/proc/self/exe", ignored));
    hash.update(source.file);
    hash.update(read_file(source.file));
    std::vector<fs::path> folders = {fs::path(source.file).parent_path()};
    for (const std::string &option : source.options) {
        hash.update(option);
        if (option.rfind("-I", 0) == 0 && option.size() > 2)
            folders.push_back(fs::path(source.directory) / option.substr(2));
    }
    for (const fs::path &folder : folders)
        for (const auto &entry : fs::directory_iterator(folder, ignored))
            if (entry.path().extension().string().rfind(".h", 0) == 0)
                hash_age(hash, entry.path());
    return llvm::toHex(hash.final(), true) + ".ir";
}

bool cache_load(const std::string &cache, const Source &source, Unit &unit) {
    if (cache.empty())
        return false;
    std::string text = read_file((fs::path(cache) / cache_name(source)).string());
    return !text.empty() && unit_read(text, unit);
}

/* A cache that cannot be written is only slow. */
void cache_save(const std::string &cache, const Source &source, const std::string &text) {
    if (cache.empty())
        return;
    std::error_code ignored;
    fs::create_directories(cache, ignored);
    fs::path target = fs::path(cache) / cache_name(source);
    fs::path draft = target;
    draft += "." + std::to_string(getpid());
    {
        std::ofstream out(draft, std::ios::binary);
        out << text;
        if (!out.good())
            return;
    }
    fs::rename(draft, target, ignored);
}

/* ---- processes ---- */

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

Unit finish_worker(const Worker &worker, const Source &source, const std::string &cache) {
    int status = 0;
    close(worker.pipe);
    waitpid(worker.pid, &status, 0);
    Unit unit;
    if (status == 0 && unit_read(worker.text, unit)) {
        if (unit.problems.empty())
            cache_save(cache, source, worker.text);
        return unit;
    }
    unit = Unit();
    unit.file = source.file;
    unit.problems.push_back(source.file + ": the parser crashed on it");
    return unit;
}

} // namespace

std::vector<Unit> extract_all(const std::vector<Source> &sources, const std::string &cache) {
    std::vector<Unit> units(sources.size());
    std::vector<Worker> workers;
    size_t next = 0;
    while (next < sources.size() || !workers.empty()) {
        while (next < sources.size() && workers.size() < max_workers) {
            size_t index = next++;
            if (cache_load(cache, sources[index], units[index]))
                continue;
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
    return units;
}

} // namespace persik
