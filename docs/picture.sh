#!/bin/sh
# Pictures of the architecture, made from the code so that they cannot become stale: Graphviz on standard output.
# usage: docs/picture.sh rooms|passes
#
#   rooms    the folders, and which includes which; arrows that follow from others are left out. Red: two folders
#            that include each other
#   passes   the passes of modelgen/passes.def in their order, with the forms that each reads and writes
#
# `make docs` draws both.
set -eu
cd "$(dirname "$0")/.."

# "FROM INTO" for each include of another room. In modelgen/ each folder is a room; of its own files, those that its
# folders include are the room "shared", the others "driver".
includes() {
    find base cli critical-path debuginfo formats host html library load model modelgen sampler simulator static-analyzer tracer \
        \( -name '*.[ch]' -o -name '*.cpp' \) -exec grep -H '^#include "' {} + | sed 's/:#include "/ /; s/".*//' | awk '
        function module(path) { sub(/\.[a-z]+$/, "", path); return path }
        function is_own(path) { return path ~ /^modelgen\/[^\/]*$/ }
        function room(path) {
            if (is_own(path)) return module(path) in shared ? "modelgen/shared" : "modelgen/driver"
            if (path ~ /^modelgen\//) sub(/\/[^\/]*$/, "", path); else sub(/\/.*/, "", path)
            return path
        }
        { from[NR] = $1; into[NR] = $2 }
        $1 ~ /^modelgen\/.*\// && is_own($2) { shared[module($2)] }
        END {
            for (i = 1; i <= NR; i++) ours[room(from[i])] # other includes are of libraries
            for (i = 1; i <= NR; i++)
                if (room(from[i]) != room(into[i]) && room(into[i]) in ours) print room(from[i]), room(into[i])
        }' |
        LC_ALL=C sort -u
}

rooms() {
    includes | awk '
        { from[NR] = $1; into[NR] = $2; edge[$1, $2]; room[$1]; room[$2] }
        END {
            print "digraph rooms {"
            print "  label=\"A room includes those that its arrows lead to, and what these include.\"; fontname=sans;"
            print "  node [shape=box, style=filled, fillcolor=white, fontname=sans];"
            print "  subgraph cluster_modelgen {"
            print "    label=modelgen; style=filled; fillcolor=grey93;"
            for (r in room) if (sub(/^modelgen\//, "", r)) print "    \"modelgen/" r "\" [label=\"" r "\"];"
            print "  }"
            for (i = 1; i <= NR; i++)
                print "  \"" from[i] "\" -> \"" into[i] "\"" ((into[i], from[i]) in edge ? " [color=red]" : "") ";"
            print "}"
        }' | tred 2>/dev/null # it warns of rooms that include each other: these are red
}

# "FORM;ID;NAME", then "PASS;NAME;READS;WRITES" or "OPTIONAL;...", as the compiler's preprocessor reads the list.
listed() {
    {
        echo '#define FORM(id, name, what) FORM;id;name'
        echo '#define PASS(name, reads, writes, why) PASS;name;reads;writes'
        echo '#define OPTIONAL(name, reads, writes, why) OPTIONAL;name;reads;writes'
        echo '#include "modelgen/passes.def"'
    } | ${CC:-gcc} -E -P -I. -x c -
}

# A table: a row for each pass, a column for each form.
passes() {
    listed | awk -F ';' '
        function has(forms, id) { return (" " forms " ") ~ ("[ |]" id "[ |]") }
        function cell(text, colour) {
            return "<TD" (colour ? " BGCOLOR=\"" colour "\"" : "") ">" (text == "" ? " " : text) "</TD>"
        }
        BEGIN {
            print "digraph passes {"
            print "  label=\"r: reads the form, w: writes it. Grey: optional.\"; fontname=sans;"
            print "  node [shape=plain, fontname=sans];"
            print "  list [label=<<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"4\">"
        }
        $1 == "FORM" { id[++n_forms] = $2; form[n_forms] = $3; next }
        !header++ {
            row = cell("pass")
            for (f = 1; f <= n_forms; f++) row = row cell(form[f])
            print "    <TR>" row "</TR>"
        }
        {
            row = cell($2, $1 == "OPTIONAL" ? "grey85" : "")
            for (f = 1; f <= n_forms; f++) {
                reads = has($3, id[f]); writes = has($4, id[f])
                row = row cell((reads ? "r" : "") (writes ? "w" : ""), writes ? "lightblue" : reads ? "azure" : "")
            }
            print "    <TR>" row "</TR>"
        }
        END { print "  </TABLE>>];"; print "}" }'
}

case ${1:-} in
rooms | passes) "$1" ;;
*)
    echo "picture.sh: rooms or passes? see the head of this script" >&2
    exit 2
    ;;
esac
