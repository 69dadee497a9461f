#include "static-analyzer/virtual.h"

#include <algorithm>

namespace persik {

/* A virtual method is in its own place, too. */
static void find_implementations(Program &program) {
    for (size_t f = 1; f < program.functions.size(); f++)
        for (const std::string &key : program.functions[f].overrides)
            program.implementations[key].push_back((int)f);
}

static void call_directly(Expr &expr, const Program &program) {
    for (Expr &child : expr.children)
        call_directly(child, program);
    auto methods = program.implementations.find(expr.text);
    if (expr.kind != ExprKind::Indirect || methods == program.implementations.end() ||
        methods->second.size() > 1)
        return;
    expr.kind = ExprKind::Call;
    expr.text = program.functions[(size_t)methods->second[0]].key;
    expr.children.erase(expr.children.begin());
}

static void call_directly(Stmt &stmt, const Program &program) {
    for (Expr &expr : stmt.exprs)
        call_directly(expr, program);
    for (Stmt &child : stmt.children)
        call_directly(child, program);
}

void link_virtual_calls(Program &program) {
    find_implementations(program);
    for (Function &function : program.functions)
        call_directly(function.body, program);
}

} // namespace persik
