#include "static-analyzer/extract.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "static-analyzer/library.h"
#include "static-analyzer/names.h"
#include "static-analyzer/once.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace persik {

namespace {

/* ---- expressions and statements ---- */

/* Turns bodies into our trees. Statements inside expressions (GNU's ({...})) move in front of the
 * statement that holds the expression. */
class Converter {
  public:
    Converter(const Names &names, std::vector<StaticObject> &objects, std::string function)
        : names(names), objects(objects), function(std::move(function)),
          library(
              names, [this](const clang::Expr *node) { return convert(node); }, hoisted) {
    }

    Stmt body(const clang::Stmt *node) {
        Stmt stmt = convert_statement(node);
        std::map<std::string, const Expr *> pointers;
        find_fixed_pointers(stmt, pointers);
        std::map<std::string, Expr> functions;
        for (const auto &[key, function] : pointers)
            if (function)
                functions[key] = *function;
        call_directly(stmt, functions);
        return stmt;
    }

    /* What a constructor sets in front of its body. */
    std::vector<Stmt> member_initialisers(const CXXConstructorDecl *constructor) {
        std::vector<Stmt> out;
        for (const CXXCtorInitializer *initialiser : constructor->inits()) {
            const FieldDecl *field = initialiser->getMember();
            if (!field || !initialiser->getInit())
                continue;
            TypeKind type = type_kind(field->getType());
            initialise(make(ExprKind::Variable, type, field_key(field)), field->getType(),
                       initialiser->getInit(), out);
        }
        for (Stmt &stmt : out)
            locate(stmt, constructor->getBody());
        return out;
    }

