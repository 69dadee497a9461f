/* The `persik` command: options in, tables out. main.c dispatches, commands/ has one file per
 * subcommand. What these share, from below: text/ (quantities, names, tables), arguments/,
 * recording/ (programs are run, folders filled), prediction/ (a model is asked), sensitivity/ (a
 * changed one is), validation/ (real runs beside it), report/. */
#ifndef PERSIK_CLI_COMMAND_H
#define PERSIK_CLI_COMMAND_H

/* Exit statuses of every subcommand; EXIT_SIGNAL and the number of the signal that ended it. */
enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_ASSERTION = 3,
    EXIT_KILLED = 4,     /* of those that record */
    EXIT_NO_FIGURES = 4, /* of those that simulate */
    EXIT_SIGNAL = 128
};

struct command {
    const char *name;
    const char *summary; /* one line of `persik help` */
    /* argv[0] is "persik NAME"; returns the process's exit status. */
    int (*run)(int argc, char **argv);
};

int command_profile(int argc, char **argv);
int command_sample(int argc, char **argv);
int command_analyze(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_build_model(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_sensitivity(int argc, char **argv);
int command_bottleneck(int argc, char **argv);
int command_recommend(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_calibrate(int argc, char **argv);
int command_load(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_compare_trace(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_report(int argc, char **argv);
int command_critical_path(int argc, char **argv);
int command_what_if(int argc, char **argv);
int command_export(int argc, char **argv);

#endif
