/* What a mutex with condition variables is: a proposal for modelgen, which tests it on the trace.
 *
 * All is read from the mutex's critical sections: what each waits for, what it does to the
 * variables of the predicates before and after the wait, and whether data goes in or out with it.
 *   barrier      counts itself, and the last one lets the others go
 *   hand-over    waits for a value of its own, and moves on what it waited for
 *   rwlock       those who add to a counter only wait for a flag, those who set the flag for both
 *   queue        takes what others stored; bounded where those who store wait for room
 *   token pool   a queue that starts full, or whose items are put back where they came from
 *   thread pool  a queue whose items are called
 *   semaphore    as a queue, but no data is handed over
 *   completion   changes nothing and waits for a counter; event: for a flag
 * A wait behind which the thread goes on without looking again is none of these. */
#include <algorithm>

#include "static-analyzer/findings.h"
#include "static-analyzer/protocol.h"

namespace persik {

namespace {

class Classifier {
  public:
    Classifier(const Program &program, const Protocol &protocol, const Amounts &amounts,
               std::vector<Monitor> &monitors)
        : program(program), p(protocol), amounts(amounts), monitors(monitors) {
    }

    void classify() {
        used.assign(p.waits.size(), false);
        for (size_t w = 0; w < p.waits.size(); w++)
            if (p.waits[w].sleeps)
                propose_other(w);
        for (size_t w = 0; w < p.waits.size(); w++)
            find_barrier(w);
        for (size_t w = 0; w < p.waits.size(); w++)
            find_hand_over(w);
        find_rwlock();
        find_bounded();
        for (size_t w = 0; w < p.waits.size(); w++)
            find_taker(w);
        for (size_t w = 0; w < p.waits.size(); w++)
            find_level(w);
    }

  private:
    const Program &program;
    const Protocol &p;
    const Amounts &amounts;
    std::vector<Monitor> &monitors;
    std::vector<bool> used;

    /* ---- making a proposal ---- */

    /* Waits for the same in other functions join; what belongs to it follows from `keys`. */
    Monitor make(facts_monitor_kind kind, const std::set<size_t> &group) {
        Monitor monitor;
        monitor.kind = kind;
        monitor.name = p.owner();
        monitor.mutex = key_without_stars(p.mutex);
        for (size_t w : group) {
            used[w] = true;
            const Wait &wait = p.waits[w];
            std::string condition = key_without_stars(wait.event->condition);
            auto &list = monitor.conditions;
            if (std::find(list.begin(), list.end(), condition) == list.end())
                list.push_back(condition);
            monitor.why += (monitor.why.empty() ? "" : "; ") +
                           key_display(program.functions[(size_t)wait.section->function].key) +
                           " waits for " + key_display(condition) + " while " + p.predicate(wait);
        }
        return monitor;
    }

    void act(Monitor &monitor, facts_role role, const CriticalSection &section) const {
        for (const MonitorOperation &known : monitor.operations)
            if (known.role == role && known.place.file == section.place.file &&
                known.place.line == section.place.line &&
                known.place.column == section.place.column)
                return;
        monitor.operations.push_back(
            {role, section.place, program.functions[(size_t)section.function].key});
    }

    void finish(Monitor monitor, const std::set<std::string> &keys) {
        p.describe(monitor, keys, amounts);
        monitors.push_back(std::move(monitor));
    }

    void propose_other(size_t w) {
        finish(make(MONITOR_OTHER, {w}), p.waits[w].keys);
    }

    /* The unused waits that wait for the same condition and variables as `w`. */
    std::set<size_t> alike(size_t w) const {
        std::set<size_t> group = {w};
        for (size_t other = 0; other < p.waits.size(); other++)
            if (!used[other] && p.waits_like(*p.waits[other].section, p.waits[w]))
                group.insert(other);
        return group;
    }

    /* ---- barrier ---- */

