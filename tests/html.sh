#!/bin/sh
# The HTML report: well formed, by itself, small, with the figures of --format json, names escaped, and written whole or
# not at all. Of kept recordings. In a browser, where there is one: no wider than a telephone, no message.
# Usage: tests/html.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1
MOST_BYTES=1000000

# ---- what every page must be ----

# at PAGE XPATH: the nodes, or the number or text, that it has there.
at() { xmllint --xpath "$2" "$1" 2>/dev/null; }

is_well_formed() { xmllint --noout "$1"; }
is_small() { [ -s "$1" ] && [ "$(wc -c <"$1")" -le $MOST_BYTES ]; }
refers_to_nothing() {
    [ "$(at "$1" 'count(//@src | //@href | //@action | //script | //link | //object | //iframe | //@onload)')" = 0 ] &&
        at "$1" 'string(//style)' >style && [ -s style ] && ! grep -n 'url(\|@import' style
}
has_sections() {
    page=$1
    shift
    for section; do
        [ "$(at "$page" "count(//section[@id='$section']/h2)")" = 1 ] || { echo "no $section" && return 1; }
    done
}

# check_page NAME PAGE SECTION...
check_page() {
    name=$1 page=$2
    shift 2
    check "$name: it is well formed" is_well_formed "$page"
    check "$name: it refers to nothing outside" refers_to_nothing "$page"
    check "$name: it has at most 1 MB" is_small "$page"
    check "$name: it has its sections" has_sections "$page" "$@"
}

# ---- figures ----

# figures_of PAGE TITLE: the numbers in the table below that plot, sorted.
figures_of() {
    at "$1" "//figure[figcaption='$2']//data/@value" | tr ' ' '\n' | sed -n 's/^value="\(.*\)"$/\1/p' |
        awk '{ printf "%.6g\n", $1 }' | sort
}
numbers_of() { jq -r ".configurations[].$2 | numbers" "$1" | awk '{ printf "%.6g\n", $1 }' | sort; }

# same_figures PAGE JSON TITLE KEY
same_figures() {
    figures_of "$1" "$3" >shown
    numbers_of "$2" "$4" >predicted
    [ -s predicted ] && diff predicted shown
}

check_figures() {
    while IFS=: read -r title key; do
        check "$1: $title as in --format json" same_figures "$2" "$3" "$title" "$key"
    done
}

# A program with tasks: plots of everything.
check "pigz has a model" kept_model pigz
check "and a report" "$persik" report -q -i pigz --html pigz.html
check_page pigz pigz.html prediction limits pools objects waits timeline simulated-timeline quality provenance
"$persik" predict -q -i pigz --threads 1,2,3,4 --cores 1,2 --format json >pigz.json 2>/dev/null
check_figures pigz pigz.html pigz.json <<'LIST'
Running time:run_ns
Throughput:throughput_hz
Response time, median:response_p50_ns
Response time, 99th percentile:response_p99_ns
CPU utilisation:cpu_utilisation
LIST
has_reasons() { at pigz.html "string(//details[contains(summary, ' no figures')])" | grep -q 'one thread'; }
check "it says which configurations have no figures, and why" has_reasons
has_lanes() { [ "$(at pigz.html "count(//section[@id='timeline']//svg)")" = "$(jq '[.pools[].profiled_threads] | add' pigz/model.json)" ]; }
check "each thread has its lane" has_lanes
has_simulated_lanes() { [ "$(at pigz.html "count(//section[@id='simulated-timeline']//svg)")" = "$(jq '[.pools[].profiled_threads] | add' pigz/model.json)" ]; }
check "and each simulated one" has_simulated_lanes
has_notes() {
    jq -r '.notes[]' pigz/model.json | while IFS= read -r note; do
        at pigz.html "string(//section[@id='quality']//ul)" | grep -qF "$note" || exit 1
    done
}
check "it lists all that is not modelled exactly" has_notes

# A server: by its load.
check "a server has a model" kept_model server-queue
"$persik" predict -q -i server-queue --arrivals 200/s,1000/s --html server.html --format json >server.json 2>/dev/null
check_page server server.html prediction limits pools objects waits timeline simulated-timeline quality provenance
check_figures server server.html server.json <<'LIST'
Throughput:throughput_hz
Response time, 99th percentile:response_p99_ns
LIST
says_saturation() { at server.html "//figure[1]//*[@class='limit']/following-sibling::text[1]/text()" | grep -q '^saturation [0-9]'; }
check "its saturation stands in the plots" says_saturation

# In a plot by load, threads and cores of each line stand beside it in full.
"$persik" predict -q -i server-queue --arrivals 200/s,400/s --threads 1,2 --cores 1,2 --html lines.html >/dev/null 2>&1
says_lines() {
    at lines.html "//figure[1]//*[starts-with(@class, 'name ')]/text()" | sort >names
    printf '%s\n' '1 × 1 core' '1 × 2 cores' '2 × 1 core' '2 × 2 cores' | diff - names &&
        at lines.html "string(//section[@id='prediction'])" | grep -q '4 × 2 cores: 4 threads on 2 cores'
}
check "lines of several threads and cores are told apart" says_lines

# What was measured is marked, each configuration once.
cat >runs.csv <<'CSV'
threads,cores,round,run_ns,cpu_ns
2,2,1,100000000,150000000
2,2,2,104000000,150000000
1,2,1,180000000,170000000
CSV
check "a program without tasks has a model" kept_model batches
"$persik" predict -q -i batches --threads 1,2 --html batches.html --measurements runs.csv >/dev/null 2>&1
marks() { at batches.html "//figure[figcaption='Running time']//g[circle[starts-with(@class, 'mark')]]/title/text()"; }
is_marked() { marks >marked && grep -q '^measured, threads 2, cores 2, median of 2 runs: 102 ms' marked && [ "$(grep -c measured marked)" = 2 ]; }
check "measured runs are marked" is_marked
check_page "a program without tasks" batches.html prediction limits

# ---- without a model, and without a recording ----

check "a recording alone" kept bounded_c11
check "has a report" "$persik" report -q -i bounded_c11 --html alone.html
check_page "a recording alone" alone.html waits timeline quality provenance
says_no_model() { at alone.html 'string(//header)' | grep -q 'no model yet'; }
check "which says that there is no model" says_no_model

# Names that a program may have, everywhere in a model.
# shellcheck disable=SC2016
hostile='</code><script>alert(1)</script>&"'"'"'<!--'
jq --arg name "$hostile" '.program = $name | .pools[0].name = $name | .pools[0].rule = $name | .notes = [$name] |
    (.objects[] | .name) |= $name + . | (.objects[] | .evidence) |= $name' pigz/model.json >hostile.json
"$persik" predict -q --model hostile.json --threads 2,3 --html hostile.html >/dev/null 2>&1
check_page "hostile names" hostile.html prediction limits pools objects quality provenance
are_text() {
    [ "$(grep -ci '<script\|<!--' hostile.html)" = 0 ] && [ "$(at hostile.html 'string((//h3)[1])')" = "$hostile" ] &&
        [ "$(at hostile.html 'string(//h1)')" = "$hostile" ]
}
check "they stay text" are_text

# ---- written whole or not at all ----

# refuses WORDS ARGUMENT...: one line with these words, exit status 1.
refuses() {
    words=$1
    shift
    "$persik" "$@" >out 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$words" err
}
mkdir folder && mkfifo pipe && ln -s alone.html link && echo before >kept.html
check "a folder is no file" refuses 'not a file' report -q -i batches --html folder
check "a pipe is no file" refuses 'not a file' report -q -i batches --html pipe
check "a device is no file" refuses 'not a file' predict -q -i batches --html /dev/full
check "a symbolic link is not followed" refuses 'symbolic link' report -q -i batches --html link
check "a folder that is not there" refuses 'No such file' predict -q -i batches --html nowhere/report.html
check "measurements that are not there" refuses 'missing.csv' report -q -i batches --html kept.html --measurements missing.csv
limited() {
    (ulimit -f 1 && "$persik" report -q -i batches --html kept.html) 2>err
    [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'cannot write kept.html' err
}
check "a page for which there is no room" limited
is_as_before() { [ "$(cat kept.html)" = before ] && [ -p pipe ] && [ -L link ] && [ -z "$(find . -name '.*persik-new')" ]; }
check "what was there is as it was, and nothing is left" is_as_before
overwrites() { "$persik" report -q -i batches --html kept.html && is_well_formed kept.html; }
check "an earlier page is replaced" overwrites
is_usage() { ! "$persik" report -q -i batches --measurements runs.csv 2>err && grep -q -e '--html' err; }
check "measurements without a page are a usage error" is_usage

# ---- in a browser ----

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# in_browser PAGE WIDTH: prints by how many pixels the page is wider than a window of that width.
in_browser() {
    cat >frame.html <<HTML
<!DOCTYPE html><body><iframe id="f" src="$1" style="border:0;width:$2px;height:900px"></iframe><p id="wider">?</p><script>
onload = () => { const page = f.contentDocument.documentElement; wider.textContent = page.scrollWidth - page.clientWidth; }
</script>
HTML
    "$browser" --headless=new --no-sandbox --disable-gpu --allow-file-access-from-files --enable-logging=stderr \
        --user-data-dir="$scratch/browser" --dump-dom "file://$scratch/frame.html" 2>messages |
        sed -n 's|.*<p id="wider">\([^<]*\)</p>.*|\1|p'
}
fits() { [ "$(in_browser "$1" "$2")" = 0 ] && ! grep -i 'CONSOLE' messages; }
is_noticed() {
    echo '<!DOCTYPE html><div style="width:600px">wide</div><script>nowhere()</script>' >wide.html
    [ "$(in_browser wide.html 400)" -gt 100 ] && grep -qi 'CONSOLE.*nowhere' messages
}
if [ -n "$browser" ]; then check "a page that does not fit, and a message, are noticed" is_noticed; fi
for page in pigz server batches hostile; do
    for width in 400 1280 2000; do
        if [ -n "$browser" ]; then
            check "$page fits into $width pixels, without a message" fits $page.html $width
        else
            skip "$page fits into $width pixels, without a message" "no chromium"
        fi
    done
done

finish
