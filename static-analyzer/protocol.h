/* What the critical sections of one mutex do to each other: which waits there are, what they
 * wait for, and who moves that. Kinds of objects are told apart by these questions (monitors.cpp).
 */
#ifndef PERSIK_STATIC_ANALYZER_PROTOCOL_H
#define PERSIK_STATIC_ANALYZER_PROTOCOL_H

#include <set>
#include <string>
#include <vector>

#include "static-analyzer/choices.h"
#include "static-analyzer/critical.h"
#include "static-analyzer/findings.h"
#include "static-analyzer/taint.h"

namespace persik {

class Amounts;

enum class ChangeKind { Up, Down, Set, Move, Other };

struct Change {
    ChangeKind kind = ChangeKind::Other; /* Move: in terms of itself, head = (head + 1) % size */
    double by = 0;                       /* of Up, Down and Set, where `constant` */
    bool constant = false;
    std::string op; /* of Move */
};

/* Values of a variable with which a predicate makes its thread wait. */
enum class Blocking { None, Low, High, Unclear };

struct Wait {
    const CriticalSection *section;
    const Event *event;
    size_t index;                /* of the event */
    std::set<std::string> keys;  /* state that the predicate reads and some section changes */
    std::set<std::string> flags; /* of these, what only ever is set one way: shutdown */
    std::set<std::string> main;  /* the others; the flags if there are no others */
    std::set<std::string> takes; /* of main, what the thread changes behind the wait */
    std::string own_turn;        /* state that must reach a value of the thread's own; or empty */
    bool sleeps = false;         /* the thread goes on without looking again */
};

bool is_state(const std::string &key); /* not of one thread alone */
Change change_of(const Event &update);
bool is_step(const Change &change); /* by a constant, up or down */
bool same_direction(const Change &a, const Change &b);
bool guarded_by(const Event &event, const std::string &key);
bool updates(const CriticalSection &section, const std::string &key);
bool updates_any(const CriticalSection &section, const std::set<std::string> &keys);
std::string key_without_stars(const std::string &key);

class Protocol {
  public:
    Protocol(const Program &program, std::string mutex,
             std::vector<const CriticalSection *> sections);

    const Program &program;
    std::string mutex;
    std::vector<const CriticalSection *> sections;
    std::vector<Wait> waits;

    std::string owner() const; /* name of what the mutex is part of */
    std::string predicate(const Wait &wait) const;

    /* Updates of state behind the wait, in the same section. */
    std::vector<const Event *> after(const Wait &wait) const;
    bool takes(const Wait &wait, const std::string &key) const;
    Blocking blocking(const Wait &wait, const std::string &key) const;
    bool opposed(const Wait &a, const Wait &b) const;
    bool waits_like(const CriticalSection &section, const Wait &wait) const;

    /* Data of the thread's own goes into the state; data comes out of it. */
    bool stores(const CriticalSection &section) const;
    bool reads(const CriticalSection &section) const;

    /* Which of the state that moves behind the wait says where the data is that comes out. */
    std::set<std::string> positions(const Wait &wait) const;

    bool same_thread(int f, int g) const;
    bool moves_on(const CriticalSection &section, const Wait &wait) const;
    bool items_are_called(const Wait &get) const;
    bool is_bitmap(const Wait &wait) const;
    bool comes_back(const Wait &wait, const std::vector<const CriticalSection *> &givers) const;
    const Loop *scan(const Wait &wait) const;
    bool is_rewound(const Wait &wait) const;
    bool only_sets(const Wait &wait, const std::vector<const CriticalSection *> &givers) const;
    bool starts_open(const Wait &wait) const;
    bool is_counted(const std::string &key) const;
    bool is_compared_with_copy(const Wait &wait, const std::string &key) const;
    std::string counter(const Wait &wait, const std::set<std::string> &keys) const;

    /* Values given outside of the sections, as when the object is made. */
    std::vector<const Assignment *> starts(const std::string &key) const;

    /* Conditions, variables and sections of the proposal that `keys` make. */
    void describe(Monitor &monitor, const std::set<std::string> &keys,
                  const Amounts &amounts) const;

  private:
    std::set<std::string> changed; /* state that sections change */

    void find_waits();
    void sort_keys(Wait &wait) const;
    bool takes_later(const Wait &wait, const std::string &key) const;
    std::set<std::string> predicate_keys(const Wait &wait) const;
    bool is_one_way(const std::string &key) const;
    std::string find_own_turn(const Wait &wait) const;
    bool is_copy(const Wait &wait, const std::string &local) const;
    bool is_filled_at_start(const Wait &wait) const;
    bool flows_back(const Wait &wait, const std::vector<const CriticalSection *> &givers) const;
};

/* What objects are made with. */
class Amounts {
  public:
    Amounts(const Program &program, const Taint &taint, const Choices &choices,
            const Protocol &protocol)
        : program(program), taint(taint), choices(choices), p(protocol) {
    }

    Amount capacity(const Wait &put, const Wait &get) const;
    Amount parties(const Wait &wait, const Event &arrival) const;
    Amount permits(const Wait &wait) const;
    Amount countdown(const Wait &wait, const std::string &key) const;
    Amount initial(const std::string &key) const; /* value at the start */

  private:
    const Program &program;
    const Taint &taint;
    const Choices &choices;
    const Protocol &p;

    Amount limit(const Wait &wait, const std::set<std::string> &moving) const;
    Amount limit_in(const Expr &expr, bool holds, const Wait &wait,
                    const std::set<std::string> &moving) const;
    Amount of(const Expr &expr, int function, double extra) const;
    Amount permits_at_start(const Wait &wait, const std::string &key) const;
    Amount rounds(size_t f, size_t loop) const;
    Amount ring_size(const CriticalSection &section) const;
};

} // namespace persik

#endif
