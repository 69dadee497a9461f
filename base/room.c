#include "base/room.h"

#define FACTOR      12u
#define SMALL_BYTES ((size_t)48 << 20)

struct room room_of_file(uint64_t bytes) {
    uint64_t most = (SIZE_MAX - SMALL_BYTES) / FACTOR;
    return (struct room){.left = SMALL_BYTES + FACTOR * (size_t)(bytes < most ? bytes : most)};
}

uint64_t room_file_bytes(uint64_t needed) {
    return needed <= SMALL_BYTES ? 0 : (needed - SMALL_BYTES + FACTOR - 1) / FACTOR;
}

bool room_take(struct room *room, size_t count, size_t size) {
    if (size && count > room->left / size) {
        room->exhausted = true;
        return false;
    }
    room->left -= count * size;
    return true;
}

void room_give_back(struct room *room, size_t bytes) {
    room->left += bytes;
}
