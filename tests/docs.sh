#!/bin/sh
# The documents against the code: files that they name, links between them, passes and templates that they leave out,
# the pictures that `make docs` draws. Usage: tests/docs.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

documents='README.md CONTRIBUTING.md docs/how-it-works.md docs/glossary.md docs/development.md docs/load.md docs/servers.md docs/critical-path.md docs/report.md docs/answers.md docs/library.md docs/tutorial.md docs/reading-the-output.md docs/when-not-to-trust.md docs/containers-and-ci.md docs/faq.md docs/wishes.md'

# none FILE: it is empty; else it is what the failure says.
none() { cat "$1" && [ ! -s "$1" ]; }

# What stands in `...` and looks like files or folders of ours: with a slash or an ending, without placeholders such
# as NAME, nothing that is made or belongs to a recording. named_in FILE.
named_in() {
    grep -o '`[A-Za-z0-9_./*-]*`' "$1" | tr -d '`' | grep -e '/' -e '\.\(c\|h\|def\|sh\|cpp\|md\|inc\)$' |
        grep -v -e '[A-Z][A-Z]' -e '^[/~.]*/' -e '^build/' -e '^persik\.data' -e '^bench/scratch' -e '^persik/' | sort -u
    grep -o '`[A-Za-z0-9_./*-]*`' "$1" | tr -d '`' | grep -e '^\(README\|CONTRIBUTING\|CHANGELOG\)\.md$' | sort -u
}

# Names in a document are paths from the top, from modelgen/, or of one folder's files that a table is about.
is_there() {
    for folder in . modelgen simulator tracer tracer/probe static-analyzer tests/unit docs/tutorial; do
        for found in "$root/$folder"/$1; do [ ! -e "$found" ] || return 0; done
    done
    return 1
}

# missing_in FOLDER DOCUMENT: names of files that are not there.
missing_in() {
    named_in "$1/$2" | while read -r name; do is_there "$name" || echo "$2: $name"; done
}

# As GitHub makes them of headings.
anchors_of() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# broken_in FOLDER DOCUMENT: links to files or headings that are not there.
broken_in() {
    grep -o '](\([^):]*\))' "$1/$2" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        target=${link%%#*}
        file=$1/$2
        [ -z "$target" ] || file=$(dirname "$1/$2")/$target
        [ -e "$file" ] || { echo "$2: $link" && continue; }
        [ "$link" = "$target" ] || anchors_of "$file" | grep -qxF -e "${link#*#}" || echo "$2: $link"
    done
}

# questions FILE: the files that answer the questions of "Where is it?".
questions() {
    awk '/^## / { on = $0 == "## Where is it?" } on && /^\| .*\?/' "$1" | awk -F '|' '{ print $3 }' | tr -d ' `'
}

# ---- the checks find what is wrong ----

mkdir -p "$scratch/wrong"
cat >"$scratch/wrong/page.md" <<'END'
# Page
See `modelgen/nowhere.c`, `modelgen/passes.def`, `sync/guards.*` and `gone/*.c`.
[This](#page) is there, [that](#other) is not, nor is [this](other.md).
END
finds_names() { [ "$(missing_in "$scratch/wrong" page.md | tr '\n' ' ')" = "page.md: gone/*.c page.md: modelgen/nowhere.c " ]; }
check "a file that is not there is found" finds_names
finds_links() { [ "$(broken_in "$scratch/wrong" page.md | tr '\n' ' ')" = "page.md: #other page.md: other.md " ]; }
check "and a link that leads nowhere" finds_links

# ---- the documents ----

for document in $documents; do
    missing_in "$root" "$document" >"$scratch/missing"
    check "$document names files that are there" none "$scratch/missing"
    broken_in "$root" "$document" >"$scratch/broken"
    check "$document: its links lead somewhere" none "$scratch/broken"
done

questions "$root/docs/development.md" >"$scratch/answers"
ten() { cat "$scratch/answers" && [ "$(wc -l <"$scratch/answers")" -ge 10 ]; }
check "ten questions have an answer" ten
answered() { while read -r file; do [ -f "$root/$file" ] || { echo "$file" && return 1; }; done <"$scratch/answers"; }
check "each is a file" answered

# unsaid FILE: the names in it that docs/how-it-works.md does not have.
unsaid() { while read -r name; do grep -qw -e "$name" "$root/docs/how-it-works.md" || echo "$name"; done <"$1" >"$scratch/unsaid"; }
sed -n 's/^OPTIONAL(\([a-z_]*\),.*/\1/p' "$root/modelgen/passes.def" >"$scratch/passes"
some_passes() { [ "$(wc -l <"$scratch/passes")" -gt 10 ]; }
check "passes.def has optional passes" some_passes
unsaid "$scratch/passes"
check "docs/how-it-works.md tells of each optional pass" none "$scratch/unsaid"
(cd "$root/modelgen" && ls -- rewrite/*.c) >"$scratch/filters"
sed -i '/private_semaphores\|mailbox_group\|futex_words\|openmp_regions\|worker_functions\|creator_\|work_function/d' "$scratch/filters" # parts of others
unsaid "$scratch/filters"
check "and of each filter's file" none "$scratch/unsaid"

sed -n 's/^    \.name = "\(.*\)",$/\1/p' "$root/modelgen/sync/templates.c" >"$scratch/templates"
(cd "$root/modelgen" && ls -- sync/*_replay.c) | grep -v 'counter_replay\|pattern_replay' >>"$scratch/templates"
unsaid "$scratch/templates"
check "and of each template" none "$scratch/unsaid"

# ---- the pictures ----

if command -v tred >/dev/null; then
    "$root/docs/picture.sh" rooms >"$scratch/rooms.dot"
    drawn() {
        for room in base cli formats simulator tracer $(cd "$root" && ls -d modelgen/*/ | sed 's|/$||'); do
            grep -q "\"*$room\"* -> \| -> \"*$room\"*" "$scratch/rooms.dot" || { echo "$room" && return 1; }
        done
        dot -Tsvg "$scratch/rooms.dot" >"$scratch/rooms.svg"
    }
    check "the picture of the rooms has all of them" drawn
else
    skip "the picture of the rooms has all of them" "no Graphviz"
fi
if command -v dot >/dev/null; then
    "$root/docs/picture.sh" passes >"$scratch/passes.dot"
    listed() {
        dot -Tsvg "$scratch/passes.dot" >"$scratch/passes.svg" || return 1
        sed -n 's/^\(OPTIONAL\|PASS\)(\([a-z_]*\),.*/\2/p' "$root/modelgen/passes.def" | while read -r pass; do
            grep -q ">$pass<" "$scratch/passes.svg" || { echo "$pass" && return 1; }
        done
    }
    check "the picture of the passes has all of them" listed
else
    skip "the picture of the passes has all of them" "no Graphviz"
fi

finish
