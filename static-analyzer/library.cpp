#include "static-analyzer/library.h"

#include <map>
#include <set>

using namespace clang;

namespace persik {

bool is_of_library(const Decl *declaration) {
    return declaration->getDeclContext()->getEnclosingNamespaceContext()->isStdNamespace();
}

namespace {

/* "mutex" of std::mutex; empty for what is not of the library. */
std::string library_class(QualType type) {
    type = type.getNonReferenceType();
    if (type->isPointerType())
        type = type->getPointeeType();
    const CXXRecordDecl *record = type->getAsCXXRecordDecl();
    return record && is_of_library(record) ? record->getNameAsString() : "";
}

bool is_one_of(const std::string &name, const std::set<std::string> &names) {
    return names.count(name) > 0;
}

Expr element_of(const Expr &container, TypeKind type) {
    return make(ExprKind::Variable, type, "*" + container.text, {container});
}

/* The catalog's call for a method of what C++20 has for threads to wait by; null: none. Those that
 * libstdc++ makes of a futex are only called where a thread has to wait, or may have to wake. */
const char *synchronisation(const std::string &type, const std::string &method) {
    static const std::map<std::string, std::map<std::string, const char *>> calls = {
        {"barrier",
         {{"arrive_and_wait", "pthread_barrier_wait"}, {"wait", "pthread_barrier_wait"}}},
        {"latch",
         {{"arrive_and_wait", "pthread_barrier_wait"},
          {"wait", "syscall_futex_wait"},
          {"count_down", "syscall_futex_wake"}}},
        {"counting_semaphore",
         {{"acquire", "sem_wait"}, {"try_acquire", "sem_trywait"}, {"release", "sem_post"}}},
    };
    static const std::map<std::string, const char *> of_atomics = {
        {"wait", "syscall_futex_wait"},
        {"notify_one", "syscall_futex_wake"},
        {"notify_all", "syscall_futex_wake"}};
    auto of_type = calls.find(type);
    const auto &methods = of_type == calls.end() ? of_atomics : of_type->second;
    if (of_type == calls.end() && type.rfind("atomic", 0) != 0 && type.rfind("__atomic", 0) != 0)
        return nullptr;
    auto call = methods.find(method);
    return call == methods.end() ? nullptr : call->second;
}

/* Null: the compiler's, or the library's. */
const CXXDestructorDecl *own_destructor(const VarDecl *variable) {
    const CXXRecordDecl *record = variable->getType()->getAsCXXRecordDecl();
    if (!record || !record->hasDefinition() || is_of_library(record) ||
        !variable->hasLocalStorage())
        return nullptr;
    const CXXDestructorDecl *destructor = record->getDestructor();
    return destructor && destructor->isUserProvided() ? destructor : nullptr;
}

bool is_container(QualType type) {
    return is_one_of(library_class(type), {"vector", "deque", "list", "forward_list", "queue",
                                           "stack", "priority_queue"});
}

bool is_thread(QualType type) {
    return is_one_of(library_class(type), {"thread", "jthread"});
}

/* A number of elements, rather than the first of them. */
bool counts_elements(const clang::Expr *argument) {
    return argument->getType()->isIntegerType();
}

/* T of std::vector<T>, std::unique_ptr<T> and the like. */
QualType held_type(QualType type) {
    const auto *made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
        type.getNonReferenceType()->getAsCXXRecordDecl());
    bool holds = made && made->getTemplateArgs().size() > 0 &&
                 made->getTemplateArgs()[0].getKind() == TemplateArgument::Type;
    return holds ? made->getTemplateArgs()[0].getAsType() : QualType();
}

bool holds_threads(QualType type) {
    QualType held = held_type(type);
    return !held.isNull() && is_thread(held);
}

llvm::ArrayRef<const clang::Expr *> arguments_of(const CallExpr *call) {
    return {call->getArgs(), call->getNumArgs()};
}

Expr assign(const char *op, const Expr &target, Expr value) {
    return make(ExprKind::Assign, target.type, op, {target, std::move(value)});
}

} // namespace

