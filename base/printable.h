/* Text that others have a say in (names out of models, traces, programs and sources, arguments),
 * for people to read: a terminal obeys control characters. They, those of them beyond ASCII (C1),
 * what turns the direction of writing, and what is not UTF-8 become '?'. */
#ifndef PERSIK_BASE_PRINTABLE_H
#define PERSIK_BASE_PRINTABLE_H

/* One line of it, freed by the caller: line feeds and tabs, too, are '?'. NULL stays NULL. */
char *printable(const char *text);

/* From now on lines of stdout that are longer than `width` are broken (base/fold.h); 0: no more.
 * After printable_streams(). */
void printable_fold(int width);

/* From now on each word of stdout (what stands between blanks) is shown as `decorate` says: an
 * allocated text, which counts no more than the word as far as lines are concerned, or NULL: as it
 * is. NULL: none is. After printable_streams(). */
void printable_decorate(char *(*decorate)(const char *word));

/* From now on everything that is printed to stdout and stderr is made printable; there, line feeds
 * and tabs are left. Once, before anything is printed. */
void printable_streams(void);

#endif
