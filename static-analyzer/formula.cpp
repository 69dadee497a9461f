/* Expressions as formulas: calls of simple functions, conditions, words in postfix order. */
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "static-analyzer/critical.h"

namespace persik {

Expr expr_operation(const std::string &op, std::vector<Expr> operands) {
    Expr expr;
    expr.kind = ExprKind::Operator;
    expr.type = TypeKind::Integer;
    expr.text = op;
    expr.children = std::move(operands);
    return expr;
}

namespace {

bool is_constant(const Expr &expr, double value) {
    return expr.kind == ExprKind::Constant && expr.value == value;
}

/* ---- simple functions as expressions ---- */

/* Every `if` may double what a function's value is made of, and functions that call each other
 * multiply it: what gets larger than any predicate is given up. */
class Effort {
  public:
    /* False from then on when there is none left. */
    bool spend() {
        if (left > 0)
            left--;
        return left > 0;
    }

    bool spent() const {
        return left == 0;
    }

  private:
    int left = 5000; /* nodes looked at */
};

class BodyValue {
  public:
    enum class Outcome { Falls, Returns, Unclear };

    BodyValue(const Program &program, int depth, Effort &effort)
        : program(program), depth(depth), effort(effort) {
    }

    Expr expand(const Expr &expr) const {
        if (!effort.spend())
            return expr;
        Expr copy = expr_map(expr, [&](const Expr &child) { return expand(child); });
        if (copy.kind != ExprKind::Call || depth <= 0)
            return copy;
        auto found = program.by_key.find(copy.text);
        if (found == program.by_key.end() || !program.flows[(size_t)found->second].is_formula)
            return copy;
        const Function *callee = &program.functions[(size_t)found->second];
        Substitution known;
        for (size_t i = 0; i < callee->parameters.size() && i < copy.children.size(); i++)
            known[callee->parameters[i]] = copy.children[i];
        Expr value;
        BodyValue inner(program, depth - 1, effort);
        return inner.follow(callee->body, known, value) == Outcome::Returns ? value : copy;
    }

    /* How following `stmt` ends, which does not depend on any value. */
    static Outcome outcome_of(const Stmt &stmt) {
        switch (stmt.kind) {
        case StmtKind::Nothing:
        case StmtKind::Evaluate:
            return Outcome::Falls;
        case StmtKind::Return:
            return stmt.exprs.empty() ? Outcome::Unclear : Outcome::Returns;
        case StmtKind::Block:
            return outcome_of_all(stmt.children);
        default:
            return Outcome::Unclear;
        }
    }

  private:
    const Program &program;
    int depth;
    Effort &effort;

    /* From the last statement to the first: an `if` asks for what follows it in both branches. */
    static Outcome outcome_of_all(const std::vector<Stmt> &stmts) {
        Outcome rest = Outcome::Falls;
        for (size_t i = stmts.size(); i-- > 0;) {
            if (stmts[i].kind != StmtKind::If) {
                Outcome here = outcome_of(stmts[i]);
                rest = here == Outcome::Falls ? rest : here;
                continue;
            }
            bool returns = true;
            for (size_t way = 0; way < 2; way++) {
                Outcome here = outcome_of(stmts[i].children[way]);
                returns = returns && (here == Outcome::Falls ? rest : here) == Outcome::Returns;
            }
            rest = returns ? Outcome::Returns : Outcome::Unclear;
        }
        return rest;
    }

    /* Follows the statements to the returns; the value is `c ? x : y` where they differ. */
    Outcome follow(const Stmt &stmt, Substitution &known, Expr &value) const {
        switch (stmt.kind) {
        case StmtKind::Nothing:
            return Outcome::Falls;
        case StmtKind::Return:
            if (stmt.exprs.empty())
                return Outcome::Unclear;
            value = expand(substitute(stmt.exprs[0], known));
            return Outcome::Returns;
        case StmtKind::Evaluate:
            note_local(stmt.exprs[0], known);
            return Outcome::Falls;
        case StmtKind::Block:
            return follow_all(stmt.children, 0, known, value);
        default:
            return Outcome::Unclear;
        }
    }

