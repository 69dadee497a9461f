# A program's label against the `monitors` of its model -> one line of fields separated by tabs:
# program, label, what was found, kind right, amount right, operations right, what else was found.
# Right is yes or no, "-" where there is nothing to be right about; for a look-alike, the kind is right
# when nothing was found.
#
#     jq -r --rawfile labels labels.csv --arg program NAME -f verdict.jq model.json

def label_of($program):
    split("\n") | map(select(. != "") | split(",")) | .[0] as $columns |
    [.[1:][] | [$columns, .] | transpose | map({(.[0]): .[1]}) | add | select(.program == $program)] |
    .[0] // error("no label of \($program)");

def alternatives: split("|");

# Quantities of the model and of the label, with so many threads.
def quantity($pools; $threads):
    if type == "object" then
        .base + ([.per_thread[] | .factor * ($pools[.pool] |
            if .scales then $threads else .profiled_threads end)] | add // 0)
    else . // 0 end;
def labelled($threads):
    capture("^(?:(?<factor>[0-9]+)\\*)?(?<threads>threads)(?<offset>[+-][0-9]+)?$") as $l |
        (($l.factor // "1") | tonumber) * $threads + (($l.offset // "0") | tonumber);
def labelled_amount($threads): if test("threads") then labelled($threads) else tonumber end;

def yes_no: if . then "yes" else "no" end;
# As a person would write it; from its values with 2 and 5 threads.
def spelled($two; $five):
    if $two == $five then "\($two)"
    else (($five - $two) / 3) as $factor | ($two - 2 * $factor) as $offset |
        (if $factor == 1 then "" else "\($factor)*" end) + "threads" +
        (if $offset > 0 then "+\($offset)" elif $offset < 0 then "\($offset)" else "" end)
    end;
def spelled_monitor:
    .kind + (if .two == 0 and .five == 0 then "" else " " + spelled(.two; .five) end);

# {"put": ["ring_put"]} of "put=ring_put|main"; a role may be "signal|arrive".
def labelled_operations:
    [scan("([a-z][a-z |]*)=([^ ]+)") | {roles: (.[0] | alternatives), functions: (.[1] | alternatives)}];
def operations_right($wanted):
    . as $operations |
    all($wanted[]; . as $w |
        [$operations[] | select(."as" as $role | $w.roles | index($role)) | .function] as $found |
        ($found | length) > 0 and all($found[]; . as $f | $w.functions | index($f) != null));

# "bounded queue:8" and "bounded queue" both allow a bounded queue of 8.
def is_allowed($list): . as $m |
    any($list | alternatives[]; split(":") |
        .[0] == $m.kind and (length == 1 or (.[1] | tonumber) == $m.two));

($labels | label_of($program)) as $truth |
.pools as $pools |
[(.monitors // [])[] | select(.kind != "other") |
    {name, kind, operations: (.operations // []),
     two: (.amount | quantity($pools; 2)), five: (.amount | quantity($pools; 5))}] as $monitors |
($truth.operations | labelled_operations) as $wanted |
($truth.kind | alternatives) as $kinds |
[$monitors[] |
    .kind_right = (.kind as $k | $kinds | index($k) != null) |
    .amount_right = ($truth.amount == "-" or
        (. as $m | $truth.amount |
            labelled_amount(2) == $m.two and labelled_amount(5) == $m.five)) |
    .operations_right = (.operations | operations_right($wanted))] as $judged |
($judged | map(select(.kind_right)) | max_by([.amount_right, .operations_right])) as $best |
[$judged[] | select((.kind_right or is_allowed($truth.also)) | not)] as $others |
($others | map(spelled_monitor) | join(", ")) as $besides |
if $truth.kind == "none" then
    [$truth.program, "like " + ($truth.looks_like | sub(":"; " of ")),
     (if $besides == "" then "-" else $besides end), ($others == [] | yes_no), "-", "-", ""]
else
    [$truth.program,
     ($truth.kind | gsub("\\|"; " or ")) +
        (if $truth.amount == "-" then "" else " " + $truth.amount end),
     (if $best then $best | spelled_monitor else "-" end),
     ($best != null | yes_no),
     (if $truth.amount == "-" then "-" else $best != null and $best.amount_right | yes_no end),
     ($best != null and $best.operations_right | yes_no), $besides]
end | @tsv
