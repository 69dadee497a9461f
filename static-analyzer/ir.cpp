#include "static-analyzer/ir.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_set>

namespace persik {

Text::Text(const std::string &text) {
    static std::unordered_set<std::string> all;
    static const std::string *const none = &*all.emplace().first;
    one = text.empty() ? none : &*all.insert(text).first;
}

Exprs::Exprs(std::vector<Expr> list)
    : list(list.empty() ? nullptr : std::make_shared<std::vector<Expr>>(std::move(list))) {
}

Exprs::Exprs(std::initializer_list<Expr> list) : Exprs(std::vector<Expr>(list)) {
}

/* What no other copy sees. */
std::vector<Expr> &Exprs::own() {
    if (!list)
        list = std::make_shared<std::vector<Expr>>();
    else if (list.use_count() > 1)
        list = std::make_shared<std::vector<Expr>>(*list);
    return *list;
}

Expr &Exprs::emplace_back() {
    return own().emplace_back();
}

void Exprs::push_back(Expr expr) {
    own().push_back(std::move(expr));
}

void Exprs::erase(const Expr *position) {
    auto i = position - begin();
    own().erase(own().begin() + i);
}

bool expr_is_copy(const Expr &a, const Expr &b) {
    return a.kind == b.kind && a.type == b.type && a.children.shares(b.children) &&
           a.value == b.value && a.noreturn == b.noreturn && a.before == b.before &&
           a.place.line == b.place.line && a.place.column == b.place.column && a.text == b.text;
}

std::string key_display(const std::string &key) {
    return key.substr(0, key.find('@'));
}

static std::string number_display(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    return text;
}

static std::string arguments_display(const Expr &expr, size_t first) {
    std::string text = "(";
    for (size_t i = first; i < expr.children.size(); i++)
        text += (i > first ? ", " : "") + expr_display(expr.children[i]);
    return text + ")";
}

static std::string operator_display(const Expr &expr) {
    const auto &operands = expr.children;
    if (expr.text == "?:" && operands.size() == 3)
        return expr_display(operands[0]) + " ? " + expr_display(operands[1]) + " : " +
               expr_display(operands[2]);
    auto operand = [](const Expr &e) {
        bool compound = e.kind == ExprKind::Operator && e.children.size() > 1;
        return compound ? "(" + expr_display(e) + ")" : expr_display(e);
    };
    if (operands.size() == 1)
        return expr.text + operand(operands[0]);
    if (operands.size() == 2)
        return operand(operands[0]) + " " + expr.text + " " + operand(operands[1]);
    return expr.text;
}

std::string expr_display(const Expr &expr) {
    switch (expr.kind) {
    case ExprKind::Constant:
        return expr.text.empty() ? number_display(expr.value) : expr.text;
    case ExprKind::Variable:
        return key_display(expr.text);
    case ExprKind::Address:
        return "&" + expr_display(expr.children[0]);
    case ExprKind::Function:
        return key_display(expr.text);
    case ExprKind::Call:
        return key_display(expr.text) + arguments_display(expr, 0);
    case ExprKind::Indirect:
        return "(*" + expr_display(expr.children[0]) + ")" + arguments_display(expr, 1);
    case ExprKind::Operator:
        return operator_display(expr);
    case ExprKind::Assign:
        return expr_display(expr.children[0]) + " " + expr.text + " " +
               expr_display(expr.children[1]);
    case ExprKind::Atomic:
        return "atomic " + expr_display(expr.children[0]);
    case ExprKind::Other:
        return expr.children.size() == 1 ? expr_display(expr.children[0]) : "...";
    }
    return "";
}

std::string expr_object(const Expr &expr) {
    if (expr.kind == ExprKind::Variable)
        return expr.type == TypeKind::Pointer ? "*" + expr.text : expr.text;
    if (expr.kind == ExprKind::Address && expr.children[0].kind == ExprKind::Variable)
        return expr.children[0].text;
    /* &locks[i], locks + i: the element, by its array */
    if (expr.kind == ExprKind::Operator && expr.type == TypeKind::Pointer)
        for (const Expr &child : expr.children)
            if (child.type == TypeKind::Pointer)
                return expr_object(child);
    return "";
}

/* ---- text form: numbers and length-prefixed strings; a string seen before is its number ---- */

namespace {

class Writer {
  public:
    std::string out = "persik-ir 3\n";

