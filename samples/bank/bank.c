/*
 * bank: many tellers, one ledger.
 *
 * Each teller works off an equal share of a fixed list of transfers. A transfer is first scored for
 * fraud, which takes the better part of its time and no lock; then it is booked: under one mutex
 * for the whole ledger the balances change and an entry is appended to the audit log, whose current
 * page carries a checksum that is valid at every moment, as in a database page.
 *
 * Whether a transfer is booked or refused depends on its own record alone and balances may go
 * negative, so the final balances do not depend on the order of bookings. The log does, but not
 * what it adds up to.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    EXIT_USAGE = 2,
    MAX_THREADS = 1024,
    ACCOUNTS = 1000,
    INITIAL_CENTS = 1000000,
    SCORE_ROUNDS = 17000, /* of the fraud check's hash */
    PAGE_ENTRIES = 170,   /* a page of 8 KiB */
};

struct transfer {
    uint32_t from;
    uint32_t to;
    int64_t cents;
};

struct log_entry {
    uint32_t transfer;
    uint32_t refused; /* 0 or 1 */
    uint32_t from;
    uint32_t to;
    int64_t cents;
    int64_t from_balance;
    int64_t to_balance;
    uint64_t score;
};

struct log_page {
    uint32_t checksum; /* of all entries, the unused ones being zero */
    uint32_t used;
    struct log_entry entries[PAGE_ENTRIES];
};

struct bank {
    int threads;
    int transfers;

    pthread_mutex_t mutex; /* guards the fields below */
    int64_t balance_cents[ACCOUNTS];
    struct log_page *pages;
    uint32_t page; /* the page that is being filled */
    int refused;
};

struct teller {
    struct bank *bank;
    pthread_t thread;
    int first; /* transfers first..last-1 */
    int last;
};

static uint64_t mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/* ------------------------------------------------------------------------------ outside the lock
 */

static struct transfer transfer_of_index(int index) {
    uint64_t bits = mix64((uint64_t)index);
    struct transfer transfer;
    transfer.from = (uint32_t)(bits % ACCOUNTS);
    transfer.to = (transfer.from + 1 + (uint32_t)(bits >> 32) % (ACCOUNTS - 1)) % ACCOUNTS;
    transfer.cents = 100 + (int64_t)(mix64(bits) % 50000);
    return transfer;
}

/* A deliberately slow keyed hash of the record. Larger amounts are looked at more closely. */
static uint64_t score_transfer(const struct transfer *transfer) {
    uint64_t score = ((uint64_t)transfer->from << 32) | transfer->to;
    int rounds = SCORE_ROUNDS / 2 + (int)(transfer->cents * SCORE_ROUNDS / 50000);
    for (int i = 0; i < rounds; i++)
        score = mix64(score ^ (uint64_t)transfer->cents);
    return score;
}

static bool is_suspicious(uint64_t score) {
    return score % 50 == 0;
}

/* ------------------------------------------------------------------------------- under the lock */

static uint32_t crc_table[256];

static void crc_init(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) ? (crc >> 1) ^ 0xedb88320U : crc >> 1;
        crc_table[i] = crc;
    }
}

/* CRC-32 over the page's entries, byte by byte. */
static uint32_t page_checksum(const struct log_page *page) {
    const unsigned char *byte = (const unsigned char *)page->entries;
    const unsigned char *end = byte + sizeof page->entries;
    uint32_t crc = 0xffffffffU;
    while (byte < end)
        crc = (crc >> 8) ^ crc_table[(crc ^ *byte++) & 0xff];
    return ~crc;
}

static void append_to_log(struct bank *bank, const struct log_entry *entry) {
    struct log_page *page = &bank->pages[bank->page];
    if (page->used == PAGE_ENTRIES)
        page = &bank->pages[++bank->page];
    page->entries[page->used++] = *entry;
    page->checksum = page_checksum(page);
}

static void book_transfer(struct bank *bank, int index, const struct transfer *transfer,
                          uint64_t score) {
    bool refused = is_suspicious(score);
    pthread_mutex_lock(&bank->mutex);
    if (refused) {
        bank->refused++;
    } else {
        bank->balance_cents[transfer->from] -= transfer->cents;
        bank->balance_cents[transfer->to] += transfer->cents;
    }
    struct log_entry entry = {
        .transfer = (uint32_t)index,
        .refused = refused,
        .from = transfer->from,
        .to = transfer->to,
        .cents = transfer->cents,
        .from_balance = bank->balance_cents[transfer->from],
        .to_balance = bank->balance_cents[transfer->to],
        .score = score,
    };
    append_to_log(bank, &entry);
    pthread_mutex_unlock(&bank->mutex);
}

