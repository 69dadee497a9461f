#include "host/reclaim.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds/"

/* Is the first word of one of the files that match ROOT/PATTERN this one? */
static bool some_file_says(const char *root, const char *pattern, const char *word) {
    char *whole = memory_format("%s%s", root, pattern);
    glob_t files;
    bool says = false;
    bool found = glob(whole, GLOB_NOSORT, NULL, &files) == 0;
    for (size_t i = 0; found && !says && i < files.gl_pathc; i++) {
        char text[32] = "";
        FILE *file = fopen(files.gl_pathv[i], "re");
        says = file && fscanf(file, "%31s", text) == 1 && strcmp(text, word) == 0;
        if (file)
            fclose(file);
    }
    if (found)
        globfree(&files);
    free(whole);
    return says;
}

bool reclaim_is_proactive(const char *root) {
    return some_file_says(root, "/sys/module/damon_reclaim/parameters/enabled", "Y") ||
           (some_file_says(root, KDAMONDS "*/state", "on") &&
            some_file_says(root, KDAMONDS "*/contexts/*/schemes/*/action", "pageout"));
}
