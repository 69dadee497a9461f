#include <algorithm>
#include <sys/syscall.h>

#include "formats/futex_use.h"
#include "static-analyzer/convert.h"

using namespace clang;

namespace persik {

std::optional<double> Converter::constant_value(const clang::Expr *node) const {
    if (node->isValueDependent() || !node->getType()->isIntegralOrEnumerationType())
        return std::nullopt;
    clang::Expr::EvalResult result;
    if (!node->EvaluateAsInt(result, names.context))
        return std::nullopt;
    return result.Val.getInt().isSigned() ? (double)result.Val.getInt().getSExtValue()
                                          : (double)result.Val.getInt().getZExtValue();
}

std::vector<Expr> Converter::convert_all(const clang::Stmt *node) {
    std::vector<Expr> out;
    for (const clang::Stmt *child : node->children())
        if (const auto *expr = dyn_cast_or_null<clang::Expr>(child))
            out.push_back(convert(expr));
    return out;
}

/* Of an enumerator, a constant, or a macro that is but one number; empty: none. */
std::string Converter::constant_name(const clang::Expr *node) const {
    node = node->IgnoreParenImpCasts();
    if (const auto *reference = dyn_cast<DeclRefExpr>(node))
        return reference->getDecl()->getNameAsString();
    return isa<IntegerLiteral>(node) ? names.macro(node->getBeginLoc()) : "";
}

/* THREADS + 1 is more than 5: what follows THREADS, follows it. */
bool Converter::is_sum_with_name(const clang::Expr *node) const {
    const auto *binary = dyn_cast<BinaryOperator>(node->IgnoreParenImpCasts());
    if (!binary || !(binary->isAdditiveOp() || binary->isMultiplicativeOp()))
        return false;
    auto named = [this](const clang::Expr *side) {
        return !constant_name(side).empty() || is_sum_with_name(side);
    };
    return named(binary->getLHS()) || named(binary->getRHS());
}

Expr Converter::convert_constant(const clang::Expr *node, double value) const {
    Expr expr = constant(value);
    expr.text = constant_name(node);
    return expr;
}

Expr Converter::convert(const clang::Expr *node) {
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
    if (const auto *creation = dyn_cast<CXXNewExpr>(node))
        return make(ExprKind::Call, TypeKind::Pointer, names.function(creation->getOperatorNew()),
                    convert_all(creation));
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

Expr Converter::convert_cast(const CastExpr *cast) {
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

/* A reference that things are changed by: what is only read may be no object at all. */
static bool is_pointer_in_disguise(QualType type) {
    return !type.isNull() && type->isLValueReferenceType() &&
           !type->getPointeeType().isConstQualified() && !type->getPointeeType()->isFunctionType();
}

static bool mentions(const clang::Stmt *node, const VarDecl *variable) {
    const auto *reference = dyn_cast_or_null<DeclRefExpr>(node);
    return node &&
           ((reference && reference->getDecl() == variable) ||
            std::any_of(node->child_begin(), node->child_end(),
                        [&](const clang::Stmt *child) { return mentions(child, variable); }));
}

/* What a local reference stands for, where that has a name; null: it is a variable to us. */
const clang::Expr *Converter::referee(const VarDecl *variable) {
    if (!variable->getType()->isReferenceType() || !variable->hasLocalStorage() ||
        variable->isCXXForRangeDecl() || !variable->getInit())
        return nullptr;
    const clang::Expr *of = variable->getInit()->IgnoreParenImpCasts();
    bool has_name = isa<DeclRefExpr>(of) || isa<MemberExpr>(of) || isa<ArraySubscriptExpr>(of);
    return has_name && !mentions(of, variable) ? of : nullptr;
}

Expr Converter::named(const VarDecl *variable) {
    if (const clang::Expr *of = referee(variable))
        return convert(of);
    TypeKind type = type_kind(variable->getType().getNonReferenceType());
    bool points = isa<ParmVarDecl>(variable) && is_pointer_in_disguise(variable->getType());
    Expr expr =
        make(ExprKind::Variable, points ? TypeKind::Pointer : type, names.variable(variable));
    return points ? dereference(std::move(expr), type) : expr;
}

/* What a parameter of type `to` is set to. */
Expr Converter::convert_for(QualType to, const clang::Expr *value) {
    Expr converted = convert(value);
    if (!is_pointer_in_disguise(to))
        return converted;
    return make(ExprKind::Address, TypeKind::Pointer, "", {std::move(converted)});
}

/* Of a function of the program's own, which we read ourselves; else no type. */
static QualType parameter_type(const FunctionDecl *function, unsigned i) {
    return function && !is_of_library(function) && i < function->getNumParams()
               ? function->getParamDecl(i)->getType()
               : QualType();
}

/* The object of a method that is an operator is no parameter, but the first argument. */
std::vector<Expr> Converter::convert_arguments(const CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee();
    unsigned objects = isa<CXXOperatorCallExpr>(call) && isa_and_nonnull<CXXMethodDecl>(callee);
    std::vector<Expr> arguments;
    for (unsigned i = 0; i < call->getNumArgs(); i++)
        if (i < objects)
            arguments.push_back(convert(call->getArg(i)));
        else
            arguments.push_back(convert_for(parameter_type(callee, i - objects), call->getArg(i)));
    return arguments;
}

Expr Converter::convert_reference(const DeclRefExpr *reference) {
    const ValueDecl *declaration = reference->getDecl();
    if (const auto *callee = dyn_cast<FunctionDecl>(declaration))
        return make(ExprKind::Function, TypeKind::Pointer, names.function(callee));
    if (const auto *variable = dyn_cast<VarDecl>(declaration))
        return named(variable);
    return make(ExprKind::Other, type_kind(reference->getType()), "");
}

Expr Converter::convert_member(const MemberExpr *member) {
    const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (!field)
        return make(ExprKind::Other, type_kind(member->getType()), "", convert_all(member));
    Expr base = convert(member->getBase());
    std::string key = names.member(base, field);
    return make(ExprKind::Variable, type_kind(field->getType()), key, {std::move(base)});
}

Expr Converter::convert_subscript(const ArraySubscriptExpr *subscript) {
    Expr element = dereference(convert(subscript->getBase()), type_kind(subscript->getType()));
    element.type = type_kind(subscript->getType());
    element.children.push_back(convert(subscript->getIdx()));
    return element;
}

/* What an atomic operation of this name does: "+=", "cas" (compare and swap: the object, what is
 * expected, what it becomes), or "atomic" for all others. */
static const char *atomic_operator(const std::string &name) {
    if (name.find("compare") != std::string::npos)
        return "cas";
    static const char *const additions[] = {"fetch_add", "fetch_and_add", "add_and_fetch",
                                            "operator++", "operator+="};
    return std::any_of(
               std::begin(additions), std::end(additions),
               [&](const char *addition) { return name.find(addition) != std::string::npos; })
               ? "+="
               : "atomic";
}

/* A method of std::atomic, std::atomic_flag or what these are made of. */
static const CXXMethodDecl *std_atomic_method(const CallExpr *call) {
    const auto *method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
    if (!method || method->isStatic() || !method->getParent()->isInStdNamespace())
        return nullptr;
    StringRef name = method->getParent()->getName();
    bool waits = method->getDeclName().isIdentifier() &&
                 (method->getName() == "wait" || method->getName().startswith("notify"));
    return (name.startswith("atomic") || name.startswith("__atomic")) && !waits ? method : nullptr;
}

Expr Converter::convert_std_atomic(const CallExpr *call, const CXXMethodDecl *method) {
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
    Expr value =
        call->getNumArgs() > first && name != "clear" ? convert(call->getArg(first)) : constant(0);
    bool stores = name == "store" || name == "operator=" || name == "clear";
    Expr operation =
        make(stores ? ExprKind::Assign : ExprKind::Atomic, type,
             stores ? "=" : atomic_operator(name), {std::move(object), std::move(value)});
    if (operation.text == "cas" && call->getNumArgs() > first + 1)
        operation.children.push_back(convert(call->getArg(first + 1)));
    return operation;
}

static void make_atomic(Expr &operation) {
    Expr object = dereference(std::move(operation.children[0]), operation.type);
    operation.children[0] = std::move(object);
    operation.kind = ExprKind::Atomic;
}

/* syscall(SYS_futex, word, operation, ...) is a call on the word. One whose operation is not known
 * may have to wait. */
static void simplify_system_call(Expr &call) {
    if (call.text != "syscall" || call.children.size() < 3 ||
        call.children[0].kind != ExprKind::Constant || call.children[0].value != SYS_futex)
        return;
    const Expr &operation = call.children[2];
    futex_use use =
        operation.kind == ExprKind::Constant ? futex_use_of((int)operation.value) : FUTEX_WAITS;
    if (use == FUTEX_ELSE)
        return;
    call.text = use == FUTEX_WAKES ? "syscall_futex_wake" : "syscall_futex_wait";
    call.children.erase(call.children.begin());
}

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
        call.text = std::string(atomic_operator(call.text));
    }
}

/* Whose class decides which method is called; null: it is the one that is named. */
static const clang::Expr *dispatching_object(const CallExpr *call) {
    const auto *of_method = dyn_cast<CXXMemberCallExpr>(call);
    const auto *member =
        of_method ? dyn_cast<MemberExpr>(of_method->getCallee()->IgnoreParens()) : nullptr;
    bool decides = member && of_method->getMethodDecl()->isVirtual() && !member->hasQualifier();
    return decides ? of_method->getImplicitObjectArgument() : nullptr;
}

Expr Converter::convert_call(const CallExpr *call) {
    if (const CXXMethodDecl *method = std_atomic_method(call))
        return convert_std_atomic(call, method);
    std::vector<Expr> arguments = convert_arguments(call);
    const clang::Expr *object = dispatching_object(call);
    if (object)
        arguments.insert(arguments.begin(), convert(object));
    TypeKind type = type_kind(call->getType());
    const FunctionDecl *callee = call->getDirectCallee();
    Expr expr;
    if (callee) {
        std::string name = callee->getQualifiedNameAsString(); /* naps have no linker's name */
        bool naps = name.rfind("std::this_thread::", 0) == 0;
        expr =
            make(ExprKind::Call, type, naps ? name : names.function(callee), std::move(arguments));
        expr.noreturn = callee->isNoReturn();
        simplify_builtin(expr);
        simplify_system_call(expr);
        if (object)
            expr.kind = ExprKind::Indirect;
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
Expr Converter::convert_construction(const CXXConstructExpr *object) {
    if (auto thread = library.construction(object))
        return *thread;
    const CXXConstructorDecl *constructor = object->getConstructor();
    std::vector<Expr> arguments;
    for (unsigned i = 0; i < object->getNumArgs(); i++)
        if (!isa<CXXDefaultArgExpr>(object->getArg(i)))
            arguments.push_back(convert_for(parameter_type(constructor, i), object->getArg(i)));
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

/* Updating a variable of an atomic type is an atomic operation. */
static Expr update(const char *op, Expr target, Expr value, const clang::Expr *node) {
    TypeKind type = target.type;
    if (node->getType()->isAtomicType())
        return make(ExprKind::Atomic, type, op, {std::move(target), std::move(value)});
    return make(ExprKind::Assign, type, op, {std::move(target), std::move(value)});
}

Expr Converter::convert_unary(const UnaryOperator *unary) {
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
        return make(ExprKind::Operator, type, UnaryOperator::getOpcodeStr(unary->getOpcode()).str(),
                    {std::move(operand)});
    }
}

Expr Converter::convert_binary(const BinaryOperator *binary) {
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

Expr Converter::convert_atomic(const AtomicExpr *atomic) {
    std::vector<Expr> operands;
    operands.push_back(convert(atomic->getPtr()));
    AtomicExpr::AtomicOp op = atomic->getOp();
    bool load = op == AtomicExpr::AO__c11_atomic_load || op == AtomicExpr::AO__atomic_load_n ||
                op == AtomicExpr::AO__atomic_load;
    bool store = op == AtomicExpr::AO__c11_atomic_store || op == AtomicExpr::AO__atomic_store_n ||
                 op == AtomicExpr::AO__c11_atomic_init;
    TypeKind type = type_kind(atomic->getType());
    if (load)
        return dereference(std::move(operands[0]), type);
    if (atomic->getNumSubExprs() > 2 || op == AtomicExpr::AO__c11_atomic_init)
        operands.push_back(convert(atomic->getVal1()));
    if (store)
        return make(ExprKind::Assign, type, "=",
                    {dereference(std::move(operands[0]), type), std::move(operands[1])});
    bool adds = op == AtomicExpr::AO__c11_atomic_fetch_add ||
                op == AtomicExpr::AO__atomic_fetch_add || op == AtomicExpr::AO__atomic_add_fetch;
    if (atomic->isCmpXChg())
        operands.push_back(convert(atomic->getVal2()));
    const char *text = adds ? "+=" : atomic->isCmpXChg() ? "cas" : "atomic";
    Expr operation = make(ExprKind::Atomic, type, text, std::move(operands));
    make_atomic(operation);
    return operation;
}

Expr Converter::convert_statement_expression(const clang::StmtExpr *block) {
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

Expr Converter::convert_literal(const CompoundLiteralExpr *literal) {
    Expr target = make(ExprKind::Other, type_kind(literal->getType()), "");
    std::vector<Stmt> out;
    initialise(target, literal->getType(), literal->getInitializer(), out);
    for (Stmt &stmt : out)
        hoisted.push_back(std::move(stmt));
    return target;
}

} // namespace persik
