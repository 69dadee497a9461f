/* Macros that open a scope with `for`, for instance to hold a lock in it:
 *
 *     for (int i = 0; i ? (unlock(&m), 0) : (lock(&m), 1); i = 1) { ... }
 *
 * To the compiler a loop, to the reader a block with something before and after. */
#ifndef PERSIK_STATIC_ANALYZER_ONCE_H
#define PERSIK_STATIC_ANALYZER_ONCE_H

#include <optional>
#include <vector>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Stmt.h>

namespace persik {

/* What is evaluated before and after the only round of the loop's body, in this order. */
struct Once {
    std::vector<const clang::Expr *> before, after;
};

/* Nothing unless the loop's own variable, all of whose values are constants, makes it run its body
 * exactly once. */
std::optional<Once> runs_once(const clang::ForStmt *loop, const clang::ASTContext &context);

} // namespace persik

#endif
