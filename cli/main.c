/* persik: finds the subcommand and runs it. */
#include <argp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "cli/arguments/options.h"
#include "cli/command.h"
#include "cli/recording/source_links.h"
#include "cli/text/links.h"

static const struct command commands[] = {
    {"profile", "run a program and record all a model needs: sample, analyze, trace",
     command_profile},
    {"build-model", "turn the recording into a model and check it against the run",
     command_build_model},
    {"predict", "running time, throughput, response time, utilisation elsewhere", command_predict},
    {"sensitivity", "on which pools, objects and rules a prediction hangs, and how much",
     command_sensitivity},
    {"bottleneck", "what limits a configuration, and what relieving it gains", command_bottleneck},
    {"recommend", "the smallest configuration that meets a goal", command_recommend},
    {"validate", "run the real program over configurations and compare", command_validate},
    {"calibrate", "how fast a disk is, by kind, size and number of requests", command_calibrate},
    {"load", "send requests to a server, measure throughput and response times", command_load},
    {"graph", "pools and objects of the model, or its drawing", command_graph},
    {"critical-path", "what the running time hangs on", command_critical_path},
    {"what-if", "the running time if a part were faster", command_what_if},
    {"diff", "what changed between two recordings, and what it means", command_diff},
    {"compare-trace", "where a run and its simulated run, or two runs, begin to differ",
     command_compare_trace},
    {"report", "what the recording says: waits, locks, losses", command_report},
    {"export", "the recording or the model for other tools", command_export},
    {"sample", "stage 1 alone: stacks of all threads", command_sample},
    {"analyze", "stage 2 alone: what the source says", command_analyze},
    {"trace", "stage 3 alone: every lock, queue and I/O call", command_trace},
};

static const char introduction[] =
    "Usage: persik COMMAND [OPTION...]\n"
    "\n"
    "Predicts, from one run of an unmodified multithreaded program, how it would perform\n"
    "with other numbers of threads and cores.\n"
    "\n"
    "  persik profile ./server --threads 4\n"
    "  persik build-model\n"
    "  persik predict --threads 16 --cores 8\n"
    "\n"
    "Commands:\n";

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void print_help(FILE *out) {
    fputs(introduction, out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-13s %s\n", commands[i].name, commands[i].summary);
    fputs("\n`persik COMMAND --help` gives a command's options and examples. There (default: 1%)\n"
          "is what holds without the option; what follows `such as` is only an example.\n",
          out);
}

static int run_command(const struct command *command, int argc, char **argv) {
    /* argp takes the name for its messages from argv[0]. */
    char *name = memory_format("persik %s", command->name);
    argv[0] = name;
    links_source(source_links_find);
    int status = command->run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("cannot write the output: is the disk full or the pipe closed?");
        status = status ? status : EXIT_FAILED;
    }
    argv[0] = NULL;
    free(name);
    return status;
}

static int complain(const char *word) {
    log_error("unknown command '%s': `persik help` lists them", word);
    return EXIT_USAGE;
}

/* `persik help COMMAND` is `persik COMMAND --help`. */
static int help(int argc, char **argv) {
    if (argc < 3) {
        print_help(stdout);
        return 0;
    }
    const struct command *command = find_command(argv[2]);
    if (!command)
        return complain(argv[2]);
    char option[] = "--help";
    char *arguments[] = {NULL, option, NULL};
    return run_command(command, 2, arguments);
}

static int run(int argc, char **argv) {
    argp_err_exit_status = EXIT_USAGE;
    options_begin();
    argp_program_version = "persik " PERSIK_VERSION;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts(argp_program_version);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return help(argc, argv);
    const struct command *command = find_command(argv[1]);
    if (!command)
        return complain(argv[1]);
    return run_command(command, argc - 1, argv + 1);
}

/* ---- what the user's limits are not to break ---- */

/* What threads usually have. The user's limit, which the programs under test are to keep, may be
 * lower, and libraries, libdw before all, take some 200 KB. */
#define STACK_BYTES (8UL << 20)

struct call {
    int argc;
    char **argv;
    int status;
};

static void *run_in_thread(void *context) {
    struct call *call = context;
    call->status = run(call->argc, call->argv);
    return NULL;
}

static void ignore(int number) {
    (void)number;
}

/* Beyond `ulimit -f` a write is to fail and be told. What is ignored by a function is not ignored
 * in the programs that are run. */
static void survive_full_files(void) {
    struct sigaction before, action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv) {
    struct call call = {argc, argv, EXIT_FAILED};
    pthread_attr_t attributes;
    pthread_t thread;
    printable_streams();
    survive_full_files();
    interrupt_hear_children();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_setattr_default_np(&attributes); /* of all others, too */
    int cause = pthread_create(&thread, &attributes, run_in_thread, &call);
    pthread_attr_destroy(&attributes);
    if (cause != 0) /* no room for one: the stack that there is may do */
        return run(argc, argv);
    pthread_join(thread, NULL);
    return call.status;
}
