/* The same with the standard library's atomics. */
#include <atomic>
#include <thread>

static std::atomic<bool> ready{false};
static std::atomic_flag flag = ATOMIC_FLAG_INIT;
static std::atomic<int> taken{0};
static int work;

static void grab() {
    while (flag.test_and_set(std::memory_order_acquire)) //= spin lock global:flag
        ;
}

static void drop() {
    flag.clear(std::memory_order_release);
}

static void take() {
    int expected = 0;
    while (!taken.compare_exchange_weak(expected, 1)) { //= spin lock global:taken
        expected = 0;
        std::this_thread::yield();
    }
}

static void give_back() {
    taken = 0;
}

static void wait() {
    while (!ready.load(std::memory_order_acquire)) //= spin wait global:ready
        ;
    while (!ready) //= spin wait global:ready
        std::this_thread::yield();
}

struct Job {
    virtual ~Job() {
    }
    virtual void run() const = 0;
};

struct Sum : Job {
    void run() const override {
        for (int i = 0; i < 1000; i++)
            work += i;
    }
};

static void run_one(const Job &job) {
    while (!ready) { //= spin wait global:ready
        if (taken > 0) {
            job.run();
            return;
        }
    }
}

static void work_until_ready() {
    while (!ready) //= spin none
        work++;
}

class Gate {
  public:
    explicit Gate(int least) : least(least), open(false) {
    }

    void look() const {
        int found = 0;
        for (int i = 0; i < 9; i++) { //= spin none
            found = table[i];
            if (found < least) /* which only the constructor sets */
                break;
        }
    }

    void pass() const {
        while (!open) //= spin wait class Gate.open
            std::this_thread::yield();
    }

    void let() {
        open = true;
    }

  private:
    int table[9] = {};
    const int least;
    std::atomic<bool> open;
};

int main() {
    std::thread thread([] {
        wait();
        grab();
        drop();
        take();
        give_back();
    });
    work_until_ready();
    run_one(Sum());
    ready = true;
    Gate gate(5);
    gate.let();
    gate.look();
    gate.pass();
    thread.join();
}
