#!/bin/sh
# The first hour of a new user: docs/tutorial.md, each command as it stands there, on programs that are compiled, recorded,
# modelled and asked. Prints TAP: that each step ends well and fits 80 columns, and that from `profile` to the answer each program
# takes at most four times what it takes alone, and 3 s. Have the machine for yourself.
#
# usage: bench/first-hour.sh [BUILD-FOLDER]      (default build/release)
exec env TIMES=1 "$(dirname "$0")/../tests/first_hour.sh" "${1:-$(dirname "$0")/../build/release}"
