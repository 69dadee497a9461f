# What the *-fetch scripts share: a real program from Debian 12's source package, with debug
# information and plain -O2; sourced by them.
#
# The script sets `package` (of the source), `archive` (the upstream part, all that is needed) and
# `archive_sha256`, defines `make_program` and calls `fetch PROGRAM`; `archive_folders` says how many
# folders the archive has around the source, if not 1. make_program runs in the
# unpacked source and builds with "$cc" and "$cxx": gcc and g++, with every compilation noted
# for compile_commands.json, which persik finds beside the source. kinds.sh, which has many such programs, sets `name`,
# `work` and `apt`, where apt's lists are kept, too, and no archive: then it is the one of the mirror's signed lists.
#
# fetch prints the path of the binary on stdout, everything else on stderr. A second call finds the
# result of the first and is immediate. Exit status: 0 done, 1 the build failed, 77 the source
# cannot be reached (callers skip what needs it).
#
# apt gets a source list and state folders of its own under bench/scratch/, so the machine's apt
# configuration stays as it is. The archive is checked against the sum whatever the mirror says.
# Without a network, put it into bench/scratch/NAME/ by hand.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by the sourcing script

if [ -z "${name:-}" ]; then
    name=$(basename "$0" -fetch)
    work=$(realpath -m "$(dirname "${BASH_SOURCE[0]}")/scratch")/$name
fi
source=$work/source
apt=${apt:-$work/apt}
fallback='deb-src http://deb.debian.org/debian bookworm main'

say() { echo "$name-fetch: $*" >&2; }
skip() {
    say "$*"
    exit 77
}

# The system's mirror as a one-line deb-src entry: its first source with component main. Reads the
# deb822 file of Debian 12 or the older one-line file.
source_entry() {
    local deb822=/etc/apt/sources.list.d/debian.sources lines=/etc/apt/sources.list entry=
    if [ -r "$deb822" ]; then
        entry=$(awk '
            function finish() {
                if (uri != "" && main && !printed) {
                    options = key == "" ? "" : "[signed-by=" key "] "
                    printf "deb-src %s%s %s main\n", options, uri, suite
                    printed = 1
                }
                uri = suite = key = ""
                main = 0
            }
            /^[ \t]*$/ { finish() }
            /^URIs:/ { uri = $2 }
            /^Suites:/ { suite = $2 }
            /^Components:/ { main = / main( |$)/ }
            /^Signed-By: *\// { key = $2 }
            END { finish() }' "$deb822")
    elif [ -r "$lines" ]; then
        entry=$(awk '$1 == "deb" && / main( |$)/ && !/security|updates/ {
            sub(/^deb /, "deb-src ")
            print
            exit
        }' "$lines")
    fi
    echo "${entry:-$fallback}"
}

# apt-get that reads our source list only and keeps its lists and caches under bench/scratch/.
own_apt_get() {
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" \
        -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=2 -o Acquire::Languages=none "$@" >&2
}

# Sets `archive` and its sum by what the mirror's signed lists say of the package.
look_up_archive() {
    read -r archive archive_sha256 < <(own_apt_get source --download-only --tar-only --print-uris "$package" 2>&1 |
        awk '$2 ~ /\.orig\.tar\.[a-z0-9]+$/ { sub(/^SHA256:/, "", $4); print $2, $4; exit }') ||
        skip "the mirror has no source of $package"
}

archive_is_good() {
    [ -n "${archive:-}" ] && [ -f "$work/$archive" ] && echo "$archive_sha256  $work/$archive" | sha256sum --check --status
}

download() {
    command -v apt-get >/dev/null || skip "no apt-get here: put ${archive:-it} into bench/scratch/$name/"
    mkdir -p "$work" "$apt"
    source_entry >"$apt/sources.list"
    say "downloading ${archive:-$package} ($(cat "$apt/sources.list"))"
    own_apt_get update --error-on=any ||
        skip "the Debian mirror cannot be reached: connect, or put ${archive:-it} into bench/scratch/$name/"
    [ -n "${archive:-}" ] || look_up_archive
    # Its status says nothing: mirrors without the .dsc or the Debian part still give the archive.
    (cd "$work" && own_apt_get source --download-only --tar-only "$package") || true
    archive_is_good || skip "the mirror does not give $archive with the expected SHA-256:" \
        "put it into bench/scratch/$name/"
}

# noting_compiler COMPILER: a command that runs the compiler and, when it compiles a source file,
# appends an entry to bench/scratch/NAME/compilations. Works under any build system.
noting_compiler() {
    cat >"$work/noting-$1" <<END
#!/bin/bash
compiles= file= arguments='"$1"'
for argument in "\$@"; do
    case \$argument in
        -c) compiles=yes ;;
        *.c | *.cpp | *.cc | *.cxx) file=\$argument ;;
    esac
    argument=\${argument//\\\\/\\\\\\\\}
    arguments+=", \"\${argument//\"/\\\\\"}\""
done
[ -z "\$compiles" ] || echo "{\"directory\": \"\$PWD\", \"file\": \"\$file\"," \\
    "\"arguments\": [\$arguments]}" >>'$work/compilations'
exec $1 "\$@"
END
    chmod +x "$work/noting-$1"
    echo "$work/noting-$1"
}

build() {
    say "building (log: bench/scratch/$name/build.log)"
    rm -rf "$source" "$work/compilations"
    mkdir -p "$source"
    tar -xf "$work/$archive" -C "$source" --strip-components="${archive_folders:-1}"
    cc=$(noting_compiler gcc) cxx=$(noting_compiler g++)
    (cd "$source" && make_program) >"$work/build.log" 2>&1 || {
        say "the build failed: see the end of bench/scratch/$name/build.log"
        exit 1
    }
    [ ! -s "$work/compilations" ] ||
        { echo '['; sed '$!s/$/,/' "$work/compilations"; echo ']'; } >"$source/compile_commands.json"
}

# fetch PROGRAM: its path below the source.
fetch() {
    local binary=$source/$1
    if [ ! -f "$work/built" ] || [ ! -x "$binary" ]; then
        mkdir -p "$work"
        archive_is_good || download
        build
        touch "$work/built"
    fi
    echo "$binary"
}
