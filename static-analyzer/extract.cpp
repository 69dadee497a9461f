#include "static-analyzer/extract.h"

#include <algorithm>

#include "static-analyzer/convert.h"
#include "static-analyzer/names.h"
#include "static-analyzer/visitor.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace persik {

namespace {

class Collector : public Visitor<Collector> {
  public:
    Collector(const Names &names, Unit &unit) : names(names), unit(unit) {
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
        function.last_line = names.line(declaration->getBody()->getEndLoc());
        function.signature = declaration->getType().getCanonicalType().getAsString();
        for (const ParmVarDecl *parameter : declaration->parameters())
            function.parameters.push_back(names.variable(parameter));
        Converter converter(names, unit.objects, function.key);
        converter.within = declaration;
        function.body = converter.body(declaration->getBody());
        if (const auto *method = dyn_cast<CXXMethodDecl>(declaration))
            add_overridden(method, function.overrides);
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
            make(ExprKind::Variable, type_kind(field->getType()), names.field(field)),
            field->getType(), value, unit.initialisers);
        return true;
    }

  private:
    const Names &names;
    Unit &unit;

    /* Itself, too: it is in its own place. */
    void add_overridden(const CXXMethodDecl *method, std::vector<std::string> &keys) const {
        if (method->isVirtual())
            keys.push_back(names.function(method));
        for (const CXXMethodDecl *base : method->overridden_methods())
            add_overridden(base, keys);
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

/* Pragmas are in no syntax tree where OpenMP is left out, as it is: its loops are read as loops. */
struct Pragma {
    SourceLocation at;
    std::string text;
};

class Pragmas : public PPCallbacks {
  public:
    Pragmas(const SourceManager &sources, std::vector<Pragma> &found)
        : sources(sources), found(found) {
    }

    void PragmaDirective(SourceLocation at, PragmaIntroducerKind kind) override {
        if (kind == PIK_HashPragma && !sources.isInSystemHeader(at))
            found.push_back({at, line_at(at)});
    }

  private:
    const SourceManager &sources;
    std::vector<Pragma> &found;

    /* With the lines that it goes on in. */
    std::string line_at(SourceLocation at) const {
        bool invalid = false;
        StringRef file = sources.getBufferData(sources.getFileID(at), &invalid);
        size_t from = sources.getFileOffset(at), to = from;
        while (!invalid && to < file.size() && (file[to] != '\n' || file[to - 1] == '\\'))
            to++;
        return invalid ? "" : file.substr(from, to - from).str();
    }
};

bool is_parallel(const std::string &text) {
    StringRef words(text);
    return words.contains("omp") && words.contains(" parallel");
}

/* The text in num_threads(...), if it is a name. */
std::string team_count(const std::string &text) {
    StringRef rest = StringRef(text).split("num_threads").second.ltrim();
    StringRef inside = rest.startswith("(") ? rest.drop_front().split(')').first.trim() : "";
    bool is_name = !inside.empty() && !isdigit((unsigned char)inside[0]) &&
                   std::all_of(inside.begin(), inside.end(),
                               [](char c) { return isalnum((unsigned char)c) || c == '_'; });
    return is_name ? inside.str() : "";
}

/* What becomes of a file's syntax tree; only while it is parsed are its declarations there. */
class Extraction : public ASTConsumer {
  public:
    Extraction(const Source &source, Unit &unit, Preprocessor &preprocessor)
        : source(source), unit(unit) {
        preprocessor.addPPCallbacks(
            std::make_unique<Pragmas>(preprocessor.getSourceManager(), pragmas));
    }

    void HandleTranslationUnit(ASTContext &context) override {
        Names names(context, source.directory);
        for (const Pragma &pragma : pragmas)
            if (is_parallel(pragma.text))
                names.parallel.push_back({names.place(pragma.at), team_count(pragma.text)});
        Collector(names, unit).TraverseDecl(context.getTranslationUnitDecl());
        note_headers(context.getSourceManager(), source, unit);
    }

  private:
    const Source &source;
    Unit &unit;
    std::vector<Pragma> pragmas;
};

class ExtractionAction : public ASTFrontendAction {
  public:
    ExtractionAction(const Source &source, Unit &unit) : source(source), unit(unit) {
    }

    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler,
                                                   StringRef /*file*/) override {
        return std::make_unique<Extraction>(source, unit, compiler.getPreprocessor());
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
        unit.problems.push_back(source.file + ": cannot be parsed completely (" + errors.text +
                                "): its functions may be missed: give --build-dir, the folder of "
                                "compile_commands.json");
    unit.lacks_header = errors.lacks_header;
    unit.parsed = errors.count == 0 || !unit.functions.empty();
    return unit;
}

} // namespace persik
