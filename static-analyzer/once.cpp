#include "static-analyzer/once.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

using namespace clang;

namespace persik {

namespace {

/* What an expression comes to, and what is evaluated on the way for its effects. */
struct Outcome {
    llvm::APSInt value;
    std::vector<const Expr *> effects;
};

class Evaluation {
  public:
    /* `now` is the variable's value; null: it has none yet. */
    Evaluation(const ASTContext &context, const VarDecl *variable, const llvm::APSInt *now)
        : context(context), variable(variable), now(now) {
    }

    std::optional<Outcome> of(const Expr *expr) const {
        expr = expr->IgnoreParenImpCasts();
        Expr::EvalResult constant;
        if (!expr->isValueDependent() && expr->getType()->isIntegralOrEnumerationType() &&
            expr->EvaluateAsInt(constant, context))
            return Outcome{constant.Val.getInt(), {}};
        if (const auto *reference = dyn_cast<DeclRefExpr>(expr))
            return reference->getDecl() == variable && now ? std::optional(Outcome{*now, {}})
                                                           : std::nullopt;
        if (const auto *unary = dyn_cast<UnaryOperator>(expr))
            return unary->getOpcode() == UO_LNot ? negated(of(unary->getSubExpr())) : std::nullopt;
        if (const auto *choice = dyn_cast<ConditionalOperator>(expr))
            return chosen(of(choice->getCond()), choice);
        const auto *comma = dyn_cast<BinaryOperator>(expr);
        if (comma && comma->getOpcode() == BO_Comma)
            return with_effects({comma->getLHS()}, of(comma->getRHS()));
        return std::nullopt;
    }

  private:
    const ASTContext &context;
    const VarDecl *variable;
    const llvm::APSInt *now;

    static std::optional<Outcome> negated(std::optional<Outcome> outcome) {
        if (outcome)
            outcome->value = llvm::APSInt::get(outcome->value == 0);
        return outcome;
    }

    static std::optional<Outcome> with_effects(const std::vector<const Expr *> &first,
                                               std::optional<Outcome> outcome) {
        if (outcome)
            outcome->effects.insert(outcome->effects.begin(), first.begin(), first.end());
        return outcome;
    }

    std::optional<Outcome> chosen(const std::optional<Outcome> &which,
                                  const ConditionalOperator *choice) const {
        if (!which)
            return std::nullopt;
        return with_effects(which->effects,
                            of(which->value != 0 ? choice->getTrueExpr() : choice->getFalseExpr()));
    }
};

const VarDecl *own_variable(const ForStmt *loop) {
    const auto *declarations = dyn_cast_or_null<DeclStmt>(loop->getInit());
    if (!declarations || !declarations->isSingleDecl())
        return nullptr;
    const auto *variable = dyn_cast<VarDecl>(declarations->getSingleDecl());
    return variable && variable->getInit() ? variable : nullptr;
}

/* What the loop's step assigns to its variable. */
const Expr *next_value(const ForStmt *loop, const VarDecl *variable) {
    const auto *step = dyn_cast_or_null<BinaryOperator>(loop->getInc());
    if (!step || step->getOpcode() != BO_Assign)
        return nullptr;
    const auto *target = dyn_cast<DeclRefExpr>(step->getLHS()->IgnoreParens());
    return target && target->getDecl() == variable ? step->getRHS() : nullptr;
}

} // namespace

std::optional<Once> runs_once(const ForStmt *loop, const ASTContext &context) {
    const VarDecl *variable = own_variable(loop);
    const Expr *next = variable ? next_value(loop, variable) : nullptr;
    if (!next || !loop->getCond())
        return std::nullopt;
    Once once;
    auto decide = [&](const llvm::APSInt *now, const Expr *expr,
                      std::vector<const Expr *> &effects) {
        std::optional<Outcome> outcome = Evaluation(context, variable, now).of(expr);
        if (outcome)
            effects.insert(effects.end(), outcome->effects.begin(), outcome->effects.end());
        return outcome;
    };
    std::optional<Outcome> first = decide(nullptr, variable->getInit(), once.before);
    if (!first)
        return std::nullopt;
    std::optional<Outcome> enters = decide(&first->value, loop->getCond(), once.before);
    std::optional<Outcome> second = enters ? decide(&first->value, next, once.after) : std::nullopt;
    if (!second || enters->value == 0)
        return std::nullopt;
    std::optional<Outcome> again = decide(&second->value, loop->getCond(), once.after);
    return again && again->value == 0 ? std::optional(once) : std::nullopt;
}

} // namespace persik
