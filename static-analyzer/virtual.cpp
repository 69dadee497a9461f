#include "static-analyzer/virtual.h"

namespace persik {

/* A virtual method is in its own place, too. */
static void find_implementations(Program &program) {
    for (size_t f = 1; f < program.functions.size(); f++)
        for (const std::string &key : program.functions[f].overrides)
            program.implementations[key].push_back((int)f);
}

static void call_directly(Expr &expr, const Program &program) {
    if (expr.kind != ExprKind::Indirect)
        return;
    auto methods = program.implementations.find(expr.text);
    if (methods == program.implementations.end() || methods->second.size() > 1)
        return;
    expr.kind = ExprKind::Call;
    expr.text = program.functions[(size_t)methods->second[0]].key;
    expr.children.erase(expr.children.begin());
}

void link_virtual_calls(Program &program) {
    find_implementations(program);
    if (program.implementations.empty()) /* all of C */
        return;
    for (Function &function : program.functions)
        stmt_change(function.body, [&](Expr &expr) { call_directly(expr, program); });
}

} // namespace persik
