#include "static-analyzer/cache.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clang/Basic/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA1.h"

namespace fs = std::filesystem;

namespace persik {

namespace {

std::string read_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string digest(const std::string &text) {
    llvm::SHA1 hash;
    hash.update(text);
    return llvm::toHex(hash.final(), true);
}

/* Writes beside the target and renames, so that a reader never sees half of it. */
bool write_private(const std::string &path, const std::string &text) {
    std::string draft = path + ".XXXXXX";
    int descriptor = mkstemp(draft.data()); /* 0600 */
    if (descriptor < 0)
        return false;
    flock(descriptor, LOCK_EX | LOCK_NB); /* until it is closed, however this process ends */
    size_t done = 0;
    while (done < text.size()) {
        ssize_t n = write(descriptor, text.data() + done, text.size() - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    bool written = close(descriptor) == 0 && done == text.size();
    if (written && rename(draft.c_str(), path.c_str()) == 0)
        return true;
    unlink(draft.c_str());
    return false;
}

struct Entry {
    std::string path;
    time_t used_s;
    uintmax_t bytes;
};

/* 40 hexadecimal digits, ".ir", and what mkstemp() added if its writer was killed. Nothing else in
 * the folder is ours. */
bool is_entry(const std::string &name) {
    const size_t digits = 40;
    return name.size() >= digits + 3 && name.compare(digits, 3, ".ir") == 0 &&
           name.find_first_not_of("0123456789abcdef") == digits;
}

std::vector<Entry> list_entries(const std::string &folder) {
    std::vector<Entry> entries;
    std::error_code failed;
    for (fs::directory_iterator file(folder, failed), end; !failed && file != end;
         file.increment(failed)) {
        struct stat about = {};
        std::string path = file->path().string();
        if (is_entry(file->path().filename().string()) && lstat(path.c_str(), &about) == 0 &&
            S_ISREG(about.st_mode))
            entries.push_back({path, about.st_mtim.tv_sec, (uintmax_t)about.st_size});
    }
    return entries;
}

} // namespace

Cache::Cache(std::string folder) : folder(std::move(folder)) {
    std::error_code ignored;
    if (!this->folder.empty())
        program = digest(read_file(fs::read_symlink("/proc/self/exe", ignored).string()));
}

std::string Cache::entry(const Source &source) const {
    std::string key = program + '\n' + source.file + '\n' + source.directory;
    for (const std::string &option : source.options)
        key += '\n' + option;
    return (fs::path(folder) / (digest(key) + ".ir")).string();
}

const std::string &Cache::digest_of(const std::string &path) {
    auto [known, fresh] = digests.try_emplace(path);
    if (fresh)
        known->second = digest(read_file(path));
    return known->second;
}

std::string Cache::dependencies(const Unit &unit) {
    std::string all = digest_of(unit.file);
    for (const std::string &header : unit.headers)
        all += digest_of(header);
    return digest(all);
}

/* An entry is a line with the digests of what it depends on and of what follows. */
bool Cache::load(const Source &source, Unit &unit) {
    if (folder.empty())
        return false;
    std::string text = read_file(entry(source));
    size_t end = text.find('\n');
    if (end == std::string::npos)
        return false;
    std::string head = text.substr(0, end), body = text.substr(end + 1);
    size_t space = head.find(' ');
    if (space == std::string::npos || head.substr(space + 1) != digest(body) ||
        !unit_read(body, unit))
        return false;
    if (unit.file != source.file || head.substr(0, space) != dependencies(unit))
        return false;
    utimensat(AT_FDCWD, entry(source).c_str(), nullptr, 0); /* used now */
    return true;
}

void Cache::save(const Source &source, const Unit &unit, const std::string &body) {
    if (folder.empty())
        return;
    std::error_code ignored;
    fs::create_directories(fs::path(folder).parent_path(), ignored);
    mkdir(folder.c_str(), S_IRWXU);
    saved |= write_private(entry(source), dependencies(unit) + ' ' + digest(body) + '\n' + body);
}

/* What a killed process did not finish; a living one has it locked. */
void Cache::remove_drafts() const {
    for (const Entry &entry : list_entries(folder)) {
        if (fs::path(entry.path).extension() == ".ir")
            continue;
        int descriptor = open(entry.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            unlink(entry.path.c_str());
        if (descriptor >= 0)
            close(descriptor);
    }
}

void Cache::tidy() const {
    const time_t max_age_s = 30L * 24 * 60 * 60;
    const uintmax_t max_bytes = 1UL << 30;
    if (!folder.empty())
        remove_drafts();
    if (!saved)
        return;
    std::vector<Entry> entries = list_entries(folder);
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.used_s > b.used_s; });
    uintmax_t bytes = 0;
    for (const Entry &entry : entries) {
        bytes += entry.bytes;
        if (bytes > max_bytes || entry.used_s < time(nullptr) - max_age_s)
            unlink(entry.path.c_str());
    }
}

} // namespace persik
