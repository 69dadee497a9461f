#include "static-analyzer/names.h"

#include "static-analyzer/visitor.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace persik {

std::string absolute_path(const std::string &directory, StringRef path) {
    SmallString<256> full(path);
    if (!llvm::sys::path::is_absolute(full)) {
        full = directory;
        llvm::sys::path::append(full, path);
    }
    llvm::sys::path::remove_dots(full, true);
    return full.str().str();
}

/* ---- names and places ---- */

namespace {

class Captures : public Visitor<Captures> {
  public:
    explicit Captures(std::set<const VarDecl *> &captured) : captured(captured) {
    }

    bool VisitLambdaExpr(LambdaExpr *lambda) {
        for (const LambdaCapture &capture : lambda->captures())
            if (capture.getCaptureKind() == LCK_ByRef && capture.capturesVariable())
                captured.insert(capture.getCapturedVar()->getCanonicalDecl());
        return true;
    }

  private:
    std::set<const VarDecl *> &captured;
};

} // namespace

Names::Names(ASTContext &context, std::string directory)
    : context(context), sources(context.getSourceManager()), directory(std::move(directory)) {
    if (context.getLangOpts().CPlusPlus)
        Captures(captured).TraverseDecl(context.getTranslationUnitDecl());
}

std::string Names::file(SourceLocation location) const {
    return absolute_path(directory, sources.getFilename(location));
}

Place Names::place(SourceLocation location) const {
    SourceLocation expansion = sources.getExpansionLoc(location);
    SourceLocation spelling = sources.getSpellingLoc(location);
    Place place;
    place.file = file(expansion);
    place.line = (int)sources.getSpellingLineNumber(expansion);
    place.column = (int)sources.getSpellingColumnNumber(expansion);
    place.spelling_file = file(spelling);
    if (place.spelling_file.empty() || sources.isWrittenInScratchSpace(spelling)) {
        spelling = expansion;
        place.spelling_file = place.file;
    }
    place.spelling_line = (int)sources.getSpellingLineNumber(spelling);
    place.spelling_column = (int)sources.getSpellingColumnNumber(spelling);
    return place;
}

int Names::line(SourceLocation location) const {
    return (int)sources.getExpansionLineNumber(location);
}

std::string Names::macro(SourceLocation location) const {
    if (!sources.isMacroBodyExpansion(location))
        return "";
    CharSourceRange use = sources.getImmediateExpansionRange(location);
    if (use.getBegin() != use.getEnd())
        return "";
    return Lexer::getImmediateMacroName(location, sources, context.getLangOpts()).str();
}

/* In C++, namesakes may differ by their parameters. What was made of a template is named like it.
 */
static std::string signature(const FunctionDecl *declaration) {
    if (const FunctionDecl *pattern = declaration->getTemplateInstantiationPattern())
        declaration = pattern;
    return " " + declaration->getType().getCanonicalType().getAsString();
}

std::string Names::function(const FunctionDecl *declaration) const {
    std::string name = declaration->getNameAsString();
    if (const auto *label = declaration->getAttr<AsmLabelAttr>())
        name = label->getLabel().str();
    if (declaration->getOverloadedOperator() == OO_Call)
        name += ":" + std::to_string(line(declaration->getCanonicalDecl()->getLocation()));
    if (const auto *method = dyn_cast<CXXMethodDecl>(declaration))
        return name + "@" +
               (method->getParent()->isLambda() ? at(method->getParent()->getLocation())
                                                : record(method->getParent())) +
               signature(declaration);
    bool has_overloads = context.getLangOpts().CPlusPlus && !declaration->isExternC();
    std::string overload = has_overloads ? signature(declaration) : "";
    if (declaration->getFormalLinkage() == ExternalLinkage)
        return has_overloads ? name + "@" + overload : name;
    const FunctionDecl *definition = declaration;
    declaration->hasBody(definition);
    return name + "@" + file(sources.getExpansionLoc(definition->getLocation())) + overload;
}

