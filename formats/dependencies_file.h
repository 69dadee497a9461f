/* The head of dependencies.persik. docs/formats.md gives every byte. Private to formats/. */
#ifndef PERSIK_FORMATS_DEPENDENCIES_FILE_H
#define PERSIK_FORMATS_DEPENDENCIES_FILE_H

#include <stdint.h>

#define DEPENDENCIES_MAGIC "PERSIKD1"

/* At offset 0; then the JSON text, the steps, the tasks: from DEPENDENCIES_PACKED on these two in
 * one zstd frame with a checksum, behind which there may be padding up to what they are worth as
 * room (base/room.h). */
struct dependencies_head {
    char magic[8];
    uint32_t version;
    uint32_t n_tasks;    /* 0 before version 5 */
    uint64_t text_bytes; /* of the JSON */
    uint64_t n_steps;
};
_Static_assert(sizeof(struct dependencies_head) == 32, "as documented");

enum { DEPENDENCIES_WITH_TASKS = 5, DEPENDENCIES_PACKED = 6 }; /* versions, and later ones */

/* Of the frame: a reader keeps that many bytes, 2 to the power of it, and takes no frame that wants
 * more. */
enum { DEPENDENCIES_WINDOW_LOG = 19 };

/* What the header needs of the room beside its text and its frames (formats/binary_input.h). */
#define DEPENDENCIES_ROOM (1u << 20)

enum { DEPENDENCIES_STEP_1 = 32 }; /* bytes of a step of version 1: the first ones of today's */

#endif
