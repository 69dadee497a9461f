/* Every construct of OpenMP in a region of its own, run ROUNDS times by a team of the default size.
 * Usage: omp_constructs THREADS. Prints the same for every number of threads. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 12, ITEMS = 24, WORK = 15000, SECTIONS = 3, INNER = 2 };

static unsigned long total;
static long double product = 1;
static omp_lock_t lock;

/* Stays where it is called: the compiler must not take it for a pure function. */
static unsigned long compute(unsigned long seed, int work) {
    for (int i = 0; i < work; i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        __asm__ volatile("" : "+r"(seed));
    }
    return seed;
}

static void static_loop(void) {
    unsigned long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

static void static_chunks(void) {
    unsigned long sum = 0;
#pragma omp parallel for schedule(static, 2) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

static void dynamic_loop(void) {
    unsigned long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

static void guided_loop(void) {
    unsigned long sum = 0;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

static void guided_region(void) {
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < ITEMS; i++) {
        unsigned long value = compute((unsigned long)i, WORK);
#pragma omp critical
        total += value;
    }
}

static void runtime_loop(void) {
    unsigned long sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

static void critical_section(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < ITEMS; i++) {
        unsigned long value = compute((unsigned long)i, WORK);
#pragma omp critical
        total += compute(value, 4 * WORK);
    }
}

static void named_sections(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < ITEMS; i++) {
        unsigned long value = compute((unsigned long)i, WORK);
        if (i % 2 == 0) {
#pragma omp critical(even)
            total += compute(value, 4 * WORK);
        } else {
#pragma omp critical(odd)
            product += 0 * (long double)compute(value, 4 * WORK);
        }
    }
}

/* No processor has an instruction for this one: libgomp locks. */
static void atomic_update(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ITEMS; i++) {
        long double factor = 1.0L + (long double)(compute((unsigned long)i, WORK) & 0);
#pragma omp atomic
        product *= factor;
    }
}

static void explicit_barrier(void) {
    unsigned long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        sum += compute(1, WORK / 4) & 0;
#pragma omp barrier
        sum += compute(2, WORK / 4) & 0;
    }
    total += sum;
}

static void single_part(void) {
#pragma omp parallel
    {
#pragma omp single nowait
        total += compute(3, 8 * WORK);
    }
}

static void three_sections(void) {
    unsigned long sum[SECTIONS] = {0};
#pragma omp parallel sections
    {
#pragma omp section
        sum[0] = compute(4, 4 * WORK);
#pragma omp section
        sum[1] = compute(5, 4 * WORK);
#pragma omp section
        sum[2] = compute(6, 4 * WORK);
    }
    total += sum[0] ^ sum[1] ^ sum[2];
}

static void ordered_loop(void) {
#pragma omp parallel for schedule(dynamic) ordered
    for (int i = 0; i < ITEMS; i++) {
        unsigned long value = compute((unsigned long)i, WORK);
#pragma omp ordered
        total = total * 31 + value;
    }
}

static void tasks(void) {
    unsigned long sum[ITEMS];
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < ITEMS; i++) {
#pragma omp task shared(sum) firstprivate(i)
            sum[i] = compute((unsigned long)i, WORK);
        }
#pragma omp taskwait
        for (int i = 0; i < ITEMS; i++)
            total += sum[i];
    }
}

static void locked(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < ITEMS; i++) {
        unsigned long value = compute((unsigned long)i, WORK);
        omp_set_lock(&lock);
        total += compute(value, 4 * WORK);
        omp_unset_lock(&lock);
    }
}

static void nested(void) {
    unsigned long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        unsigned long inner = 0;
#pragma omp parallel for num_threads(INNER) reduction(+ : inner)
        for (int i = 0; i < ITEMS; i++)
            inner += compute((unsigned long)i, WORK / 4);
        sum += inner & 0;
    }
    total += sum;
}

static void asked_size(void) {
    unsigned long sum = 0;
#pragma omp parallel for num_threads(omp_get_max_threads()) schedule(static) reduction(+ : sum)
    for (int i = 0; i < ITEMS; i++)
        sum += compute((unsigned long)i, WORK);
    total += sum;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    omp_set_num_threads(atoi(argv[1]));
    omp_set_max_active_levels(2);
    omp_init_lock(&lock);
    for (int round = 0; round < ROUNDS; round++) {
        static_loop();
        static_chunks();
        dynamic_loop();
        guided_loop();
        guided_region();
        runtime_loop();
        critical_section();
        named_sections();
        atomic_update();
        explicit_barrier();
        single_part();
        three_sections();
        ordered_loop();
        tasks();
        locked();
        nested();
        asked_size();
    }
    omp_destroy_lock(&lock);
    printf("%lx %Lg\n", total, product);
    return 0;
}
