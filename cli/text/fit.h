/* How wide the columns of a table are to be, so that it fits a page. */
#ifndef PERSIK_CLI_TEXT_FIT_H
#define PERSIK_CLI_TEXT_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { FIT_GAP = 2 /* between two columns */ };

struct fit_column {
    int natural;  /* of its widest cell and the widest word of its title */
    bool is_text; /* may be cut, not below a least width */
    int spare; /* 1, 2 ...: left out in this order before names are cut to little; 0: it is not */
    int width; /* found: 0: it is left out */
};

/* Sets all `width`, so that they and the gaps take at most `page` characters, or 0: any. What does
 * not fit is cut, then left out: the spare ones first, then from the right, never the first column.
 */
void fit_columns(struct fit_column *columns, size_t n, int page);

/* `text` in at most `width` characters: its middle is cut out, of which `head` of 8 parts stay in
 * front. Allocated. */
char *fit_cut(const char *text, int width, int head);

/* Characters, not bytes: "±" is two bytes wide and one column. */
int fit_width(const char *text);

#endif
