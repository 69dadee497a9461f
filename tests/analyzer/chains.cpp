// Long chains of operators of the standard library: each operand is read, and once only.
#include <iostream>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int last;

static int number(int i) {
    pthread_mutex_lock(&mutex); //= fragment pthread_mutex_lock global:mutex
    last += i;
    pthread_mutex_unlock(&mutex); //= fragment pthread_mutex_unlock global:mutex
    return last;
}

int main() {
    std::cout << "numbers"
              << ": " << number(0) << " " << 1 << " " << 2 << " " << 3 << ": " << number(4) << " "
              << 5 << " " << 6 << " " << 7 << ": " << number(8) << " " << 9 << " " << 10 << " "
              << 11 << ": " << number(12) << " " << 13 << " " << 14 << " " << 15 << ": "
              << number(16) << " " << 17 << " " << 18 << " " << 19 << ": " << number(20) << " "
              << 21 << " " << 22 << " " << 23 << ": " << number(24) << " " << 25 << " " << 26 << " "
              << 27 << ": " << number(28) << " " << 29 << " " << 30 << " " << 31 << ": "
              << number(32) << " " << 33 << " " << 34 << " " << 35 << ": " << number(36) << " "
              << 37 << " " << 38 << " " << 39;
    std::cout << '\n';
    return 0;
}
