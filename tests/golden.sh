#!/bin/sh
# The recordings in tests/golden: the models and predictions that persik makes of them are those that were
# accepted, to the byte. With UPDATE=1 they are accepted as they are now: docs/development.md says when that is right.
# Usage: tests/golden.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
export PERSIK_BUILD="$build"
unset PERSIK
golden=$root/bench/golden.sh

[ -z "${UPDATE:-}" ] || "$golden" accept --kept >&2 || exit 1

set --
for recording in "$root"/tests/golden/*/; do
    set -- "$@" "$(basename "$recording")"
done
for name; do
    check "$name: the same models and predictions" "$golden" check --kept "$name"
done

has_recipes() {
    "$golden" list --kept >"$scratch/kept" && "$golden" list | LC_ALL=C sort >"$scratch/all"
    [ -s "$scratch/kept" ] && LC_ALL=C comm -23 "$scratch/kept" "$scratch/all" | tee "$scratch/without" && [ ! -s "$scratch/without" ]
}
check "each of them can be made anew" has_recipes

# A persik that makes one digit of a model another one.
cat >"$scratch/persik" <<END
#!/bin/sh
PATH=/usr/bin:/bin
"$persik" "\$@" || exit
[ "\$1" != build-model ] || sed -i '0,/"explained_share": 0\.[0-8]*9/s/\("explained_share": 0\.[0-8]*\)9/\18/' "\$4/model.json"
END
chmod +x "$scratch/persik"
GOLDEN_DIR=$scratch/golden
export GOLDEN_DIR
set -- assembly # whose models have the digit that the false persik changes
mkdir "$GOLDEN_DIR" && cp -r "$root/tests/golden/$1" "$GOLDEN_DIR"
accepts() { "$golden" accept "$1" && "$golden" check "$1"; }
differs() {
    PERSIK=$scratch/persik "$golden" check "$1" >"$scratch/said" && return 1
    cat "$scratch/said"
    grep -q "^$1/as-recorded.model differs" "$scratch/said" && grep -q '^-.*"explained_share": ' "$scratch/said"
}
check "what is accepted is what is compared with" accepts "$1"
check "one other digit in a model is noticed, and shown" differs "$1"
rm "$GOLDEN_DIR/$1/trace.persik"
misses() { ! "$golden" check; }
check "a recording that is missing is noticed" misses

finish