    /* The update by which the waiter has counted itself; null if it has not. */
    const Event *arrival(const Wait &wait) const {
        for (size_t e = 0; e < wait.index; e++) {
            const Event &event = wait.section->events[e];
            if (event.kind != EventKind::Update || !is_state(event.target.text) ||
                !is_step(change_of(event)))
                continue;
            if (opens_for_all(wait, event.target.text))
                return &event;
        }
        return nullptr;
    }

    /* Does the section wake the waiters where the count says so, and do they only wait for the
     * count and what is changed there? */
    bool opens_for_all(const Wait &wait, const std::string &count) const {
        bool wakes = false;
        std::set<std::string> released = {count};
        for (const Event &event : wait.section->events) {
            if (!guarded_by(event, count))
                continue;
            if (event.kind == EventKind::Update)
                released.insert(event.target.text);
            wakes |= event.kind == EventKind::Broadcast || event.kind == EventKind::Signal;
        }
        return wakes && !wait.main.empty() &&
               std::includes(released.begin(), released.end(), wait.main.begin(), wait.main.end());
    }

    void find_barrier(size_t w) {
        const Wait &wait = p.waits[w];
        const Event *count = used[w] ? nullptr : arrival(wait);
        if (!count)
            return;
        std::set<size_t> group = {w};
        for (size_t other = 0; other < p.waits.size(); other++)
            if (!used[other] && p.waits[other].section->function == wait.section->function)
                group.insert(other); /* the other phase of the same barrier */
        Monitor monitor = make(MONITOR_BARRIER, group);
        monitor.count = count->target.text;
        monitor.amount = amounts.parties(wait, *count);
        std::set<std::string> keys = wait.main;
        keys.insert(monitor.count);
        for (const CriticalSection *section : p.sections)
            if (updates(*section, monitor.count))
                act(monitor, FACTS_ARRIVE, *section);
        finish(std::move(monitor), keys);
    }

    /* ---- hand-over ---- */

    void find_hand_over(size_t w) {
        if (used[w] || p.waits[w].own_turn.empty())
            return;
        const Wait &wait = p.waits[w];
        const std::string &turn = wait.own_turn;
        std::vector<const CriticalSection *> movers;
        bool by_waiter = false;
        for (const CriticalSection *section : p.sections) {
            if (!updates(*section, turn))
                continue;
            movers.push_back(section);
            by_waiter |= p.moves_on(*section, wait) &&
                         p.same_thread(section->function, wait.section->function);
        }
        if (!by_waiter)
            return;
        std::set<size_t> group;
        for (size_t other = 0; other < p.waits.size(); other++)
            if (!used[other] && p.waits[other].own_turn == turn)
                group.insert(other);
        Monitor monitor = make(MONITOR_HAND_OVER, group);
        monitor.count = turn;
        for (size_t other : group)
            act(monitor, FACTS_WAIT, *p.waits[other].section);
        for (const CriticalSection *section : movers)
            act(monitor, FACTS_SIGNAL, *section);
        finish(std::move(monitor), {turn});
    }

    /* ---- rwlock ---- */

    void find_rwlock() {
        for (size_t r = 0; r < p.waits.size(); r++)
            for (size_t w = 0; w < p.waits.size(); w++)
                if (r != w && !used[r] && !used[w])
                    try_rwlock(r, w);
    }

    void try_rwlock(size_t r, size_t w) {
        const Wait &reader = p.waits[r], &writer = p.waits[w];
        if (reader.section == writer.section && reader.main == writer.main)
            return;
        for (const Event *counts : p.after(reader)) {
            const std::string &readers = counts->target.text;
            Change change = change_of(*counts);
            Blocking blocked = p.blocking(reader, readers);
            if (change.kind != ChangeKind::Up || blocked == Blocking::High ||
                p.blocking(writer, readers) == Blocking::Low || !writer.main.count(readers))
                continue;
            for (const Event *claims : p.after(writer)) {
                const std::string &flag = claims->target.text;
                ChangeKind claim = change_of(*claims).kind;
                bool apart = flag != readers && claim != ChangeKind::Down;
                bool together = flag == readers && blocked != Blocking::High &&
                                (claim == ChangeKind::Set || claim == ChangeKind::Down);
                if ((apart || together) && reader.main.count(flag)) {
                    propose_rwlock(r, w, readers, flag);
                    return;
                }
            }
        }
    }

