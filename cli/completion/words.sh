# What can stand next on a command line of persik: the same for bash, zsh and fish, which each get this text with an
# adapter behind it (make completions). persik itself is asked, so that nothing is listed twice. Plain sh.
#
# _persik_next WORD...: the words behind `persik`, the last one as far as it was typed. Prints one candidate a line,
# a description behind a tab; or @files, @folders, @commands, which each shell knows how to list.

_persik_commands() {
    persik help 2>/dev/null | sed -n '/^Commands:/,/^$/ s/^  \([a-z-]*\)  *\(.*\)/\1	\2/p'
    printf 'help\ta command'"'"'s options and examples\n'
}

# The long options of a command, as its --help describes them.
_persik_options() {
    persik "$1" --help 2>/dev/null | awk '
        function tell(    i, n, name) {
            n = split(names, name, /, */)
            for (i = 1; i <= n; i++)
                if (sub(/^--/, "--", name[i])) { sub(/=.*/, "", name[i]); print name[i] "\t" text }
            names = ""
        }
        /^ +-/ {
            tell()
            sub(/^ +/, "")
            at = match($0, /  +[^ ]/)
            names = at ? substr($0, 1, at - 1) : $0
            text = at ? substr($0, at) : ""
            sub(/^ +/, "", text)
            next
        }
        /^$/ { tell() }
        names != "" { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
        END { tell() }'
}

# _persik_takes COMMAND OPTION: what the option takes, as --usage calls it: FILE, LIST, table|json|csv. Nothing: no
# value.
_persik_takes() {
    persik "$1" --usage 2>/dev/null | grep -o -e "\[$2[ =][^]]*\]" | sed 's/^\[[^ =]*[ =]//; s/\]$//' | head -n 1
}

# The pools of the model that the words of the line name.
_persik_pools() {
    _persik_folder=
    _persik_model=
    while [ $# -gt 1 ]; do
        case $1 in
        -i | -o | --input | --output) _persik_folder=$2 ;;
        --input=* | --output=*) _persik_folder=${1#*=} ;;
        --model) _persik_model=$2 ;;
        --model=*) _persik_model=${1#*=} ;;
        esac
        shift
    done
    persik graph --format json ${_persik_folder:+-i "$_persik_folder"} ${_persik_model:+--model "$_persik_model"} \
        2>/dev/null | sed -n 's/^ *"pool": "\(.*\)",*$/\1/p'
}

# The names of passes, as `persik build-model --list-passes` begins its lines with them; --without takes also the
# candidates that it lists behind them.
_persik_passes() {
    persik build-model --list-passes 2>/dev/null | grep -oE "^ {0,$1}[a-z_]+" | tr -d ' '
}

# _persik_behind TEXT [END]: the lines that come, behind that text.
_persik_behind() {
    while read -r _persik_line; do printf '%s%s%s\n' "$1" "$_persik_line" "${2-}"; done
}

# _persik_values OPTION TAKES VALUE WORD...: what the option's value may go on with.
_persik_values() {
    _persik_option=$1 _persik_kind=$2 _persik_value=$3
    shift 3
    case $_persik_option:$_persik_kind in
    *:DIR) echo @folders ;;
    *:*FILE) echo @files ;;
    *:CMD) echo @commands ;;
    --threads:* | --partition:*=RULE)
        case $_persik_option:${_persik_value##*,} in
        --partition:*=*) printf '%s\n' shared fixed perthread | _persik_behind "${_persik_value%"${_persik_value##*=}"}" ;;
        *=*) ;; # a number
        *) _persik_pools "$@" | _persik_behind "${_persik_value%"${_persik_value##*,}"}" = ;;
        esac
        ;;
    --without:*) _persik_passes 2 ;;
    *:PASS) _persik_passes 0 ;;
    --stop-signal:*) printf '%s\n' TERM INT QUIT HUP USR1 USR2 WINCH ;;
    *:*\|*) printf '%s\n' "$_persik_kind" | tr '|' '\n' ;;
    esac
}

_persik_next() {
    if [ $# -le 1 ]; then
        _persik_commands
        printf '%s\n' --help --version
        return
    fi
    _persik_command=$1
    _persik_before=
    for _persik_word; do
        _persik_last=$_persik_before
        _persik_before=$_persik_word
    done
    _persik_takes_value=
    case $_persik_last in
    -?*) _persik_takes_value=$(_persik_takes "$_persik_command" "$_persik_last") ;;
    esac
    if [ -n "$_persik_takes_value" ]; then
        _persik_values "$_persik_last" "$_persik_takes_value" "$_persik_word" "$@"
        return
    fi
    case $_persik_command:$_persik_word in
    *:--*=*) # the adapters know where the value begins
        _persik_option=${_persik_word%%=*}
        _persik_values "$_persik_option" "$(_persik_takes "$_persik_command" "$_persik_option")" \
            "${_persik_word#*=}" "$@"
        ;;
    *:-*) _persik_options "$_persik_command" ;;
    help:*) _persik_commands ;;
    *)
        case $(persik "$_persik_command" --usage 2>/dev/null) in
        *PROGRAM*) echo @commands ;;
        *) echo @files ;;
        esac
        ;;
    esac
}
