/* Bodies and initialisers of Clang's syntax tree -> our trees (ir.h). */
#ifndef PERSIK_STATIC_ANALYZER_CONVERT_H
#define PERSIK_STATIC_ANALYZER_CONVERT_H

#include <optional>
#include <string>
#include <vector>

#include "static-analyzer/library.h"
#include "static-analyzer/names.h"
#include "static-analyzer/once.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

namespace persik {

/* One for each function's body, or initialiser. Statements inside expressions (GNU's ({...})) move
 * in front of the statement that holds the expression. */
class Converter {
  public:
    /* `objects` gets those that are initialised statically; `function`: key, empty outside of all.
     */
    Converter(const Names &names, std::vector<StaticObject> &objects, std::string function);

    const clang::FunctionDecl *within = nullptr; /* whose body it is; null: of no function */

    Stmt body(const clang::Stmt *node);

    /* What a constructor sets in front of its body. */
    std::vector<Stmt> member_initialisers(const clang::CXXConstructorDecl *constructor);

    /* `variable = initialiser`, field by field for records, element by element for arrays. */
    void initialise(Expr target, clang::QualType type, const clang::Expr *value,
                    std::vector<Stmt> &out);

    void note_object(const std::string &key, clang::QualType type, const clang::Expr *value);

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

    /* convert_statements.cpp */
    void locate(Stmt &stmt, const clang::Stmt *node) const;
    Stmt with_hoisted(Stmt stmt, size_t before);
    Stmt with_scope_left(Stmt block, std::vector<Guard> before, const clang::Stmt *node);
    Stmt with_guards_released(Stmt jump, size_t from, const clang::Stmt *node);
    template <typename F>
    Stmt with_init(const clang::Stmt *choice, const clang::Stmt *init, const F &convert_choice);
    Stmt convert_statement(const clang::Stmt *node);
    Stmt convert_plain(const clang::Stmt *node);
    Stmt convert_if(const clang::IfStmt *choice);
    Stmt convert_switch(const clang::SwitchStmt *choice);
    Stmt convert_scope(const clang::CompoundStmt *node);
    Stmt convert_block(const clang::Stmt *node);
    const clang::VarDecl *variable_named(const std::string &name) const;
    void add_regions(int after, const clang::Stmt *node, Stmt &block);
    Stmt convert_once(const Once &once, const clang::ForStmt *loop);
    Stmt make_loop(const char *text, const clang::Stmt *before, const clang::VarDecl *declared,
                   const clang::Expr *condition, const clang::Expr *step, const clang::Stmt *body);
    Stmt make_each(const clang::CXXForRangeStmt *each);
    Expr convert_condition(const clang::VarDecl *declared, const clang::Expr *condition);

    /* convert_expressions.cpp */
    std::optional<double> constant_value(const clang::Expr *node) const;
    std::string constant_name(const clang::Expr *node) const;
    bool is_sum_with_name(const clang::Expr *node) const;
    std::vector<Expr> convert_all(const clang::Stmt *node);
    Expr convert(const clang::Expr *node);
    Expr convert_constant(const clang::Expr *node, double value) const;
    Expr convert_cast(const clang::CastExpr *cast);
    static const clang::Expr *referee(const clang::VarDecl *variable);
    Expr named(const clang::VarDecl *variable);
    Expr convert_for(clang::QualType to, const clang::Expr *value);
    std::vector<Expr> convert_arguments(const clang::CallExpr *call);
    Expr convert_reference(const clang::DeclRefExpr *reference);
    Expr convert_member(const clang::MemberExpr *member);
    Expr convert_subscript(const clang::ArraySubscriptExpr *subscript);
    Expr convert_std_atomic(const clang::CallExpr *call, const clang::CXXMethodDecl *method);
    Expr convert_call(const clang::CallExpr *call);
    Expr convert_construction(const clang::CXXConstructExpr *object);
    Expr convert_unary(const clang::UnaryOperator *unary);
    Expr convert_binary(const clang::BinaryOperator *binary);
    Expr convert_atomic(const clang::AtomicExpr *atomic);
    Expr convert_statement_expression(const clang::StmtExpr *block);
    Expr convert_literal(const clang::CompoundLiteralExpr *literal);

    /* convert_initialisers.cpp */
    void initialise_record(const Expr &of, const clang::RecordDecl *record,
                           const clang::InitListExpr *list, std::vector<Stmt> &out);
    void initialise_array(const Expr &target, clang::QualType type, const clang::InitListExpr *list,
                          std::vector<Stmt> &out);
    Stmt convert_declarations(const clang::DeclStmt *declarations);
};

} // namespace persik

#endif
