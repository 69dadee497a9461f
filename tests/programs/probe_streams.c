/* Writes 10000 lines through a stream and reads them again in three ways; prints what came back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 10000, LENGTH = 64 };

int main(void) {
    char line[LENGTH + 1], *grown = NULL;
    size_t room = 0, same = 0;
    FILE *file = tmpfile();
    if (file == NULL)
        return 1;
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof line, "%0*d\n", LENGTH - 1, i);
        if (i % 2 ? fputs(line, file) < 0 : fwrite(line, 1, LENGTH, file) != LENGTH)
            return 1;
    }
    rewind(file);
    for (int i = 0; i < LINES; i++) {
        memset(line, 0, sizeof line);
        if (i % 3 == 0 && fgets(line, sizeof line, file) == NULL)
            return 1;
        if (i % 3 == 1 && fread(line, 1, LENGTH, file) != LENGTH)
            return 1;
        if (i % 3 == 2 && (getline(&grown, &room, file) != LENGTH || !strncpy(line, grown, LENGTH)))
            return 1;
        same += atoi(line) == i;
    }
    printf("%zu %d\n", same, fgets(line, sizeof line, file) == NULL);
    free(grown);
    return fclose(file);
}
