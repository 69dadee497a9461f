#!/bin/sh
# `persik validate --reuse` on runs that were made up, so that it is known what is wrong with the model and
# what others did: errors must stay, none may be invented. Usage: tests/equal_speed.sh BUILD-FOLDER. Prints TAP.

# shellcheck disable=SC2016 # the dollars are jq's
# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 1

# The truth is what the model says: threads, cores, running time and utilisation of each configuration.
export PERSIK_DATA="$scratch"
"$persik" predict --model "$root/tests/data/two-pools.json" --threads 1,2,4,8 --cores 1,2 --format json |
    jq -r '.configurations[] | [.threads, .cores, .run_ns, .cpu_utilisation] | @tsv' >truth || exit 1
plain_cpu_ns=$(awk '$1 == 2 && $2 == 2 { print $2 * $3 * $4 }' truth)

# model FACTOR: its CPU demands so many times what they are.
model() {
    jq --argjson factor "$1" --argjson cpu_ns "$plain_cpu_ns" '
        (.. | objects | select(has("cpu_ns")) | .cpu_ns) |= (if type == "object"
            then .mean *= $factor | if .values then .values |= map(. * $factor) else . end
            else . * $factor end) |
        .plain_cpu_ns = $cpu_ns | .plain_cpu_spread = 0.01' "$root/tests/data/two-pools.json"
}
model 1 >right.json
model 1.1 >slow.json

# runs TIME [FOREIGN [DELAY [CPU]]]: three rounds in which the recorded configuration, 2 threads on 2 cores, is run
# between the others. Expressions of threads t, cores c, number of the run, truth and, all but the first, run_ns.
runs() {
    awk -v header='threads,cores,round,run_ns,cpu_ns,foreign_ns,stolen_ns,delay_ns,longest_cpu_ns,reference' '
        function run(i, reference) {
            t = threads[i]; c = cores[i]; truth = times[i]; number++
            run_ns = '"$1"'
            printf "%d,%d,%d,%d,%d,%d,0,%d,0,%d\n", t, c, round, run_ns, ('"${4:-run_ns}"') * c * used[i],
                '"${2:-0}"', '"${3:-0}"', reference
        }
        { threads[NR] = $1; cores[NR] = $2; times[NR] = $3; used[NR] = $4 }
        $1 == 2 && $2 == 2 { recorded = NR }
        END {
            print header
            for (round = 1; round <= 3; round++)
                for (i = 1; i <= NR; i++) { if (i != recorded) run(recorded, 1); run(i, 0) }
        }' truth
}

# older: the same as persik wrote it once, with PIECES of memory as an expression of t and c.
older() {
    awk -F , '
        NR == 1 { print "threads,cores,round,run_ns,cpu_ns,foreign_ns,computing_ns,memory_ns,fastest_computing_ns,fastest_memory_ns,sharing"; next }
        !$10 { t = $1; c = $2; printf "%s,%s,%s,%s,%s,0,15000,%d,12308,3425,1\n", $1, $2, $3, $4, $5, '"$1"' }' "$2"
}

# errors MODEL RUNS: into `out`, JSON. all FILTER: holds for each configuration, of which e is its error and s that at
# equal speed.
errors() {
    "$persik" validate --model "$1" --reuse "$2" --format json >out 2>log
}
all() {
    jq -e "[.configurations[] | (.error) as \$e | (.equal_speed_error) as \$s | .threads as \$t | .cores as \$c | $1] | all" out >/dev/null
}
near() { echo "(($1) - ($2) | fabs) < ${3:-0.006}"; }

explain_failure() {
    cat log
    jq -c '.configurations[] | [.threads, .cores, .error, .equal_speed_error, .equal_speed_error_low, .equal_speed_error_high]' out
}

