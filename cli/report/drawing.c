#include "cli/report/drawing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "cli/recording/programs.h"
#include "cli/text/text_page.h"
#include "modelgen/modelgen.h"

static int cannot_write(const char *path, struct error *error) {
    return error_set(error, "cannot write %s: %s: is the disk full?", path, strerror(errno));
}

int drawing_write_dot(const struct model *model, const char *path, struct error *error) {
    if (!path)
        text_page_end(); /* it is for Graphviz */
    if (!path)
        return modelgen_write_dot(model, stdout) < 0 ? cannot_write("the drawing", error) : 0;
    struct output output;
    if (output_begin(&output, path) != 0)
        return cannot_write(path, error);
    int status = modelgen_write_dot(model, output.file);
    if (status < 0)
        output_abandon(&output);
    else
        status = output_commit(&output);
    return status < 0 ? cannot_write(path, error) : 0;
}

/* `output`: a descriptor, -1 is stdout. */
static int run_dot(const struct model *model, int output, struct error *error) {
    if (!programs_exist("dot"))
        return error_set(error, "`dot` is missing: install graphviz");
    FILE *source = programs_input();
    if (!source || modelgen_write_dot(model, source) < 0 || fflush(source) != 0) {
        cannot_write("the drawing", error);
        if (source)
            fclose(source);
        return -1;
    }
    rewind(source);
    char *argv[] = {"dot", "-Tsvg", NULL};
    int status = programs_run(argv, fileno(source), output, error);
    fclose(source);
    return status;
}

int drawing_write_svg(const struct model *model, const char *path, struct error *error) {
    if (!path)
        return run_dot(model, -1, error);
    struct output output;
    if (output_begin(&output, path) != 0)
        return cannot_write(path, error);
    if (run_dot(model, fileno(output.file), error) < 0) {
        output_abandon(&output);
        return -1;
    }
    return output_commit(&output) < 0 ? cannot_write(path, error) : 0;
}
