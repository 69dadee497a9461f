#include "static-analyzer/choices.h"

#include <algorithm>

namespace persik {

namespace {

/* More are as good as none. */
const size_t max_choices = 16;
/* Real amounts take some dozens; what takes more is no amount. */
const int max_steps = 2000;

bool is_known(const Amount &amount) {
    return amount.follows_threads || amount.constant;
}

bool same_value(const Amount &a, const Amount &b) {
    return a.follows_threads == b.follows_threads && a.constant == b.constant &&
           a.factor == b.factor && a.offset == b.offset;
}

bool same_place(const Place &a, const Place &b) {
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

void add_choice(std::vector<Amount> &choices, const Amount &choice) {
    bool there = std::any_of(choices.begin(), choices.end(), [&](const Amount &known) {
        return same_value(known, choice) && same_place(known.place, choice.place);
    });
    if (!there)
        choices.push_back(choice);
}

std::string in_brackets(const std::string &text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

/* `a` op `b` made at one place; false when they belong to different ones. */
bool combine(const std::string &op, const Amount &a, const Amount &b, Amount &result) {
    if (!a.place.file.empty() && !b.place.file.empty() && !same_place(a.place, b.place))
        return false;
    const Amount &placed = a.place.file.empty() ? b : a;
    result.text = in_brackets(a.text) + " " + op + " " + in_brackets(b.text);
    result.place = placed.place;
    result.function = placed.function;
    Linear value;
    if (!is_known(a) || !is_known(b) ||
        !linear_combine(op, {a.factor, a.offset}, {b.factor, b.offset}, value))
        return true;
    result.factor = value.factor;
    result.offset = value.offset;
    result.follows_threads = a.follows_threads || b.follows_threads;
    result.constant = !result.follows_threads;
    return true;
}

} // namespace

Choices::Choices(const Program &program, const Taint &taint) : taint(taint) {
    for (size_t f = 0; f < program.flows.size(); f++) {
        const Flow &flow = program.flows[f];
        if (!flow.reached)
            continue;
        for (const Assignment &a : flow.assignments)
            if (a.op == "=" && a.target->kind == ExprKind::Variable &&
                a.target->type == TypeKind::Integer && !expr_reads(*a.value, a.target->text))
                add_assignment(a, (int)f);
        for (const CallSite &site : flow.calls) {
            if (site.call->kind != ExprKind::Call || site.callees.empty())
                continue;
            const auto &parameters = program.functions[(size_t)site.callees[0]].parameters;
            for (size_t i = 0; i < parameters.size() && i < site.call->children.size(); i++)
                if (site.call->children[i].type == TypeKind::Integer)
                    sources[parameters[i]].push_back(
                        {&site.call->children[i], (int)f, &site.call->place});
        }
    }
    for (const Function &function : program.functions)
        names.push_back(function.key);
}

void Choices::add_assignment(const Assignment &a, int f) {
    sources[a.target->text].push_back({a.value, f, nullptr});
    if (a.value->kind == ExprKind::Variable && key_is_local(a.value->text) &&
        !key_is_local(a.target->text))
        feeds[a.value->text].insert(a.target->text);
}

std::vector<Amount> Choices::of(const Expr &expr, int f, const std::string &key) const {
    Way way;
    if (!key.empty())
        way.visited.insert(key);
    return follow(expr, f, way);
}

void Choices::attach(Amount &amount, const std::vector<Amount> &choices) {
    bool more = std::any_of(choices.begin(), choices.end(), [&](const Amount &choice) {
        bool tells = choice.follows_threads || (choice.constant && !choice.place.file.empty());
        return tells && !same_value(choice, amount);
    });
    for (const Amount &choice : choices)
        if (more && is_known(choice))
            add_choice(amount.choices, choice);
}

std::vector<Amount> Choices::follow(const Expr &wrapped, int f, Way &way) const {
    const Expr &expr = unwrapped(wrapped);
    if (expr.kind == ExprKind::Variable)
        return follow_variable(expr, f, way);
    if (expr.kind == ExprKind::Operator && expr.children.size() >= 2)
        return follow_operator(expr, f, way);
    return {amount_of(taint, expr, f, nullptr)};
}

/* The thread count itself comes from options and defaults, which say no more; and what is copied to
 * several places is somebody's general-purpose "value". */
std::vector<Amount> Choices::follow_variable(const Expr &expr, int f, Way &way) const {
    Amount own = amount_of(taint, expr, f, nullptr);
    auto fed = feeds.find(expr.text);
    bool general = fed != feeds.end() && fed->second.size() > 1;
    if (general || taint.is_count(expr.text) || !sources.count(expr.text) ||
        way.steps++ >= max_steps || !way.visited.insert(expr.text).second)
        return {own};
    std::vector<Amount> choices = follow_sources(expr, way);
    way.visited.erase(expr.text);
    return choices.empty() || choices.size() > max_choices ? std::vector<Amount>{own} : choices;
}

/* The outermost call tells most about which object it is, as long as nothing but arguments and
 * locals lies between it and the object's creation. */
std::vector<Amount> Choices::follow_sources(const Expr &expr, Way &way) const {
    bool keeps_places = way.visited.size() == 1 || key_is_local(expr.text);
    std::vector<Amount> choices;
    for (const Source &source : sources.at(expr.text)) {
        for (Amount choice : follow(*source.value, source.function, way)) {
            if (!keeps_places)
                choice.place = Place();
            if (source.place && choice.place.file.empty()) {
                choice.place = *source.place;
                choice.function = names[(size_t)source.function];
            }
            if (is_known(choice))
                add_choice(choices, choice);
        }
    }
    return choices;
}

std::vector<Amount> Choices::follow_operator(const Expr &expr, int f, Way &way) const {
    std::vector<Amount> choices;
    if (expr.text == "?:" && expr.children.size() == 3) {
        for (size_t branch = 1; branch < 3; branch++)
            for (const Amount &choice : follow(expr.children[branch], f, way))
                add_choice(choices, choice);
        return choices;
    }
    std::vector<Amount> lefts = follow(expr.children[0], f, way);
    std::vector<Amount> rights = follow(expr.children[1], f, way);
    if (lefts.size() == 1 && rights.size() > 1) /* what is the same for all tells none apart */
        lefts[0].place = Place();
    if (rights.size() == 1 && lefts.size() > 1)
        rights[0].place = Place();
    for (const Amount &left : lefts)
        for (const Amount &right : rights) {
            Amount choice;
            if (combine(expr.text, left, right, choice))
                add_choice(choices, choice);
        }
    if (choices.size() > max_choices)
        return {amount_of(taint, expr, f, nullptr)};
    return choices;
}

} // namespace persik
