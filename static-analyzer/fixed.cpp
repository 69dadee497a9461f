#include "static-analyzer/fixed.h"

#include <map>
#include <string>

namespace persik {

/* Per local pointer the function that it is set to; NULL: several, or something else. */
static void find_fixed_pointers(const Stmt &stmt, std::map<std::string, const Expr *> &pointers) {
    for (const Expr &expr : stmt.exprs)
        expr_walk(expr, [&](const Expr &e) {
            if (e.kind != ExprKind::Assign || e.children[0].text.rfind("local:", 0) != 0)
                return;
            bool function = e.text == "=" && e.children[1].kind == ExprKind::Function;
            auto [known, fresh] =
                pointers.try_emplace(e.children[0].text, function ? &e.children[1] : nullptr);
            if (!fresh)
                known->second = nullptr;
        });
    for (const Stmt &child : stmt.children)
        find_fixed_pointers(child, pointers);
}

static void call_directly(Expr &expr, const std::map<std::string, Expr> &functions) {
    if (expr.kind != ExprKind::Indirect)
        return;
    auto known = functions.find(expr.children[0].text);
    if (expr.children[0].kind != ExprKind::Variable || known == functions.end())
        return;
    expr.kind = ExprKind::Call;
    expr.text = known->second.text;
    expr.children.erase(expr.children.begin());
}

void call_fixed_pointers(Stmt &body) {
    std::map<std::string, const Expr *> pointers;
    find_fixed_pointers(body, pointers);
    std::map<std::string, Expr> functions;
    for (const auto &[key, function] : pointers)
        if (function)
            functions[key] = *function;
    stmt_change(body, [&](Expr &expr) { call_directly(expr, functions); });
}

} // namespace persik