Guard *Library::guard_of(const clang::Expr *node) {
    const auto *reference = dyn_cast<DeclRefExpr>(node->IgnoreParenImpCasts());
    for (Guard &guard : guards)
        if (reference && reference->getDecl() == guard.variable && !guard.destructor)
            return &guard;
    return nullptr;
}

Expr Library::call_on(const char *function, Expr object, SourceLocation location) const {
    Expr call = make(ExprKind::Call, TypeKind::Integer, function,
                     {make(ExprKind::Address, TypeKind::Pointer, "", {std::move(object)})});
    call.place = names.place(location);
    return call;
}

std::optional<Expr> Library::call(const CallExpr *call) {
    const FunctionDecl *callee = call->getDirectCallee();
    if (!callee || !is_of_library(callee))
        return std::nullopt;
    std::string name = callee->getNameAsString();
    if ((name == "move" || name == "forward") && call->getNumArgs() == 1)
        return convert(call->getArg(0));
    if (name == "ref" && call->getNumArgs() == 1)
        return make(ExprKind::Address, TypeKind::Pointer, "", {convert(call->getArg(0))});
    if (const auto *op = dyn_cast<CXXOperatorCallExpr>(call))
        return operator_call(op);
    const auto *method = dyn_cast<CXXMemberCallExpr>(call);
    if (!method)
        return maker_call(name, call);
    const clang::Expr *object = method->getImplicitObjectArgument();
    std::string type = library_class(object->getType());
    if (is_one_of(type, {"mutex", "timed_mutex", "recursive_mutex", "recursive_timed_mutex",
                         "shared_mutex"}))
        return mutex_call(name, convert(object), method->getExprLoc());
    if (Guard *guard = guard_of(object)) {
        if (name == "lock" || name == "unlock")
            guard->held = name == "lock";
        return mutex_call(name, guard->mutex, method->getExprLoc());
    }
    if (is_one_of(type, {"condition_variable", "condition_variable_any"}))
        return condition_call(name, method, convert(object));
    if (const char *function = synchronisation(type, name))
        return call_on(function, convert(object), method->getExprLoc());
    if (is_container(object->getType()))
        return container_call(name, method, object);
    return std::nullopt;
}

std::optional<Expr> Library::mutex_call(const std::string &name, Expr mutex,
                                        SourceLocation location) const {
    static const std::map<std::string, const char *> calls = {{"lock", "pthread_mutex_lock"},
                                                              {"try_lock", "pthread_mutex_trylock"},
                                                              {"unlock", "pthread_mutex_unlock"}};
    auto known = calls.find(name);
    if (known == calls.end())
        return std::nullopt;
    return call_on(known->second, std::move(mutex), location);
}

std::optional<Expr> Library::condition_call(const std::string &name, const CXXMemberCallExpr *call,
                                            const Expr &condition) {
    SourceLocation location = call->getExprLoc();
    if (name == "notify_one")
        return call_on("pthread_cond_signal", condition, location);
    if (name == "notify_all")
        return call_on("pthread_cond_broadcast", condition, location);
    bool timed = name == "wait_for" || name == "wait_until";
    Guard *guard = call->getNumArgs() > 0 ? guard_of(call->getArg(0)) : nullptr;
    if (!guard || (name != "wait" && !timed))
        return std::nullopt;
    Expr wait =
        call_on(timed ? "pthread_cond_timedwait" : "pthread_cond_wait", condition, location);
    wait.children.push_back(make(ExprKind::Address, TypeKind::Pointer, "", {guard->mutex}));
    unsigned predicate = timed ? 2 : 1;
    if (call->getNumArgs() <= predicate)
        return wait;
    return waiting_loop(std::move(wait), call->getArg(predicate));
}

/* while (!predicate()) wait; its value is the predicate's. */
std::optional<Expr> Library::waiting_loop(Expr wait, const clang::Expr *predicate) {
    Expr ready = make(ExprKind::Call, TypeKind::Integer, convert(predicate).text);
    Stmt loop =
        statement(StmtKind::Loop, {make(ExprKind::Operator, TypeKind::Integer, "!", {ready})});
    loop.text = "while";
    loop.first_line = names.line(predicate->getBeginLoc());
    loop.last_line = names.line(predicate->getEndLoc());
    loop.children.push_back(statement(StmtKind::Nothing));
    loop.children.push_back(statement(StmtKind::Evaluate, {std::move(wait)}));
    loop.children.push_back(statement(StmtKind::Nothing));
    hoisted.push_back(std::move(loop));
    return ready;
}