    /* `variable = initialiser`, field by field for records, element by element for arrays. */
    void initialise(Expr target, QualType type, const clang::Expr *value, std::vector<Stmt> &out) {
        const auto *made = dyn_cast<CXXConstructExpr>(value->IgnoreImplicit());
        if (made && made->getNumArgs() == 0) /* an empty object */
            return;
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

    std::string field_key(const FieldDecl *field) const {
        return names.record(field->getParent()) + "." + field->getNameAsString();
    }

    void note_object(const std::string &key, QualType type, const clang::Expr *value) {
        if (is_library_object(type))
            objects.push_back({type_name(type), key, names.place(value->getBeginLoc()), function});
    }

  private:
    const Names &names;
    std::vector<StaticObject> &objects;
    std::string function;
    std::vector<Stmt> hoisted;
    Library library;
    /* How many guards there were where the loops and switches began that jumps lead out of. */
    struct Outside {
        size_t on_break, on_continue;
    };
    std::vector<Outside> outside;

    /* Local pointers that are only ever set to one function, as by pthread_cleanup_push(). */
    static void find_fixed_pointers(const Stmt &stmt,
                                    std::map<std::string, const Expr *> &pointers) {
        for (const Expr &expr : stmt.exprs)
            expr_walk(expr, [&](const Expr &e) {
                if (e.kind != ExprKind::Assign || e.children[0].text.rfind("local:", 0) != 0)
                    return;
                bool function = e.text == "=" && e.children[1].kind == ExprKind::Function;
                auto [known, fresh] =
                    pointers.try_emplace(e.children[0].text, function ? &e.children[1] : nullptr);
                if (!fresh)
                    known->second = nullptr;
            });
        for (const Stmt &child : stmt.children)
            find_fixed_pointers(child, pointers);
    }

    static void call_directly(Expr &expr, const std::map<std::string, Expr> &functions) {
        for (Expr &child : expr.children)
            call_directly(child, functions);
        if (expr.kind != ExprKind::Indirect)
            return;
        auto known = functions.find(expr.children[0].text);
        if (expr.children[0].kind != ExprKind::Variable || known == functions.end())
            return;
        expr.kind = ExprKind::Call;
        expr.text = known->second.text;
        expr.children.erase(expr.children.begin());
    }

    static void call_directly(Stmt &stmt, const std::map<std::string, Expr> &functions) {
        for (Expr &expr : stmt.exprs)
            call_directly(expr, functions);
        for (Stmt &child : stmt.children)
            call_directly(child, functions);
    }

    static std::string type_name(QualType type) {
        if (const auto *name = type->getAs<TypedefType>())
            return name->getDecl()->getNameAsString();
        return "";
    }

    static bool is_library_object(QualType type) {
        std::string name = type_name(type);
        return name == "pthread_mutex_t" || name == "pthread_cond_t" ||
               name == "pthread_rwlock_t" || name == "pthread_once_t" || name == "once_flag" ||
               name == "GMutex" || name == "GRecMutex" || name == "GCond" || name == "GRWLock";
    }

    static Stmt assign(Expr target, Expr value) {
        TypeKind type = target.type;
        return statement(StmtKind::Evaluate, {make(ExprKind::Assign, type, "=",
                                                   {std::move(target), std::move(value)})});
    }

    void initialise_record(const Expr &of, const RecordDecl *record, const InitListExpr *list,
                           std::vector<Stmt> &out) {
        unsigned i = 0;
        for (const FieldDecl *field : record->fields()) {
            if (record->isUnion() && field != list->getInitializedFieldInUnion())
                continue;
            if (i >= list->getNumInits())
                return;
            const clang::Expr *value = list->getInit(i++);
            if (isa<ImplicitValueInitExpr>(value))
                continue;
            std::string key = names.is_nameless(record) && of.kind == ExprKind::Variable
                                  ? member_key(of.text, field->getNameAsString())
                                  : field_key(field);
            Expr target = make(ExprKind::Variable, type_kind(field->getType()), key);
            note_object(target.text, field->getType(), value);
            initialise(std::move(target), field->getType(), value, out);
        }
    }

    void initialise_array(const Expr &target, QualType type, const InitListExpr *list,
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

    /* "global:x@file" + "f" -> "global:x.f@file" */
    static std::string member_key(const std::string &base, const std::string &field) {
        size_t end = std::min(base.find('@'), base.size());
        return base.substr(0, end) + "." + field + base.substr(end);
    }

    std::vector<Expr> convert_all(const clang::Stmt *node) {
        std::vector<Expr> out;
        for (const clang::Stmt *child : node->children())
            if (const auto *expr = dyn_cast_or_null<clang::Expr>(child))
                out.push_back(convert(expr));
        return out;
    }

    std::optional<double> constant_value(const clang::Expr *node) const {
        if (node->isValueDependent() || !node->getType()->isIntegralOrEnumerationType())
            return std::nullopt;
        clang::Expr::EvalResult result;
        if (!node->EvaluateAsInt(result, names.context))
            return std::nullopt;
        return result.Val.getInt().isSigned() ? (double)result.Val.getInt().getSExtValue()
                                              : (double)result.Val.getInt().getZExtValue();
    }

    Expr convert(const clang::Expr *node) {
        node = node->IgnoreParens();
        if (auto value = constant_value(node); value && !is_sum_with_name(node))
            return convert_constant(node, *value);
        if (const auto *cast = dyn_cast<CastExpr>(node))
            return convert_cast(cast);
        if (const auto *reference = dyn_cast<DeclRefExpr>(node))
            return convert_reference(reference);
        if (const auto *member = dyn_cast<MemberExpr>(node))
            return convert_member(member);
        if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(node))
            return convert_subscript(subscript);
        if (const auto *call = dyn_cast<CallExpr>(node)) {
            if (auto meaning = library.call(call))
                return *meaning;
            return convert_call(call);
        }
        if (const auto *object = dyn_cast<CXXConstructExpr>(node))
            return convert_construction(object);
        if (const auto *initialiser = dyn_cast<CXXDefaultInitExpr>(node))
            return convert(initialiser->getExpr());
        if (const auto *temporary = dyn_cast<MaterializeTemporaryExpr>(node))
            return convert(temporary->getSubExpr());
        if (const auto *temporary = dyn_cast<CXXBindTemporaryExpr>(node))
            return convert(temporary->getSubExpr());
        if (const auto *lambda = dyn_cast<LambdaExpr>(node))
            return make(ExprKind::Function, TypeKind::Pointer,
                        names.function(lambda->getCallOperator()));
        if (const auto *unary = dyn_cast<UnaryOperator>(node))
            return convert_unary(unary);
        if (const auto *binary = dyn_cast<BinaryOperator>(node))
            return convert_binary(binary);
        if (const auto *choice = dyn_cast<AbstractConditionalOperator>(node))
            return make(ExprKind::Operator, type_kind(node->getType()), "?:",
                        {convert(choice->getCond()), convert(choice->getTrueExpr()),
                         convert(choice->getFalseExpr())});
        if (const auto *opaque = dyn_cast<OpaqueValueExpr>(node))
            if (opaque->getSourceExpr())
                return convert(opaque->getSourceExpr());
        if (const auto *atomic = dyn_cast<AtomicExpr>(node))
            return convert_atomic(atomic);
        if (const auto *block = dyn_cast<clang::StmtExpr>(node))
            return convert_statement_expression(block);
        if (const auto *literal = dyn_cast<CompoundLiteralExpr>(node))
            return convert_literal(literal);
        if (const auto *full = dyn_cast<FullExpr>(node))
            return convert(full->getSubExpr());
        return make(ExprKind::Other, type_kind(node->getType()), "", convert_all(node));
    }

    Expr convert_constant(const clang::Expr *node, double value) const {
        Expr expr = constant(value);
        expr.text = constant_name(node);
        return expr;
    }

    /* Of an enumerator, a constant, or a macro that is but one number; empty: none. */
    std::string constant_name(const clang::Expr *node) const {
        node = node->IgnoreParenImpCasts();
        if (const auto *reference = dyn_cast<DeclRefExpr>(node))
            return reference->getDecl()->getNameAsString();
        return isa<IntegerLiteral>(node) ? names.macro(node->getBeginLoc()) : "";
    }

    /* THREADS + 1 is more than 5: what follows THREADS, follows it. */
    bool is_sum_with_name(const clang::Expr *node) const {
        const auto *binary = dyn_cast<BinaryOperator>(node->IgnoreParenImpCasts());
        if (!binary || !(binary->isAdditiveOp() || binary->isMultiplicativeOp()))
            return false;
        auto named = [this](const clang::Expr *side) {
            return !constant_name(side).empty() || is_sum_with_name(side);
        };
        return named(binary->getLHS()) || named(binary->getRHS());
    }

    Expr convert_cast(const CastExpr *cast) {
        const clang::Expr *inner = cast->getSubExpr();
        switch (cast->getCastKind()) {
        case CK_NullToPointer:
            return constant(0);
        case CK_ArrayToPointerDecay:
            return make(ExprKind::Address, TypeKind::Pointer, "", {convert(inner)});
        case CK_IntegralToFloating:
        case CK_FloatingToIntegral:
            return make(ExprKind::Operator, type_kind(cast->getType()), "(cast)", {convert(inner)});
        default:
            return convert(inner);
        }
    }

    Expr convert_reference(const DeclRefExpr *reference) {
        const ValueDecl *declaration = reference->getDecl();
        if (const auto *callee = dyn_cast<FunctionDecl>(declaration))
            return make(ExprKind::Function, TypeKind::Pointer, names.function(callee));
        if (const auto *variable = dyn_cast<VarDecl>(declaration))
            return make(ExprKind::Variable, type_kind(variable->getType()),
                        names.variable(variable));
        return make(ExprKind::Other, type_kind(reference->getType()), "");
    }

    Expr convert_member(const MemberExpr *member) {
        const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
        if (!field)
            return make(ExprKind::Other, type_kind(member->getType()), "", convert_all(member));
        Expr base = convert(member->getBase());
        std::string key = names.is_nameless(field->getParent()) && base.kind == ExprKind::Variable
                              ? member_key(base.text, field->getNameAsString())
                              : field_key(field);
        return make(ExprKind::Variable, type_kind(field->getType()), key, {std::move(base)});
    }

    Expr convert_subscript(const ArraySubscriptExpr *subscript) {
        Expr element = dereference(convert(subscript->getBase()), type_kind(subscript->getType()));
        element.type = type_kind(subscript->getType());
        element.children.push_back(convert(subscript->getIdx()));
        return element;
    }

    /* A method of std::atomic, std::atomic_flag or what these are made of. */
    static const CXXMethodDecl *std_atomic_method(const CallExpr *call) {
        const auto *method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
        if (!method || method->isStatic() || !method->getParent()->isInStdNamespace())
            return nullptr;
        StringRef name = method->getParent()->getName();
        bool waits = method->getDeclName().isIdentifier() &&
                     (method->getName() == "wait" || method->getName().startswith("notify"));
        return (name.startswith("atomic") || name.startswith("__atomic")) && !waits ? method
                                                                                    : nullptr;
    }

    Expr convert_std_atomic(const CallExpr *call, const CXXMethodDecl *method) {
        const auto *plain = dyn_cast<CXXMemberCallExpr>(call);
        const clang::Expr *base = plain ? plain->getImplicitObjectArgument() : call->getArg(0);
        unsigned first = plain ? 0 : 1;
        TypeKind type = type_kind(call->getType());
        Expr object = convert(base);
        if (base->getType()->isPointerType())
            object = dereference(std::move(object), type);
        std::string name = method->getNameAsString();
        if (isa<CXXConversionDecl>(method) || name == "load" || name == "test")
            return object;
        Expr value = call->getNumArgs() > first && name != "clear" ? convert(call->getArg(first))
                                                                   : constant(0);
        bool stores = name == "store" || name == "operator=" || name == "clear";
        return make(stores ? ExprKind::Assign : ExprKind::Atomic, type, stores ? "=" : "atomic",
                    {std::move(object), std::move(value)});
    }

    Expr convert_call(const CallExpr *call) {
        if (const CXXMethodDecl *method = std_atomic_method(call))
            return convert_std_atomic(call, method);
        std::vector<Expr> arguments;
        for (const clang::Expr *argument : call->arguments())
            arguments.push_back(convert(argument));
        TypeKind type = type_kind(call->getType());
        const FunctionDecl *callee = call->getDirectCallee();
        Expr expr;
        if (callee) {
            std::string name = callee->getQualifiedNameAsString(); /* naps have no linker's name */
            bool naps = name.rfind("std::this_thread::", 0) == 0;
            expr = make(ExprKind::Call, type, naps ? name : names.function(callee),
                        std::move(arguments));
            expr.noreturn = callee->isNoReturn();
            simplify_builtin(expr);
        } else {
            QualType pointer = call->getCallee()->getType();
            QualType pointee = pointer->isPointerType() ? pointer->getPointeeType() : pointer;
            arguments.insert(arguments.begin(), convert(call->getCallee()));
            expr = make(ExprKind::Indirect, type, pointee.getCanonicalType().getAsString(),
                        std::move(arguments));
        }
        expr.place = names.place(call->getCallee()->IgnoreImpCasts()->getBeginLoc());
        return expr;
    }

    /* Copying and moving leaves the value; other constructors are called like functions. */
    Expr convert_construction(const CXXConstructExpr *object) {
        if (auto thread = library.construction(object))
            return *thread;
        const CXXConstructorDecl *constructor = object->getConstructor();
        std::vector<Expr> arguments;
        for (const clang::Expr *argument : object->arguments())
            if (!isa<CXXDefaultArgExpr>(argument))
                arguments.push_back(convert(argument));
        bool library = is_of_library(constructor);
        if (arguments.size() == 1 && (library || constructor->isCopyOrMoveConstructor()))
            return std::move(arguments[0]);
        TypeKind type = type_kind(object->getType());
        if (library || (arguments.empty() && !constructor->isUserProvided()))
            return make(ExprKind::Other, type, "", std::move(arguments));
        Expr call = make(ExprKind::Call, type, names.function(constructor), std::move(arguments));
        call.place = names.place(object->getBeginLoc());
        return call;
    }

    /* ---- scopes with guards ---- */

    static bool is_jump(const Stmt &stmt) {
        return stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Break ||
               stmt.kind == StmtKind::Continue || stmt.kind == StmtKind::Goto ||
               (stmt.kind == StmtKind::Block && !stmt.children.empty() &&
                is_jump(stmt.children.back()));
    }

    Stmt convert_scope(const CompoundStmt *node) {
        std::vector<Guard> before = library.guards;
        return with_scope_left(convert_block(node), std::move(before), node);
    }

    /* Behind `block` the guards that it took are gone: what it holds then is given back. */
    Stmt with_scope_left(Stmt block, std::vector<Guard> before, const clang::Stmt *node) {
        if (!block.children.empty() && is_jump(block.children.back())) {
            library.guards = std::move(before);
            return block;
        }
        for (Stmt &stmt : library.release(before.size(), node))
            block.children.push_back(std::move(stmt));
        library.guards.erase(library.guards.begin() + (long)before.size(), library.guards.end());
        return block;
    }

    /* What is returned is read before the guards give their mutexes back. */
    Stmt with_guards_released(Stmt jump, size_t from, const clang::Stmt *node) {
        std::vector<Stmt> released = library.release(from, node);
        if (released.empty())
            return jump;
        Stmt block = statement(StmtKind::Block);
        if (!jump.exprs.empty() && jump.exprs[0].kind != ExprKind::Constant) {
            Expr result = make(ExprKind::Variable, jump.exprs[0].type,
                               "local:" + key_display(function) + ".result@" + function);
            Expr read = make(ExprKind::Assign, result.type, "=", {result, jump.exprs[0]});
            block.children.push_back(statement(StmtKind::Evaluate, {std::move(read)}));
            jump.exprs[0] = std::move(result);
        }
        for (Stmt &stmt : released)
            block.children.push_back(std::move(stmt));
        block.children.push_back(std::move(jump));
        for (Stmt &child : block.children)
            locate(child, node);
        return block;
    }

    /* ---- operators ---- */

    /* __builtin_expect(x, y) is x; the old __sync functions are atomic operations. */
    static void simplify_builtin(Expr &call) {
        if (call.children.empty())
            return;
        if (call.text == "__builtin_expect") {
            Expr value = std::move(call.children[0]);
            call = std::move(value);
        } else if (call.text.rfind("__sync_", 0) == 0 || call.text == "__atomic_test_and_set" ||
                   call.text == "__atomic_clear") {
            make_atomic(call);
        }
    }

    static void make_atomic(Expr &operation) {
        Expr object = dereference(std::move(operation.children[0]), operation.type);
        operation.children[0] = std::move(object);
        operation.kind = ExprKind::Atomic;
    }

    Expr convert_unary(const UnaryOperator *unary) {
        TypeKind type = type_kind(unary->getType());
        Expr operand = convert(unary->getSubExpr());
        switch (unary->getOpcode()) {
        case UO_Deref:
            if (operand.kind == ExprKind::Function)
                return operand;
            return dereference(std::move(operand), type);
        case UO_AddrOf:
            if (operand.kind == ExprKind::Function)
                return operand;
            return make(ExprKind::Address, TypeKind::Pointer, "", {std::move(operand)});
        case UO_PreInc:
        case UO_PostInc:
        case UO_PreDec:
        case UO_PostDec: {
            const char *op = unary->isIncrementOp() ? "+=" : "-=";
            Expr changed = update(op, std::move(operand), constant(1), unary->getSubExpr());
            changed.before = unary->isPostfix();
            return changed;
        }
        case UO_Plus:
        case UO_Extension:
            return operand;
        default:
            return make(ExprKind::Operator, type,
                        UnaryOperator::getOpcodeStr(unary->getOpcode()).str(),
                        {std::move(operand)});
        }
    }

    /* Updating a variable of an atomic type is an atomic operation. */
    static Expr update(const char *op, Expr target, Expr value, const clang::Expr *node) {
        TypeKind type = target.type;
        if (node->getType()->isAtomicType())
            return make(ExprKind::Atomic, type, op, {std::move(target), std::move(value)});
        return make(ExprKind::Assign, type, op, {std::move(target), std::move(value)});
    }

    Expr convert_binary(const BinaryOperator *binary) {
        Expr left = convert(binary->getLHS());
        Expr right = convert(binary->getRHS());
        std::string op = BinaryOperator::getOpcodeStr(binary->getOpcode()).str();
        if (binary->isCompoundAssignmentOp())
            return update(op.c_str(), std::move(left), std::move(right), binary->getLHS());
        if (binary->isAssignmentOp())
            return make(ExprKind::Assign, type_kind(binary->getType()), op,
                        {std::move(left), std::move(right)});
        return make(ExprKind::Operator, type_kind(binary->getType()), op,
                    {std::move(left), std::move(right)});
    }

    Expr convert_atomic(const AtomicExpr *atomic) {
        std::vector<Expr> operands;
        operands.push_back(convert(atomic->getPtr()));
        AtomicExpr::AtomicOp op = atomic->getOp();
        bool load = op == AtomicExpr::AO__c11_atomic_load || op == AtomicExpr::AO__atomic_load_n ||
                    op == AtomicExpr::AO__atomic_load;
        bool store = op == AtomicExpr::AO__c11_atomic_store ||
                     op == AtomicExpr::AO__atomic_store_n || op == AtomicExpr::AO__c11_atomic_init;
        TypeKind type = type_kind(atomic->getType());
        if (load)
            return dereference(std::move(operands[0]), type);
        if (atomic->getNumSubExprs() > 2 || op == AtomicExpr::AO__c11_atomic_init)
            operands.push_back(convert(atomic->getVal1()));
        if (store)
            return make(ExprKind::Assign, type, "=",
                        {dereference(std::move(operands[0]), type), std::move(operands[1])});
        Expr operation = make(ExprKind::Atomic, type, "atomic", std::move(operands));
        make_atomic(operation);
        return operation;
    }

    Expr convert_statement_expression(const clang::StmtExpr *block) {
        const CompoundStmt *body = block->getSubStmt();
        Expr value = make(ExprKind::Other, type_kind(block->getType()), "");
        for (const clang::Stmt *child : body->body()) {
            const auto *last = dyn_cast<clang::Expr>(child);
            if (last && child == body->body_back())
                value = convert(last);
            else
                hoisted.push_back(convert_statement(child));
        }
        return value;
    }

    Expr convert_literal(const CompoundLiteralExpr *literal) {
        Expr target = make(ExprKind::Other, type_kind(literal->getType()), "");
        std::vector<Stmt> out;
        initialise(target, literal->getType(), literal->getInitializer(), out);
        for (Stmt &stmt : out)
            hoisted.push_back(std::move(stmt));
        return target;
    }

    /* ---- statements ---- */

    void locate(Stmt &stmt, const clang::Stmt *node) const {
        stmt.first_line = names.line(node->getBeginLoc());
        stmt.last_line = names.line(node->getEndLoc());
    }

    /* Puts what was hoisted while `stmt` was made in front of it. */
    Stmt with_hoisted(Stmt stmt, size_t before) {
        if (hoisted.size() == before)
            return stmt;
        Stmt block = statement(StmtKind::Block);
        block.first_line = stmt.first_line;
        block.last_line = stmt.last_line;
        for (size_t i = before; i < hoisted.size(); i++)
            block.children.push_back(std::move(hoisted[i]));
        hoisted.resize(before);
        block.children.push_back(std::move(stmt));
        return block;
    }

    Stmt convert_statement(const clang::Stmt *node) {
        size_t before = hoisted.size();
        Stmt stmt = node ? convert_plain(node) : statement(StmtKind::Nothing);
        if (node)
            locate(stmt, node);
        return with_hoisted(std::move(stmt), before);
    }

    Stmt convert_plain(const clang::Stmt *node) {
        if (const auto *expr = dyn_cast<clang::Expr>(node))
            return statement(StmtKind::Evaluate, {convert(expr)});
        if (const auto *declarations = dyn_cast<DeclStmt>(node))
            return convert_declarations(declarations);
        if (const auto *choice = dyn_cast<IfStmt>(node))
            return with_init(choice, choice->getInit(), [&] { return convert_if(choice); });
        if (const auto *loop = dyn_cast<ForStmt>(node)) {
            if (auto once = runs_once(loop, names.context))
                return convert_once(*once, loop);
            return make_loop("for", loop->getInit(), loop->getConditionVariable(), loop->getCond(),
                             loop->getInc(), loop->getBody());
        }
        if (const auto *loop = dyn_cast<CXXForRangeStmt>(node))
            return make_each(loop);
        if (const auto *loop = dyn_cast<WhileStmt>(node))
            return make_loop("while", nullptr, loop->getConditionVariable(), loop->getCond(),
                             nullptr, loop->getBody());
        if (const auto *loop = dyn_cast<DoStmt>(node))
            return make_loop("do", nullptr, nullptr, loop->getCond(), nullptr, loop->getBody());
        if (const auto *choice = dyn_cast<SwitchStmt>(node))
            return with_init(choice, choice->getInit(), [&] { return convert_switch(choice); });
        if (const auto *back = dyn_cast<ReturnStmt>(node)) {
            Stmt jump = statement(StmtKind::Return);
            if (back->getRetValue())
                jump.exprs.push_back(convert(back->getRetValue()));
            return with_guards_released(std::move(jump), 0, node);
        }
        if (isa<BreakStmt>(node))
            return with_guards_released(statement(StmtKind::Break),
                                        outside.empty() ? 0 : outside.back().on_break, node);
        if (isa<ContinueStmt>(node))
            return with_guards_released(statement(StmtKind::Continue),
                                        outside.empty() ? 0 : outside.back().on_continue, node);
        if (const auto *jump = dyn_cast<GotoStmt>(node)) {
            Stmt stmt = statement(StmtKind::Goto);
            stmt.text = jump->getLabel()->getNameAsString();
            return stmt;
        }
        if (isa<IndirectGotoStmt>(node))
            return statement(StmtKind::Goto);
        if (const auto *label = dyn_cast<LabelStmt>(node)) {
            Stmt block = convert_block(node);
            block.text = label->getDecl()->getNameAsString();
            return block;
        }
        if (const auto *scope = dyn_cast<CompoundStmt>(node))
            return convert_scope(scope);
        return convert_block(node);
    }

    /* What `if (init; condition)` and `switch (init; condition)` begin with, NULL if nothing, comes
     * before all else of them, and what it declares lives until their end. */
    template <typename F>
    Stmt with_init(const clang::Stmt *choice, const clang::Stmt *init, const F &convert_choice) {
        if (!init)
            return convert_choice();
        std::vector<Guard> before = library.guards;
        Stmt block = statement(StmtKind::Block);
        block.children.push_back(convert_statement(init));
        size_t hoisted_before = hoisted.size();
        Stmt rest = convert_choice();
        locate(rest, choice);
        block.children.push_back(with_hoisted(std::move(rest), hoisted_before));
        return with_scope_left(std::move(block), std::move(before), choice);
    }

    Stmt convert_if(const IfStmt *choice) {
        if (auto always = constant_value(choice->getCond())) /* as of pthread_cleanup_pop() */
            return convert_statement(*always != 0 ? choice->getThen() : choice->getElse());
        Stmt stmt = statement(
            StmtKind::If, {convert_condition(choice->getConditionVariable(), choice->getCond())});
        stmt.children.push_back(convert_statement(choice->getThen()));
        stmt.children.push_back(convert_statement(choice->getElse()));
        return stmt;
    }

    Stmt convert_switch(const SwitchStmt *choice) {
        Stmt stmt =
            statement(StmtKind::Switch,
                      {convert_condition(choice->getConditionVariable(), choice->getCond())});
        size_t around = outside.empty() ? 0 : outside.back().on_continue;
        outside.push_back({library.guards.size(), around});
        stmt.children.push_back(convert_statement(choice->getBody()));
        outside.pop_back();
        return stmt;
    }

    /* Labels, cases and whatever else only contains statements. */
    Stmt convert_block(const clang::Stmt *node) {
        Stmt block = statement(StmtKind::Block);
        for (const clang::Stmt *child : node->children())
            if (child)
                block.children.push_back(convert_statement(child));
        return block;
    }

    /* What only looks like a loop: breaks lead to what comes after. */
    Stmt convert_once(const Once &once, const ForStmt *loop) {
        Stmt block = statement(StmtKind::Block);
        for (const clang::Expr *effect : once.before)
            block.children.push_back(convert_statement(effect));
        Stmt body = statement(StmtKind::Switch, {constant(0)});
        body.children.push_back(convert_statement(loop->getBody()));
        locate(body, loop);
        block.children.push_back(std::move(body));
        for (const clang::Expr *effect : once.after)
            block.children.push_back(convert_statement(effect));
        return block;
    }

    Stmt make_loop(const char *text, const clang::Stmt *before, const VarDecl *declared,
                   const clang::Expr *condition, const clang::Expr *step, const clang::Stmt *body) {
        auto always = condition ? constant_value(condition) : std::optional<double>(1);
        if (always && *always == 0 && strcmp(text, "do") == 0) { /* do ... while (0) of a macro */
            Stmt once = statement(StmtKind::Switch, {constant(0)});
            once.children.push_back(convert_statement(body));
            return once;
        }
        Stmt loop = statement(StmtKind::Loop);
        loop.text = text;
        loop.children.push_back(convert_statement(before));
        if (condition && (!always || *always == 0))
            loop.exprs.push_back(convert_condition(declared, condition));
        outside.push_back({library.guards.size(), library.guards.size()});
        loop.children.push_back(convert_statement(body));
        outside.pop_back();
        loop.children.push_back(convert_statement(step));
        return loop;
    }

    /* `for (init; element : range)`: goes on while there are elements of the range. */
    Stmt make_each(const CXXForRangeStmt *each) {
        Expr some_left =
            make(ExprKind::Other, TypeKind::Integer, "", {convert(each->getRangeInit())});
        Stmt loop = statement(StmtKind::Loop, {std::move(some_left)});
        loop.text = "each";
        loop.children.push_back(convert_statement(each->getInit()));
        outside.push_back({library.guards.size(), library.guards.size()});
        Stmt round = statement(StmtKind::Block);
        round.children.push_back(convert_statement(each->getLoopVarStmt()));
        round.children.push_back(convert_statement(each->getBody()));
        outside.pop_back();
        loop.children.push_back(std::move(round));
        loop.children.push_back(statement(StmtKind::Nothing));
        return loop;
    }

    /* A variable that the condition declares, or NULL, is set each time before it is looked at. */
    Expr convert_condition(const VarDecl *declared, const clang::Expr *condition) {
        if (!declared || !declared->getInit())
            return convert(condition);
        TypeKind type = type_kind(declared->getType());
        Expr set = make(ExprKind::Assign, type, "=",
                        {make(ExprKind::Variable, type, names.variable(declared)),
                         convert(declared->getInit())});
        return make(ExprKind::Operator, type_kind(condition->getType()), ",",
                    {std::move(set), convert(condition)});
    }

    Stmt convert_declarations(const DeclStmt *declarations) {
        Stmt block = statement(StmtKind::Block);
        for (const Decl *declaration : declarations->decls()) {
            const auto *variable = dyn_cast<VarDecl>(declaration);
            if (!variable || !variable->getInit())
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
};

/* ---- declarations ---- */

class Collector : public RecursiveASTVisitor<Collector> {
  public:
    Collector(const Names &names, Unit &unit) : names(names), unit(unit) {
    }

    bool shouldVisitTemplateInstantiations() const {
        return true;
    }

    bool TraverseDecl(Decl *declaration) {
        bool skip = declaration && !isa<TranslationUnitDecl>(declaration) && is_system(declaration);
        return skip || RecursiveASTVisitor<Collector>::TraverseDecl(declaration);
    }

    bool VisitLambdaExpr(LambdaExpr *lambda) {
        return VisitFunctionDecl(lambda->getCallOperator());
    }

    bool VisitFunctionDecl(FunctionDecl *declaration) {
        if (!declaration->doesThisDeclarationHaveABody() || is_system(declaration) ||
            declaration->isDependentContext())
            return true;
        Function function;
        function.key = names.function(declaration);
        Place place = names.place(declaration->getLocation());
        function.file = place.file;
        function.line = place.line;
        function.signature = declaration->getType().getCanonicalType().getAsString();
        for (const ParmVarDecl *parameter : declaration->parameters())
            function.parameters.push_back(names.variable(parameter));
        Converter converter(names, unit.objects, function.key);
        function.body = converter.body(declaration->getBody());
        if (const auto *constructor = dyn_cast<CXXConstructorDecl>(declaration)) {
            function.constructs = names.record(constructor->getParent());
            std::vector<Stmt> first = converter.member_initialisers(constructor);
            auto &body = function.body.children;
            body.insert(body.begin(), first.begin(), first.end());
        }
        unit.functions.push_back(std::move(function));
        return true;
    }

    bool VisitVarDecl(VarDecl *declaration) {
        if (!declaration->isFileVarDecl() || !declaration->getInit() || is_system(declaration))
            return true;
        Converter converter(names, unit.objects, "");
        Expr target = make(ExprKind::Variable, type_kind(declaration->getType()),
                           names.variable(declaration));
        converter.note_object(target.text, declaration->getType(), declaration->getInit());
        converter.initialise(std::move(target), declaration->getType(), declaration->getInit(),
                             unit.initialisers);
        return true;
    }

    /* Where nobody wrote a constructor, every object starts with what its class says. */
    bool VisitFieldDecl(FieldDecl *field) {
        const auto *record = dyn_cast<CXXRecordDecl>(field->getParent());
        const clang::Expr *value =
            field->hasInClassInitializer() ? field->getInClassInitializer() : nullptr;
        if (!record || !value || is_system(field) ||
            field->getDeclContext()->isDependentContext() ||
            std::any_of(record->ctor_begin(), record->ctor_end(),
                        [](const auto *made) { return made->isUserProvided(); }))
            return true;
        Converter converter(names, unit.objects, "");
        converter.initialise(
            make(ExprKind::Variable, type_kind(field->getType()), converter.field_key(field)),
            field->getType(), value, unit.initialisers);
        return true;
    }

  private:
    const Names &names;
    Unit &unit;

    bool is_system(const Decl *declaration) const {
        return names.context.getSourceManager().isInSystemHeader(declaration->getLocation());
    }
};

class FirstError : public DiagnosticConsumer {
  public:
    std::string text;
    unsigned count = 0;
    bool lacks_header = false;

    void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &diagnostic) override {
        if (level < DiagnosticsEngine::Error)
            return;
        lacks_header |= diagnostic.getID() == diag::err_pp_file_not_found;
        if (count++ > 0)
            return;
        SmallString<128> message;
        diagnostic.FormatDiagnostic(message);
        if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
            PresumedLoc at = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
            if (at.isValid())
                text = std::string(at.getFilename()) + ":" + std::to_string(at.getLine()) + ": ";
        }
        text += message.str();
    }
};

std::vector<std::string> clang_options(const Source &source) {
    std::vector<std::string> options = source.options;
    bool standard = std::any_of(options.begin(), options.end(), [](const std::string &option) {
        return option.rfind("-std=", 0) == 0 || option == "-ansi";
    });
    if (!standard && llvm::sys::path::extension(source.file) != ".c")
        options.push_back("-std=gnu++17"); /* gcc's default is newer than this Clang's */
    /* What gcc only warns of. */
    options.push_back("-Wno-reserved-user-defined-literal");
    options.insert(options.end(), {"-resource-dir", CLANG_RESOURCE_DIRECTORY, "-w"});
    return options;
}

void note_headers(const SourceManager &sources, const Source &source, Unit &unit) {
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
        std::string path = absolute_path(source.directory, file->first->getName());
        if (path != source.file)
            unit.headers.push_back(path);
    }
    std::sort(unit.headers.begin(), unit.headers.end());
}

/* What becomes of a file's syntax tree; only while it is parsed are its declarations there. */
class Extraction : public ASTConsumer {
  public:
    Extraction(const Source &source, Unit &unit) : source(source), unit(unit) {
    }

