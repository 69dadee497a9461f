#!/bin/sh
# Block logs that somebody else made: matched by clock and thread where these agree, by cross-correlation where they
# do not, and every request accounted for. tests/data/block_log/ holds a recording of bench/correlation_reader.c, two
# threads that read through the page cache, and what ftrace saw of a loop device and the disk below it meanwhile, while
# another process read, too. Usage: tests/block_log.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export COLUMNS=1000 # a sentence is one line
mkdir "$scratch/data"
cp "$root/tests/data/block_log/trace.persik" "$scratch/data"
gzip -dc "$root/tests/data/block_log/log.gz" >"$scratch/log.same"

# build NAME: the model with the log of that name; what is said goes to $scratch/NAME.
build() { PATH=/usr/bin:/bin "$persik" build-model -i "$scratch/data" --blktrace "$scratch/log.$1" >"$scratch/$1" 2>&1; }

# disturbed OFFSET DRIFT: the log by a clock that is so many seconds ahead, and runs faster by this part of itself; its
# threads with the numbers that -v hide= says: other ones, one, or the same.
disturbed() {
    awk -v offset="$1" -v drift="$2" -v hide="$3" '{
        match($0, /[0-9]+\.[0-9]+: block/)
        time = substr($0, RSTART, RLENGTH - 7) + 0
        rest = substr($0, RSTART + RLENGTH - 7)
        tid = $1
        sub(/.*-/, "", tid)
        if (hide == "other") tid = 900000 - 3 * tid
        if (hide == "one") tid = 4711
        printf "x-%d [000] ..... %.6f%s\n", tid, time * (1 + drift) + offset, rest
    }' "$scratch/log.same"
}

# number WORDS FILE: the number of requests before them.
number() { sed -n "s/.* block log: [0-9]* requests .*[ ,:] *\([0-9]*\) ([0-9.]* MB) $1.*/\1/p" "$2"; }
in_calls() { number "in I\/O calls" "$1"; }

# Requests and bytes of all causes add up to those of the log, bytes as far as two digits tell.
adds_up() {
    sed -n 's/^.* block log: \([0-9]* requests.*\)/\1/p' "$scratch/$1" | tee -a "$scratch/log" | awk '
        { gsub(/[(]/, ""); n = split($0, part, /[:,] /); split(part[1], all, " ")
          for (i = 2; i <= n; i++) { split(part[i], word, " "); requests += word[1]; bytes += word[2] } }
        END { exit !(NR == 1 && n > 3 && requests == all[1] && bytes - all[3] < 0.01 * n && all[3] - bytes < 0.01 * n) }'
}
# all_read NAME: no event of the log is missing: as many requests as were issued.
all_read() { [ "$(sed -n 's/.* block log: \([0-9]*\) requests .*/\1/p' "$scratch/$1")" -eq "$(grep -c block_rq_issue "$scratch/log.$1")" ]; }

by_clock() { build same && grep -q 'matched by clock and thread, confidence 100.00 %: 2 threads' "$scratch/same"; }
check "a log that names the same times and threads is matched by these" by_clock
check "its requests and bytes add up" adds_up same
check "all of its requests are there" all_read same
check "what a loop device asks the disk below for is not counted twice" [ "$(number 'by a loop device' "$scratch/same")" -gt 300 ]
truth=$(in_calls "$scratch/same")

began() { sed -n 's/.* the run began at \([0-9.]*\) s of its clock, which drifts by \([-0-9.]*\) ppm.*/\1 \2/p' "$scratch/$1"; }
# apart NAME OFFSET DRIFT: the clock of that log is found to be so far from the recording's, within a millisecond and 5 ppm.
apart() {
    echo "$(began renamed) $(began "$1")" | tee -a "$scratch/log" | awk -v offset="$2" -v drift="$3" '
        function far(a, b, most) { return a - b > most || b - a > most }
        { exit NF != 4 || far($1 * (1 + drift) + offset, $3, 0.001) || far(1e6 * drift, $4, 5) }'
}
pairs() { grep -c 'block log: thread .* goes with its thread' "$scratch/$1"; }
# matched NAME: almost as many of its requests are found in calls as by clock and thread.
matched() {
    grep -q 'matched by cross-correlation, confidence' "$scratch/$1" &&
        [ $((100 * $(in_calls "$scratch/$1"))) -ge $((97 * truth)) ] && [ "$(in_calls "$scratch/$1")" -le "$truth" ]
}

renamed() { disturbed 0 0 other >"$scratch/log.renamed" && build renamed && matched renamed && apart renamed 0 0; }
check "a log of the same clock that names other threads is matched by cross-correlation" renamed
by_correlation() { disturbed 7.654321 9e-5 other >"$scratch/log.far" && build far && matched far && apart far 7.654321 9e-5; }
check "so is one whose clock is ahead and fast, which is found" by_correlation
check "two threads are paired with two of its own" [ "$(pairs far)" -eq 2 ]
check "its requests and bytes add up" adds_up far
check "all of its requests are there" all_read far
check "what another process read stays its own" \
    [ "$(number 'by other processes' "$scratch/far")" -ge "$(number 'by other processes' "$scratch/same")" ]

behind() { disturbed -9.1 -1e-4 other >"$scratch/log.behind" && build behind && matched behind && apart behind -9.1 -1e-4; }
check "so is one whose clock is behind and slow" behind

untold() {
    disturbed 3.3 2e-5 one >"$scratch/log.untold" && build untold &&
        grep -q 'all threads together go with its thread 4711' "$scratch/untold" &&
        [ $((100 * $(in_calls "$scratch/untold"))) -ge $((80 * truth)) ]
}
check "so is one that does not tell threads apart, as far as calls do" untold

# No lag makes of it what the threads did: backwards in time.
refused() {
    disturbed 0 0 other | awk '{
        match($0, /[0-9]+\.[0-9]+: block/)
        time = substr($0, RSTART, RLENGTH - 7) + 0
        action = /queue/ ? "complete" : /complete/ ? "queue" : "issue"
        rest = substr($0, RSTART + RLENGTH - 7)
        sub(/bio_queue|rq_complete/, action == "queue" ? "bio_queue" : action == "complete" ? "rq_complete" : "&", rest)
        printf "x-%d [000] ..... %.6f%s\n", substr($1, 3), 90000 - time, rest
    }' | tac >"$scratch/log.other"
    build other
    [ $? -eq 1 ] && [ "$(wc -l <"$scratch/other")" -eq 1 ] && grep -q 'no lag between its clock and the recording' "$scratch/other"
}
check "one of another run is refused, in one line" refused

none() { PATH=/usr/bin:/bin "$persik" build-model -i "$scratch/data" --blktrace "$root/README.md" >"$scratch/none" 2>&1; [ $? -eq 1 ] && grep -q 'no line of a block log' "$scratch/none"; }
check "a text that is no log is refused" none

finish
