// C++ concurrency: thread, mutexes, condition_variable, future, shared_mutex, call_once, atomic wait, latch, semaphore.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int thread_count = 6;
constexpr int rounds = 500;

void check_mutexes() {
    std::mutex mutex;
    std::recursive_mutex recursive;
    std::timed_mutex timed;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int id = 0; id < thread_count; id++) {
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; round++) {
                std::scoped_lock guard(mutex, recursive);
                std::lock_guard again(recursive);
                counter++;
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    CHECK(counter == static_cast<long>(thread_count) * rounds);
    std::lock_guard hold(timed);
    std::thread([&] { CHECK(!timed.try_lock_for(std::chrono::milliseconds(10))); }).join();
}

void check_conditions() {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> queue;
    bool is_closed = false;
    long sum = 0;
    std::thread consumer([&] {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return !queue.empty() || is_closed; });
            if (queue.empty()) {
                return;
            }
            sum = std::accumulate(queue.begin(), queue.end(), sum);
            queue.clear();
        }
    });
    for (int item = 1; item <= rounds; item++) {
        std::lock_guard lock(mutex);
        queue.push_back(item);
        changed.notify_one();
    }
    {
        std::lock_guard lock(mutex);
        is_closed = true;
        changed.notify_all();
    }
    consumer.join();
    CHECK(sum == rounds * (rounds + 1L) / 2);
    std::unique_lock lock(mutex);
    CHECK(changed.wait_for(lock, std::chrono::milliseconds(5)) == std::cv_status::timeout);
}

void check_futures() {
    auto doubled = std::async(std::launch::async, [](int value) { return 2 * value; }, 21);
    CHECK(doubled.get() == 42);
    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("expected"); });
    bool is_caught = false;
    try {
        failing.get();
    } catch (const std::runtime_error &error) {
        is_caught = std::string(error.what()) == "expected";
    }
    CHECK(is_caught);
    std::promise<int> promise;
    auto future = promise.get_future();
    CHECK(future.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout);
    std::thread giver([&] { promise.set_value(5); });
    CHECK(future.get() == 5);
    giver.join();
    std::packaged_task<int(int)> task([](int value) { return value + 1; });
    auto outcome = task.get_future();
    std::thread(std::move(task), 9).join();
    CHECK(outcome.get() == 10);
}

void check_shared_mutex() {
    std::shared_mutex mutex;
    int first = 0, second = 0;
    std::vector<std::thread> threads;
    for (int id = 0; id < thread_count; id++) {
        threads.emplace_back([&, id] {
            for (int round = 0; round < rounds; round++) {
                if (id < 2) {
                    std::unique_lock lock(mutex);
                    first++;
                    second++;
                } else {
                    std::shared_lock lock(mutex);
                    CHECK(first == second);
                }
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    CHECK(first == 2 * rounds);
}

void check_cpp20() {
    std::atomic<int> stage{0};
    std::latch ready(thread_count);
    std::barrier barrier(thread_count);
    std::counting_semaphore<8> semaphore(2);
    std::atomic<int> inside{0};
    std::once_flag once;
    int initialised = 0;
    {
        std::vector<std::jthread> threads;
        for (int id = 0; id < thread_count; id++) {
            threads.emplace_back([&] {
                std::call_once(once, [&] { initialised++; });
                ready.count_down();
                stage.wait(0);
                CHECK(stage.load() == 1);
                for (int round = 0; round < 20; round++) {
                    barrier.arrive_and_wait();
                    // Not acquire(): where several contend, that of libstdc++ before 12.3 can sleep on a count above 0.
                    while (!semaphore.try_acquire()) {
                        std::this_thread::yield();
                    }
                    CHECK(inside.fetch_add(1) < 2);
                    inside.fetch_sub(1);
                    semaphore.release();
                }
            });
        }
        ready.wait();
        stage.store(1);
        stage.notify_all();
    }
    CHECK(initialised == 1);
    CHECK(inside.load() == 0);
}

/* Two threads hand a turn to and fro: each semaphore has one waiter and a count of at most 1. */
void check_semaphores() {
    std::counting_semaphore<8> ping(0);
    std::counting_semaphore<8> pong(0);
    int turns = 0;
    std::thread other([&] {
        for (int round = 0; round < rounds; round++) {
            ping.acquire();
            turns++;
            pong.release();
        }
    });
    for (int round = 0; round < rounds; round++) {
        ping.release();
        pong.acquire();
        CHECK(turns == round + 1);
    }
    other.join();
}

} // namespace

int main() {
    CHECK(std::thread::hardware_concurrency() >= 1);
    check_mutexes();
    check_conditions();
    check_futures();
    check_shared_mutex();
    check_cpp20();
    check_semaphores();
    std::puts("ok");
    return 0;
}
