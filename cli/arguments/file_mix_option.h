/* --file-mix '/srv/video=2': which files the user means, and how many times as often requests that
 * read them are to come. */
#ifndef PERSIK_CLI_ARGUMENTS_FILE_MIX_OPTION_H
#define PERSIK_CLI_ARGUMENTS_FILE_MIX_OPTION_H

#include "base/error.h"
#include "modelgen/modelgen.h"

/* Appends the files that `text`, PATTERN=FACTOR, means: those that the shell's pattern matches, and
 * all below the folders that it matches. A file that was there before stays of the kind that it
 * was. -1 and `error`, which names the option: it is not understood, the factor is negative or no
 * number, there are no such files. file_mix_option_free() ends the mix. */
int file_mix_option_add(struct file_mix *mix, const char *text, struct error *error);
void file_mix_option_free(struct file_mix *mix);

#endif
