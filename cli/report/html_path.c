#include "cli/report/html_path.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/report/path_stacks.h"
#include "cli/report/path_tables.h"
#include "cli/text/quantity.h"
#include "html/flame.h"
#include "html/page.h"
#include "html/writer.h"

enum { MOST_ROWS = 100 };

/* ---- how far it can be relied on ---- */

static void print_time_tile(FILE *out, const char *what, double time_ns, double traced_ns) {
    char shown[QUANTITY_BYTES];
    char *line = isfinite(time_ns) ? memory_format("%+.2f %%", 100 * (time_ns / traced_ns - 1))
                                   : memory_strdup("not known");
    page_tile(out, what, quantity_show(time_ns, UNIT_TIME, shown), line);
    free(line);
}

static void print_checks(FILE *out, const struct path_checks *checks,
                         const struct dependencies *all) {
    char shown[QUANTITY_BYTES];
    html_print(out, "<dl class=\"tiles\">\n");
    page_tile(out, "traced", quantity_show(checks->traced_ns, UNIT_TIME, shown), NULL);
    print_time_tile(out, "unchanged, as recorded", checks->as_recorded_ns, checks->traced_ns);
    print_time_tile(out, "unchanged, rescheduled", checks->rescheduled_ns, checks->traced_ns);
    if (checks->blocked_ns > 0) {
        char *line = memory_format("of %s that all threads waited",
                                   quantity_show(checks->blocked_ns, UNIT_TIME, shown));
        char *share = memory_format("%.2f %%", 100 * checks->explained_ns / checks->blocked_ns);
        page_tile(out, "waiting explained", share, line);
        free(share);
        free(line);
    }
    if (all->has_wakers && checks->told > 0) {
        char *line = memory_format("%llu of %llu", (unsigned long long)checks->confirmed,
                                   (unsigned long long)checks->told);
        page_tile(out, "hand-overs as the kernel names them", line, NULL);
        free(line);
    }
    html_print(out, "</dl>\n");
}

/* ---- the graph ---- */

static void show_time(double value, char text[64]) {
    char shown[QUANTITY_BYTES];
    snprintf(text, 64, "%s", quantity_show(value, UNIT_TIME, shown));
}

static void print_flame(FILE *out, const struct dependencies *all) {
    struct path_stacks stacks = path_stacks_of(all);
    struct flame_stack *flames = memory_alloc(stacks.count, sizeof *flames);
    size_t n = 0;
    for (size_t i = 0; i < stacks.count; i++) {
        const struct path_stack *stack = &stacks.items[i];
        if (stack->path_ns > 0)
            flames[n++] = (struct flame_stack){stack->n_frames, (const char *const *)stack->frames,
                                               (double)stack->path_ns};
    }
    html_print(out, "<div class=\"wide\">");
    flame_print(out, flames, n, show_time);
    html_print(out, "</div>\n");
    free(flames);
    path_stacks_free(&stacks);
}

static void print_table(FILE *out, struct table *table, const char *bars) {
    if (table_rows(table) > 0)
        table_print_html(table, bars, out);
    else
        html_print(out, "<p class=\"quiet\">None.</p>\n");
    table_free(table);
}

void html_path_print(FILE *out, const struct critical_path *path, const struct dependencies *all) {
    page_begin(out, "Critical path");
    html_print(out, "<header><h1>Critical path</h1></header>\n");
    print_checks(out, &path->checks, all);
    page_section(out, "flame", "What the run's time hangs on",
                 "As wide as its time on the path; what was called lies on its caller.");
    print_flame(out, all);
    page_section_end(out);
    page_section(out, "path", "By what is done", "All rows together are the run.");
    print_table(out, path_table(path, MOST_ROWS), "share");
    page_section_end(out);
    page_section(out, "objects", "Locks and queues", NULL);
    print_table(out, path_object_table(path, MOST_ROWS), NULL);
    page_section_end(out);
    page_section(out, "threads", "Threads", NULL);
    print_table(out, path_thread_table(path, MOST_ROWS), "share");
    page_section_end(out);
    page_end(out);
}
