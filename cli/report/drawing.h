/* The model's drawing: DOT, and SVG by Graphviz' dot. */
#ifndef PERSIK_CLI_REPORT_DRAWING_H
#define PERSIK_CLI_REPORT_DRAWING_H

#include "base/error.h"
#include "formats/model.h"

/* 0, or -1 and `error`. A NULL path is stdout; a file appears whole or not at all. */
int drawing_write_dot(const struct model *model, const char *path, struct error *error);

/* The same; -1 and `error` without Graphviz, too. */
int drawing_write_svg(const struct model *model, const char *path, struct error *error);

#endif
