// A hand-made queue of C++'s own mutex, condition, guard and container.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

template <typename T> class Channel {
  public:
    explicit Channel(size_t limit) : limit(limit) {
    }

    void send(T item) {
        std::unique_lock<std::mutex> lock(mutex);
        room.wait(lock, [this] { return items.size() < limit; });
        items.push_back(item);
        lock.unlock();
        more.notify_one();
    }

    T receive() {
        std::unique_lock<std::mutex> lock(mutex);
        while (items.empty())
            more.wait(lock);
        T item = items.front();
        items.pop_front();
        room.notify_one();
        return item;
    }

  private:
    std::mutex mutex;
    std::condition_variable more, room;
    std::deque<T> items;
    const size_t limit;
};

int main() {
    Channel<int> channel(5);
    std::thread reader([&channel] {
        int sum = 0;
        while (int item = channel.receive())
            sum += item;
        return sum;
    });
    for (int i = 9; i >= 0; i--)
        channel.send(i);
    reader.join();
    return 0;
}
