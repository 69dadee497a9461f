#include "static-analyzer/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

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
    return unit.file == source.file && head.substr(0, space) == dependencies(unit);
}

void Cache::save(const Source &source, const Unit &unit) {
    if (folder.empty())
        return;
    std::error_code ignored;
    fs::create_directories(fs::path(folder).parent_path(), ignored);
    if (mkdir(folder.c_str(), S_IRWXU) != 0)
        chmod(folder.c_str(), S_IRWXU);
    std::string body = unit_write(unit);
    write_private(entry(source), dependencies(unit) + ' ' + digest(body) + '\n' + body);
}

} // namespace persik
