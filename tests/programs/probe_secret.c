/* Passes a secret through descriptors and streams, and says how much of it went through. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    char secret[64] = "";
    ssize_t got = read(STDIN_FILENO, secret, sizeof secret - 1);
    int ends[2];
    if (got <= 0 || pipe(ends) != 0 || write(ends[1], secret, (size_t)got) != got)
        return 1;
    char copy[64] = "";
    ssize_t back = read(ends[0], copy, sizeof copy - 1);
    FILE *file = tmpfile();
    if (file == NULL || fputs(copy, file) < 0 ||
        fwrite(copy, 1, (size_t)back, file) != (size_t)back)
        return 1;
    rewind(file);
    if (fgets(secret, sizeof secret, file) == NULL)
        return 1;
    printf("%zd %zd %d\n", got, back, strcmp(secret, copy));
    return 0;
}
