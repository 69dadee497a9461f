/* Calls in machine code. */
#ifndef PERSIK_PROCESSOR_CALLS_H
#define PERSIK_PROCESSOR_CALLS_H

#include <stdint.h>

/* As many as the longest call instruction has. */
#define CALL_BYTES 7

enum call_kind { CALL_NONE, CALL_INDIRECT, CALL_DIRECT };

/* The kind of call that the last of the CALL_BYTES in front of `address` may be; none: the address
 * is no return address. `*target`, of a direct one, is what it calls. */
enum call_kind call_before(const unsigned char code[CALL_BYTES], uint64_t address,
                           uint64_t *target);

#endif
