#include "static-analyzer/convert.h"

using namespace clang;

namespace persik {

static std::string type_name(QualType type) {
    if (const auto *name = type->getAs<TypedefType>())
        return name->getDecl()->getNameAsString();
    return "";
}

static bool is_library_object(QualType type) {
    std::string name = type_name(type);
    return name == "pthread_mutex_t" || name == "pthread_cond_t" || name == "pthread_rwlock_t" ||
           name == "pthread_once_t" || name == "once_flag" || name == "GMutex" ||
           name == "GRecMutex" || name == "GCond" || name == "GRWLock";
}

static Stmt assign(Expr target, Expr value) {
    TypeKind type = target.type;
    return statement(StmtKind::Evaluate,
                     {make(ExprKind::Assign, type, "=", {std::move(target), std::move(value)})});
}

void Converter::note_object(const std::string &key, QualType type, const clang::Expr *value) {
    if (is_library_object(type))
        objects.push_back({type_name(type), key, names.place(value->getBeginLoc()), function});
}

void Converter::initialise(Expr target, QualType type, const clang::Expr *value,
                           std::vector<Stmt> &out) {
    const auto *made = dyn_cast<CXXConstructExpr>(value->IgnoreImplicit());
    if (made && made->getNumArgs() == 0) /* an empty object */
        return;
    if (auto size = made ? library.size_of(made) : std::nullopt) {
        target.type = TypeKind::Integer;
        out.push_back(assign(std::move(target), std::move(*size)));
        return;
    }
    value = value->IgnoreParens();
    const auto *list = dyn_cast<InitListExpr>(value);
    if (const auto *literal = dyn_cast<CompoundLiteralExpr>(value->IgnoreImpCasts()))
        list = dyn_cast<InitListExpr>(literal->getInitializer());
    if (!list || is_library_object(type)) {
        if (!list)
            out.push_back(assign(std::move(target), convert(value)));
        return;
    }
    if (const InitListExpr *semantic = list->getSemanticForm())
        list = semantic;
    if (const auto *record = type->getAsRecordDecl())
        initialise_record(target, record, list, out);
    else
        initialise_array(target, type, list, out);
}

void Converter::initialise_record(const Expr &of, const RecordDecl *record,
                                  const InitListExpr *list, std::vector<Stmt> &out) {
    unsigned i = 0;
    for (const FieldDecl *field : record->fields()) {
        if (record->isUnion() && field != list->getInitializedFieldInUnion())
            continue;
        if (i >= list->getNumInits())
            return;
        const clang::Expr *value = list->getInit(i++);
        if (isa<ImplicitValueInitExpr>(value))
            continue;
        Expr target =
            make(ExprKind::Variable, type_kind(field->getType()), names.member(of, field));
        note_object(target.text, field->getType(), value);
        initialise(std::move(target), field->getType(), value, out);
    }
}

void Converter::initialise_array(const Expr &target, QualType type, const InitListExpr *list,
                                 std::vector<Stmt> &out) {
    const clang::Type *element = type->getArrayElementTypeNoTypeQual();
    QualType element_type = element ? QualType(element, 0) : type;
    if (const auto *array = names.context.getAsArrayType(type))
        element_type = array->getElementType();
    Expr item = target;
    item.type = type_kind(element_type);
    for (const clang::Expr *value : list->inits())
        if (!isa<ImplicitValueInitExpr>(value))
            initialise(item, element_type, value, out);
}

std::vector<Stmt> Converter::member_initialisers(const CXXConstructorDecl *constructor) {
    std::vector<Stmt> out;
    for (const CXXCtorInitializer *initialiser : constructor->inits()) {
        const FieldDecl *field = initialiser->getMember();
        if (!field || !initialiser->getInit())
            continue;
        TypeKind type = type_kind(field->getType());
        initialise(make(ExprKind::Variable, type, names.field(field)), field->getType(),
                   initialiser->getInit(), out);
    }
    for (Stmt &stmt : out)
        locate(stmt, constructor->getBody());
    return out;
}

Stmt Converter::convert_declarations(const DeclStmt *declarations) {
    Stmt block = statement(StmtKind::Block);
    for (const Decl *declaration : declarations->decls()) {
        const auto *variable = dyn_cast<VarDecl>(declaration);
        if (!variable || !variable->getInit() || referee(variable))
            continue;
        if (auto taken = library.declaration(variable)) {
            block.children.push_back(std::move(*taken));
            continue;
        }
        Expr target =
            make(ExprKind::Variable, type_kind(variable->getType()), names.variable(variable));
        if (variable->isStaticLocal())
            note_object(target.text, variable->getType(), variable->getInit());
        initialise(std::move(target), variable->getType(), variable->getInit(), block.children);
    }
    for (Stmt &child : block.children)
        locate(child, declarations);
    return block;
}

} // namespace persik
