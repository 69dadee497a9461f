# bash completion for persik; installed as share/bash-completion/completions/persik

# The long options of a command, as its own --usage tells them.
_persik_options() {
    persik "$1" --usage 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u
}

# The names of passes, as `persik build-model --list-passes` begins its lines with them.
_persik_passes() {
    persik build-model --list-passes 2>/dev/null | grep -o '^[a-z_]*'
}

# What --without takes: passes, and candidates that the list shows behind them.
_persik_parts() {
    persik build-model --list-passes 2>/dev/null | grep -oE '^ {0,2}[a-z_]+'
}

_persik() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="profile sample analyze trace build-model predict sensitivity bottleneck recommend validate load graph critical-path what-if diff report export help"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --version --help" -- "$word")
        return
    fi
    case $before in
    -i | -o | --input | --output | --build-dir)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --model | --reuse | --measurements | --catalog | --urls | --html)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --stop-signal)
        mapfile -t COMPREPLY < <(compgen -W "TERM INT QUIT HUP USR1 USR2 WINCH" -- "$word")
        return
        ;;
    --load | --ready | --prepare | --cleanup)
        mapfile -t COMPREPLY < <(compgen -c -- "$word" | sort -u)
        return
        ;;
    --dump-after | --stop-after)
        mapfile -t COMPREPLY < <(compgen -W "$(_persik_passes)" -- "$word")
        return
        ;;
    --without)
        mapfile -t COMPREPLY < <(compgen -W "$(_persik_parts)" -- "$word")
        return
        ;;
    --arrivals-kind)
        mapfile -t COMPREPLY < <(compgen -W "poisson constant recorded" -- "$word")
        return
        ;;
    --what)
        mapfile -t COMPREPLY < <(compgen -W "trace stacks model" -- "$word")
        return
        ;;
    --format)
        local formats="table json csv"
        [ "${COMP_WORDS[1]}" = validate ] && formats="$formats svg"
        [ "${COMP_WORDS[1]}" = export ] && formats="chrome csv folded json dot"
        mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_persik_options "${COMP_WORDS[1]}")" -- "$word") ;;
    *)
        if [ "${COMP_WORDS[1]}" = help ]; then
            mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u)
        fi
        ;;
    esac
}

complete -o filenames -F _persik persik
