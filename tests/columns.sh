#!/bin/sh
# Checks that what persik prints for people fits 80 columns, and that --wide leaves nothing out, on recordings of
# tests/golden. Usage: tests/columns.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 2

# The longest line of a file, in characters. Locales may be missing: other bytes of a character are left out.
longest_of() { LC_ALL=C tr -d '\200-\277' <"$1" | awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'; }

# says DATA COMMAND...: it prints lines, none of them longer than 80 columns. A configuration without figures is
# no failure.
says() {
    data=$1 command=$2
    shift 2
    status=0
    "$persik" "$command" -q -i "$data" "$@" >out 2>err || status=$?
    [ "$status" = 0 ] || [ "$status" = 4 ] || { cat err && return 1; }
    longest=$(longest_of out)
    [ -s out ] && [ "$longest" -le 80 ] || { cat out && echo "$longest columns" && return 1; }
}

# The longest line, without line breaks of ours, is longer with --wide, and no column is left out.
says_all_when_wide() {
    data=$1 command=$2
    shift 2
    "$persik" "$command" -q -i "$data" --wide "$@" >out 2>err || return 1
    [ "$(longest_of out)" -gt 80 ] && ! grep -q -e '--wide' -e '…' out || { cat out && return 1; }
}

cut_makes_no_two_names_one() {
    "$persik" predict -q -i galaxy-few >out 2>err && grep '…' out | sort | uniq -d >same && [ ! -s same ]
}

files_are_unchanged_by_width() {
    for format in csv json; do
        "$persik" predict -q -i pigz --threads 2,4 --cores 2 --format $format >narrow 2>err &&
            "$persik" predict -q -i pigz --threads 2,4 --cores 2 --format $format --wide >wide 2>err && cmp narrow wide || return 1
    done
    grep -q response_p50_ns wide
}

# How many warnings have colour on a terminal of script(1): colours VARIABLE=VALUE...
colours() {
    env "$@" script -qec "$persik predict -i galaxy-few --threads 1 --cores 1" /dev/null \
        </dev/null | grep -c "$(printf '\033\\[33m')persik: warning"
}
only_warnings_have_colour() {
    [ "$(colours TERM=xterm NO_COLOR=)" -ge 1 ] && [ "$(colours TERM=xterm NO_COLOR=1)" = 0 ] &&
        [ "$(colours TERM=dumb NO_COLOR=)" = 0 ]
}

# How many links a terminal of script(1) gets: links OPTION VARIABLE=VALUE...; 
links() {
    option=$1
    shift
    env "$@" script -qec "$persik graph -i pool_slots $option" /dev/null </dev/null | grep -c "$(printf '\033')]8;;file://.*pool_slots\.c#"
}
places_are_links() {
    "$persik" build-model -q -i pool_slots >/dev/null
    [ "$(links '' TERM=xterm NO_COLOR=)" -ge 2 ] && [ "$(links --no-links TERM=xterm NO_COLOR=)" = 0 ] &&
        [ "$(links '' TERM=xterm NO_COLOR=1)" = 0 ] && [ "$(links '' TERM=dumb NO_COLOR=)" = 0 ] &&
        [ "$(links '--format json' TERM=xterm NO_COLOR=)" = 0 ]
}
# Without its links the text is what is printed without them.
links_take_no_room() {
    env TERM=xterm NO_COLOR= script -qec "$persik graph -i pool_slots" /dev/null </dev/null |
        sed 's/\x1b\]8;;[^\x1b]*\x1b\\//g' | tr -d '\r' >with
    "$persik" graph -i pool_slots >without
    diff with without
}

for name in pigz galaxy-few apache; do
    kept "$name"
    check "$name: build-model" says "$name" build-model
    for command in predict report graph critical-path; do
        check "$name: $command" says "$name" "$command"
    done
    check "$name: predict, several configurations" says "$name" predict --threads 1,2,4,8 --cores 1,2
done
for name in pigz galaxy-few; do
    check "$name: sensitivity" says "$name" sensitivity --threads 4 --cores 2
    check "$name: bottleneck" says "$name" bottleneck --threads 4 --cores 2
    check "$name: recommend" says "$name" recommend --goal 'time<5s'
    check "$name: what-if" says "$name" what-if --scale main=0.5
    for command in predict report graph critical-path; do
        check "$name: $command --wide" says_all_when_wide "$name" "$command"
    done
done
kept_model pool_slots 2>log
kept_model pool_slots-3 2>>log
check "diff" says pool_slots diff pool_slots-3
{
    echo threads,cores,round,run_ns,cpu_ns,foreign_ns,stolen_ns,delay_ns,longest_cpu_ns,reference
    printf '%s\n' 2,2,1,350000000,640000000,0,0,0,320000000,0 2,2,2,360000000,650000000,0,0,0,320000000,0 \
        4,2,1,350000000,640000000,0,0,0,160000000,0 4,2,2,351000000,640000000,0,0,0,160000000,0
} >measured.csv
check "validate" says pigz validate --reuse measured.csv
check "apache: predict under load" says apache predict --arrivals 100,200 --cores 1,2
check "names that are cut stay apart" cut_makes_no_two_names_one
check "CSV and JSON are as they were" files_are_unchanged_by_width
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    check "warnings alone have colour, on terminals, unless NO_COLOR is set" only_warnings_have_colour
    check "places in the source are links, on terminals, unless they are not wanted" places_are_links
    check "links take no room" links_take_no_room
else
    skip "warnings alone have colour" "no script(1) here"
fi

finish
