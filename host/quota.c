#include "host/quota.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A mounted hierarchy with the cpu controller, and the group of this process in it. */
struct hierarchy {
    char *mount; /* folder */
    char *group; /* path below the mount, "" its top */
    bool is_unified;
};

static FILE *open_below(const char *root, const char *path) {
    char *whole = memory_format("%s%s", root, path);
    FILE *file = fopen(whole, "re");
    free(whole);
    return file;
}

/* Is `word` one of those in the list with commas? */
static bool lists(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* The path in /proc/self/cgroup's line "2:cpu,cpuacct:/jobs/one", or "0::/jobs/one" of version 2.
 * NULL: no such hierarchy. */
static char *find_group(const char *root, bool unified) {
    FILE *file = open_below(root, "/proc/self/cgroup");
    char *line = NULL, *group = NULL;
    size_t capacity = 0;
    while (file && !group && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        const char *number = strsep(&rest, ":");
        const char *controllers = rest ? strsep(&rest, ":") : NULL;
        if (rest &&
            (unified ? strcmp(number, "0") == 0 && !*controllers : lists(controllers, "cpu")))
            group = memory_strdup(rest);
    }
    free(line);
    if (file)
        fclose(file);
    return group;
}

/* Of a line "36 35 0:31 /top /mnt rw - cgroup cgroup rw,cpu": the folder that is mounted, and
 * where. False: it is another file system. */
static bool read_mount(char *line, bool unified, char **top, char **mount) {
    char *type = strstr(line, " - ");
    char *fields[5];
    char *rest = line;
    if (!type)
        return false;
    *type = '\0';
    type += 3;
    for (int i = 0; i < 5; i++)
        if (!(fields[i] = strsep(&rest, " ")))
            return false;
    const char *kind = strsep(&type, " ");
    if (strcmp(kind, unified ? "cgroup2" : "cgroup") != 0)
        return false;
    strsep(&type, " "); /* the source */
    if (!unified && (!type || !lists(type, "cpu")))
        return false;
    *top = fields[3];
    *mount = fields[4];
    return true;
}

/* Below what is mounted; a container may see only a part of the hierarchy. */
static const char *below(const char *group, const char *top) {
    size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    if (strncmp(group, top, length) != 0 || strstr(group, "/.."))
        return "";
    return strcmp(group + length, "/") == 0 ? "" : group + length;
}

static bool find_hierarchy(const char *root, bool unified, struct hierarchy *found) {
    char *group = find_group(root, unified);
    FILE *file = group ? open_below(root, "/proc/self/mountinfo") : NULL;
    char *line = NULL, *top, *mount;
    size_t capacity = 0;
    bool is_found = false;
    while (file && !is_found && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        is_found = read_mount(line, unified, &top, &mount);
        if (is_found)
            *found = (struct hierarchy){memory_format("%s%s", root, mount),
                                        memory_strdup(below(group, top)), unified};
    }
    free(line);
    free(group);
    if (file)
        fclose(file);
    return is_found;
}

/* The number after `key` in a group's file, or of the whole file where `key` is "". 0: there is
 * none. */
static double read_number(const char *folder, const char *name, const char *key) {
    char *path = memory_format("%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0, length = strlen(key);
    double number = 0;
    while (file && getline(&line, &capacity, file) > 0)
        if (strncmp(line, key, length) == 0 && (length == 0 || line[length] == ' '))
            number = strtod(line + length, NULL);
    free(line);
    free(path);
    if (file)
        fclose(file);
    return number;
}

/* What the group itself may use; 0: all. */
static double group_cores(const char *folder, bool unified) {
    if (!unified) {
        double quota = read_number(folder, "cpu.cfs_quota_us", "");
        double period = read_number(folder, "cpu.cfs_period_us", "");
        return quota > 0 && period > 0 ? quota / period : 0;
    }
    char *path = memory_format("%s/cpu.max", folder);
    FILE *file = fopen(path, "re");
    double quota = 0, period = 0; /* "max 100000": no number */
    bool is_limited = file && fscanf(file, "%lf %lf", &quota, &period) == 2;
    if (file)
        fclose(file);
    free(path);
    return is_limited && quota > 0 && period > 0 ? quota / period : 0;
}

static uint64_t group_throttled_ns(const char *folder, bool unified) {
    double ns = unified ? 1000 * read_number(folder, "cpu.stat", "throttled_usec")
                        : read_number(folder, "cpu.stat", "throttled_time");
    return ns > 0 ? (uint64_t)ns : 0;
}

/* From the group up to the top of what is mounted. */
static void add_groups(const struct hierarchy *hierarchy, struct quota *quota) {
    char *group = memory_strdup(hierarchy->group);
    for (bool more = true; more;) {
        char *folder = memory_format("%s%s", hierarchy->mount, group);
        double cores = group_cores(folder, hierarchy->is_unified);
        if (cores > 0) {
            quota->cores = quota->cores > 0 && quota->cores < cores ? quota->cores : cores;
            quota->throttled_ns += group_throttled_ns(folder, hierarchy->is_unified);
        }
        free(folder);
        char *slash = strrchr(group, '/');
        more = slash != NULL;
        if (more)
            *slash = '\0';
    }
    free(group);
}

struct quota quota_read(const char *root) {
    struct quota quota = {0};
    for (int unified = 0; unified < 2; unified++) {
        struct hierarchy hierarchy;
        if (!find_hierarchy(root, unified, &hierarchy))
            continue;
        add_groups(&hierarchy, &quota);
        free(hierarchy.mount);
        free(hierarchy.group);
    }
    return quota;
}
