/* How much memory a file may make its reader take: files come from others, and a few bytes can say
 * that a million things follow, or be packed a thousandfold. A reader asks for room before it
 * allocates what the file tells it to. */
#ifndef PERSIK_BASE_ROOM_H
#define PERSIK_BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room {
    size_t left;    /* bytes */
    bool exhausted; /* something did not fit */
};

/* For what a file of so many bytes may hold: 12 times as much, and 48 MB for those that are small.
 */
struct room room_of_file(uint64_t bytes);

/* The smallest file that is worth `needed` bytes: one whose packed content is smaller is made so
 * large by a hole, which takes no place on the disk. */
uint64_t room_file_bytes(uint64_t needed);

/* Takes `count` things of `size` bytes from it; false, and nothing taken: there is no room. */
bool room_take(struct room *room, size_t count, size_t size);
void room_give_back(struct room *room, size_t bytes);

#endif
