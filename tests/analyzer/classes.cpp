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

// Statements with a beginning of their own: if (init; condition), switch (init; condition).
class Permits {
  public:
    int take() {
        std::unique_lock<std::mutex> lock(mutex);
        while (left == 0)
            back.wait(lock);
        return --left;
    }

    int give() {
        if (std::lock_guard<std::mutex> lock(mutex); ++left > 0)
            back.notify_one(); //= fragment pthread_mutex_unlock class Permits.mutex
        return count();
    }

  private:
    std::mutex mutex;
    std::condition_variable back;
    int left = 3;

    int count() {
        std::lock_guard<std::mutex> lock(mutex);
        return left;
    }
};

class Tally {
  public:
    void count(const int *items, int n) {
        for (int i = 0; i < n; i++) {
            std::lock_guard<std::mutex> lock(mutex);
            switch (items[i]) {
            case 0:
                continue; //= fragment pthread_mutex_unlock class Tally.mutex
            default:
                sum += items[i];
            }
        }
    }

  private:
    std::mutex mutex;
    int sum = 0;
};

int take_and_give(Permits &permits) {
    Tally tally;
    int items[] = {0, 1};
    tally.count(items, 2);
    if (int left = permits.take(); left > 1)
        return 0;
    switch (int left = permits.give(); left) {
    case 0:
        return 1;
    default:
        return left;
    }
}

int main() {
    Channel<int> channel(5);
    Permits permits;
    std::thread other([&permits] { take_and_give(permits); });
    std::thread reader([&channel] {
        int sum = 0;
        while (int item = channel.receive())
            sum += item;
        return sum;
    });
    for (int item : {12, 11, 10}) //= bound fixed
        channel.send(item);
    for (int i = 9; i >= 0; i--)
        channel.send(i);
    reader.join();
    other.join();
    return 0;
}
