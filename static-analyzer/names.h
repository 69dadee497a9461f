/* Clang's declarations as keys and places (ir.h), and small pieces of our trees. */
#ifndef PERSIK_STATIC_ANALYZER_NAMES_H
#define PERSIK_STATIC_ANALYZER_NAMES_H

#include <set>
#include <string>
#include <vector>

#include "static-analyzer/ir.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"

namespace persik {

std::string absolute_path(const std::string &directory, llvm::StringRef path);

/* #pragma omp parallel */
struct ParallelPragma {
    Place place;
    std::string count; /* the name in num_threads(name); empty: another text, or none */
};

class Names {
  public:
    Names(clang::ASTContext &context, std::string directory);

    clang::ASTContext &context;
    std::vector<ParallelPragma> parallel; /* of the file */

    std::string file(clang::SourceLocation location) const;
    int line(clang::SourceLocation location) const;

    /* gcc's line table names a macro's use, not its text; so does the expansion place. */
    Place place(clang::SourceLocation location) const;

    /* Of the macro that the text at `location` comes from; empty: none, or one with arguments, that
     * stands for many things. */
    std::string macro(clang::SourceLocation location) const;

    /* A lambda, or another call operator, also has the line of its declaration in its name. */
    std::string function(const clang::FunctionDecl *declaration) const;
    std::string variable(const clang::VarDecl *declaration) const;

    /* Record by its tag or typedef; anonymous members count as part of what contains them. */
    std::string record(const clang::RecordDecl *declaration) const;

    std::string field(const clang::FieldDecl *field) const;

    /* The field of `base`: of a nameless record's only variable it bears that one's name. */
    std::string member(const Expr &base, const clang::FieldDecl *field) const;

  private:
    const clang::SourceManager &sources;
    std::string directory;
    std::set<const clang::VarDecl *> captured; /* by reference, by a lambda */

    std::string at(clang::SourceLocation location) const;
};

TypeKind type_kind(clang::QualType type);

Expr make(ExprKind kind, TypeKind type, const std::string &text, Exprs children = {});
Expr constant(double value);
Expr dereference(Expr pointer, TypeKind type); /* what a pointer points at */
Stmt statement(StmtKind kind, std::vector<Expr> exprs = {});

} // namespace persik

#endif
