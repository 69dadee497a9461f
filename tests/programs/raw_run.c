/* raw_run [-f] [-k] PROBE FOLDER OUTPUT PROGRAM [ARGUMENT...]: runs the program with the probe
 * library and a segment in FOLDER, which must not exist, and writes what was recorded to OUTPUT, as
 * text for the shell tests. -f: its children too; -k: keeps the folder. Ends as the program does.
 *     process PREFIX FLAGS THREADS LOST
 *     module PREFIX LOW HIGH PATH
 *     thread PREFIX INDEX CREATOR ENDED RECORDS
 *     record PREFIX THREAD API FLAGS START DURATION OBJECT VALUE RETURN_ADDRESS... */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "formats/trace.h"
#include "tracer/image.h"
#include "tracer/segment.h"

static FILE *output;

static void fail(const char *what) {
    fprintf(stderr, "raw_run: %s\n", what);
    exit(125);
}

static void print_record(const char *prefix, int index, const struct raw_record *record,
                         const struct images *images) {
    fprintf(output, "record %s %d %s %d %" PRIu64 " %" PRIu64 " %" PRIx64 " %d", prefix, index,
            api_catalog[record->api].name, record->flags, record->start, (uint64_t)record->duration,
            (uint64_t)record->object, record->value);
    if (record->context != TRACE_NO_CONTEXT) {
        if (record->context >= images->n_contexts || images->contexts[record->context].depth == 0)
            fail("a record with a context that there is not");
        const struct raw_context *context = &images->contexts[record->context];
        for (uint32_t i = 0; i < context->depth; i++)
            fprintf(output, " %" PRIx64, context->addresses[i]);
    }
    fprintf(output, "\n");
}

static void print_maps(const char *prefix, char *maps) {
    char *rest = maps;
    for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n")) {
        char *dash = strchr(line, '-'), *space = strchr(line, ' ');
        fprintf(output, "module %s %.*s %.*s %s\n", prefix, (int)(dash - line), line,
                (int)(space - dash - 1), dash + 1, strchr(line, '/') ? strchr(line, '/') : "-");
    }
}

static void print_image(const struct image *image, const struct images *images) {
    char prefix[40];
    snprintf(prefix, sizeof prefix, "p%d-%u", image->process.pid, image->number);
    fprintf(output, "process %s %u %u %" PRIu64 "\n", prefix, image->process.flags,
            image->process.n_threads, image->process.lost);
    print_maps(prefix, image->maps);
    for (size_t t = 0; t < image->n_threads; t++) {
        const struct image_thread *thread = &image->threads[t];
        fprintf(output, "thread %s %d %d %d %zu\n", prefix, thread->index, thread->creator,
                thread->end_ticks != 0, thread->n_records);
        for (size_t i = 0; i < thread->n_records; i++)
            print_record(prefix, thread->index, &thread->records[i], images);
    }
}

static void add_preload(const char *probe) {
    const char *preload = getenv("LD_PRELOAD");
    char *both = preload ? memory_format("%s:%s", preload, probe) : memory_strdup(probe);
    setenv("LD_PRELOAD", both, 1);
    free(both);
}

static int run(struct segment *segment, const char *probe, const char *folder, char **args) {
    int go[2], status = 0;
    char byte = 0;
    if (pipe(go) != 0)
        fail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        setenv(RAW_DIRECTORY_VARIABLE, folder, 1);
        add_preload(probe);
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(127);
        close(go[0]);
        execvp(args[0], args);
        _exit(127);
    }
    segment_set_target(segment, child);
    segment_start(segment);
    close(go[0]);
    if (write(go[1], &byte, 1) != 1)
        fail("the child is gone");
    close(go[1]);
    waitpid(child, &status, 0);
    segment_stop(segment);
    return status;
}

int main(int argc, char **argv) {
    bool follow = false, keep = false;
    int option;
    while ((option = getopt(argc, argv, "+fk")) != -1) {
        follow |= option == 'f';
        keep |= option == 'k';
    }
    if (argc - optind < 4)
        fail("usage: raw_run [-f] [-k] PROBE FOLDER OUTPUT PROGRAM [ARGUMENT...]");
    struct error error;
    const char *folder = argv[optind + 1];
    if (mkdir(folder, 0700) != 0)
        fail("the folder must be new");
    struct segment *segment = segment_create(folder, follow, &error);
    if (!segment)
        fail(error.text);
    int status = run(segment, argv[optind], folder, argv + optind + 3);
    struct images images = {0};
    segment_finish(segment);
    images_read(&images, segment);
    output = fopen(argv[optind + 2], "w");
    if (!output)
        fail("no output");
    for (size_t i = 0; i < images.count; i++)
        print_image(&images.items[i], &images);
    fclose(output);
    images_free(&images);
    segment_free(segment);
    if (!keep)
        images_delete(folder);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
