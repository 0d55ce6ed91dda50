// Order at start and end: static constructors run before main; atexit functions and static destructors after main, in
// reverse order of their registration.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::vector<std::string> &steps() {
    static std::vector<std::string> list;
    return list;
}

struct announcer {
    announcer() {
        steps().push_back("constructed");
        std::atexit([] {
            CHECK(steps().back() == "later");
            std::puts("ok");
        });
    }
    ~announcer() { std::puts("destroyed"); }
};

announcer global;
auto heap = std::make_unique<std::vector<double>>(1000, 2.0);

} // namespace

int main() {
    CHECK(steps().size() == 1);
    CHECK(heap->at(999) == 2.0);
    std::atexit([] { steps().push_back("later"); });
    return 0;
}
