#include "cli/arguments/file_mix_option.h"

#include <fts.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/memory.h"
#include "cli/text/quantity.h"

#define MOST 1e9 /* of factors: more is as good as nothing else */

/* As the kernel's tracepoints number them. */
static uint32_t device_of(const struct stat *status) {
    return (uint32_t)(major(status->st_dev) << 20 | minor(status->st_dev));
}

/* The files among the paths and below them; how many. */
static size_t add_files(struct file_mix *mix, char *const *paths, int kind) {
    size_t n = 0;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    for (FTSENT *at; walk && (at = fts_read(walk));) {
        if (at->fts_info != FTS_F)
            continue;
        uint64_t key = file_mix_key(device_of(at->fts_statp), at->fts_statp->st_ino);
        if (map_get(&mix->kind_of, key, -1) < 0)
            map_put(&mix->kind_of, key, kind);
        n++;
    }
    if (walk)
        fts_close(walk);
    return n;
}

int file_mix_option_add(struct file_mix *mix, const char *text, struct error *error) {
    const char *equals = strrchr(text, '=');
    double factor;
    if (!equals || equals == text)
        return error_set(error, "--file-mix '%s': give FILES=FACTOR, such as '/srv/video=2'", text);
    if (quantity_parse(equals + 1, UNIT_SHARE, &factor) < 0 || !(factor >= 0 && factor <= MOST))
        return error_set(error,
                         "--file-mix '%s': '%s' is no factor: give a number from 0 up, or 50%%",
                         text, equals + 1);
    char *pattern = memory_format("%.*s", (int)(equals - text), text);
    glob_t found;
    size_t n =
        glob(pattern, 0, NULL, &found) == 0 ? add_files(mix, found.gl_pathv, (int)mix->n) : 0;
    globfree(&found);
    if (n == 0) {
        free(pattern);
        return error_set(error, "--file-mix '%s': there are no such files on this machine", text);
    }
    mix->kinds = memory_resize(mix->kinds, mix->n + 1, sizeof *mix->kinds);
    mix->kinds[mix->n++] = (struct file_kind){pattern, factor};
    return 0;
}

void file_mix_option_free(struct file_mix *mix) {
    for (size_t k = 0; k < mix->n; k++)
        free(mix->kinds[k].name);
    free(mix->kinds);
    map_free(&mix->kind_of);
    *mix = (struct file_mix){0};
}
