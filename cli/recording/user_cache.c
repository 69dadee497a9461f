#include "cli/recording/user_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

static const char *setting(void) {
    const char *chosen = getenv("PERSIK_CACHE");
    return chosen && *chosen ? chosen : NULL;
}

bool user_cache_is_off(void) {
    const char *chosen = setting();
    return chosen && strcmp(chosen, "off") == 0;
}

/* Under sudo the home folder may be another user's, who would not thank us for root's folders. */
static bool is_of_this_user(const char *folder) {
    struct stat about;
    return stat(folder, &about) == 0 && about.st_uid == geteuid();
}

static char *default_folder(void) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (home && !is_of_this_user(home))
        return NULL;
    if (base && base[0] == '/')
        return memory_format("%s/persik", base);
    return home && home[0] == '/' ? memory_format("%s/.cache/persik", home) : NULL;
}

/* Makes the folder and those above it; what is there stays as it is. */
static void make_folders(const char *folder) {
    char *path = memory_strdup(folder);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    free(path);
}

static bool is_own(const char *folder) {
    struct stat about;
    return stat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(folder, R_OK | W_OK | X_OK) == 0;
}

char *user_cache_folder(void) {
    const char *chosen = setting();
    char *folder = chosen ? memory_strdup(chosen) : default_folder();
    if (!folder)
        return NULL;
    make_folders(folder);
    if (is_own(folder))
        return folder;
    if (chosen)
        log_warning("PERSIK_CACHE: %s is not a folder that only you can write to: what is analysed "
                    "is kept in the recording",
                    chosen);
    free(folder);
    return NULL;
}