    void note_local(const Expr &expr, Substitution &known) const {
        if (expr.kind == ExprKind::Assign && expr.text == "=" &&
            key_is_local(expr.children[0].text))
            known[expr.children[0].text] = expand(substitute(expr.children[1], known));
    }

    Outcome follow_all(const std::vector<Stmt> &stmts, size_t first, Substitution &known,
                       Expr &value) const {
        for (size_t i = first; i < stmts.size(); i++) {
            const Stmt &stmt = stmts[i];
            if (stmt.kind == StmtKind::If)
                return follow_if(stmts, i, known, value);
            Outcome outcome = follow(stmt, known, value);
            if (outcome != Outcome::Falls)
                return outcome;
        }
        return Outcome::Falls;
    }

    Outcome follow_if(const std::vector<Stmt> &stmts, size_t i, const Substitution &known,
                      Expr &value) const {
        if (!effort.spend())
            return Outcome::Unclear;
        Expr ways[2];
        for (size_t way = 0; way < 2; way++) {
            Substitution here = known;
            Outcome outcome = follow(stmts[i].children[way], here, ways[way]);
            if (outcome == Outcome::Falls)
                outcome = follow_all(stmts, i + 1, here, ways[way]);
            if (outcome != Outcome::Returns)
                return Outcome::Unclear;
        }
        value =
            expr_operation("?:", {expand(substitute(stmts[i].exprs[0], known)), ways[0], ways[1]});
        return Outcome::Returns;
    }
};

/* (c ? 1 : x) is c || x; (c ? a : b) == k is c ? a == k : b == k. Expanded calls make one tree hang
 * in many places: what is shared is looked at once. */
class Simplifier {
  public:
    Expr simplify(const Expr &expr) {
        if (expr.children.empty())
            return expr;
        const Expr *first = std::as_const(expr.children).begin();
        auto known = done.find(first);
        if (known == done.end()) {
            Expr copy = expr_map(expr, [&](const Expr &child) { return simplify(child); });
            known = done.emplace(first, Done{expr.children, copy.children}).first;
        }
        Expr copy = expr;
        copy.children = known->second.after;
        return reduce(copy);
    }

  private:
    struct Done {
        Exprs before; /* kept, so that nothing else comes to be where they are */
        Exprs after;
    };
    std::unordered_map<const Expr *, Done> done; /* by the address of the first child */

