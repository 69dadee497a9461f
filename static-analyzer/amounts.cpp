/* Capacities, parties and initial counts of hand-made objects, from what predicates compare with
 * and what variables start with. */
#include <algorithm>

#include "static-analyzer/protocol.h"

namespace persik {

namespace {

bool is_operator(const Expr &expr, const char *op) {
    return expr.kind == ExprKind::Operator && expr.children.size() == 2 && expr.text == op;
}

bool reads_one_of(const Expr &expr, const std::set<std::string> &keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string &key) { return expr_reads(expr, key); });
}

bool is_zero(const Expr &expr) {
    return expr.kind == ExprKind::Constant && expr.value == 0;
}

/* The modulus or mask by which an index goes round in `expr`; null if none does. `mask` tells which
 * of the two. */
const Expr *round_of(const Expr &expr, const std::set<std::string> &moving, bool &mask) {
    const Expr *found = nullptr;
    expr_walk(expr, [&](const Expr &e) {
        if (found || !(is_operator(e, "%") || is_operator(e, "&")))
            return;
        if (reads_one_of(e.children[0], moving) && !reads_one_of(e.children[1], moving)) {
            found = &e.children[1];
            mask = e.text == "&";
        }
    });
    return found;
}

Amount constant_amount(double value) {
    Amount amount;
    Expr number;
    number.kind = ExprKind::Constant;
    number.value = value;
    amount.text = expr_display(number);
    amount.offset = value;
    amount.constant = true;
    return amount;
}

void shift(Amount &amount, double by) {
    Expr number;
    number.kind = ExprKind::Constant;
    number.value = std::abs(by);
    amount.offset += by;
    amount.text += (by < 0 ? " - " : " + ") + expr_display(number);
}

/* One condition of equality or order, with what moves on the left. */
struct Comparison {
    const Expr *left = nullptr, *right = nullptr;
    std::string op;
};

