#!/bin/sh
# docs/answers.md: each command in it is run, and prints what stands there. Usage: tests/answers.sh BUILD-FOLDER
# Prints TAP. With UPDATE=1 the page is told what they print now. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2
page=docs/answers.md
export LC_ALL=C.UTF-8
persik() { "$persik" "$@"; }

# said_to COMMAND: what stands on the page below it.
said_to() {
    awk -v command="$ $1" '
        on && (/^\$ / || /^```/) { exit }
        on { print }
        $0 == command { on = 1 }' "$page"
}

# The page with what the commands print now.
updated() {
    while IFS= read -r line; do
        case $line in
            '```console') inside=1 skipped='' ;;
            '```') inside='' skipped='' ;;
            '$ persik '*) skipped='' ;;
        esac
        [ -n "${skipped:-}" ] || printf '%s\n' "$line"
        case ${inside:-}$line in
            '1$ persik '*) eval "${line#\$ }" 2>/dev/null && skipped=1 ;;
        esac
    done <"$page"
}

if [ -n "${UPDATE:-}" ]; then
    updated >"$scratch/page" && cp "$scratch/page" "$page"
fi

prints_that() {
    said_to "$1" >"$scratch/said"
    eval "$1" >"$scratch/out" 2>"$scratch/err"
    diff -u "$scratch/said" "$scratch/out"
}

sed -n 's/^\$ //p' "$page" >"$scratch/commands"
some() { [ "$(wc -l <"$scratch/commands")" -ge 5 ]; }
check "the page has commands" some
while IFS= read -r command; do
    check "$command" prints_that "$command"
done <"$scratch/commands"
finish