    void HandleTranslationUnit(ASTContext &context) override {
        Names names(context, source.directory);
        Collector(names, unit).TraverseDecl(context.getTranslationUnitDecl());
        note_headers(context.getSourceManager(), source, unit);
    }

  private:
    const Source &source;
    Unit &unit;
};

class ExtractionAction : public ASTFrontendAction {
  public:
    ExtractionAction(const Source &source, Unit &unit) : source(source), unit(unit) {
    }

    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance & /*compiler*/,
                                                   StringRef /*file*/) override {
        return std::make_unique<Extraction>(source, unit);
    }

  private:
    const Source &source;
    Unit &unit;
};

class Extractor : public tooling::FrontendActionFactory {
  public:
    Extractor(const Source &source, Unit &unit) : source(source), unit(unit) {
    }

    std::unique_ptr<FrontendAction> create() override {
        return std::make_unique<ExtractionAction>(source, unit);
    }

  private:
    const Source &source;
    Unit &unit;
};

} // namespace

Unit extract_unit(const Source &source) {
    Unit unit;
    unit.file = source.file;
    tooling::FixedCompilationDatabase database(source.directory, clang_options(source));
    tooling::ClangTool tool(database, {source.file});
    tool.clearArgumentsAdjusters();
    tool.appendArgumentsAdjuster(tooling::getClangSyntaxOnlyAdjuster());
    FirstError errors;
    tool.setDiagnosticConsumer(&errors);
    Extractor extractor(source, unit);
    tool.run(&extractor);
    if (errors.count > 0)
        unit.problems.push_back(source.file + ": cannot be parsed completely: " + errors.text);
    unit.lacks_header = errors.lacks_header;
    unit.parsed = errors.count == 0 || !unit.functions.empty();
    return unit;
}

} // namespace persik
