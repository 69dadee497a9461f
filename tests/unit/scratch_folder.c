#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

char scratch_folder[] = P_tmpdir "/persik-test-XXXXXX";

int scratch_folder_make(void **state) {
    (void)state;
    memset(scratch_folder + strlen(scratch_folder) - 6, 'X', 6); /* it may be the second one */
    return mkdtemp(scratch_folder) ? 0 : -1;
}

int scratch_folder_remove(void **state) {
    (void)state;
    char *command = memory_format("rm -rf '%s'", scratch_folder);
    int status = system(command); /* NOLINT(bugprone-command-processor): a name of our own making */
    free(command);
    return status;
}

int scratch_folder_remove_empty(void **state) {
    (void)state;
    return rmdir(scratch_folder);
}

char *scratch_folder_path(const char *name) {
    return memory_format("%s/%s", scratch_folder, name);
}
