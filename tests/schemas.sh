#!/bin/sh
# docs/schemas/: what each command prints with `--format json` is as its schema says, on kept recordings. The schemas use
# only what `validate.jq` below knows. Usage: tests/schemas.sh BUILD-FOLDER. Prints TAP. tests/run: beside others
#
#   KEEP=FOLDER   leaves what was printed there, as COMMAND-N.json

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$scratch" || exit 2
command -v jq >/dev/null || {
    skip "JSON is as its schemas say" "no jq here"
    finish
    exit
}

# What in the document is not as the schema (--slurpfile schema) says, a line each.
cat >validate.jq <<'END_OF_JQ'
def kind: type as $type | if $type == "number" and floor == . then ["number", "integer"] else [$type] end;
def wrong($schema; $root; $path):
    if $schema["$ref"] then
        ($schema["$ref"] | ltrimstr("#/") / "/") as $target | wrong($root | getpath($target); $root; $path)
    else
        . as $value
        | (if $schema.type then
            ([$schema.type] | flatten) as $types
            | kind as $kinds | select(all($kinds[]; . as $one | $types | index($one) | not))
            | "\($path): is \($kinds[0]), not \($types | join(" or "))"
          else empty end),
          (if $schema.enum then select($schema.enum | index([$value]) | not) | "\($path): is \($value)" else empty end),
          (if type == "object" then
            ($schema.required // [] | .[] | select(. as $key | $value | has($key) | not) | "\($path): has no \(.)"),
            (to_entries[] | .key as $key | .value
                | if $schema.properties[$key]? then wrong($schema.properties[$key]; $root; "\($path).\($key)")
                  elif $schema.additionalProperties == false then "\($path): \($key) is not described"
                  elif ($schema.additionalProperties | type) == "object" then
                      wrong($schema.additionalProperties; $root; "\($path).\($key)")
                  else empty end)
          elif type == "array" and $schema.items then
            to_entries[] | .key as $index | .value | wrong($schema.items; $root; "\($path)[\($index)]")
          else empty end)
    end;
wrong($schema[0]; $schema[0]; "")
END_OF_JQ

# fits SCHEMA FILE
fits() {
    jq -r --slurpfile schema "$root/docs/schemas/$1.json" -f validate.jq "$2" >wrong || return 1
    cat wrong && [ ! -s wrong ]
}

runs=0
# says COMMAND ARGUMENT...: its JSON. Rows without figures, goals that are not met, are JSON, too.
says() { says_as "$1" "$@"; }

# says_as SCHEMA COMMAND ARGUMENT...: of a question that has a schema of its own.
says_as() {
    schema=$1
    command=$2
    runs=$((runs + 1))
    shift 2
    status=0
    "$persik" "$command" -q "$@" --format json >said 2>err || status=$?
    [ -z "${KEEP:-}" ] || cp said "$KEEP/$command-$runs.json"
    case $status in 0 | 3 | 4) ;; *) cat err && return 1 ;; esac
    fits "$schema" said
}

echo '{"a": 1, "b": [1, "x"], "c": null}' >document
finds() {
    echo "$1" >schema.json
    jq -r --slurpfile schema schema.json -f validate.jq document >wrong && grep -qxF -e "$2" wrong
}
check "a missing member is found" finds '{"required": ["d"]}' ': has no d'
check "so is one that is not described" finds '{"properties": {"a": {}, "b": {}}, "additionalProperties": false}' ': c is not described'
check "and a wrong type, deep inside" finds '{"properties": {"b": {"items": {"type": "integer"}}}}' '.b[1]: is string, not integer'
check "and a value that is none of those allowed" finds '{"properties": {"c": {"enum": [1, 2]}}}' '.c: is null'

for name in tutorial-words tutorial-hits galaxy-few apache; do kept_model "$name" >log 2>&1; done
model=$root/tests/data/two-pools.json
server=$root/tests/data/server.json
schema_of_each() {
    for command in predict sensitivity bottleneck recommend validate graph build-model compare-trace critical-path critical-path-best \
        critical-path-chain critical-path-curve critical-path-of what-if diff report load calibrate; do
        jq -e '.["$id"] and .title and .type' "$root/docs/schemas/$command.json" || return 1
    done
}
check "each command has a schema" schema_of_each
check "predict" says predict -i tutorial-words --threads 1,2 --cores 2
check "predict, one configuration" says predict -i tutorial-words --threads 2 --cores 2
check "predict, pools by name" says predict --model "$model" --threads worker=3,helper=2 --cores 4
check "predict, something changed" says predict --model "$model" --scale 'worker begins=0.5'
check "predict, rows without figures" says predict -i tutorial-hits --threads 1,2,4 --cores 2,4
check "predict, under load" says predict --model "$server" --arrivals 200/s,1200/s
check "predict, clients" says predict --model "$server" --clients 1,16 --think 10ms
check "predict, a recorded server" says predict -i apache --arrivals 100,200
check "sensitivity" says sensitivity -i tutorial-words --threads 2 --cores 2
check "sensitivity under load" says sensitivity --model "$server" --arrivals 500/s
check "sensitivity without figures" says sensitivity -i tutorial-hits --threads 4 --cores 4
check "bottleneck" says bottleneck -i tutorial-words --threads 4 --cores 4
check "bottleneck of a server" says bottleneck --model "$server"
check "bottleneck without figures" says bottleneck -i tutorial-hits --threads 4 --cores 4
check "recommend" says recommend -i tutorial-words --goal 'time<500ms' --cores 1:4
check "recommend, not met" says recommend -i tutorial-words --goal 'time<1ms' --cores 1,2 --threads 1,2
check "recommend under load" says recommend --model "$server" --goal 'p99<20ms' --rate 9000/s --threads 1,2 --cores 1,2
check "validate" says validate -i tutorial-words --reuse "$root/docs/tutorial/hits.csv"
for name in tutorial-words galaxy-few apache; do
    check "graph of $name" says graph -i "$name"
    check "build-model of $name" says build-model -i "$name"
    check "report of $name" says report -i "$name"
    check "critical-path of $name" says critical-path -i "$name"
done
check "critical-path, the best parts" says_as critical-path-best critical-path -i tutorial-words --best 2
check "critical-path, one after the other" says_as critical-path-chain critical-path -i tutorial-words --chain 2
check "critical-path, the curve of a part" says_as critical-path-curve critical-path -i tutorial-words --curve count_blocks
check "critical-path of jobs" says_as critical-path-of critical-path -i tutorial-words --of p99
check "critical-path of all requests" says_as critical-path-of critical-path -i apache --of mean
check "what-if" says what-if -i tutorial-words --scale 'count_blocks=0.5' --cores 4
kept_model pool_slots >log 2>&1
kept_model pool_slots-3 >log 2>&1
check "diff" says diff pool_slots pool_slots-3
check "compare-trace" says compare-trace -i tutorial-words
check "compare-trace of two recordings" says compare-trace pool_slots pool_slots-3
check "diff of models" says diff "$model" "$model"
mkdir disk
if "$persik" calibrate -q --size 8M --duration 100ms --parallel 1 -o result.json disk >log 2>&1; then
    check "calibrate" says calibrate --size 8M --duration 100ms --parallel 1 -o result.json disk
else
    skip "calibrate" "it cannot measure here"
fi
finish
