#include "base/function_name.h"

#include <string.h>

#include "base/memory.h"

/* Where arguments of a template may begin: behind the name, which in operator<, operator-> and
 * their like has brackets of its own. A conversion is named by all of a type. */
static const char *end_of_name(const char *name) {
    static const char keyword[] = "operator";
    if (strncmp(name, keyword, sizeof keyword - 1) != 0)
        return name;
    name += sizeof keyword - 1;
    if (name[0] == ' ')
        return name + strlen(name);
    if (strncmp(name, "()", 2) == 0 || strncmp(name, "[]", 2) == 0)
        return name + 2;
    return name + strspn(name, "<>=!+-*/%^&|~,");
}

char *function_name_in_source(const char *name) {
    if (!name)
        return NULL;
    size_t length = strlen(name);
    const char *arguments = strchr(end_of_name(name), '<');
    if (!arguments || arguments == name || name[length - 1] != '>')
        return memory_strdup(name);
    length = (size_t)(arguments - name);
    if (name[length - 1] == ' ')
        length--;
    return memory_format("%.*s", (int)length, name);
}