/* What a thread runs: a function, a method, or an object that can be called. */
Expr Library::routine(const clang::Expr *node) const {
    Expr expr = convert(node);
    const CXXRecordDecl *record = node->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (expr.kind == ExprKind::Function || !record || !record->hasDefinition())
        return expr;
    for (const CXXMethodDecl *method : record->methods())
        if (method->getOverloadedOperator() == OO_Call)
            return make(ExprKind::Function, TypeKind::Pointer, names.function(method));
    return expr;
}

/* Runs the first argument with the others. */
std::optional<Expr> Library::thread(llvm::ArrayRef<const clang::Expr *> arguments,
                                    SourceLocation location) {
    if (arguments.empty())
        return std::nullopt;
    const auto *call = dyn_cast<CallExpr>(arguments[0]->IgnoreImplicit());
    const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    if (callee && is_of_library(callee) && callee->getNameAsString() == "bind")
        return thread(arguments_of(call), location);
    Expr create = call_on("pthread_create", make(ExprKind::Other, TypeKind::Record, ""), location);
    create.children.push_back(constant(0));
    create.children.push_back(routine(arguments[0]));
    bool is_method = arguments[0]->getType()->isMemberPointerType();
    for (const clang::Expr *argument :
         arguments.drop_front(is_method && arguments.size() > 1 ? 2 : 1))
        create.children.push_back(convert(argument));
    return create;
}

std::optional<Expr> Library::construction(const CXXConstructExpr *object) {
    const CXXConstructorDecl *constructor = object->getConstructor();
    if (!is_thread(object->getType()) || constructor->isCopyOrMoveConstructor())
        return std::nullopt;
    return thread({object->getArgs(), object->getNumArgs()}, object->getBeginLoc());
}

/* Functions of the library that create a thread. */
std::optional<Expr> Library::maker_call(const std::string &name, const CallExpr *call) {
    llvm::ArrayRef<const clang::Expr *> arguments = arguments_of(call);
    if (name == "async" && !arguments.empty()) {
        bool has_policy = arguments[0]->getType()->isEnumeralType();
        return thread(arguments.drop_front(has_policy ? 1 : 0), call->getBeginLoc());
    }
    if (is_one_of(name, {"make_unique", "make_shared"}) && holds_threads(call->getType()))
        return thread(arguments, call->getBeginLoc());
    return std::nullopt;
}

/* A class that is derived from a container has it as if it were a field. */
Expr Library::container(const clang::Expr *object) const {
    const auto *cast = dyn_cast<ImplicitCastExpr>(object->IgnoreParens());
    if (!cast || (cast->getCastKind() != CK_UncheckedDerivedToBase &&
                  cast->getCastKind() != CK_DerivedToBase))
        return convert(object);
    const clang::Expr *derived = cast->getSubExpr();
    QualType type = derived->getType();
    const CXXRecordDecl *record =
        type->isPointerType() ? type->getPointeeCXXRecordDecl() : type->getAsCXXRecordDecl();
    return make(ExprKind::Variable, TypeKind::Record,
                names.record(record) + "." + library_class(object->getType()), {convert(derived)});
}

std::optional<Expr> Library::size_of(const CXXConstructExpr *container) {
    if (!is_container(container->getType()) || container->getNumArgs() == 0 ||
        !counts_elements(container->getArg(0)))
        return std::nullopt;
    return convert(container->getArg(0));
}

