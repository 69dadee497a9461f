/* The program as the analyses see it: a small tree per function, free of Clang's types.
 *
 * Clang's syntax trees are large and belong to one file at a time; what we ask is about the whole
 * program. So each file is reduced to this form in a worker process, handed to the main process
 * (or the cache) as text, and merged there (program.h).
 *
 * Variables are named by keys, access paths by type:
 *     "struct queue.count"          any such field, whatever the base
 *     "global:limit"                a global; "global:limit@file.c" if internal to a file
 *     "local:f.i@file.c:12:9"       a local or parameter
 *     "captured:f.i@file.c:12:9"    one that a lambda refers to: others may see it, too
 *     "*KEY"                        what the pointer KEY points at (and its elements)
 *     "return:f"                    what f returns
 * What follows '@' only keeps namesakes apart; key_display() cuts it off. */
#ifndef PERSIK_STATIC_ANALYZER_IR_H
#define PERSIK_STATIC_ANALYZER_IR_H

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace persik {

/* A string of which there is only one, so that copies cost nothing: the same keys and file names
 * stand in many expressions. Kept until the program ends. */
class Text {
  public:
    Text() : Text(std::string()) {
    }
    explicit Text(const std::string &text);
    Text &operator=(const std::string &text) {
        return *this = Text(text);
    }

    operator const std::string &() const {
        return *one;
    }
    void clear() {
        *this = Text();
    }
    bool empty() const {
        return one->empty();
    }
    size_t size() const {
        return one->size();
    }
    char operator[](size_t i) const {
        return (*one)[i];
    }
    char back() const {
        return one->back();
    }
    size_t rfind(const char *part, size_t from) const {
        return one->rfind(part, from);
    }
    std::string substr(size_t from, size_t count = std::string::npos) const {
        return one->substr(from, count);
    }

    friend bool operator==(const Text &a, const Text &b) {
        return a.one == b.one;
    }
    friend bool operator!=(const Text &a, const Text &b) {
        return a.one != b.one;
    }
    friend bool operator==(const Text &a, const std::string &b) {
        return *a.one == b;
    }
    friend bool operator==(const std::string &a, const Text &b) {
        return a == *b.one;
    }
    friend bool operator!=(const Text &a, const std::string &b) {
        return *a.one != b;
    }
    friend bool operator==(const Text &a, const char *b) {
        return *a.one == b;
    }
    friend bool operator!=(const Text &a, const char *b) {
        return *a.one != b;
    }
    friend std::string operator+(const Text &a, const std::string &b) {
        return *a.one + b;
    }
    friend std::string operator+(const std::string &a, const Text &b) {
        return a + *b.one;
    }
    friend std::string operator+(const char *a, const Text &b) {
        return a + *b.one;
    }

  private:
    const std::string *one;
};

/* Where something is. `spelling_*` differ from the rest when a macro hides the place. */
struct Place {
    Text file;
    int line = 0, column = 0;
    Text spelling_file;
    int spelling_line = 0, spelling_column = 0;
};

enum class ExprKind {
    Constant, /* value; text: its spelling if it is a name */
    Variable, /* text: key; children: bases and subscripts, read on the way */
    Address,  /* children[0]: what it is the address of */
    Function, /* text: key of the function */
    Call,     /* text: key of the callee; children: arguments */
    Indirect, /* text: signature; children[0]: the pointer, then the arguments. Of a virtual method:
               * text: its key; children[0]: the object */
    Operator, /* text: operator; children: operands */
    Assign,   /* text: "=", "+=", ...; children: target, value. x++ is x += 1 */
    Atomic,   /* atomic read-modify-write; children: object (a Variable), operands */
    Other,    /* children: whatever is evaluated on the way */
};

enum class TypeKind { None, Integer, Real, Pointer, Record };

/* Text of the Call that stands for an OpenMP region; its argument, if any, is how many threads. */
inline const char *const parallel_region = "omp parallel";

struct Expr;

/* The children of an expression. Copies share them until one of the copies is changed: conditions
 * are kept at every branch of the program, and nearly all of them unchanged. */
class Exprs {
  public:
    Exprs() = default;
    Exprs(std::vector<Expr> list);
    Exprs(std::initializer_list<Expr> list);

    size_t size() const;
    bool empty() const;
    const Expr *begin() const;
    const Expr *end() const;
    const Expr &operator[](size_t i) const;
    const Expr &back() const;

    /* To change them. */
    Expr *begin();
    Expr *end();
    Expr &operator[](size_t i);
    Expr &emplace_back();
    void push_back(Expr expr);
    void erase(const Expr *position);

    bool shares(const Exprs &other) const {
        return list == other.list;
    }

  private:
    std::shared_ptr<std::vector<Expr>> list; /* null: none */

    std::vector<Expr> &own();
};

struct Expr {
    ExprKind kind = ExprKind::Other;
    TypeKind type = TypeKind::None;
    Text text;
    double value = 0;
    bool noreturn = false; /* a call that does not come back */
    bool before = false;   /* an Assign or Atomic whose value is the one before the change: x++ */
    Place place;           /* calls only */
    Exprs children;
};

inline size_t Exprs::size() const {
    return list ? list->size() : 0;
}
inline bool Exprs::empty() const {
    return size() == 0;
}
inline const Expr *Exprs::begin() const {
    return list ? list->data() : nullptr;
}
inline const Expr *Exprs::end() const {
    return begin() + size();
}
inline const Expr &Exprs::operator[](size_t i) const {
    return (*list)[i];
}
inline const Expr &Exprs::back() const {
    return list->back();
}
inline Expr *Exprs::begin() {
    return list ? own().data() : nullptr;
}
inline Expr *Exprs::end() {
    return begin() + size();
}
inline Expr &Exprs::operator[](size_t i) {
    return own()[i];
}

enum class StmtKind {
    Block,    /* text: the label in front of it, if any */
    Evaluate, /* exprs[0] */
    If,       /* exprs[0]; children: then, else */
    Loop,     /* exprs[0]: condition, if any; children: before, body, step; text: for, while, do,
                 each (exprs[0]: of the range, its only child, some is left) */
    Switch,   /* exprs[0]; children: body. Also do { } while (0): breaks lead behind it */
    Return,   /* exprs[0], if any */
    Break,
    Continue,
    Goto, /* text: label */
    Nothing,
};

struct Stmt {
    StmtKind kind = StmtKind::Nothing;
    std::string text;
    int first_line = 0, last_line = 0;
    std::vector<Expr> exprs;
    std::vector<Stmt> children;
};

/* An object with static storage that a macro like PTHREAD_MUTEX_INITIALIZER brings to life. */
struct StaticObject {
    std::string type; /* "pthread_mutex_t" */
    std::string key;
    Place place;
    std::string function; /* key; empty at file level */
};

struct Function {
    std::string key;  /* the linker's name; "name@file" if internal to the file; "name@class" */
    std::string file; /* of the definition */
    int line = 0, last_line = 0;
    std::string signature;               /* canonical type, to match calls through pointers */
    std::vector<std::string> parameters; /* keys */
    std::vector<std::string>
        overrides;          /* keys of the virtual methods in whose place it is called */
    std::string constructs; /* the class, of a constructor; its fields are "CLASS.x" */
    Stmt body;
};

/* One analysed file with all that it defines. */
struct Unit {
    std::string file;
    std::vector<Function> functions;
    std::vector<Stmt> initialisers; /* of globals, as assignments */
    std::vector<StaticObject> objects;
    std::vector<std::string> problems;
    std::vector<std::string> headers; /* all that it includes, absolute */
    bool parsed = false;
    bool lacks_header = false; /* one was not found: what is above may change when it is there */
};

/* Key without what follows '@'. */
std::string key_display(const std::string &key);

/* Expression as a reader would write it, with access paths for variables. */
std::string expr_display(const Expr &expr);

/* The variable behind `expr` when it is one or the address of one; empty if not nameable. */
std::string expr_object(const Expr &expr);

/* Calls `visit` for `expr` and all below it. */
template <typename F> void expr_walk(const Expr &expr, const F &visit) {
    visit(expr);
    for (const Expr &child : expr.children)
        expr_walk(child, visit);
}

/* Calls `change` for `expr` and all below it, these first. */
template <typename F> void expr_change(Expr &expr, const F &change) {
    for (Expr &child : expr.children)
        expr_change(child, change);
    change(expr);
}

/* The same for all expressions of a statement. */
template <typename F> void stmt_change(Stmt &stmt, const F &change) {
    for (Expr &expr : stmt.exprs)
        expr_change(expr, change);
    for (Stmt &child : stmt.children)
        stmt_change(child, change);
}

/* True if they are the same by what is seen without looking into children: these must be shared. */
bool expr_is_copy(const Expr &a, const Expr &b);

/* `expr` with change(child) in the place of each child; shares what that leaves as it is. */
template <typename F> Expr expr_map(const Expr &expr, const F &change) {
    Expr copy = expr;
    for (size_t i = 0; i < expr.children.size(); i++) {
        const Expr &child = expr.children[i];
        if (Expr changed = change(child); !expr_is_copy(changed, child))
            copy.children[i] = std::move(changed);
    }
    return copy;
}

/* Text form and back; false when `text` is not such a form. */
std::string unit_write(const Unit &unit);
bool unit_read(const std::string &text, Unit &unit);

} // namespace persik

#endif
