
# ---- bash ----

_persik() {
    # As they were typed: bash would break words at "=" and ":" as well.
    local line=${COMP_LINE:0:COMP_POINT} words word value prefix candidate
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    value=$word
    [[ $word == --*=* ]] && value=${word#*=}
    prefix=${value%"${value##*[=:]}"} # bash's word begins behind that
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
        @folders) mapfile -t COMPREPLY < <(compgen -d -- "$value") ;;
        @files) mapfile -t COMPREPLY < <(compgen -f -- "$value") ;;
        @commands) mapfile -t COMPREPLY < <(compgen -c -f -- "$value" | sort -u) ;;
        "$value"*) COMPREPLY+=("${candidate#"$prefix"}") ;;
        esac
    done < <(_persik_next "${words[@]:1}")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}

complete -o filenames -F _persik persik
