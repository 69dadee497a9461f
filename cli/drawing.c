#include "cli/drawing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/programs.h"
#include "modelgen/modelgen.h"

static int cannot_write(const char *path, struct error *error) {
    return error_set(error, "cannot write %s: %s: is the disk full?", path, strerror(errno));
}

int drawing_write_dot(const struct model *model, const char *path, struct error *error) {
    if (!path)
        return modelgen_write_dot(model, stdout) < 0 ? cannot_write("the drawing", error) : 0;
    FILE *out = fopen(path, "w");
    if (!out)
        return cannot_write(path, error);
    int status = modelgen_write_dot(model, out);
    if (fclose(out) != 0 || status < 0)
        return cannot_write(path, error);
    return 0;
}

static int run_dot(const char *dot_path, const char *svg_path, struct error *error) {
    if (!programs_exist("dot"))
        return error_set(error, "`dot` is missing: install graphviz");
    char *argv[] = {"dot", "-Tsvg", (char *)dot_path, NULL};
    return programs_run(argv, svg_path, error);
}

int drawing_write_svg(const struct model *model, const char *dot_path, const char *svg_path,
                      struct error *error) {
    if (dot_path) {
        if (drawing_write_dot(model, dot_path, error) < 0)
            return -1;
        return run_dot(dot_path, svg_path, error);
    }
    const char *folder = getenv("TMPDIR");
    char *path = memory_format("%s/persik-dot.XXXXXX", folder && *folder ? folder : "/tmp");
    int descriptor = mkstemp(path);
    int status = -1;
    if (descriptor < 0) {
        cannot_write(path, error);
    } else {
        close(descriptor);
        status = drawing_write_dot(model, path, error);
        if (status == 0)
            status = run_dot(path, svg_path, error);
        unlink(path);
    }
    free(path);
    return status;
}
