/* Work that threads take from one place: a counter or list under a lock, an atomic, a queue.
 *
 * A critical section takes when it changes state in terms of itself (next++, head = head->next), or
 * by what the thread wants (mine = next; next += size), and lets go of what it read. Adding up
 * results (sum += mine) also changes state, but nothing that decides a loop comes out of it.
 * Functions that take and return (or store through a parameter) what they took are takers, and so
 * are their wrappers. */
#ifndef PERSIK_STATIC_ANALYZER_SHARING_H
#define PERSIK_STATIC_ANALYZER_SHARING_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "static-analyzer/program.h"

namespace persik {

/* One act of taking in a function. */
struct Take {
    std::vector<Moment> at;       /* of a section: all places where it changes state */
    const Expr *expr = nullptr;   /* whose value was taken: a call or atomic operation */
    std::string mutex;            /* of the section; empty else */
    int section = 0;              /* which */
    std::set<std::string> state;  /* what a section changes */
    std::set<std::string> outs;   /* variables whose address the call gets */
    int depth = 0;                /* of wrappers around the critical section */
    int retry = -1;               /* the loop that tries again until it succeeds */
    std::set<std::string> stored; /* where the section stores the thread's own data: a put? */
    bool of_globals = false;      /* under no known lock, and of nothing but global variables */
    bool reserves = false;        /* nothing but as much as the thread wants: room for it? */
    std::string why;
};

/* How a taker hands on what it took. */
struct Handing {
    int depth = 0; /* of wrappers */
    bool returns = false;
    bool reserves = true;        /* all that it took (Take) */
    std::set<size_t> parameters; /* numbers of those it stores through */
    bool operator==(const Handing &other) const {
        return returns == other.returns && reserves == other.reserves &&
               parameters == other.parameters;
    }
};

struct SharedLoop {
    bool decided_by_condition; /* or has no other end than what was taken; false: a break decides */
    std::string why;
};

class Sharing {
  public:
    explicit Sharing(const Program &program);

    /* Null if the loop does not take its work. */
    const SharedLoop *loop(int f, int l) const;

    /* What the loop takes where it may be shared, or the thread's own: no known lock guards it, but
     * there is what looks like one. Null: nothing. */
    const std::string *perhaps_shared(int f, int l) const;

  private:
    const Program &program;
    std::vector<std::vector<Take>> sections; /* per function: takes that need no other function */
    std::map<std::pair<int, int>, SharedLoop> loops;
    std::map<std::pair<int, int>, std::string> perhaps;
    std::map<int, Handing> takers;
    std::map<int, Handing> bare_takers; /* would be, if the caller holds a lock */

    std::vector<Take> takes_of(int f) const;
    Handing handing_of(const CallSite &site, bool bare) const;
    void add_take(const CallSite &site, bool bare, std::vector<Take> &takes) const;
    std::string taken_perhaps(const Flow &flow, int l, const std::vector<Take> &takes) const;
    bool analyse(int f);
};

/* True if these assignments (of one critical section) store the thread's own data in state that
 * others see, as a put does, and not only what was there before in another order. */
bool stores_own_data(const std::vector<const Assignment *> &section);

/* True if they read the state into a variable of the thread, as a get does. */
bool reads_state(const std::vector<const Assignment *> &section);

} // namespace persik

#endif