/* struct { ... } variable; the variable has to name its members. */
static bool is_nameless(const RecordDecl *declaration) {
    return declaration->getName().empty() && !declaration->getTypedefNameForAnonDecl() &&
           !isa<RecordDecl>(declaration->getDeclContext());
}

std::string Names::record(const RecordDecl *declaration) const {
    if (!declaration->getName().empty())
        return (declaration->getKindName() + " " + declaration->getName()).str();
    if (const TypedefNameDecl *name = declaration->getTypedefNameForAnonDecl())
        return name->getNameAsString();
    if (const auto *outer = dyn_cast<RecordDecl>(declaration->getDeclContext()))
        return record(outer);
    PresumedLoc at = sources.getPresumedLoc(declaration->getLocation());
    return "struct at line " + std::to_string(at.isValid() ? at.getLine() : 0);
}

std::string Names::field(const FieldDecl *field) const {
    return record(field->getParent()) + "." + field->getNameAsString();
}

/* "global:x@file" + "f" -> "global:x.f@file" */
static std::string member_key(const std::string &base, const std::string &field) {
    size_t end = std::min(base.find('@'), base.size());
    return base.substr(0, end) + "." + field + base.substr(end);
}

std::string Names::member(const Expr &base, const FieldDecl *field) const {
    return is_nameless(field->getParent()) && base.kind == ExprKind::Variable
               ? member_key(base.text, field->getNameAsString())
               : this->field(field);
}

std::string Names::variable(const VarDecl *declaration) const {
    std::string name = declaration->getNameAsString();
    SourceLocation at = sources.getExpansionLoc(declaration->getLocation());
    if (declaration->isFileVarDecl()) {
        bool internal = declaration->getFormalLinkage() != ExternalLinkage;
        return "global:" + name + (internal ? "@" + file(at) : "");
    }
    const auto *owner = dyn_cast_or_null<FunctionDecl>(declaration->getParentFunctionOrMethod());
    std::string function = owner ? owner->getNameAsString() : "";
    const char *kind = captured.count(declaration->getCanonicalDecl()) ? "captured:" : "local:";
    return kind + function + "." + name + "@" + this->at(at);
}

std::string Names::at(SourceLocation location) const {
    location = sources.getExpansionLoc(location);
    return file(location) + ":" + std::to_string(sources.getSpellingLineNumber(location)) + ":" +
           std::to_string(sources.getSpellingColumnNumber(location));
}

/* ---- pieces of trees ---- */

TypeKind type_kind(QualType type) {
    if (type.isNull())
        return TypeKind::None;
    if (const auto *atomic = type->getAs<AtomicType>())
        type = atomic->getValueType();
    if (type->isIntegralOrEnumerationType())
        return TypeKind::Integer;
    if (type->isRealFloatingType())
        return TypeKind::Real;
    if (type->isAnyPointerType() || type->isArrayType() || type->isFunctionType())
        return TypeKind::Pointer;
    if (type->isRecordType())
        return TypeKind::Record;
    return TypeKind::None;
}

Expr make(ExprKind kind, TypeKind type, const std::string &text, Exprs children) {
    Expr expr;
    expr.kind = kind;
    expr.type = type;
    expr.text = text;
    expr.children = std::move(children);
    return expr;
}

Expr constant(double value) {
    Expr expr = make(ExprKind::Constant, TypeKind::Integer, "");
    expr.value = value;
    return expr;
}

Expr dereference(Expr pointer, TypeKind type) {
    if (pointer.kind == ExprKind::Address)
        return std::move(pointer.children[0]);
    std::string key = expr_object(pointer);
    if (key.empty())
        return make(ExprKind::Other, type, "", {std::move(pointer)});
    if (pointer.kind == ExprKind::Variable)
        return make(ExprKind::Variable, type, "*" + pointer.text, std::move(pointer.children));
    return make(ExprKind::Variable, type, key, {std::move(pointer)});
}

Stmt statement(StmtKind kind, std::vector<Expr> exprs) {
    Stmt stmt;
    stmt.kind = kind;
    stmt.exprs = std::move(exprs);
    return stmt;
}

} // namespace persik