    void propose_rwlock(size_t r, size_t w, const std::string &readers, const std::string &flag) {
        std::set<std::string> keys = p.waits[r].main;
        keys.insert(p.waits[w].main.begin(), p.waits[w].main.end());
        std::set<size_t> group = {r, w};
        std::set<const CriticalSection *> locking;
        std::vector<std::pair<size_t, facts_role>> roles;
        for (size_t other = 0; other < p.waits.size(); other++) {
            if (used[other] ||
                (other != r && other != w && p.waits[other].main != p.waits[r].main &&
                 p.waits[other].main != p.waits[w].main))
                continue;
            group.insert(other);
            bool writes =
                other == w || (other != r && p.waits[other].main == p.waits[w].main &&
                               p.waits[other].main.count(readers) && p.takes(p.waits[other], flag));
            roles.push_back({other, writes ? FACTS_WRITE_LOCK : FACTS_READ_LOCK});
            locking.insert(p.waits[other].section);
        }
        Monitor monitor = make(MONITOR_RWLOCK, group);
        monitor.count = readers;
        for (auto [other, role] : roles)
            act(monitor, role, *p.waits[other].section);
        for (const CriticalSection *section : p.sections)
            if (!locking.count(section))
                for (const Event &event : section->events)
                    note_rwlock_change(monitor, *section, event, readers, flag);
        finish(std::move(monitor), keys);
    }

    /* Sections without a wait: unlocks, and locks that only try. */
    void note_rwlock_change(Monitor &monitor, const CriticalSection &section, const Event &event,
                            const std::string &readers, const std::string &flag) const {
        if (event.kind != EventKind::Update)
            return;
        Change change = change_of(event);
        const std::string &key = event.target.text;
        bool frees = key == flag && (change.kind == ChangeKind::Down ||
                                     (change.kind == ChangeKind::Set && change.by == 0));
        if ((key == readers && change.kind == ChangeKind::Down) || frees)
            act(monitor, FACTS_UNLOCK, section);
        else if (key == readers && change.kind == ChangeKind::Up)
            act(monitor, FACTS_READ_LOCK, section);
        else if (key == flag && change.kind == ChangeKind::Set)
            act(monitor, FACTS_WRITE_LOCK, section);
    }

    /* ---- queues ---- */

    /* Two waits which each take what the other gives. */
    void find_bounded() {
        size_t best_put = 0, best_get = 0;
        int best = 0;
        for (size_t a = 0; a < p.waits.size(); a++)
            for (size_t b = 0; b < p.waits.size(); b++) {
                if (a == b || used[a] || used[b] || !p.opposed(p.waits[a], p.waits[b]))
                    continue;
                int score = put_score(p.waits[a]) - put_score(p.waits[b]);
                if (score <= best)
                    continue;
                best = score;
                best_put = a;
                best_get = b;
            }
        if (best == 0)
            return;
        propose_queue(&p.waits[best_put], p.waits[best_get], {best_put, best_get});
        find_bounded();
    }

    /* Higher for the side that puts: where the data goes says more than who waits for what, which
     * flags can say the other way round. */
    int put_score(const Wait &wait) const {
        const int data = 10;
        int score = p.stores(*wait.section) ? 2 * data : 0;
        score -= p.reads(*wait.section) ? data : 0;
        for (const std::string &key : wait.takes) {
            Blocking blocked = p.blocking(wait, key);
            score += blocked == Blocking::High ? 2 : blocked == Blocking::Low ? -2 : 0;
        }
        return score;
    }

