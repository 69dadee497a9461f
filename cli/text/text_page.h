/* The page that people read: 80 columns, unless they say that theirs is wider, by --wide or, as
 * POSIX has it, by the environment variable COLUMNS. */
#ifndef PERSIK_CLI_TEXT_TEXT_PAGE_H
#define PERSIK_CLI_TEXT_TEXT_PAGE_H

#include <argp.h>

/* A child parser without input: --wide, and --no-links (cli/text/links.h). */
extern const struct argp wide_argp;

/* What is printed to stdout from here on is for people: longer lines are broken between words, and
 * places in the source are links where that can be. */
void text_page_begin(void);

/* No more. */
void text_page_end(void);

/* 0: as wide as it gets. */
int text_page_columns(void);

#endif
