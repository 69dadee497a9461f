/* Places in the source as links that terminals open: "(bank.c:40)" is shown as it is, and leads to
 * the file (OSC 8, https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda). Only where
 * stdout is a terminal that is not dumb, without NO_COLOR and --no-links: what is piped never has
 * them. */
#ifndef PERSIK_CLI_TEXT_LINKS_H
#define PERSIK_CLI_TEXT_LINKS_H

#include <argp.h>

/* A child parser without input: --no-links. */
extern const struct argp links_argp;

/* What `find` is to look in. It must live as long as anything is printed. */
void links_directory(const char *directory);

/* `find` calls links_know() for the sources of a recording. It is called when the first place is
 * printed, never where there are no links. NULL: no sources are known. */
void links_source(void (*find)(const char *directory));

/* A source file, by its absolute path; others are passed over. Of two with one name neither is
 * linked: the text does not tell which is meant. */
void links_know(const char *path);

/* From here on, in what is printed to stdout; links_end(): no more. */
void links_begin(void);
void links_end(void);

/* The word with its place as a link, allocated; NULL: it has none that is known. */
char *links_of_word(const char *word);

/* Nothing is known any more. */
void links_forget(void);

#endif
