// Call chains of C++, each compared with libgcc's: virtual functions, closures, and what runs while
// an exception is under way.
#include <algorithm>
#include <functional>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/programs/unwind_compare.h"

namespace {

struct Shape {
    virtual ~Shape() {
        compare("a destructor");
    }
    virtual int area(int scale) const = 0;
};

struct Square : Shape {
    explicit Square(int side) : side(side) {
    }
    int area(int scale) const override {
        compare("a virtual function");
        if (scale > 3)
            throw std::runtime_error("too large");
        return side * side * scale;
    }
    int side;
};

__attribute__((noinline)) int guarded(const Shape &shape, int scale) {
    Square local(scale);
    try {
        return shape.area(scale) + local.side;
    } catch (const std::logic_error &) {
        return -1;
    }
}

int all() {
    std::vector<int> numbers = {3, 1, 2};
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
        compare("a closure");
        return a < b;
    });
    std::function<int(int)> twice = [&](int n) {
        compare("std::function");
        return 2 * n + numbers[0];
    };
    Square square(2);
    int sum = twice(guarded(square, 2));
    try {
        sum += guarded(square, 5);
    } catch (const std::runtime_error &error) {
        compare("a handler of an exception");
    }
    return sum;
}

} // namespace

int main() {
    compare_start();
    int sum = all();
    std::thread([&] {
        compare_start();
        sum += all();
    }).join();
    auto later = std::async(std::launch::async, [] {
        compare_start();
        return all();
    });
    sum += later.get();
    return sum == 0 ? 2 : compare_end();
}
