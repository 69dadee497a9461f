#!/bin/sh
# docs/faq.md has an entry for each warning in the code, for each thing that was not recorded, and for each reason why
# there are no figures. Usage: tests/faq.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
cd "$root" || exit 2
tr -s ' \n' '  ' <docs/faq.md >"$scratch/faq"

# texts CALLS FILE...: what these calls say, "FILE: TEXT".
texts() {
    calls=$1
    shift
    awk -v calls="$calls" -f tests/warnings.awk "$@"
}

# unsaid FILE: those of its lines whose text the page has not, by the first forty characters.
unsaid() {
    while IFS= read -r line; do
        text=$(printf '%.40s' "${line#*: }")
        grep -qF -e "$text" "$scratch/faq" || echo "$line"
    done <"$1" >"$scratch/unsaid"
    cat "$scratch/unsaid" && [ ! -s "$scratch/unsaid" ]
}

printf 'void f(void) {\n    log_warning("%%s: nobody ever says this, %%d "\n                "times", a, b);\n}\n' >"$scratch/some.c"
texts log_warning "$scratch/some.c" >"$scratch/some"
finds_it() { grep ': nobody ever says this$' "$scratch/some" && ! unsaid "$scratch/some"; }
check "a warning without an entry is found" finds_it

find base cli critical-path formats host load modelgen sampler simulator tracer -name '*.c' ! -path base/log.c >"$scratch/sources"
# shellcheck disable=SC2046 # names without spaces
{
    texts 'log_warning|lacks_add|notes_add_outside' $(cat "$scratch/sources")
    texts 'memory_format|refuse' cli/prediction/refusal.c
} | sort -u >"$scratch/texts"
many() { cat "$scratch/texts" && [ "$(wc -l <"$scratch/texts")" -ge 60 ]; }
check "the code has warnings" many
check "each has an entry in docs/faq.md" unsaid "$scratch/texts"
finish
