#include "base/whole_words.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

bool whole_words_stand_in(const char *wanted, const char *name) {
    size_t length = strlen(wanted);
    if (length == 0)
        return false;
    for (const char *at = strstr(name, wanted); at; at = strstr(at + 1, wanted)) {
        bool begins = at == name || !is_letter(at[-1]) || !is_letter(*wanted);
        bool ends = !is_letter(at[length]) || !is_letter(wanted[length - 1]);
        if (begins && ends)
            return true;
    }
    return false;
}