runs truth >a.csv
errors right.json a.csv && all "$(near '$e' 0) and $(near '$s' 0)"
report $? "where nothing is wrong no error is shown, raw or at equal speed"
errors slow.json a.csv && all '$e > 0.08 and ($s - $e | fabs) < 0.006'
report $? "demands that are a tenth too large stay an error at equal speed"
runs 'truth * (1 + 0.1 * int((number - 1) / 6))' >c.csv
errors right.json c.csv && all '$e < -0.05 and ($s | fabs) < 0.04'
report $? "what others slow, the recorded configuration too, is taken off"
errors slow.json c.csv && all '$s > 0.06 and $s < 0.14'
report $? "and the error of the model stays"
runs 'truth * (t == 8 ? 1.15 : 1)' >d.csv
errors right.json d.csv &&
    all "if \$t == 8 then $(near '$s' '1 / 1.15 - 1') else $(near '$s' 0) end"
report $? "a configuration that takes longer by itself keeps its error"
older 't == 8 ? 10000 : 6500' d.csv >e.csv
errors right.json e.csv &&
    all "if \$t == 8 then $(near '$s' '1 / 1.15 - 1') else $(near '$s' 0) end" && grep -q 'older persik' log
report $? "also where it slows memory, as files of older versions tell"
runs 'truth * (c == 2 ? 1 : 0.8)' >f.csv && older 'c == 2 ? 6500 : 3250' f.csv >f-older.csv
errors right.json f.csv && all "if \$c == 1 then $(near '$s' 0.25) else $(near '$s' 0) end" &&
    errors right.json f-older.csv && all "if \$c == 1 then $(near '$s' 0.25) else $(near '$s' 0) end"
report $? "what two cores of the program cost each other is no doing of others'"
older 'c == 2 ? 6500 : 3250' a.csv >g.csv
errors right.json g.csv && all "$(near '$e' 0) and $(near '$s' 0)"
report $? "pieces of memory that follow the number of cores invent no error"
jq --argjson cpu_ns "$plain_cpu_ns" '.one_core_cpu_ns = $cpu_ns' right.json >both.json
runs 'truth * (c == 2 && t > 1 ? 1.23 : 1)' >own.csv
errors both.json own.csv &&
    all '(if $c == 2 and $t > 1 then -1 / 1.23 * 0.23 else 0 end) as $true |
        $s == null and .equal_speed_error_low - 0.01 <= $true and .equal_speed_error_high + 0.01 >= $true' &&
    "$persik" validate --model both.json --reuse own.csv 2>log | grep -q 'nobody can tell'
report $? "what slows several cores and not one is the machine, or the program itself: a range"
runs 'truth * 1.23' >slower.csv
errors both.json slower.csv && all "$(near '$s' 0)"
report $? "what slows one core as well is the machine"
runs 'truth' 't == 1 && c == 2 ? run_ns : 0' >h.csv
errors right.json h.csv && all "$(near .own_error '$e' 1e-9) and $(near '$s' 0)"
report $? "a busy core that the program left idle is not taken off"
runs 'truth * 1.5' 'c == 1 ? run_ns / 3 : 0' run_ns truth >i.csv
errors right.json i.csv && all 'if $c == 1 then (.own_error | fabs) < 0.01 and $e < -0.3 else true end'
report $? "a core that others had while a thread waited for it is"
awk -F , 'NR == 1 || $3 == 1' c.csv >once.csv
errors right.json once.csv &&
    all 'if $t == 2 and $c == 2 then true else .equal_speed_error == null and .equal_speed_error_low <= .equal_speed_error_high end' &&
    "$persik" validate --model right.json --reuse once.csv >table 2>log && grep -q ' to .* %' table
report $? "with one run of each configuration there is only a range"
awk -F , 'NR == 1 || !($1 == 2 && $2 == 2)' a.csv >without.csv
errors right.json without.csv && all '$s == null and .equal_speed_run_ns == null' &&
    "$persik" validate --model right.json --reuse without.csv 2>log | grep -q 'equal speed is not known'
report $? "without the recorded configuration equal speed is not known, which is said"

echo "1..$tests"
exit $((failures > 0))