bool comparison_of(const Expr &expr, bool holds, const std::set<std::string> &moving,
                   Comparison &out) {
    static const std::map<std::string, std::string> negated = {
        {"==", "!="}, {"!=", "=="}, {"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}};
    static const std::map<std::string, std::string> mirrored = {
        {"==", "=="}, {"!=", "!="}, {"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}};
    if (expr.kind != ExprKind::Operator || expr.children.size() != 2 || !negated.count(expr.text))
        return false;
    out.op = holds ? expr.text : negated.at(expr.text);
    out.left = &expr.children[0];
    out.right = &expr.children[1];
    if (!reads_one_of(*out.left, moving) ||
        (reads_one_of(*out.right, moving) && !is_operator(*out.left, "%") &&
         !is_operator(*out.left, "&") &&
         (is_operator(*out.right, "%") || is_operator(*out.right, "&")))) {
        std::swap(out.left, out.right);
        out.op = mirrored.at(out.op);
    }
    return reads_one_of(*out.left, moving);
}

} // namespace

Amount Amounts::of(const Expr &expr, int function, double extra) const {
    Amount amount = amount_of(taint, expr, function, nullptr);
    Choices::attach(amount, choices.of(expr, function));
    if (extra == 0)
        return amount;
    shift(amount, extra);
    for (Amount &choice : amount.choices)
        shift(choice, extra);
    return amount;
}

/* count >= L, count + k > L, L - count == 0, (tail + 1) % L == head, tail == head + L */
Amount Amounts::limit_in(const Expr &expr, bool holds, const Wait &wait,
                         const std::set<std::string> &moving) const {
    int f = wait.section->function;
    if (expr.kind == ExprKind::Operator && expr.text == "!")
        return limit_in(expr.children[0], !holds, wait, moving);
    bool choice = expr.kind == ExprKind::Operator && expr.children.size() == 3;
    if (is_operator(expr, "&&") || is_operator(expr, "||") || choice) {
        size_t n = expr.children.size();
        Amount first = limit_in(expr.children[n - 2], holds, wait, moving);
        return first.text.empty() ? limit_in(expr.children[n - 1], holds, wait, moving) : first;
    }
    Comparison c;
    if (!comparison_of(expr, holds, moving, c))
        return {};
    bool mask = false;
    if (reads_one_of(*c.right, moving)) {
        if (const Expr *round = round_of(*c.left, moving, mask))
            return of(*round, f, mask ? 0 : -1);
        if (is_operator(*c.right, "+"))
            for (const Expr &part : c.right->children)
                if (!reads_one_of(part, moving))
                    return of(part, f, c.op == ">" ? 1 : 0);
        return {};
    }
    if (is_operator(*c.left, "-") && !reads_one_of(c.left->children[0], moving) &&
        (c.op == "==" || c.op == "<" || c.op == "<="))
        return of(c.left->children[0], f, 0);
    if (is_zero(*c.right) || (c.op != "==" && c.op != ">=" && c.op != ">"))
        return {};
    double extra = c.op == ">" ? 1 : 0;
    if (is_operator(*c.left, "+") && c.left->children[1].kind == ExprKind::Constant)
        extra -= c.left->children[1].value;
    else if (is_operator(*c.left, "+") && extra > 0)
        extra = 0; /* used + n > limit */
    return of(*c.right, f, extra);
}

Amount Amounts::limit(const Wait &wait, const std::set<std::string> &moving) const {
    for (const Literal &literal : wait.event->predicate) {
        Amount amount = limit_in(literal.expr, literal.holds, wait, moving);
        if (!amount.text.empty())
            return amount;
    }
    return {};
}

/* tail = (tail + 1) % L, or if (++tail == L) tail = 0 */
Amount Amounts::ring_size(const CriticalSection &section) const {
    for (const Event &event : section.events) {
        if (event.kind != EventKind::Update || !is_state(event.target.text))
            continue;
        bool mask = false;
        if (const Expr *round = round_of(event.value, {event.target.text}, mask))
            return of(*round, section.function, mask ? 1 : 0);
        if (change_of(event).kind != ChangeKind::Set || change_of(event).by != 0)
            continue;
        for (const Literal &guard : event.guards) {
            Comparison c;
            if (comparison_of(guard.expr, guard.holds, {event.target.text}, c) &&
                (c.op == "==" || c.op == ">=") && c.left->kind == ExprKind::Variable)
                return of(*c.right, section.function, 0);
        }
    }
    return {};
}

Amount Amounts::capacity(const Wait &put, const Wait &get) const {
    std::set<std::string> moving = put.main;
    for (const Event *event : p.after(get))
        moving.insert(event->target.text);
    for (const Event *event : p.after(put))
        moving.insert(event->target.text);
    Amount amount = limit(put, moving);
    if (!amount.text.empty())
        return amount;
    for (const Event *event : p.after(put)) /* a counter of free places */
        if (put.takes.count(event->target.text) && change_of(*event).kind == ChangeKind::Down &&
            p.blocking(put, event->target.text) == Blocking::Low)
            return initial(event->target.text);
    amount = ring_size(*put.section);
    return amount.text.empty() ? constant_amount(1) : amount;
}

Amount Amounts::parties(const Wait &wait, const Event &arrival) const {
    const std::string &count = arrival.target.text;
    int f = wait.section->function;
    for (const Event &event : wait.section->events)
        for (const Literal &guard : event.guards) {
            Comparison c;
            if (!comparison_of(guard.expr, true, {count}, c) || is_zero(*c.right))
                continue;
            double before = 0; /* what is compared is the count before this arrival */
            if (is_operator(*c.left, "-") && c.left->children[1].kind == ExprKind::Constant)
                before = c.left->children[1].value;
            bool beyond = (c.op == ">" && change_of(arrival).kind == ChangeKind::Up);
            return of(*c.right, f, before + (beyond ? 1 : 0));
        }
    for (const Event &event : wait.section->events) /* counts down and is wound up again */
        if (event.kind == EventKind::Update && event.target.text == count &&
            guarded_by(event, count) && !is_zero(event.value) && !expr_reads(event.value, count))
            return of(event.value, f, 0);
    return initial(count);
}

Amount Amounts::permits(const Wait &wait) const {
    for (const Event *event : p.after(wait)) {
        const std::string &key = event->target.text;
        Change change = change_of(*event);
        if (!wait.takes.count(key))
            continue;
        if (p.is_bitmap(wait)) {
            Amount bits = initial(key);
            if (!bits.constant || bits.offset < 0)
                return {};
            return constant_amount(__builtin_popcountll((unsigned long long)bits.offset));
        }
        if (change.kind == ChangeKind::Down && p.blocking(wait, key) == Blocking::Low)
            return permits_at_start(wait, key);
        const Loop *scan = p.scan(wait);
        if (scan && !scan->stmt->exprs.empty() && is_operator(scan->stmt->exprs[0], "<"))
            return of(scan->stmt->exprs[0].children[1], wait.section->function, 0);
        if (change.kind == ChangeKind::Up)
            return limit(wait, wait.main);
        if (change.kind == ChangeKind::Set && event->target.type == TypeKind::Integer)
            return constant_amount(1);
    }
    for (const Event *event : p.after(wait)) /* a list with its length beside it */
        if (change_of(*event).kind == ChangeKind::Down && is_step(change_of(*event)))
            return initial(event->target.text);
    for (const std::string &key : wait.takes) /* filled in a loop */
        for (size_t f = 0; f < program.flows.size(); f++)
            for (const Assignment &a : program.flows[f].assignments) {
                if (a.target->text != key || a.at.held.count(p.mutex) || a.at.loop < 0)
                    continue;
                return rounds(f, (size_t)a.at.loop);
            }
    return {};
}

/* Where a count below zero tells who waits, and wake-ups are counted apart, that count had the
 * permits. */
Amount Amounts::permits_at_start(const Wait &wait, const std::string &key) const {
    for (size_t e = 0; e < wait.index; e++) {
        const Event &event = wait.section->events[e];
        if (event.kind == EventKind::Update && event.target.text != key &&
            is_state(event.target.text) && change_of(event).kind == ChangeKind::Down &&
            guarded_by(*wait.event, event.target.text))
            return initial(event.target.text);
    }
    return initial(key);
}

Amount Amounts::countdown(const Wait &wait, const std::string &key) const {
    if (p.blocking(wait, key) == Blocking::Low)
        return limit(wait, {key});
    Amount amount = initial(key);
    return amount.constant && amount.offset == 0 ? Amount() : amount;
}

/* Of a loop with a plain condition. */
Amount Amounts::rounds(size_t f, size_t loop) const {
    const std::vector<Expr> &exprs = program.flows[f].loops[loop].stmt->exprs;
    return !exprs.empty() && is_operator(exprs[0], "<") ? of(exprs[0].children[1], (int)f, 0)
                                                        : Amount();
}

Amount Amounts::initial(const std::string &key) const {
    Amount only = constant_amount(0);
    std::vector<Amount> all;
    bool any = false, several = false;
    for (size_t f = 0; f < program.flows.size(); f++)
        for (const Assignment &a : program.flows[f].assignments) {
            bool counts = a.op == "+=" && a.at.loop >= 0; /* filled in a loop */
            if (a.target->text != key || (a.op != "=" && !counts) || a.at.held.count(p.mutex) ||
                is_zero(*a.value))
                continue;
            Amount amount =
                counts ? rounds(f, (size_t)a.at.loop) : amount_of(taint, *a.value, (int)f, &a.at);
            if (!counts)
                for (const Amount &choice : choices.of(*a.value, (int)f, key))
                    all.push_back(choice);
            several = several || (any && amount.text != only.text);
            only = amount;
            any = true;
        }
    if (several) { /* several objects, or not known when */
        only = Amount();
        only.text = key_display(key);
    }
    Choices::attach(only, all);
    return several && only.choices.empty() ? Amount() : only;
}

} // namespace persik
