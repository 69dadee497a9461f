#!/bin/sh
# What bash, zsh and fish complete. Usage: tests/completion.sh BUILD-FOLDER. Prints TAP. tests/run: beside others

# shellcheck source=tap.inc
. "$(dirname "$0")/tap.inc"
make -s -C "$root" B="$build" "$build/completion/persik" "$build/completion/_persik" "$build/completion/persik.fish" || exit 1
cd "$scratch" || exit 1
export HOME="$scratch" PATH="$build:$PATH" LC_ALL=C.UTF-8
mkdir persik.data folder
cp "$root/tests/data/two-pools.json" persik.data/model.json
cp persik.data/model.json other.json
sed -i 's/"worker"/"other_worker"/' other.json

# ---- one list for all ----

# next_are EXPECTED WORD...: the candidates, without descriptions, in their order.
next_are() {
    expected=$1
    shift
    found=$(sh -c '. "$0"; _persik_next "$@"' "$root/cli/completion/words.sh" "$@" | cut -f 1 | tr '\n' ' ')
    echo "$* goes on with: $found"
    [ "$found" = "$expected${expected:+ }" ]
}
# next_has CANDIDATE WORD...
next_has() {
    wanted=$1
    shift
    sh -c '. "$0"; _persik_next "$@"' "$root/cli/completion/words.sh" "$@" | tee next | cut -f 1 | grep -qxF -e "$wanted" ||
        { cat next && return 1; }
}

every_command() {
    persik help | sed -n '/^Commands:/,/^$/ s/^  \([a-z-]*\) .*/\1/p' >commands
    [ "$(wc -l <commands)" -gt 10 ] && while read -r command; do next_has "$command" "" || return 1; done <commands
}
check "every command of persik help is completed" every_command
every_option() {
    while read -r command; do
        persik "$command" --usage | grep -oE -e '\[--[a-z][a-z-]*' | tr -d '[' | sort -u >options
        [ "$(wc -l <options)" -gt 3 ] || return 1
        while read -r option; do next_has "$option" "$command" -- || return 1; done <options
    done <commands
}
check "and every option of each" every_option
described() { sh -c '. "$0"; _persik_next predict --co' "$root/cli/completion/words.sh" | grep -q "^--cores	numbers of cores"; }
check "with what --help says of it" described

check "--threads takes the pools of the model" next_are "main= worker= helper=" predict --threads ""
check "--threads= as well" next_are "main= worker= helper=" predict --threads=
check "behind a comma, too" next_are "worker=2,main= worker=2,worker= worker=2,helper=" predict --threads worker=2,
check "of the model that --model names" next_has other_worker= predict --model other.json --threads ""
check "of the folder that -i names" next_are "" predict -i folder --threads ""
check "not behind a pool's =" next_are "" predict --threads worker=
check "--partition takes a pool" next_are "main= worker= helper=" predict --partition ""
check "and then a rule" next_are "worker=shared worker=fixed worker=perthread" predict --partition worker=
check "what has a list in --help takes that" next_are "chrome csv folded json dot" export --format ""
check "--stop-after takes passes" next_has requests build-model --stop-after ""
check "--without takes candidates, too" next_has barrier build-model --without ""
check "FILE takes files" next_are @files report --html ""
check "DIR takes folders" next_are @folders predict -o ""
check "CMD takes commands" next_are @commands profile --load ""
check "so does the program to record" next_are @commands profile ""

# ---- each shell ----

# Each prints what it makes of "persik LINE", one candidate a line.
cat >ask.bash <<'END_BASH'
source "$1"
COMP_LINE="persik $2" COMP_POINT=$((7 + ${#2}))
_persik 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
END_BASH
cat >ask.zsh <<'END_ZSH'
compdef() { :; }
# What zsh adds for "compadd [-S ''] -d TEXTS -a CANDIDATES", behind what compset takes off.
compset() { prefix=${words[CURRENT]%%=*}=; }
compadd() { print -rl -- ${(M)${(P)@[-1]}:#${words[CURRENT]#$prefix}*}; }
_files() { print -l "files $*"; }
_command_names() { print commands; }
file=$1 line=$2 prefix=
source $file
words=(persik "${(@s: :)line}")
CURRENT=$#words
_persik
END_ZSH
cat >ask.fish <<'END_FISH'
source $argv[1]
complete -C "persik $argv[2]"
END_FISH

# shell_says SHELL FILE LINE EXPECTED
shell_says() {
    "$1" ./ask."$1" "$build/completion/$2" "$3" >found 2>&1
    found=$(cut -f 1 found | sed 's/ *$//' | LC_ALL=C sort | tr '\n' ' ')
    echo "$1: $3: $found"
    [ "$found" = "$4 " ]
}

# What all say alike; bash's word begins behind the last "=".
while read -r shell file; do
    if ! command -v "$shell" >/dev/null; then
        skip "$shell completes commands, options, values and pools" "no $shell here"
        continue
    fi
    check "$shell completes commands" shell_says "$shell" "$file" "prof" "profile"
    check "$shell completes options" shell_says "$shell" "$file" "predict --arr" "--arrivals --arrivals-kind"
    check "$shell completes values" shell_says "$shell" "$file" "export --format c" "chrome csv"
    check "$shell completes pools" shell_says "$shell" "$file" "predict --threads w" "worker="
    check "$shell completes pools of another model" shell_says "$shell" "$file" \
        "predict --model other.json --threads o" "other_worker="
done <<'END'
bash persik
zsh _persik
fish persik.fish
END
check "bash completes behind =" shell_says bash persik "predict --threads worker=2,h" "2,helper="
check "bash completes files" shell_says bash persik "predict --model oth" "other.json"
check "bash completes folders" shell_says bash persik "predict -o fol" "folder"

if command -v fish >/dev/null; then
    check "fish completes behind =" shell_says fish persik.fish "predict --threads=worker=2,h" "--threads=worker=2,helper="
    check "fish completes files" shell_says fish persik.fish "predict --model=oth" "--model=other.json"
fi
if command -v zsh >/dev/null; then
    check "zsh completes behind =" shell_says zsh _persik "predict --threads=w" "worker="
    check "zsh completes folders" shell_says zsh _persik "predict -o fol" "files -/"
fi

finish
