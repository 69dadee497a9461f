#include "cli/text/links.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/printable.h"

enum { KEY_NO_LINKS = 0x1110, HOST_BYTES = 256 };

static struct {
    char **items; /* paths */
    size_t count, capacity;
} known;

static bool is_unwanted;
static const char *folder;
static void (*find_sources)(const char *directory);

static error_t parse_links(int key, char *argument, struct argp_state *state) {
    (void)argument;
    (void)state;
    if (key != KEY_NO_LINKS)
        return ARGP_ERR_UNKNOWN;
    is_unwanted = true;
    return 0;
}

static const struct argp_option links_list[] = {
    {"no-links", KEY_NO_LINKS, NULL, 0,
     "on a terminal, places in the source are no links (default: they are, without NO_COLOR)", 82},
    {0},
};
const struct argp links_argp = {.options = links_list, .parser = parse_links};

void links_directory(const char *directory) {
    folder = directory;
}

void links_source(void (*find)(const char *directory)) {
    find_sources = find;
}

void links_know(const char *path) {
    if (!path || *path != '/')
        return;
    for (size_t i = 0; i < known.count; i++)
        if (strcmp(known.items[i], path) == 0)
            return;
    *VECTOR_ADD(&known) = memory_strdup(path);
}

void links_forget(void) {
    for (size_t i = 0; i < known.count; i++)
        free(known.items[i]);
    free(known.items);
    known.items = NULL;
    known.count = known.capacity = 0;
}

/* ---- places ---- */

/* Where "name.c:40" stands in a word. */
struct place {
    size_t from, colon, end;
};

static bool is_of_name(char character) {
    return isalnum((unsigned char)character) || strchr("._-+/", character);
}

/* False: there is none. */
static bool find_place(const char *word, struct place *place) {
    for (const char *colon = strchr(word, ':'); colon; colon = strchr(colon + 1, ':')) {
        size_t at = (size_t)(colon - word), from = at, end = at + 1;
        while (from > 0 && is_of_name(word[from - 1]))
            from--;
        while (isdigit((unsigned char)word[end]))
            end++;
        if (from == at || end == at + 1)
            continue;
        *place = (struct place){from, at, end};
        return true;
    }
    return false;
}

/* The one source of that name; NULL: none, or several. */
static const char *source_named(const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < known.count; i++) {
        if (strcmp(path_name(known.items[i]), name) != 0)
            continue;
        if (found)
            return NULL;
        found = known.items[i];
    }
    return found;
}

/* A path within an URI; the caller frees. */
static char *escape(const char *path) {
    static const char digits[] = "0123456789ABCDEF";
    char *escaped = memory_alloc(3 * strlen(path) + 1, 1), *to = escaped;
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        if (isalnum(byte) || strchr("/._-~", byte)) {
            *to++ = *path;
        } else {
            *to++ = '%';
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
        }
    }
    *to = '\0';
    return escaped;
}

char *links_of_word(const char *word) {
    struct place place;
    if (!find_place(word, &place))
        return NULL;
    char *file = memory_format("%.*s", (int)(place.colon - place.from), word + place.from);
    const char *path = source_named(path_name(file));
    free(file);
    if (!path)
        return NULL;
    char host[HOST_BYTES] = "";
    gethostname(host, sizeof host - 1);
    char *escaped = escape(path);
    /* The terminator ST, not BEL: the standard's own. */
    char *link = memory_format("%.*s\033]8;;file://%s%s#%.*s\033\\%.*s\033]8;;\033\\%s",
                               (int)place.from, word, host, escaped,
                               (int)(place.end - place.colon - 1), word + place.colon + 1,
                               (int)(place.end - place.from), word + place.from, word + place.end);
    free(escaped);
    return link;
}

/* ---- on stdout ---- */

static char *decorate(const char *word) {
    if (!strchr(word, ':'))
        return NULL;
    if (find_sources && folder) {
        void (*find)(const char *) = find_sources;
        find_sources = NULL;
        find(folder);
    }
    return links_of_word(word);
}

static bool are_wanted(void) {
    const char *terminal = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool is_able = terminal && *terminal && strcmp(terminal, "dumb") != 0;
    return !is_unwanted && is_able && !(no_color && *no_color) && isatty(STDOUT_FILENO);
}

void links_begin(void) {
    if (are_wanted())
        printable_decorate(decorate);
}

void links_end(void) {
    printable_decorate(NULL);
}
