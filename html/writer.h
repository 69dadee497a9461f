/* Text into an HTML page. Names come out of programs, traces and models that others wrote: whatever
 * a "%s" prints is escaped, so that no name can become an element, an attribute or a script. What
 * is not escaped is the format, which is always a literal of ours. */
#ifndef PERSIK_HTML_WRITER_H
#define PERSIK_HTML_WRITER_H

#include <stdio.h>

/* The text, escaped for element content and for quoted attributes alike; control characters and
 * what is not UTF-8 are '?' (base/printable.h). NULL prints nothing. */
void html_text(FILE *out, const char *text);

/* As printf, with %s escaped. Knows %s, %d, %zu, %%, and %f, %e, %g with their precision; a number
 * that is not finite is printed as "-". */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text in at most `most` characters: a longer one loses its middle, as both ends of a long name
 * tell names apart. The caller frees. */
char *html_shorten(const char *text, size_t most);

#endif