    void propose_queue(const Wait *put, const Wait &get, std::set<size_t> group) {
        std::set<std::string> keys = get.main;
        if (put)
            keys.insert(put->main.begin(), put->main.end());
        for (size_t w = 0; w < p.waits.size(); w++)
            if (!used[w] && !p.waits[w].takes.empty() &&
                (is_variant(p.waits[w], get) || (put && is_variant(p.waits[w], *put))))
                group.insert(w);
        bool called = std::any_of(p.waits.begin(), p.waits.end(), [&](const Wait &wait) {
            return p.waits_like(*wait.section, get) && p.items_are_called(wait);
        });
        Monitor monitor = make(called ? MONITOR_THREAD_POOL
                               : put  ? MONITOR_BOUNDED_QUEUE
                                      : MONITOR_UNBOUNDED_QUEUE,
                               group);
        if (put)
            monitor.amount = amounts.capacity(*put, get);
        sort_sections(monitor, put, get, keys, called ? FACTS_SUBMIT : FACTS_PUT,
                      called ? FACTS_RUN : FACTS_GET);
        monitor.count = p.counter(get, keys);
        finish(std::move(monitor), keys);
    }

    /* Waits for the same, or at the same condition and, with more said in the predicate, takes the
     * same. */
    bool is_variant(const Wait &wait, const Wait &model) const {
        return wait.main == model.main ||
               (wait.event->condition == model.event->condition &&
                acts_like(*wait.section, model, model.takes) && !p.opposed(wait, model));
    }

    /* Does `section` do to one of `keys` what `model` does to it behind its wait? */
    bool acts_like(const CriticalSection &section, const Wait &model,
                   const std::set<std::string> &keys) const {
        for (const Event *done : p.after(model)) {
            Change change = change_of(*done);
            if (!keys.count(done->target.text))
                continue;
            for (const Event &event : section.events)
                if (event.kind == EventKind::Update && event.target.text == done->target.text &&
                    same_direction(change_of(event), change))
                    return true;
        }
        return false;
    }

    void sort_sections(Monitor &monitor, const Wait *put, const Wait &get,
                       const std::set<std::string> &keys, facts_role puts, facts_role gets) const {
        for (const CriticalSection *section : p.sections) {
            bool is_get = p.waits_like(*section, get), is_put = put && p.waits_like(*section, *put);
            bool like_get = !is_put && acts_like(*section, get, get.main) && p.reads(*section);
            bool like_put = put ? acts_like(*section, *put, keys)
                                : updates_any(*section, get.main) && p.stores(*section);
            if (is_get || (like_get && !(like_put && p.stores(*section))))
                act(monitor, gets, *section);
            else if (is_put || like_put)
                act(monitor, puts, *section);
            else if (closes(*section, put, get))
                act(monitor, FACTS_CLOSE, *section);
        }
    }

    /* Sets a flag that the waiters look at, or counts down what keeps it open. */
    bool closes(const CriticalSection &section, const Wait *put, const Wait &get) const {
        std::set<std::string> flags = get.flags;
        if (put)
            flags.insert(put->flags.begin(), put->flags.end());
        return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
            return event.kind == EventKind::Update && flags.count(event.target.text);
        });
    }

    /* ---- one kind of waiter, which takes ---- */

    void find_taker(size_t w) {
        const Wait &wait = p.waits[w];
        if (used[w] || wait.takes.empty())
            return;
        std::vector<const CriticalSection *> givers;
        bool stored = false, overwrites = false;
        for (const CriticalSection *section : p.sections) {
            if (p.waits_like(*section, wait) || !gives(*section, wait))
                continue;
            givers.push_back(section);
            stored |= p.stores(*section);
            overwrites |= p.stores(*section) && (acts_like(*section, wait, wait.main) ||
                                                 acts_like(*section, wait, p.positions(wait)));
        }
        bool reads = p.reads(*wait.section);
        if (givers.empty() || overwrites) {
            propose_other(w);
        } else if (p.is_rewound(wait) && !(stored && reads)) {
            propose_event(w, MONITOR_COMPLETION);
        } else if ((p.only_sets(wait, givers) && p.scan(wait)) || p.is_bitmap(wait) ||
                   (stored && reads && p.comes_back(wait, givers))) {
            propose_permits(w, MONITOR_TOKEN_POOL, givers);
        } else if (stored && reads && !p.only_sets(wait, givers)) {
            propose_queue(nullptr, wait, {w});
        } else if (p.only_sets(wait, givers) && !p.starts_open(wait)) {
            propose_event(w, MONITOR_EVENT);
        } else {
            propose_permits(w, MONITOR_SEMAPHORE, givers);
        }
    }

