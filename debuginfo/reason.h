/* Why a program's debug information is not there. */
#ifndef PERSIK_DEBUGINFO_REASON_H
#define PERSIK_DEBUGINFO_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of the file at `path`: the reason, and what to do about it, as one half of a line ("it is in
 * server.debug, which is not there: put it beside the program"). NULL: nothing is missing, or it is
 * no program. free() it. */
char *debuginfo_reason(const char *path);

#ifdef __cplusplus
}
#endif

#endif
