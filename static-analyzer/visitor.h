/* A walk over what the program's own source declares, and what is made of its templates. */
#ifndef PERSIK_STATIC_ANALYZER_VISITOR_H
#define PERSIK_STATIC_ANALYZER_VISITOR_H

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace persik {

inline bool is_system(const clang::Decl *declaration) {
    return declaration->getASTContext().getSourceManager().isInSystemHeader(
        declaration->getLocation());
}

template <typename Derived> class Visitor : public clang::RecursiveASTVisitor<Derived> {
  public:
    bool shouldVisitTemplateInstantiations() const {
        return true;
    }

    bool TraverseDecl(clang::Decl *declaration) {
        bool skip = declaration && !clang::isa<clang::TranslationUnitDecl>(declaration) &&
                    is_system(declaration);
        return skip || clang::RecursiveASTVisitor<Derived>::TraverseDecl(declaration);
    }
};

} // namespace persik

#endif
