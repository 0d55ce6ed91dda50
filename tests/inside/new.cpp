// new: every form of C++'s new and delete, alignment and failure included; exit code 0 if all is as the standard says.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(256) Wide {
    char bytes[300];
};

static int failures;

static void check(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "new: %s\n", what);
        failures++;
    }
}

static int handled;

static void handler()
{
    if (++handled == 2)
        std::set_new_handler(nullptr);
}

int main()
{
    auto *one = new int(7);
    auto *many = new double[1000]();
    check(*one == 7 && many[999] == 0.0, "values");
    ::operator delete(one, sizeof *one);
    delete[] many;
    auto *wide = new Wide;
    auto *wides = new Wide[10];
    check(reinterpret_cast<std::uintptr_t>(wide) % 256 == 0 && reinterpret_cast<std::uintptr_t>(wides) % 256 == 0,
          "alignment");
    delete wide;
    delete[] wides;
    void *quiet = ::operator new(100, std::nothrow);
    ::operator delete(quiet, std::nothrow);
    void *aligned = ::operator new(100, std::align_val_t{4096});
    check(reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0, "a page");
    ::operator delete(aligned, 100, std::align_val_t{4096});
    volatile std::size_t too_much = SIZE_MAX / 2;
    check(::operator new(too_much, std::nothrow) == nullptr, "too much, and quiet");
    std::set_new_handler(handler);
    try {
        check(::operator new(too_much) == nullptr, "too much");
    } catch (const std::bad_alloc &) {
        check(handled == 2, "the handler was asked until it gave up");
    }
    std::vector<std::thread> team;
    std::vector<std::unique_ptr<std::string>> words(8);
    for (auto &word : words)
        team.emplace_back([&word] { word = std::make_unique<std::string>(5000, 'x'); });
    for (auto &thread : team)
        thread.join();
    for (const auto &word : words)
        check(word->size() == 5000 && word->back() == 'x', "a thread's string");
    return failures == 0 ? 0 : 1;
}
