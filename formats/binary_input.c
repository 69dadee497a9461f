#include "formats/binary_input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

int binary_input_open(struct binary_input *input, const char *path, const char *command,
                      struct error *error) {
    struct stat status;
    *input = (struct binary_input){.path = path, .file = fopen(path, "rbe")};
    if (!input->file || fstat(fileno(input->file), &status) != 0 || !S_ISREG(status.st_mode)) {
        error_set(error, "%s: %s: run `%s` first", path,
                  input->file ? "not a file" : strerror(errno), command);
        if (input->file)
            fclose(input->file);
        return -1;
    }
    input->size = (uint64_t)status.st_size;
    input->room = room_of_file(input->size);
    return 0;
}

void binary_input_close(struct binary_input *input) {
    fclose(input->file);
}

bool binary_input_take(struct binary_input *input, void *to, size_t bytes) {
    if (bytes > input->size - input->offset || fread(to, 1, bytes, input->file) != bytes)
        return false;
    input->offset += bytes;
    return true;
}

void *binary_input_allocate(struct binary_input *input, size_t n, size_t size) {
    return room_take(&input->room, n, size) ? memory_alloc(n, size) : NULL;
}
