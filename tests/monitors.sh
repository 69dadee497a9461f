#!/bin/sh
# Checks the corpus of hand-made synchronisation itself: every program builds, ends, prints the same
# checksum with any number of threads where its label says so, and has a complete label.
# Usage: tests/monitors.sh BUILD-FOLDER. Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
folder=$root/tests/monitors
labels=$folder/labels.csv
hang_s=60 # a run takes milliseconds: one that takes this long is in a deadlock
kinds="bounded queue|unbounded queue|semaphore|barrier|event|completion|rwlock|token pool|hand-over"
kinds="$kinds|thread pool"

# checksum_of PROGRAM THREADS: of short work; fails if the program does or prints another line.
checksum_of() {
    timeout "$hang_s" "$build/monitors/$1" --threads "$2" --work 7 >"$scratch/out" || return 1
    [ "$(wc -l <"$scratch/out")" -eq 1 ] && grep '^checksum [0-9a-f]\{16\}$' "$scratch/out"
}

check_runs() {
    one=$(checksum_of "$1" 1)
    report $? "$1 runs with 1 thread"
    for threads in 2 5; do
        many=$(checksum_of "$1" $threads) && { [ "$2" = no ] || [ "$many" = "$one" ]; }
        report $? "$1 with $threads threads ends$([ "$2" = no ] || echo " and computes the same")"
    done
}

# Complaints about labels: one line each.
label_errors() {
    awk -F , -v kinds="$kinds" '
        function are_kinds(list, with_amount,    n, i, part, amount) {
            n = split(list, part, "|")
            for (i = 1; i <= n; i++) {
                amount = part[i]
                if (with_amount) sub(/:.*/, "", part[i])
                if (!(part[i] in known)) return 0
            }
            return n > 0
        }
        BEGIN { n = split(kinds, list, "|"); for (i = 1; i <= n; i++) known[list[i]] = 1 }
        NR == 1 {
            if ($0 != "program,kind,amount,object,operations,looks_like,also,timed,same")
                print "header: " $0
            next
        }
        NF != 9 { print $1 ": " NF " columns"; next }
        $1 in seen { print $1 ": twice" }
        { seen[$1] = 1 }
        $2 != "none" && !are_kinds($2, 0) { print $1 ": kind " $2 }
        $2 != "none" && $5 !~ /=[A-Za-z_]/ { print $1 ": no operations" }
        $2 != "none" && $6 != "" { print $1 ": looks like something though it is one" }
        $2 == "none" && !are_kinds($6, 1) { print $1 ": looks_like " $6 }
        $2 == "none" && $5 != "" { print $1 ": operations of nothing" }
        $3 !~ /^(-|[0-9]+|([0-9]+\*)?threads([+-][0-9]+)?)$/ { print $1 ": amount " $3 }
        $4 == "" { print $1 ": no object" }
        $7 != "" && !are_kinds($7, 1) { print $1 ": also " $7 }
        $8 !~ /^(yes|no)$/ || $9 !~ /^(yes|no)$/ { print $1 ": timed and same are yes or no" }' "$labels"
}

# Every word of a label that names something occurs in its program's source.
names_missing() {
    awk -F , 'NR > 1 {
            names = $4
            n = split($5, word, " ")
            for (i = 1; i <= n; i++)
                if (sub(/^.*=/, "", word[i])) names = names " " word[i]
            gsub(/\|/, " ", names)
            print $1, names }' "$labels" |
        while read -r program names; do
            for name in $names; do
                grep -qw -e "$name" "$folder/$program".c* "$folder"/*.h ||
                    echo "$program: no $name in its source"
            done
        done
}

programs() {
    for file in "$folder"/*.c "$folder"/*.cpp; do
        [ ! -e "$file" ] || basename "${file%.*}"
    done | sort
}

echo "1..$(($(programs | wc -l) * 3 + 4))"

${MAKE:-make} -s -C "$root" "B=$build" monitors >"$scratch/log" 2>&1
report $? "every program builds without a warning"

programs >"$scratch/programs"
tail -n +2 "$labels" | cut -d , -f 1 | sort | diff - "$scratch/programs" >"$scratch/log"
report $? "every program has its label and every label its program"

label_errors >"$scratch/log"
[ ! -s "$scratch/log" ]
report $? "every label is complete"

names_missing >"$scratch/log"
[ ! -s "$scratch/log" ]
report $? "labels name what is in the source"

while read -r program; do
    check_runs "$program" "$(awk -F , -v p="$program" '$1 == p { print $9 }' "$labels")"
done <"$scratch/programs"
[ "$failures" -eq 0 ]
