/* How the page looks. */
#ifndef PERSIK_HTML_STYLE_H
#define PERSIK_HTML_STYLE_H

/* CSS. Colours: of each series one that keeps a contrast of 4.5 with the page, light and dark; they
 * differ in lightness as well as in hue, and lines in their dashes. */
extern const char style_sheet[];

#endif
