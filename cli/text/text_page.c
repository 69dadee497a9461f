#include "cli/text/text_page.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/printable.h"
#include "cli/text/links.h"

enum { COLUMNS = 80, LEAST_COLUMNS = 40, MOST_COLUMNS = 10000, KEY_WIDE = 0x1100 };

static bool is_wide;

static error_t parse_wide(int key, char *argument, struct argp_state *state) {
    (void)argument;
    (void)state;
    if (key != KEY_WIDE)
        return ARGP_ERR_UNKNOWN;
    is_wide = true;
    return 0;
}

static const struct argp_option wide_list[] = {
    {"wide", KEY_WIDE, NULL, 0, "all columns and whole names, however wide (default: 80 columns)",
     81},
    {0},
};
static const struct argp_child wide_children[] = {{&links_argp, 0, NULL, 0}, {0}};
const struct argp wide_argp = {
    .options = wide_list, .parser = parse_wide, .children = wide_children};

int text_page_columns(void) {
    if (is_wide)
        return 0;
    const char *wanted = getenv("COLUMNS");
    char *end = NULL;
    long columns = wanted ? strtol(wanted, &end, 10) : 0;
    bool is_sane =
        wanted && end > wanted && !*end && columns >= LEAST_COLUMNS && columns <= MOST_COLUMNS;
    return is_sane ? (int)columns : COLUMNS;
}

void text_page_begin(void) {
    printable_fold(text_page_columns());
    links_begin();
}

void text_page_end(void) {
    links_end();
    printable_fold(0);
}
