#include "tracer/layout.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define GLOBAL "global:"

/* ---- access paths ---- */

/* "struct queue.state.count": the record's name, and the fields behind it. Of a global variable its
 * own name, and "" or the fields. */
struct path {
    char *owner;
    const char *fields; /* in the whole path */
    bool is_global;
};

static struct path parse_path(const char *text) {
    struct path path = {.is_global = strncmp(text, GLOBAL, strlen(GLOBAL)) == 0};
    const char *name = path.is_global ? text + strlen(GLOBAL) : text;
    static const char *const tags[] = {"struct ", "union ", "class "};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strncmp(name, tags[i], strlen(tags[i])) == 0)
            name += strlen(tags[i]);
    for (const char *colons; (colons = strstr(name, "::"));)
        name = colons + 2; /* debug information has namespaces around the name */
    const char *dot = strchr(name, '.');
    path.fields = dot ? dot + 1 : "";
    path.owner = memory_strdup(name);
    path.owner[strcspn(name, ".")] = '\0';
    return path;
}

/* Debug information has a template's arguments behind its name. */
static bool is_named(Dwarf_Die *die, const struct path *path) {
    const char *name = dwarf_diename(die);
    size_t length = strlen(path->owner);
    return name && strncmp(name, path->owner, length) == 0 &&
           (name[length] == '\0' || name[length] == '<');
}

