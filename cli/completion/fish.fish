
function __persik_next
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    set -l prefix ''
    if string match -q -- '--*=*' $word
        set prefix (string replace -r '=.*' '=' -- $word)
    end
    set -l value (string replace -- "$prefix" '' "$word")
    for candidate in (sh -c "$__persik_words"' _persik_next "$@"' sh $words "$word")
        switch $candidate
            case @folders
                __fish_complete_directories $value | string replace -r '^' -- "$prefix"
            case @files
                __fish_complete_path $value | string replace -r '^' -- "$prefix"
            case @commands
                __fish_complete_command
                __fish_complete_path $value
            case '*'
                echo $prefix$candidate
        end
    end
end

complete -c persik -f -a '(__persik_next)'
