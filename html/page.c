#include "html/page.h"

#include "html/style.h"
#include "html/writer.h"

void page_begin(FILE *out, const char *title) {
    html_print(out,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
               "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
               "<title>%s</title>\n<style>\n",
               title);
    fputs(style_sheet, out);
    html_print(out, "</style>\n</head>\n<body>\n<main>\n");
}

void page_end(FILE *out) {
    html_print(out, "</main>\n</body>\n</html>\n");
}

void page_section(FILE *out, const char *id, const char *heading, const char *lead) {
    html_print(out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
    if (lead)
        html_print(out, "<p class=\"lead\">%s</p>\n", lead);
}

void page_section_end(FILE *out) {
    html_print(out, "</section>\n");
}

void page_tile(FILE *out, const char *what, const char *value, const char *line) {
    html_print(out, "<div class=\"tile\"><dt>%s</dt><dd><b>%s</b>", what, value);
    if (line)
        html_print(out, "<small>%s</small>", line);
    html_print(out, "</dd></div>\n");
}
