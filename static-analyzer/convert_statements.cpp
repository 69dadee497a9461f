#include "static-analyzer/convert.h"

#include <cstring>

#include "static-analyzer/fixed.h"

using namespace clang;

namespace persik {

Converter::Converter(const Names &names, std::vector<StaticObject> &objects, std::string function)
    : names(names), objects(objects), function(std::move(function)),
      library(
          names, [this](const clang::Expr *node) { return convert(node); }, hoisted) {
}

/* ---- scopes with guards ---- */
static bool is_jump(const Stmt &stmt) {
    return stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Break ||
           stmt.kind == StmtKind::Continue || stmt.kind == StmtKind::Goto ||
           (stmt.kind == StmtKind::Block && !stmt.children.empty() &&
            is_jump(stmt.children.back()));
}

/* Behind `block` the guards that it took are gone: what it holds then is given back. */
Stmt Converter::with_scope_left(Stmt block, std::vector<Guard> before, const clang::Stmt *node) {
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
Stmt Converter::with_guards_released(Stmt jump, size_t from, const clang::Stmt *node) {
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

/* ---- statements ---- */
void Converter::locate(Stmt &stmt, const clang::Stmt *node) const {
    stmt.first_line = names.line(node->getBeginLoc());
    stmt.last_line = names.line(node->getEndLoc());
}

/* Puts what was hoisted while `stmt` was made in front of it. */
Stmt Converter::with_hoisted(Stmt stmt, size_t before) {
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

Stmt Converter::convert_statement(const clang::Stmt *node) {
    size_t before = hoisted.size();
    Stmt stmt = node ? convert_plain(node) : statement(StmtKind::Nothing);
    if (node)
        locate(stmt, node);
    return with_hoisted(std::move(stmt), before);
}

Stmt Converter::convert_plain(const clang::Stmt *node) {
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
        return make_loop("while", nullptr, loop->getConditionVariable(), loop->getCond(), nullptr,
                         loop->getBody());
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
Stmt Converter::with_init(const clang::Stmt *choice, const clang::Stmt *init,
                          const F &convert_choice) {
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

Stmt Converter::convert_if(const IfStmt *choice) {
    if (auto always = constant_value(choice->getCond())) /* as of pthread_cleanup_pop() */
        return convert_statement(*always != 0 ? choice->getThen() : choice->getElse());
    Stmt stmt = statement(StmtKind::If,
                          {convert_condition(choice->getConditionVariable(), choice->getCond())});
    stmt.children.push_back(convert_statement(choice->getThen()));
    stmt.children.push_back(convert_statement(choice->getElse()));
    return stmt;
}

Stmt Converter::convert_switch(const SwitchStmt *choice) {
    Stmt stmt = statement(StmtKind::Switch,
                          {convert_condition(choice->getConditionVariable(), choice->getCond())});
    size_t around = outside.empty() ? 0 : outside.back().on_continue;
    outside.push_back({library.guards.size(), around});
    stmt.children.push_back(convert_statement(choice->getBody()));
    outside.pop_back();
    return stmt;
}

Stmt Converter::convert_scope(const CompoundStmt *node) {
    std::vector<Guard> before = library.guards;
    return with_scope_left(convert_block(node), std::move(before), node);
}

/* Labels, cases and whatever else only contains statements. */
Stmt Converter::convert_block(const clang::Stmt *node) {
    Stmt block = statement(StmtKind::Block);
    int after = names.line(node->getBeginLoc()); /* the last line of what comes before */
    for (const clang::Stmt *child : node->children())
        if (child) {
            add_regions(after, child, block);
            block.children.push_back(convert_statement(child));
            after = names.line(child->getEndLoc());
        }
    return block;
}

static const VarDecl *declared_in(const clang::Stmt *node, const std::string &name) {
    const VarDecl *found = nullptr;
    if (const auto *declarations = dyn_cast_or_null<DeclStmt>(node))
        for (const Decl *declaration : declarations->decls())
            if (const auto *variable = dyn_cast<VarDecl>(declaration))
                found = variable->getNameAsString() == name ? variable : found;
    if (node && !found)
        for (const clang::Stmt *child : node->children())
            found = found ? found : declared_in(child, name);
    return found;
}

/* Of the function or, if that has none of the name, of the file. */
const VarDecl *Converter::variable_named(const std::string &name) const {
    if (!within)
        return nullptr;
    for (const ParmVarDecl *parameter : within->parameters())
        if (parameter->getNameAsString() == name)
            return parameter;
    if (const VarDecl *local = declared_in(within->getBody(), name))
        return local;
    for (const NamedDecl *global :
         names.context.getTranslationUnitDecl()->lookup(&names.context.Idents.get(name)))
        if (const auto *variable = dyn_cast<VarDecl>(global))
            return variable;
    return nullptr;
}

/* A team of OpenMP does the statement behind its pragma: a call in front of it, of no function. */
void Converter::add_regions(int after, const clang::Stmt *node, Stmt &block) {
    int line = names.line(node->getBeginLoc());
    std::string file;
    for (const ParallelPragma &pragma : names.parallel) {
        if (pragma.place.line <= after || pragma.place.line > line)
            continue;
        if (file.empty())
            file = names.file(node->getBeginLoc());
        if (pragma.place.file != file)
            continue;
        Expr call = make(ExprKind::Call, TypeKind::None, parallel_region);
        call.place = pragma.place;
        const VarDecl *count = pragma.count.empty() ? nullptr : variable_named(pragma.count);
        if (count)
            call.children.push_back(
                make(ExprKind::Variable, type_kind(count->getType()), names.variable(count)));
        Stmt region = statement(StmtKind::Evaluate, {std::move(call)});
        region.first_line = region.last_line = pragma.place.line;
        block.children.push_back(std::move(region));
    }
}

/* What only looks like a loop: breaks lead to what comes after. */
Stmt Converter::convert_once(const Once &once, const ForStmt *loop) {
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

Stmt Converter::make_loop(const char *text, const clang::Stmt *before, const VarDecl *declared,
                          const clang::Expr *condition, const clang::Expr *step,
                          const clang::Stmt *body) {
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
Stmt Converter::make_each(const CXXForRangeStmt *each) {
    Expr some_left = make(ExprKind::Other, TypeKind::Integer, "", {convert(each->getRangeInit())});
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
Expr Converter::convert_condition(const VarDecl *declared, const clang::Expr *condition) {
    if (!declared || !declared->getInit())
        return convert(condition);
    TypeKind type = type_kind(declared->getType());
    Expr set = make(
        ExprKind::Assign, type, "=",
        {make(ExprKind::Variable, type, names.variable(declared)), convert(declared->getInit())});
    return make(ExprKind::Operator, type_kind(condition->getType()), ",",
                {std::move(set), convert(condition)});
}

Stmt Converter::body(const clang::Stmt *node) {
    Stmt stmt = convert_statement(node);
    call_fixed_pointers(stmt);
    return stmt;
}

} // namespace persik
