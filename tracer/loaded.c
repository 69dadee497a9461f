#include "tracer/loaded.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "tracer/program.h"
#include "tracer/tracer.h"

static void add_module(struct loaded *modules, const char *path) {
    char *resolved = realpath(path, NULL);
    if (resolved)
        *VECTOR_ADD(modules) = resolved;
}

/* "	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)", or without "... =>" */
static void read_loaded(struct loaded *modules, FILE *file) {
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        char *path = strchr(line, '/');
        char *end = path ? strstr(path, " (0x") : NULL;
        if (!end)
            continue;
        *end = '\0';
        add_module(modules, path);
    }
    free(line);
}

/* Asks the program's dynamic loader, which then does not start the program. */
static void find_libraries(struct loaded *modules, const char *path) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char *library_path = getenv("LD_LIBRARY_PATH");
    char *path_variable = memory_format("LD_LIBRARY_PATH=%s", library_path ? library_path : "");
    char *environment[] = {"LD_TRACE_LOADED_OBJECTS=1", library_path ? path_variable : NULL, NULL};
    char *args[] = {(char *)path, NULL};
    pid_t pid;
    int cause = posix_spawn(&pid, path, &actions, NULL, args, environment);
    close(ends[1]);
    FILE *file = fdopen(ends[0], "re");
    if (file && !cause)
        read_loaded(modules, file);
    if (file)
        fclose(file);
    else
        close(ends[0]);
    while (!cause && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    posix_spawn_file_actions_destroy(&actions);
    free(path_variable);
}

struct loaded loaded_find(const char *path) {
    struct loaded modules = {0};
    add_module(&modules, path);
    find_libraries(&modules, path);
    return modules;
}

void loaded_free(struct loaded *modules) {
    for (size_t i = 0; i < modules->count; i++)
        free(modules->items[i]);
    free(modules->items);
    *modules = (struct loaded){0};
}

char **tracer_libraries(const char *name, size_t *n) {
    struct program program;
    struct error unused; /* whoever runs the program says what is wrong with it */
    *n = 0;
    if (program_find(&program, name, false, &unused) != 0) /* so none that would run all the same */
        return NULL;
    struct loaded modules = loaded_find(program.path);
    program_free(&program);
    if (modules.count == 0)
        return NULL;
    free(modules.items[0]); /* the program itself */
    *n = modules.count - 1;
    memmove(modules.items, modules.items + 1, *n * sizeof *modules.items);
    return modules.items;
}
