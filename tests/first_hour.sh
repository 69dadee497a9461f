#!/bin/sh
# docs/tutorial.md as a new user goes through it, live: its programs are compiled, recorded, modelled and asked, in the
# order in which it stands there. What is printed depends on the machine: it ends well, says something, and fits 80
# columns. tests/pages.sh compares the same commands to the letter, on kept recordings.
# Usage: tests/first_hour.sh BUILD-FOLDER. Prints TAP.
#
#   TIMES=1   also: from `profile` to the end of the first `predict` each program takes at most four times what it
#             takes alone, and 3 s (bench/first-hour.sh)

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export LC_ALL=C.UTF-8
cd "$scratch" || exit 2
ln -s "$root/docs" .
cp "$root"/docs/tutorial/*.c "$root"/docs/tutorial/*.cpp .
persik() { "$persik" "$@"; }

# "SECTION: COMMAND" of all that the tutorial tells to do and that does not name parts of a model: a live one may
# have others.
awk '
    /^## / { section = substr($0, 4) }
    /^```/ { kind = substr($0, 4); next }
    kind == "console" && !sub(/^\$ /, "") { next }
    (kind == "sh" || kind == "console") && !/--set|--scale|--reuse/ { print section ": " $0 }' \
    "$root/docs/tutorial.md" >steps

seconds() { date +%s.%N; }
since() { awk -v from="$1" -v to="$(seconds)" 'BEGIN { printf "%.2f", to - from }'; }

# A configuration without figures (4) and a goal that is not met (3) are no failure.
ends_well() {
    status=0
    (eval "$1") </dev/null >out 2>err || status=$?
    cat out err
    case $status in 0 | 3 | 4) ;; *) echo "exit status $status" && return 1 ;; esac
}
in_80_columns() { # what the last command printed
    LC_ALL=C tr -d '\200-\277' <out | awk 'length($0) > 80 { print; wide = 1 } END { exit wide }'
}
fits_budget() {
    answered=$(since "$profiled")
    echo "alone $alone s, from profile to the answer $answered s"
    awk -v alone="$alone" -v answered="$answered" 'BEGIN { exit !(answered <= 4 * alone + 3) }'
}

# What the program takes alone: `persik profile` and its options are left out.
time_alone() {
    from=$(seconds)
    (eval "$(printf '%s' "$1" | sed 's/persik profile \(--catalog [^ ]* \)*\(-- \)*//')") </dev/null >out 2>&1
    alone=$(since "$from")
}

if ! command -v pigz >/dev/null; then
    sed -i '/^A program of others: /d' steps
    skip "A program of others" "no pigz here"
fi

profiled='' # when the program of this section was, until it is predicted
while IFS= read -r step; do
    command=${step#*: }
    case $command in
    *'persik profile'*)
        [ -z "${TIMES:-}" ] || time_alone "$command"
        profiled=$(seconds)
        ;;
    esac
    check "$step" ends_well "$command"
    case $command in
    'persik profile'* | persik*'>said') ;;
    persik*) check "$step: in 80 columns" in_80_columns ;;
    esac
    case $command in
    'persik predict'*)
        [ -z "${TIMES:-}" ] || [ -z "$profiled" ] || check "$step: soon enough" fits_budget
        profiled=''
        ;;
    esac
done <steps

some() { cat steps && [ "$(wc -l <steps)" -ge 20 ]; }
check "the tutorial has steps" some
finish
