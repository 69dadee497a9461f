# The texts of warnings in C sources: of each call of `calls` (a regular expression of names) the longest part of its
# first string between what is filled in; one a line, "FILE: PART". Usage: awk -v calls=REGEXP -f warnings.awk FILE...
function flush(    n, part, i, longest) {
    gsub(/\\"/, "\"", text)
    gsub(/%%/, "\001", text)
    n = split(text, part, /%[-+0-9.*]*(l|ll|z)?[a-zA-Z]/)
    longest = part[1]
    for (i = 2; i <= n; i++)
        if (length(part[i]) > length(longest)) longest = part[i]
    gsub(/\001/, "%", longest)
    sub(/^[ :;,]*/, "", longest)
    sub(/[ :;,(]*$/, "", longest)
    if (length(longest) >= 8) print FILENAME ": " longest
}
FNR == 1 { inside = 0 }
!inside && match($0, "(^|[^a-z_])(" calls ")\\(") {
    $0 = substr($0, RSTART + RLENGTH)
    inside = 1
    text = ""
    found = 0
}
inside {
    rest = $0
    while (match(rest, /"([^"\\]|\\.)*"/)) {
        if (found && substr(rest, 1, RSTART - 1) ~ /,/) { inside = 0; break } # the next argument
        text = text substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        found = 1
        if (rest ~ /^ PRI[a-z0-9]+ /) { text = text "llu"; sub(/^ PRI[a-z0-9]+ /, "", rest) }
    }
    if (!inside || rest ~ /;[ ]*$/ || (found && rest ~ /^ *[,)]/)) {
        if (found) flush()
        inside = 0
    }
}
