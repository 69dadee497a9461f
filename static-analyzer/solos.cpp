/* Branches by a thread's number: if (me == 0) ... else ... */
#include <algorithm>

#include "static-analyzer/findings.h"

namespace persik {

namespace {

class SoloFinder {
  public:
    SoloFinder(const Program &program, const Taint &taint, size_t f, Findings &findings)
        : program(program), taint(taint), f(f), flow(program.flows[f]), findings(findings) {
    }

    void walk(const Stmt &stmt) {
        if (stmt.kind == StmtKind::If && stmt.exprs[0].kind != ExprKind::Constant) {
            if (is_of_one(stmt.exprs[0], true))
                report(stmt, 0);
            else if (is_of_one(stmt.exprs[0], false))
                report(stmt, 1);
        }
        for (const Stmt &child : stmt.children)
            walk(child);
    }

  private:
    const Program &program;
    const Taint &taint;
    size_t f;
    const Flow &flow;
    Findings &findings;

    /* The thread's number, and nothing that is computed from it: those with me % 2 == 0 are many.
     * One that a loop goes through is no thread's own. */
    bool is_number(const Expr &expr) const {
        if (expr.kind != ExprKind::Variable ||
            (taint.evaluate(expr, (int)f, nullptr).all & (TAINT_INDEX | TAINT_PART)) != TAINT_INDEX)
            return false;
        return std::none_of(flow.loops.begin(), flow.loops.end(),
                            [&](const Loop &loop) { return loop_assigns(flow, loop, expr.text); });
    }

    /* 0, or threads - 1. */
    bool is_one(const Expr &expr) const {
        return taint.constant(expr) || (taint.evaluate(expr, (int)f, nullptr).all & TAINT_COUNT);
    }

    /* Does the condition hold for one thread at most, or, not `holds`, for all but one? */
    bool is_of_one(const Expr &condition, bool holds) const {
        const Exprs &sides = condition.children;
        if (condition.kind != ExprKind::Operator)
            return !holds && is_number(condition);
        if (condition.text == "!" && sides.size() == 1)
            return is_of_one(sides[0], !holds);
        if (sides.size() != 2)
            return false;
        if (condition.text == (holds ? "&&" : "||"))
            return is_of_one(sides[0], holds) || is_of_one(sides[1], holds);
        bool first = is_number(sides[0]) && taint.constant(sides[1]) == (holds ? 1 : 0) &&
                     condition.text == (holds ? "<" : ">");
        return first || (condition.text == (holds ? "==" : "!=") &&
                         ((is_number(sides[0]) && is_one(sides[1])) ||
                          (is_number(sides[1]) && is_one(sides[0]))));
    }

    bool is_of_interest(const Stmt &stmt) const {
        return std::any_of(flow.calls.begin(), flow.calls.end(), [&](const CallSite &site) {
            return site.at.line >= stmt.first_line && site.at.line <= stmt.last_line &&
                   has_fragments(program, site);
        });
    }

    /* The branch of index `alone` is one thread's. If the condition holds for none but for several
     * reasons, the other one is not that of all others. */
    void report(const Stmt &stmt, size_t alone) {
        const std::string &op = stmt.exprs[0].text;
        for (size_t i = 0; i < stmt.children.size(); i++) {
            const Stmt &branch = stmt.children[i];
            bool others = i != alone;
            if ((others && (op == "&&" || op == "||")) || !is_of_interest(branch))
                continue;
            const Function &function = program.functions[f];
            findings.solos.push_back(
                {function.file, function.key, branch.first_line, branch.last_line, others});
        }
    }
};

} // namespace

void find_solos(const Program &program, const Taint &taint, Findings &findings) {
    for (size_t f = 1; f < program.functions.size(); f++)
        if (program.flows[f].reached && program.flows[f].has_fragments)
            SoloFinder(program, taint, f, findings).walk(program.functions[f].body);
}

} // namespace persik
