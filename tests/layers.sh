#!/bin/sh
# Checks who includes whom: a room never includes a higher one, no modules include each other in a circle, and cli/
# knows of the rooms around it only their one public header. What offends today stands in tests/layers.known, one
# line each: a new offence fails, and so does a line that no longer holds. Usage: tests/layers.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

# Rooms, one layer a line, the lowest first: rooms of one layer do not include each other. What lies in modelgen/ and
# cli/ themselves is a room, too.
layers='base processor
debuginfo host html model
formats
modelgen/notes modelgen/decision_log modelgen/candidates modelgen/evidence modelgen/pass
modelgen/events
modelgen/dependencies modelgen/rewrite
modelgen/threads
modelgen/calibrate modelgen/sync
modelgen/graph
modelgen/lower modelgen/scaling
modelgen/report
modelgen/event_counts
modelgen/build
modelgen/build_log modelgen/run_notes
modelgen/form_check modelgen/form_dump
modelgen/passes
critical-path load modelgen/modelgen sampler simulator static-analyzer tracer
library
cli/command cli/judgement cli/text
cli/arguments
cli/recording
cli/prediction
cli/sensitivity
cli/validation
cli/report
cli/difference
cli/commands
cli/main'

# includes FOLDER: "FILE INCLUDED" of all sources there, as paths from it.
includes() {
    (cd "$1" && find base cli critical-path debuginfo formats host html library load model modelgen processor sampler simulator static-analyzer tracer \
        -name '*.[ch]' -o -name '*.cpp' | xargs grep -H '^#include "' /dev/null | sed 's/:#include "/ /; s/".*//')
}

# offences FOLDER: what offends there, sorted.
offences() {
    includes "$1" | awk -v layers="$layers" '
        function module(path) { sub(/\.[a-z]+$/, "", path); return path }
        function room(path,    part) {
            split(path, part, "/")
            return part[1] ~ /^(cli|modelgen)$/ ? part[1] "/" module(part[2]) : part[1]
        }
        function reach(at, from,    i, n, next_one) {
            n = split(to[at], next_one, " ")
            for (i = 1; i <= n; i++)
                if (!((from, next_one[i]) in reached)) {
                    reached[from, next_one[i]] = 1
                    reach(next_one[i], from)
                }
        }
        BEGIN {
            lines = split(layers, line, "\n")
            for (i = 1; i <= lines; i++) {
                n = split(line[i], names, " ")
                for (j = 1; j <= n; j++) rank[names[j]] = i
            }
        }
        {
            a = room($1); b = room($2); from = module($1); into = module($2)
            if (!(a in rank)) print "no layer: " a
            else if (a != b && rank[b] >= rank[a]) print "upward: " from " -> " into
            if (a ~ /^cli\// && b ~ /^(critical-path|load|modelgen\/|sampler|simulator|tracer)/ && \
                $2 !~ /^(critical-path\/critical_path|load\/load|modelgen\/modelgen|sampler\/sampler|simulator\/simulator|tracer\/tracer)\.h$/)
                print "not public: " from " -> " into
            if (from != into && !((from, into) in edge)) {
                edge[from, into] = 1
                to[from] = to[from] " " into
            }
        }
        END {
            for (m in to) reach(m, m)
            for (m in to) {
                if (!((m, m) in reached)) continue
                first = m
                for (o in to) if ((m, o) in reached && (o, m) in reached && o < first) first = o
                if (first == m)
                    for (o in to) if ((m, o) in reached && (o, m) in reached) print "circle at " m ": " o
            }
        }' | LC_ALL=C sort -u
}

# none FILE: it is empty; else it is what the failure says.
none() { cat "$1" && [ ! -s "$1" ]; }

# A house with one offence of each kind, and one that is in order.
build_house() {
    mkdir -p "$scratch/house/modelgen/events" "$scratch/house/modelgen/graph" "$scratch/house/attic"
    (
        cd "$scratch/house" || exit 1
        mkdir -p base cli critical-path debuginfo formats host html library load model sampler simulator static-analyzer tracer
        echo '#include "formats/trace.h"' >base/map.c
        echo '#include "base/map.h"' >formats/trace.c
        echo '#include "modelgen/graph/peg.h"' >modelgen/events/log.h
        echo '#include "tracer/raw.h"' >cli/main.c
        echo '#include "modelgen/graph/loops.h"' >modelgen/graph/peg.c
        echo '#include "modelgen/graph/peg.h"' >modelgen/graph/loops.h
        echo '#include "base/map.h"' >modelgen/new.c
    )
    cat >"$scratch/house.expected" <<'END'
circle at base/map: base/map
circle at base/map: formats/trace
circle at modelgen/graph/loops: modelgen/graph/loops
circle at modelgen/graph/loops: modelgen/graph/peg
no layer: modelgen/new
not public: cli/main -> tracer/raw
upward: base/map -> formats/trace
upward: modelgen/events/log -> modelgen/graph/peg
END
    offences "$scratch/house" >"$scratch/house.found"
}

build_house
check "offences of each kind are found" diff "$scratch/house.expected" "$scratch/house.found"

offences "$root" >"$scratch/found"
sed '/^#/d; /^$/d' "$root/tests/layers.known" >"$scratch/known"
LC_ALL=C comm -13 "$scratch/known" "$scratch/found" >"$scratch/new"
LC_ALL=C comm -23 "$scratch/known" "$scratch/found" >"$scratch/gone"
check "no include offends that did not before" none "$scratch/new"
check "tests/layers.known holds nothing that was mended" none "$scratch/gone"

finish
