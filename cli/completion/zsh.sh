
# ---- zsh ----

_persik() {
    local kind candidate text value
    local -a candidates described typed
    typed=("${(@)words[2,CURRENT]}")
    value=$typed[-1]
    [[ $value == --*=* ]] && compset -P 1 '*=' # what is completed begins behind that
    while IFS=$'\t' read -r candidate text; do
        case $candidate in
        @folders) _files -/ ;;
        @files) _files ;;
        @commands) _command_names && _files ;;
        *)
            candidates+=("$candidate")
            described+=("$candidate${text:+ -- $text}")
            ;;
        esac
    done < <(emulate -L sh; _persik_next "${typed[@]}")
    if (( ! $#candidates )); then
        return
    elif [[ ${candidates[1]} == *= ]]; then
        compadd -S '' -d described -a candidates
    else
        compadd -d described -a candidates
    fi
}

# Read as a function of its own, or by `source`.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _persik "$@"; else compdef _persik persik; fi
