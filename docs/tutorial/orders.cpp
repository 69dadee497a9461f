// Books orders: each is priced alone and booked under one std::mutex. usage: orders THREADS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace shop {

constexpr int orders = 3000;

double work(int rounds, double value) {
    for (int i = 0; i < rounds; i++)
        value = std::sqrt(value + i);
    return value;
}

class Ledger {
  public:
    int next() {
        std::lock_guard<std::mutex> guard(supply);
        return taken < orders ? taken++ : -1;
    }
    void book(double price) {
        std::lock_guard<std::mutex> guard(books);
        sum += work(20000, price);
    }
    double total() const { return sum; }

  private:
    std::mutex supply, books;
    int taken = 0;
    double sum = 0;
};

void clerk(Ledger &ledger) {
    for (int order; (order = ledger.next()) >= 0;)
        ledger.book(work(60000, order));
}

} // namespace shop

int main(int argc, char **argv) {
    int threads = argc > 1 ? std::atoi(argv[1]) : 2;
    shop::Ledger ledger;
    std::vector<std::thread> clerks;
    for (int i = 0; i < threads; i++)
        clerks.emplace_back(shop::clerk, std::ref(ledger));
    for (auto &clerk : clerks)
        clerk.join();
    std::printf("%.0f\n", ledger.total());
}