    void item(const std::string &text) {
        auto [position, fresh] = known.try_emplace(text, known.size());
        if (!fresh) {
            out += 'r';
            item((long)position->second);
            return;
        }
        out += 's';
        item((long)text.size());
        out += text;
    }
    void item(const Text &text) {
        item((const std::string &)text);
    }
    void item(long value) {
        out += std::to_string(value);
        out += ' ';
    }
    void item(int value) {
        item((long)value);
    }
    void item(bool value) {
        item((long)value);
    }
    void item(double value) {
        char text[40];
        snprintf(text, sizeof text, "%.17g ", value);
        out += text;
    }
    template <typename T> void choice(const T &value) {
        item((long)value);
    }
    template <typename T> void list(const T &items) {
        item((long)items.size());
        for (const auto &element : items)
            visit(*this, element);
    }

  private:
    std::map<std::string, size_t> known;
};

class Reader {
  public:
    explicit Reader(const std::string &text) : next(text.c_str()), end(next + text.size()) {
        static const char head[] = "persik-ir 3\n";
        good = text.compare(0, strlen(head), head) == 0;
        if (good)
            next += strlen(head);
    }
    bool good;

    void item(std::string &text) {
        if (!good || next >= end) {
            good = false;
            return;
        }
        char tag = *next++;
        long number = 0;
        item(number);
        if (tag == 'r' && number >= 0 && (size_t)number < known.size()) {
            text = known[(size_t)number];
        } else if (tag == 's' && number >= 0 && number <= end - next) {
            text.assign(next, (size_t)number);
            next += number;
            known.push_back(text);
        } else {
            good = false;
        }
    }
    void item(Text &text) {
        std::string plain;
        item(plain);
        text = plain;
    }
    void item(long &value) {
        char *stop = nullptr;
        value = good ? strtol(next, &stop, 10) : 0;
        advance(stop);
    }
    void item(int &value) {
        long wide = 0;
        item(wide);
        value = (int)wide;
    }
    void item(bool &value) {
        long wide = 0;
        item(wide);
        value = wide != 0;
    }
    void item(double &value) {
        char *stop = nullptr;
        value = good ? strtod(next, &stop) : 0;
        advance(stop);
    }
    template <typename T> void choice(T &value) {
        long wide = 0;
        item(wide);
        value = (T)wide;
    }
    template <typename T> void list(T &items) {
        long count = 0;
        item(count);
        good = good && count >= 0 && count <= end - next;
        for (long i = 0; good && i < count; i++)
            visit(*this, items.emplace_back());
    }

  private:
    const char *next, *end;
    std::vector<std::string> known;

    void advance(const char *stop) {
        good = good && stop && stop != next && stop < end;
        if (good)
            next = stop + 1;
    }
};

/* The order of the fields, once for both directions. */
template <typename A> void visit(A &a, const std::string &text) {
    a.item(const_cast<std::string &>(text));
}

template <typename A, typename T> void visit(A &a, const T &constant) {
    auto &t = const_cast<T &>(constant);
    if constexpr (std::is_same_v<T, Place>) {
        a.item(t.file), a.item(t.line), a.item(t.column);
        a.item(t.spelling_file), a.item(t.spelling_line), a.item(t.spelling_column);
    } else if constexpr (std::is_same_v<T, Expr>) {
        a.choice(t.kind), a.choice(t.type), a.item(t.text);
        a.item(t.value), a.item(t.noreturn), a.item(t.before);
        if (t.kind == ExprKind::Call || t.kind == ExprKind::Indirect)
            visit(a, t.place);
        a.list(t.children);
    } else if constexpr (std::is_same_v<T, Stmt>) {
        a.choice(t.kind), a.item(t.text), a.item(t.first_line), a.item(t.last_line);
        a.list(t.exprs), a.list(t.children);
    } else if constexpr (std::is_same_v<T, StaticObject>) {
        a.item(t.type), a.item(t.key), visit(a, t.place), a.item(t.function);
    } else if constexpr (std::is_same_v<T, Function>) {
        a.item(t.key), a.item(t.file), a.item(t.line), a.item(t.last_line), a.item(t.signature);
        a.list(t.parameters), a.list(t.overrides), a.item(t.constructs), visit(a, t.body);
    } else {
        static_assert(std::is_same_v<T, Unit>);
        a.item(t.file), a.item(t.parsed), a.item(t.lacks_header);
        a.list(t.functions), a.list(t.initialisers), a.list(t.objects), a.list(t.problems);
        a.list(t.headers);
    }
}

} // namespace

std::string unit_write(const Unit &unit) {
    Writer writer;
    visit(writer, unit);
    return writer.out;
}

bool unit_read(const std::string &text, Unit &unit) {
    Reader reader(text);
    visit(reader, unit);
    return reader.good;
}

} // namespace persik
