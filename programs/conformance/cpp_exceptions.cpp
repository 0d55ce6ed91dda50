// C++ exceptions: thrown and caught in several threads at once, through deep stacks with destructors, rethrown, carried to
// another thread, and as the end of a function that other threads call too.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::atomic<long> alive{0};

struct counted {
    counted() { alive++; }
    ~counted() { alive--; }
    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;
};

[[gnu::noinline]] int descend(int depth, int id) {
    counted object;
    if (depth == 0) {
        throw std::runtime_error("from " + std::to_string(id));
    }
    return descend(depth - 1, id) + depth;
}

void throw_and_catch(int id) {
    for (int round = 0; round < 50; round++) {
        bool is_caught = false;
        try {
            descend(200, id);
        } catch (const std::exception &error) {
            is_caught = error.what() == "from " + std::to_string(id);
        }
        CHECK(is_caught);
        try {
            try {
                std::vector<int>(3).at(7);
            } catch (const std::out_of_range &) {
                throw;
            }
        } catch (const std::logic_error &) {
            is_caught = false;
        }
        CHECK(!is_caught);
    }
}

} // namespace

int main() {
    std::vector<std::thread> threads;
    for (int id = 0; id < 8; id++) {
        threads.emplace_back(throw_and_catch, id);
    }
    for (auto &thread : threads) {
        thread.join();
    }
    CHECK(alive.load() == 0);

    std::exception_ptr carried;
    std::thread([&] {
        try {
            descend(10, 99);
        } catch (...) {
            carried = std::current_exception();
        }
    }).join();
    bool is_caught = false;
    try {
        std::rethrow_exception(carried);
    } catch (const std::runtime_error &error) {
        is_caught = std::string(error.what()) == "from 99";
    }
    CHECK(is_caught);
    std::puts("ok");
    return 0;
}
