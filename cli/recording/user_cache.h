/* The user's own folder for what several recordings can use: results of source analysis. */
#ifndef PERSIK_CLI_RECORDING_USER_CACHE_H
#define PERSIK_CLI_RECORDING_USER_CACHE_H

#include <stdbool.h>

/* True if the user wants nothing kept: PERSIK_CACHE=off. */
bool user_cache_is_off(void);

/* $PERSIK_CACHE, else $XDG_CACHE_HOME/persik, else ~/.cache/persik; made if it is not there, with
 * mode 0700. Freed by the caller. NULL when it cannot be made, cannot be written or belongs to
 * somebody else, as the home folder may under sudo. */
char *user_cache_folder(void);

#endif
