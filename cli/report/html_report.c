#include "cli/report/html_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/path.h"
#include "cli/recording/workspace.h"
#include "cli/report/html_sections.h"
#include "html/page.h"
#include "modelgen/modelgen.h"

static int cannot_write(const char *path, const char *why, struct error *error) {
    return error_set(error, "cannot write %s: %s: name another file", path, why);
}

int html_report_check(const char *path, struct error *error) {
    struct stat status;
    if (lstat(path, &status) == 0) {
        if (S_ISLNK(status.st_mode))
            return cannot_write(path, "it is a symbolic link", error);
        if (!S_ISREG(status.st_mode))
            return cannot_write(path, "it is not a file", error);
    }
    int folder = path_open_folder(path);
    int status_of_folder = folder < 0 ? -1 : faccessat(folder, ".", W_OK | X_OK, AT_EACCESS);
    int cause = errno;
    if (folder >= 0)
        close(folder);
    return status_of_folder < 0 ? cannot_write(path, strerror(cause), error) : 0;
}

/* ---- the page ---- */

/* The caller frees. */
static char *title_of(const struct html_report *report) {
    const char *program = report->model ? report->model->program : NULL;
    if (report->trace && report->trace->meta.n_args > 0)
        program = path_name(report->trace->meta.args[0]);
    return memory_format("%s: persik report", program ? program : "?");
}

static void print_page(FILE *out, const struct html_report *report) {
    struct forecast forecast = forecast_of(report->prediction);
    char *title = title_of(report);
    page_begin(out, title);
    html_answer(out, report, &forecast);
    html_forecast_plots(out, report, &forecast);
    html_resources(out, report, &forecast);
    if (report->trace) {
        html_waits(out, report->trace);
        html_timeline(out, report->trace);
    }
    if (report->model)
        html_simulated_timeline(out, report->model);
    html_quality(out, report);
    html_provenance(out, report);
    page_end(out);
    free(title);
    forecast_free(&forecast);
}

/* A report is to be handed on: it is as readable as what a shell redirects into a file. */
static void make_readable(const struct output *output) {
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fileno(output->file), 0666 & ~mask);
}

int html_report_write(const char *path, const struct html_report *report, struct error *error) {
    struct output output;
    if (html_report_check(path, error) < 0)
        return -1;
    if (output_begin(&output, path) < 0)
        return cannot_write(path, strerror(errno), error);
    print_page(output.file, report);
    make_readable(&output);
    if (output_commit(&output) < 0)
        return cannot_write(path, strerror(errno), error);
    return 0;
}

int html_report_of(const char *path, const char *directory, const char *measurements,
                   struct html_report report, struct error *error) {
    struct measurements runs = {0};
    if (measurements && measurements_load(measurements, &runs, error) < 0)
        return -1;
    struct trace *trace = NULL;
    int status = 0;
    if (!report.trace && directory && workspace_has(directory, WORKSPACE_TRACE)) {
        trace = workspace_load_trace(directory, error);
        status = trace ? 0 : -1;
        if (trace)
            modelgen_name_calls(trace);
        report.trace = trace;
    }
    report.measurements = measurements ? &runs : NULL;
    if (status == 0)
        status = html_report_write(path, &report, error);
    trace_free(trace);
    measurements_free(&runs);
    return status;
}
