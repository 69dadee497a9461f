/* The page around the sections: one file that needs nothing else, neither network nor script.
 * It is well-formed XML, too, so that its form can be checked strictly. */
#ifndef PERSIK_HTML_PAGE_H
#define PERSIK_HTML_PAGE_H

#include <stdio.h>

void page_begin(FILE *out, const char *title);
void page_end(FILE *out);

/* A section with a heading; `id` is a word of ours, for links inside the page. `lead`, a sentence
 * on what is shown, may be NULL. */
void page_section(FILE *out, const char *id, const char *heading, const char *lead);
void page_section_end(FILE *out);

/* A figure for the top of the page: what it is, the value, and a line on it, which may be NULL. */
void page_tile(FILE *out, const char *what, const char *value, const char *line);

#endif
