// thread_local objects with constructors and destructors, and function-local statics initialised under contention.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::atomic<int> constructed{0}, destroyed{0}, statics{0};

struct tracked {
    std::string text;
    tracked() : text("fresh") { constructed++; }
    ~tracked() { destroyed++; }
};

thread_local tracked object;
thread_local std::vector<int> numbers{1, 2, 3};

struct slow {
    slow() {
        statics++;
        std::this_thread::yield();
    }
};

void use(int id) {
    static slow only_once;
    CHECK(object.text == "fresh");
    object.text = std::to_string(id);
    CHECK(numbers.size() == 3);
    numbers.push_back(id);
    std::this_thread::yield();
    CHECK(object.text == std::to_string(id));
    CHECK(numbers.back() == id);
    (void)only_once;
}

} // namespace

int main() {
    std::vector<std::thread> threads;
    for (int id = 0; id < 8; id++) {
        threads.emplace_back(use, id);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    CHECK(constructed.load() == 8);
    CHECK(destroyed.load() == 8);
    CHECK(statics.load() == 1);
    CHECK(object.text == "fresh");
    std::puts("ok");
    return 0;
}
