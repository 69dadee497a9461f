/* roomy ROOM ITEMS: a queue with ROOM for so many, given on the command line, which never gets
 * full: who puts items sleeps longer than who takes them. */
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace work {

template <class Item> class Queue {
  public:
    explicit Queue(int room) : room(room) {
    }

    void put(Item item) {
        std::unique_lock<std::mutex> lock(mutex);
        has_room.wait(lock, [this] { return items < room; });
        items++;
        last = item;
        has_items.notify_one();
    }

    Item get() {
        std::unique_lock<std::mutex> lock(mutex);
        has_items.wait(lock, [this] { return items > 0; });
        items--;
        has_room.notify_one();
        return last;
    }

  private:
    Item last{};
    int items = 0;
    const int room;
    std::mutex mutex;
    std::condition_variable has_room, has_items;
};

} // namespace work

static void sleep_ms(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    work::Queue<long> queue(std::atoi(argv[1]));
    std::thread taker([&queue] {
        while (queue.get() >= 0)
            sleep_ms(1);
    });
    for (int i = std::atoi(argv[2]); i > 0; i--) {
        sleep_ms(4);
        queue.put(i);
    }
    queue.put(-1);
    taker.join();
    return 0;
}