static void *teller_run(void *arg) {
    const struct teller *teller = arg;
    for (int i = teller->first; i < teller->last; i++) {
        struct transfer transfer = transfer_of_index(i);
        uint64_t score = score_transfer(&transfer);
        book_transfer(teller->bank, i, &transfer, score);
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------- the day */

static void bank_open(struct bank *bank) {
    crc_init();
    pthread_mutex_init(&bank->mutex, NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        bank->balance_cents[i] = INITIAL_CENTS;
    size_t pages = (size_t)bank->transfers / PAGE_ENTRIES + 1;
    bank->pages = calloc(pages, sizeof *bank->pages);
    if (!bank->pages)
        err(EXIT_FAILURE, "out of memory for %zu log pages", pages);
}

/* The first transfers % threads tellers take one transfer more than the others. */
static void run_tellers(struct bank *bank) {
    struct teller *tellers = calloc((size_t)bank->threads, sizeof *tellers);
    if (!tellers)
        err(EXIT_FAILURE, "out of memory for %d threads", bank->threads);
    int share = bank->transfers / bank->threads;
    int remainder = bank->transfers % bank->threads;
    int next = 0;
    for (int i = 0; i < bank->threads; i++) {
        tellers[i].bank = bank;
        tellers[i].first = next;
        next += share + (i < remainder ? 1 : 0);
        tellers[i].last = next;
        errno = pthread_create(&tellers[i].thread, NULL, teller_run, &tellers[i]);
        if (errno)
            err(EXIT_FAILURE, "cannot create thread %d", i);
    }
    for (int i = 0; i < bank->threads; i++)
        pthread_join(tellers[i].thread, NULL);
    free(tellers);
}

/* Balances add up, the log holds every transfer, and its pages are intact. */
static void audit_books(const struct bank *bank) {
    int64_t total = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        total += bank->balance_cents[i];
    if (total != (int64_t)ACCOUNTS * INITIAL_CENTS)
        errx(EXIT_FAILURE, "the balances do not add up");
    int64_t entries = 0;
    for (uint32_t p = 0; p <= bank->page; p++) {
        entries += bank->pages[p].used;
        if (bank->pages[p].checksum != page_checksum(&bank->pages[p]) && bank->pages[p].used > 0)
            errx(EXIT_FAILURE, "log page %u is damaged", p);
    }
    if (entries != bank->transfers)
        errx(EXIT_FAILURE, "the log holds %lld transfers instead of %d", (long long)entries,
             bank->transfers);
}

/* Over the balances in order and over the log as a set. */
static uint64_t bank_checksum(const struct bank *bank) {
    uint64_t hash = (uint64_t)bank->refused;
    for (int i = 0; i < ACCOUNTS; i++)
        hash = mix64(hash ^ (uint64_t)bank->balance_cents[i]);
    for (uint32_t p = 0; p <= bank->page; p++)
        for (uint32_t i = 0; i < bank->pages[p].used; i++)
            hash += bank->pages[p].entries[i].score;
    return hash;
}

/* ------------------------------------------------------------------------------- command line */

struct options {
    int threads;
    int size;
};

static const char usage[] = "Usage: bank [options]\n"
                            "Books transfers between accounts under one ledger lock.\n"
                            "  --threads N   tellers (default 4)\n"
                            "  --size N      transfers (default 60000)\n"
                            "  --help        show this text\n";

static int parse_count(const char *option, const char *text, int max) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > max)
        errx(EXIT_USAGE, "--%s: '%s' is not a whole number from 1 to %d", option, text, max);
    return (int)value;
}

static struct options parse_options(int argc, char **argv) {
    static const struct option longs[] = {
        {"threads", required_argument, NULL, 't'},
        {"size", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options options = {.threads = 4, .size = 60000};
    int c;
    while ((c = getopt_long(argc, argv, "t:s:h", longs, NULL)) != -1) {
        switch (c) {
        case 't':
            options.threads = parse_count("threads", optarg, MAX_THREADS);
            break;
        case 's':
            options.size = parse_count("size", optarg, 100000000);
            break;
        case 'h':
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        default:
            errx(EXIT_USAGE, "see --help");
        }
    }
    if (optind < argc)
        errx(EXIT_USAGE, "unexpected argument '%s': see --help", argv[optind]);
    return options;
}

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    struct options options = parse_options(argc, argv);
    static struct bank bank;
    bank.threads = options.threads;
    bank.transfers = options.size;
    bank_open(&bank);

    double start = clock_seconds();
    run_tellers(&bank);
    double seconds = clock_seconds() - start;

    audit_books(&bank);
    printf("bank: %d transfers, %d refused, %d threads, %.3f s\n", bank.transfers, bank.refused,
           bank.threads, seconds);
    printf("checksum %016llx\n", (unsigned long long)bank_checksum(&bank));
    free(bank.pages);
    pthread_mutex_destroy(&bank.mutex);
    return EXIT_SUCCESS;
}
