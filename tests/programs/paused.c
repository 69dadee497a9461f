/* Says who it is, and waits for a signal, in a function that cannot be wrapped: it calls at once. */
#include <stdio.h>
#include <unistd.h>

__attribute__((noipa)) static int nap(void) {
    return usleep(1000);
}

__attribute__((noipa)) int pause_inside(void) {
    return nap() + 1;
}

int main(void) {
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause_inside();
}
