// Threads of the standard library in all the ways to create them.
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

static void serve(int number, int first, int of) {
    for (int i = first; i < number; i += of) //= bound share even
        ;
}

static void help() {
}

struct Task {
    void operator()() {
    }
};

class Crew {
  public:
    explicit Crew(int size) : head(&Crew::lead, this) { //= spawned one lead
        while ((int)members.size() < size)
            members.emplace_back(&Crew::work, this); //= spawned threads work
    }

    void join() {
        head.join();
        for (std::thread &member : members)
            member.join();
    }

  private:
    std::thread head;
    std::vector<std::thread> members;

    void lead() {
    }

    void work() {
    }
};

class Member {
  public:
    Member() : thread([this] { run(); }) { //= spawned threads operator():48
    }

    ~Member() {
        thread.join();
    }

  private:
    std::thread thread;

    void run() {
    }
};

// A container itself.
class Team : public std::vector<Member *> {
  public:
    void set(size_t wanted) {
        while (size() < wanted)
            push_back(new Member());
    }
};

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 2;
    std::vector<std::thread> threads;
    for (int i = 0; i < n; i++)
        threads.emplace_back(serve, 100, i, n); //= spawned threads serve
    for (int i = 0; i < n; i++)
        threads.push_back(std::thread(help)); //= spawned threads help
    std::vector<std::unique_ptr<std::thread>> pointers;
    for (int i = 0; i < n; i++)
        pointers.push_back(std::make_unique<std::thread>(help)); //= spawned threads help
    Team members;
    members.set((size_t)n);
    std::thread other(Task{}); //= spawned one operator():18
    std::thread moved;
    moved = std::thread(std::bind(serve, 1, 0, 1));                 //= spawned one serve
    std::thread *made = new std::thread(help);                      //= spawned one help
    std::future<void> later = std::async(std::launch::async, help); //= spawned one help
    std::thread same(std::move(other));
    Crew crew(n);
    crew.join();
    for (std::thread &thread : threads)
        thread.join();
    for (auto &thread : pointers)
        thread->join();
    for (Member *member : members)
        delete member;
    same.join();
    moved.join();
    made->join();
    later.get();
    return 0;
}