std::optional<Expr> Library::container_call(const std::string &name, const CXXMemberCallExpr *call,
                                            const clang::Expr *object) {
    Expr count = container(object);
    if (count.kind != ExprKind::Variable)
        return std::nullopt;
    count.type = TypeKind::Integer;
    if (name == "size")
        return count;
    if (name == "empty")
        return make(ExprKind::Operator, TypeKind::Integer, "!", {count});
    if (name == "clear")
        return assign("=", count, constant(0));
    if (is_one_of(name, {"resize", "assign"}) && counts_elements(call->getArg(0)))
        return assign("=", count, convert(call->getArg(0)));
    if (is_one_of(name, {"pop", "pop_back", "pop_front", "erase"}))
        return assign("-=", count, constant(1));
    if (is_one_of(name, {"front", "back", "top", "at"}))
        return element_of(count, type_kind(call->getType()));
    if (call->getNumArgs() == 0 || !is_one_of(name, {"push", "emplace", "push_back", "emplace_back",
                                                     "push_front", "emplace_front", "insert"}))
        return std::nullopt;
    bool emplaces =
        is_one_of(name, {"emplace_back", "emplace_front"}) && holds_threads(object->getType());
    Expr item = convert(call->getArg(call->getNumArgs() - 1));
    if (emplaces)
        item = *thread(arguments_of(call), call->getExprLoc());
    TypeKind type = item.type;
    return make(
        ExprKind::Other, TypeKind::None, "",
        {assign("=", element_of(count, type), std::move(item)), assign("+=", count, constant(1))});
}

/* Whoever gets nothing converts the operands himself: of others than these none may be converted
 * here, or each link of `cout << a << b << ...` doubles the work. */
std::optional<Expr> Library::operator_call(const CXXOperatorCallExpr *call) {
    OverloadedOperatorKind op = call->getOperator();
    if (op != OO_Equal && op != OO_Subscript && op != OO_Call)
        return std::nullopt;
    TypeKind type = type_kind(call->getType());
    Expr object = convert(call->getArg(0));
    if (op != OO_Call && object.kind != ExprKind::Variable)
        return std::nullopt;
    if (op == OO_Equal)
        return assign("=", object, convert(call->getArg(1)));
    if (op == OO_Subscript) {
        Expr element = element_of(object, type);
        element.children.push_back(convert(call->getArg(1)));
        return element;
    }
    std::vector<Expr> children = {std::move(object)}; /* a std::function */
    for (unsigned i = 1; i < call->getNumArgs(); i++)
        children.push_back(convert(call->getArg(i)));
    Expr indirect = make(ExprKind::Indirect, type, "std::function", std::move(children));
    indirect.place = names.place(call->getExprLoc());
    return indirect;
}

std::optional<Stmt> Library::declaration(const VarDecl *variable) {
    if (const CXXDestructorDecl *destructor = own_destructor(variable))
        guards.push_back({variable, {}, true, destructor});
    if (!is_one_of(library_class(variable->getType()),
                   {"unique_lock", "lock_guard", "scoped_lock"}))
        return std::nullopt;
    const auto *made = dyn_cast<CXXConstructExpr>(variable->getInit()->IgnoreImplicit());
    if (!made || made->getNumArgs() == 0)
        return std::nullopt;
    bool held = made->getNumArgs() == 1 || isa<CXXDefaultArgExpr>(made->getArg(1));
    guards.push_back({variable, convert(made->getArg(0)), held, nullptr});
    if (!held)
        return statement(StmtKind::Nothing);
    return statement(StmtKind::Evaluate,
                     {call_on("pthread_mutex_lock", guards.back().mutex, variable->getLocation())});
}

Expr Library::end_of(const Guard &guard, SourceLocation location) const {
    if (!guard.destructor)
        return call_on("pthread_mutex_unlock", guard.mutex, location);
    Expr call = make(ExprKind::Call, TypeKind::None, names.function(guard.destructor));
    call.place = names.place(location);
    return call;
}

std::vector<Stmt> Library::release(size_t from, const clang::Stmt *at) const {
    std::vector<Stmt> out;
    for (size_t i = guards.size(); i-- > from;) {
        if (!guards[i].held)
            continue;
        out.push_back(statement(StmtKind::Evaluate, {end_of(guards[i], at->getEndLoc())}));
        out.back().first_line = names.line(at->getBeginLoc());
        out.back().last_line = names.line(at->getEndLoc());
    }
    return out;
}

} // namespace persik
