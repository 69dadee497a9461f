/* C++'s library in C's terms: a std::mutex is a pthread_mutex_t, guards take it and give it back, a
 * std::thread is created by pthread_create, a container is the number of its elements, and what
 * they hold is behind a pointer of that name. */
#ifndef PERSIK_STATIC_ANALYZER_LIBRARY_H
#define PERSIK_STATIC_ANALYZER_LIBRARY_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "static-analyzer/names.h"
#include "clang/AST/ExprCXX.h"

namespace persik {

/* Members of the library's classes too. */
bool is_of_library(const clang::Decl *declaration);

/* What the end of its scope does something to, in the order of the text: a unique_lock or the like,
 * which may hold its mutex; or an object whose class has a destructor of the program's own. */
struct Guard {
    const clang::VarDecl *variable;
    Expr mutex;
    bool held;
    const clang::CXXDestructorDecl *destructor; /* nullptr: of the library */
};

/* One for each function's body. */
class Library {
  public:
    /* `convert` is used for what is inside of a call; `hoisted` gets what has to happen in front
     * of the statement. */
    Library(const Names &names, std::function<Expr(const clang::Expr *)> convert,
            std::vector<Stmt> &hoisted)
        : names(names), convert(std::move(convert)), hoisted(hoisted) {
    }

    std::vector<Guard> guards; /* in scope, the innermost last */

    /* None: not a call that the library explains. */
    std::optional<Expr> call(const clang::CallExpr *call);

    /* The construction of a std::thread that runs something; none: of any other object. */
    std::optional<Expr> construction(const clang::CXXConstructExpr *object);

    /* How many elements the container that is constructed has; none: it is not made of a number. */
    std::optional<Expr> size_of(const clang::CXXConstructExpr *container);

    /* The declaration of a guard of the library takes its mutex; none: not such a guard. */
    std::optional<Stmt> declaration(const clang::VarDecl *variable);

    /* Gives back what the guards behind the first `from` hold, and destroys the others. */
    std::vector<Stmt> release(size_t from, const clang::Stmt *at) const;

  private:
    const Names &names;
    std::function<Expr(const clang::Expr *)> convert;
    std::vector<Stmt> &hoisted;

    Guard *guard_of(const clang::Expr *node);
    Expr call_on(const char *function, Expr object, clang::SourceLocation location) const;
    Expr end_of(const Guard &guard, clang::SourceLocation location) const;
    std::optional<Expr> mutex_call(const std::string &name, Expr mutex,
                                   clang::SourceLocation location) const;
    std::optional<Expr> condition_call(const std::string &name,
                                       const clang::CXXMemberCallExpr *call, const Expr &condition);
    Expr container(const clang::Expr *object) const;
    std::optional<Expr> container_call(const std::string &name,
                                       const clang::CXXMemberCallExpr *call,
                                       const clang::Expr *object);
    std::optional<Expr> operator_call(const clang::CXXOperatorCallExpr *call);
    std::optional<Expr> maker_call(const std::string &name, const clang::CallExpr *call);
    std::optional<Expr> thread(llvm::ArrayRef<const clang::Expr *> arguments,
                               clang::SourceLocation location);
    Expr routine(const clang::Expr *node) const;
    std::optional<Expr> waiting_loop(Expr wait, const clang::Expr *predicate);
};

} // namespace persik

#endif
