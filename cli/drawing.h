/* The model's drawing: DOT, and SVG by Graphviz' dot. */
#ifndef PERSIK_CLI_DRAWING_H
#define PERSIK_CLI_DRAWING_H

#include "base/error.h"
#include "formats/model.h"

/* 0, or -1 and `error`. A NULL path is stdout. */
int drawing_write_dot(const struct model *model, const char *path, struct error *error);

/* Also leaves the DOT at `dot_path` unless that is NULL. -1 and `error` without Graphviz. */
int drawing_write_svg(const struct model *model, const char *dot_path, const char *svg_path,
                      struct error *error);

#endif
