#!/bin/sh
# Pages of docs/ that show what persik prints: each command in a `console` block of them is run, and prints what stands
# there, in 80 columns. A comment `<!-- recording: NAME -->` makes tests/golden/NAME the recording from there on, so that
# the figures depend on no machine. With UPDATE=1 the pages are told what is printed now: read the difference before
# you commit it. Usage: tests/pages.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export LC_ALL=C.UTF-8
cd "$scratch" || exit 2
ln -s "$root/tests" "$root/docs" .
persik() { "$persik" "$@"; }

# printed FILE: the page with what its commands print now. How they end is in `statuses`.
printed() {
    inside='' skipped=''
    while IFS= read -r line; do
        case $line in
        '<!-- recording: '*)
            line_end=${line#*: }
            rm -rf persik.data
            kept "${line_end% -->}" persik.data
            ;;
        '```console') inside=1 skipped='' ;;
        '```') inside='' skipped='' ;;
        esac
        case $inside$line in
        '1$ '*)
            printf '%s\n' "$line"
            (eval "${line#\$ }") </dev/null 2>>errors
            echo "$? $line" >>statuses
            skipped=1
            continue
            ;;
        esac
        [ -n "$skipped" ] || printf '%s\n' "$line"
    done <"$1"
}

# Of all these, a configuration without figures (4) and a goal that is not met (3) are no failure.
end_well() { ! grep -v '^[034] ' statuses; }
in_80_columns() {
    LC_ALL=C tr -d '\200-\277' <"$1" | awk '
        /^```/ { inside = $0 == "```console" }
        inside && !/^\$ / && length($0) > 80 { print; wide = 1 }
        END { exit wide }'
}

some_pages() { [ "$(grep -c . pages)" -ge 2 ]; }
(cd "$root" && grep -lx '```console' docs/*.md) >pages
check "there are such pages" some_pages
while read -r page; do
    : >statuses
    : >errors
    printed "$root/$page" >now
    [ -z "${UPDATE:-}" ] || cp now "$root/$page"
    check "$page: its commands print what stands there" diff -u "$root/$page" now
    check "$page: each of them ends well" end_well
    check "$page: in 80 columns" in_80_columns now
done <pages

finish
