#!/bin/sh
# What `make install` puts down works from there. Usage: tests/install.sh BUILD-FOLDER
# Prints TAP; exits 1 if a test fails.

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"

installed=$scratch/stage/opt
make -s -C "$root" install B="$build" DESTDIR="$scratch/stage" PREFIX=/opt >"$scratch/log" 2>&1
report $? "make install succeeds"

"$installed/bin/persik" --version >"$scratch/log" 2>&1 && grep -q '^persik [0-9]' "$scratch/log"
report $? "the installed persik runs"

cd "$scratch" || exit 1
"$installed/bin/persik" trace --no-block-io --no-evictions --plain-runs 0 /bin/true >"$scratch/log" 2>&1 &&
    [ -s persik.data/trace.persik ]
report $? "the installed persik finds its probe library"

for page in "$installed"/share/man/man[13]/*.[13]; do
    man --warnings -l "$page" 2>&1 >/dev/null
done >"$scratch/log"
if command -v man >/dev/null; then
    [ ! -s "$scratch/log" ]
    report $? "the manual pages have no formatting errors"
else
    skip "the manual pages have no formatting errors" "no man here"
fi

make -s -C "$root" uninstall B="$build" DESTDIR="$scratch/stage" PREFIX=/opt >"$scratch/log" 2>&1
[ -z "$(find "$scratch/stage" -type f -o -type l)" ]
report $? "make uninstall leaves no file"

finish