    /* Children are simple already. */
    Expr reduce(const Expr &expr) {
        if (expr.kind != ExprKind::Operator)
            return expr;
        if (is_comparison(expr)) {
            for (size_t side = 0; side < 2; side++) {
                const Expr &choice = expr.children[side];
                if (choice.kind != ExprKind::Operator || choice.text != "?:" ||
                    expr.children[1 - side].kind != ExprKind::Constant)
                    continue;
                Expr yes = expr, no = expr;
                yes.children[side] = choice.children[1];
                no.children[side] = choice.children[2];
                return simplify(expr_operation("?:", {choice.children[0], yes, no}));
            }
            const Expr &a = expr.children[0], &b = expr.children[1];
            if (a.kind == ExprKind::Constant && b.kind == ExprKind::Constant) {
                Expr value;
                value.kind = ExprKind::Constant;
                value.type = TypeKind::Integer;
                value.value = comparison_holds(expr.text, a.value, b.value);
                return value;
            }
        }
        if (expr.text != "?:" || expr.children.size() != 3)
            return expr;
        const Expr &c = expr.children[0], &yes = expr.children[1], &no = expr.children[2];
        if (is_constant(yes, 1) && is_constant(no, 0))
            return c;
        if (is_constant(yes, 0) && is_constant(no, 1))
            return expr_operation("!", {c});
        if (is_constant(yes, 1))
            return expr_operation("||", {c, no});
        if (is_constant(no, 0))
            return expr_operation("&&", {c, yes});
        if (is_constant(yes, 0))
            return expr_operation("&&", {expr_operation("!", {c}), no});
        if (is_constant(no, 1))
            return expr_operation("||", {expr_operation("!", {c}), yes});
        return expr;
    }
};

/* It has choices, or comparisons of constants. */
bool may_be_simpler(const Expr &expr) {
    if (expr.kind == ExprKind::Operator && expr.text == "?:")
        return true;
    size_t constants = 0;
    for (const Expr &child : expr.children)
        if (child.kind == ExprKind::Constant)
            constants++;
        else if (may_be_simpler(child))
            return true;
    return constants > 1 && expr.kind == ExprKind::Operator;
}

/* ---- words in postfix order ---- */

void add_words(const Expr &expr, const std::vector<std::string> &variables, std::string &words) {
    static const std::set<std::string> binary = {"+",  "-", "*",  "/", "%",  "==",
                                                 "!=", "<", "<=", ">", ">=", "&&",
                                                 "||", "&", "|",  "^", "<<", ">>"};
    static const std::set<std::string> unary = {"!", "~", "-"};
    auto add = [&](const std::string &word) { words += (words.empty() ? "" : " ") + word; };
    size_t operands = expr.children.size();
    if (expr.kind == ExprKind::Constant) {
        Expr number = expr;
        number.text.clear();
        add(expr_display(number));
    } else if (expr.kind == ExprKind::Variable) {
        auto known = std::find(variables.begin(), variables.end(), expr.text);
        add(known == variables.end() ? "?" : "$" + std::to_string(known - variables.begin()));
    } else if (expr.kind == ExprKind::Operator && expr.text == "(cast)" && operands == 1) {
        add_words(expr.children[0], variables, words);
    } else if (expr.kind == ExprKind::Operator && ((operands == 2 && binary.count(expr.text)) ||
                                                   (operands == 1 && unary.count(expr.text)))) {
        for (const Expr &operand : expr.children)
            add_words(operand, variables, words);
        add(operands == 1 && expr.text == "-" ? std::string("neg") : expr.text);
    } else {
        add("?");
    }
}

} // namespace

Expr substitute(const Expr &expr, const Substitution &known) {
    if (known.empty())
        return expr;
    if (expr.kind == ExprKind::Variable) {
        auto whole = known.find(expr.text);
        if (whole != known.end())
            return whole->second;
        if (expr.text[0] == '*') {
            auto pointer = known.find(expr.text.substr(1));
            std::string key = pointer == known.end() ? "" : expr_object(pointer->second);
            if (!key.empty()) {
                Expr target = expr;
                target.text = key;
                return target;
            }
        }
    }
    return expr_map(expr, [&](const Expr &child) { return substitute(child, known); });
}

bool is_formula(const Function &function) {
    return BodyValue::outcome_of(function.body) == BodyValue::Outcome::Returns;
}

Expr expand_calls(const Program &program, const Expr &expr) {
    const int max_depth = 3;
    for (int depth = max_depth; depth > 0; depth--) {
        Effort effort;
        const Expr expanded = BodyValue(program, depth, effort).expand(expr);
        if (!effort.spent())
            return may_be_simpler(expanded) ? Simplifier().simplify(expanded) : expanded;
    }
    return expr;
}

Expr conjunction(const std::vector<Literal> &literals) {
    Expr all;
    for (size_t i = 0; i < literals.size(); i++) {
        const Literal &literal = literals[i];
        Expr one = literal.holds ? literal.expr : expr_operation("!", {literal.expr});
        all = i == 0 ? one : expr_operation("&&", {all, one});
    }
    return all;
}

std::string postfix(const Expr &expr, const std::vector<std::string> &variables) {
    std::string words;
    add_words(expr, variables, words);
    return words;
}

} // namespace persik