    bool gives(const CriticalSection &section, const Wait &wait) const {
        return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
            return event.kind == EventKind::Update && wait.main.count(event.target.text) &&
                   !wait.flags.count(event.target.text);
        });
    }

    void propose_permits(size_t w, facts_monitor_kind kind,
                         const std::vector<const CriticalSection *> &givers) {
        const Wait &wait = p.waits[w];
        Monitor monitor = make(kind, alike(w));
        monitor.amount = amounts.permits(wait);
        monitor.count = p.counter(wait, wait.main);
        for (const CriticalSection *section : p.sections)
            if (p.waits_like(*section, wait))
                act(monitor, FACTS_ACQUIRE, *section);
        for (const CriticalSection *section : givers)
            act(monitor, acts_like(*section, wait, wait.main) ? FACTS_ACQUIRE : FACTS_RELEASE,
                *section);
        finish(std::move(monitor), wait.main);
    }

    /* ---- waits that change nothing ---- */

    void find_level(size_t w) {
        const Wait &wait = p.waits[w];
        if (used[w])
            return;
        if (wait.main.empty()) {
            propose_other(w);
            return;
        }
        bool counted = std::any_of(wait.main.begin(), wait.main.end(), [&](const auto &key) {
            return p.is_counted(key) && !p.is_compared_with_copy(wait, key);
        });
        propose_event(w, counted ? MONITOR_COMPLETION : MONITOR_EVENT);
    }

    static bool wakes(const CriticalSection &section, const Wait &wait) {
        return std::any_of(section.events.begin(), section.events.end(), [&](const Event &event) {
            return (event.kind == EventKind::Signal || event.kind == EventKind::Broadcast) &&
                   event.condition == wait.event->condition;
        });
    }

    void propose_event(size_t w, facts_monitor_kind kind) {
        const Wait &wait = p.waits[w];
        Monitor monitor = make(kind, alike(w));
        monitor.count = p.counter(wait, wait.main);
        if (kind == MONITOR_COMPLETION)
            monitor.amount = amounts.countdown(wait, monitor.count);
        bool some_wake =
            std::any_of(p.sections.begin(), p.sections.end(), [&](const auto *section) {
                return updates_any(*section, wait.main) && wakes(*section, wait);
            });
        for (const CriticalSection *section : p.sections) {
            if (p.waits_like(*section, wait))
                act(monitor, FACTS_WAIT, *section);
            else if (updates_any(*section, wait.main) && (!some_wake || wakes(*section, wait)))
                /* the others announce work, or take the event back */
                act(monitor, kind == MONITOR_EVENT ? FACTS_SIGNAL : FACTS_ARRIVE, *section);
        }
        finish(std::move(monitor), wait.main);
    }
};

} // namespace

void find_monitors(const Program &program, const Taint &taint, Findings &findings) {
    std::vector<CriticalSection> sections = find_critical_sections(program);
    std::map<std::string, std::vector<const CriticalSection *>> by_mutex;
    for (const CriticalSection &section : sections)
        by_mutex[section.mutex].push_back(&section);
    Choices choices(program, taint);
    for (const auto &[mutex, group] : by_mutex) {
        Protocol protocol(program, mutex, group);
        Amounts amounts(program, taint, choices, protocol);
        Classifier(program, protocol, amounts, findings.monitors).classify();
    }
}

} // namespace persik