/* ---- types ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute attribute;
    Dwarf_Die raw;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &raw) &&
           dwarf_peel_type(&raw, type) == 0;
}

static bool is_record(Dwarf_Die *type) {
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static int64_t place_in_record(Dwarf_Die *member) {
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    dwarf_formudata(dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute), &at);
    return (int64_t)at;
}

/* Goes from a record to the field that `fields` leads to; `*offset` grows by its place. */
static bool find_field(Dwarf_Die *record, const char *fields, int64_t *offset, Dwarf_Die *found) {
    size_t length = strcspn(fields, ".");
    Dwarf_Die child, type;
    if (!is_record(record) || dwarf_child(record, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        const char *name = dwarf_diename(&child);
        bool is_part = (tag == DW_TAG_member && !name) || tag == DW_TAG_inheritance;
        bool is_named = tag == DW_TAG_member && name && strlen(name) == length &&
                        strncmp(name, fields, length) == 0;
        if ((!is_part && !is_named) || !type_of(&child, &type))
            continue;
        int64_t at = place_in_record(&child);
        *offset += at;
        if (is_named && fields[length] == '\0') {
            *found = child;
            return true;
        }
        if (find_field(&type, is_named ? fields + length + 1 : fields, offset, found))
            return true;
        *offset -= at;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* How far into a field or variable of this type the mutex itself lies that it is, or wraps. Adds to
 * `*offset`; false: there is none, or it is only pointed at. glibc's are unions with a member of
 * this name. */
static bool find_mutex(Dwarf_Die *type, int64_t *offset) {
    Dwarf_Die child, inner;
    if (!is_record(type) || dwarf_child(type, &child) != 0)
        return false;
    do {
        const char *name = dwarf_diename(&child);
        int tag = dwarf_tag(&child);
        if (dwarf_tag(type) == DW_TAG_union_type && name && strcmp(name, "__size") == 0)
            return true;
        int64_t at = place_in_record(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(&child, &inner))
            continue;
        *offset += at;
        if (find_mutex(&inner, offset))
            return true;
        *offset -= at;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Is what the field or variable holds a whole number? */
static bool read_number_type(Dwarf_Die *die, struct layout_pair *pair) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word encoding = 0, bytes = 0;
    if (dwarf_hasattr(die, DW_AT_bit_size) || !type_of(die, &type) ||
        dwarf_aggregate_size(&type, &bytes) != 0 || bytes < 1 || bytes > 8)
        return false;
    bool is_enum = dwarf_tag(&type) == DW_TAG_enumeration_type;
    if (dwarf_tag(&type) == DW_TAG_base_type)
        dwarf_formudata(dwarf_attr_integrate(&type, DW_AT_encoding, &attribute), &encoding);
    pair->bytes = (unsigned)bytes;
    pair->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    return is_enum || pair->is_signed || encoding == DW_ATE_unsigned ||
           encoding == DW_ATE_unsigned_char || encoding == DW_ATE_boolean;
}

/* ---- fields of one record ---- */

/* What the debug information says of one pair: often the same in every unit. */
struct answer {
    struct layout_pair pair;
    bool differs; /* namesakes */
    /* Of globals, where they are. */
    struct global {
        bool known, differs;
        int64_t address;
        int unit;
    } mutex, variable;
};

struct question {
    struct path mutex, variable;
    struct answer answer;
};

static void give(struct answer *answer, const struct layout_pair *pair) {
    if (answer->pair.found && answer->pair.offset != pair->offset)
        answer->differs = true;
    answer->pair = *pair;
    answer->pair.found = true;
}

static void ask_record(struct question *question, Dwarf_Die *die) {
    Dwarf_Die record = *die, mutex, mutex_type, variable;
    int64_t mutex_at = 0, variable_at = 0;
    struct layout_pair pair = question->answer.pair;
    if (dwarf_tag(die) == DW_TAG_typedef && !type_of(die, &record))
        return;
    if (!find_field(&record, question->mutex.fields, &mutex_at, &mutex) ||
        !type_of(&mutex, &mutex_type) || !find_mutex(&mutex_type, &mutex_at) ||
        !find_field(&record, question->variable.fields, &variable_at, &variable) ||
        !read_number_type(&variable, &pair))
        return;
    pair.offset = variable_at - mutex_at;
    give(&question->answer, &pair);
}

/* ---- global variables ---- */

static bool address_of(Dwarf_Die *die, int64_t *address) {
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t n;
    if (dwarf_getlocation(dwarf_attr_integrate(die, DW_AT_location, &attribute), &operations, &n) !=
            0 ||
        n != 1 || operations[0].atom != DW_OP_addr)
        return false;
    *address = (int64_t)operations[0].number;
    return true;
}

/* If this is the variable's definition: where it or the field of it is. */
static bool find_global(const struct path *path, Dwarf_Die *die, int64_t *address,
                        Dwarf_Die *field) {
    Dwarf_Die type;
    *field = *die;
    return is_named(die, path) && address_of(die, address) && type_of(die, &type) &&
           (!*path->fields || find_field(&type, path->fields, address, field));
}

static bool note(struct global *global, int64_t address, int unit) {
    global->differs |= global->known && global->address != address;
    global->known = true;
    global->address = address;
    global->unit = unit;
    return true;
}

static void ask_global(struct question *question, Dwarf_Die *die, int unit) {
    struct answer *answer = &question->answer;
    Dwarf_Die field, type;
    int64_t address;
    bool is_part = false;
    if (find_global(&question->mutex, die, &address, &field) && type_of(&field, &type) &&
        find_mutex(&type, &address))
        is_part |= note(&answer->mutex, address, unit);
    if (find_global(&question->variable, die, &address, &field) &&
        read_number_type(&field, &answer->pair))
        is_part |= note(&answer->variable, address, unit);
    if (!is_part || !answer->mutex.known || !answer->variable.known || answer->mutex.unit != unit ||
        answer->variable.unit != unit)
        return;
    struct layout_pair pair = answer->pair;
    pair.offset = answer->variable.address - answer->mutex.address;
    give(answer, &pair);
}

/* Defined in units apart, of which there is one each. */
static void join_units(struct answer *answer) {
    const struct global *mutex = &answer->mutex, *variable = &answer->variable;
    if (answer->pair.found || !mutex->known || !variable->known || mutex->differs ||
        variable->differs)
        return;
    answer->pair.offset = variable->address - mutex->address;
    answer->pair.found = true;
}

/* ---- all of it ---- */

struct search {
    struct question *questions;
    size_t n_questions;
    int unit;
};

static void ask(struct search *search, Dwarf_Die *die) {
    bool is_variable = dwarf_tag(die) == DW_TAG_variable;
    for (size_t q = 0; q < search->n_questions; q++) {
        struct question *question = &search->questions[q];
        if (question->mutex.is_global != is_variable)
            continue;
        if (is_variable)
            ask_global(question, die, search->unit);
        else if (is_named(die, &question->mutex))
            ask_record(question, die);
    }
}

static void walk(struct search *search, Dwarf_Die *parent) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0)
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_namespace:
            walk(search, &child);
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            walk(search, &child); /* of records and static members inside */
            ask(search, &child);
            break;
        case DW_TAG_typedef:
        case DW_TAG_variable:
            ask(search, &child);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* Both in one record, or both global: else nothing tells how far they are apart. */
static bool is_answerable(const struct question *question) {
    const struct path *mutex = &question->mutex, *variable = &question->variable;
    return mutex->is_global ? variable->is_global
                            : !variable->is_global && *mutex->fields && *variable->fields &&
                                  strcmp(mutex->owner, variable->owner) == 0;
}

void layout_find(Dwarf *debug, struct layout_pair *pairs, size_t n_pairs) {
    struct search search = {.questions = memory_alloc(n_pairs, sizeof *search.questions)};
    size_t *pair_of = memory_alloc(n_pairs, sizeof *pair_of);
    for (size_t p = 0; p < n_pairs; p++) {
        struct question question = {.mutex = parse_path(pairs[p].mutex),
                                    .variable = parse_path(pairs[p].variable),
                                    .answer.pair = pairs[p]};
        if (!pairs[p].found && is_answerable(&question)) {
            pair_of[search.n_questions] = p;
            search.questions[search.n_questions++] = question;
            continue;
        }
        free(question.mutex.owner);
        free(question.variable.owner);
    }
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (search.n_questions > 0 &&
           dwarf_get_units(debug, unit, &unit, NULL, &type, &die, &split) == 0) {
        walk(&search, type == DW_UT_skeleton && split.addr ? &split : &die);
        search.unit++;
    }
    for (size_t q = 0; q < search.n_questions; q++) {
        struct question *question = &search.questions[q];
        join_units(&question->answer);
        if (question->answer.pair.found && !question->answer.differs)
            pairs[pair_of[q]] = question->answer.pair;
        free(question->mutex.owner);
        free(question->variable.owner);
    }
    free(search.questions);
    free(pair_of);
}
