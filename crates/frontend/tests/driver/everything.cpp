// Exceptions through instrumented frames, templates, virtual calls, thread_local objects, containers, lambdas, atomics.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};
struct Ring : Shape {
    double outer, inner;
    Ring(double o, double i) : outer(o), inner(i) {}
    double area() const override {
        if (inner > outer) throw std::domain_error("ring " + std::to_string(inner));
        return 3 * (outer * outer - inner * inner);
    }
};

static int alive;
struct Counted {
    int number;
    explicit Counted(int n) : number(n) { ++alive; }
    Counted(const Counted &other) : number(other.number) { ++alive; }
    ~Counted() { --alive; }
};

template <typename T, int N> struct Fixed {
    T items[N];
    T total() const {
        T t{};
        for (const T &item : items) t += item;
        return t;
    }
};

static int deep(int depth, std::vector<Counted> &kept) {
    Counted here(depth);
    kept.push_back(here);
    if (depth == 0) throw std::runtime_error("bottom");
    int below = deep(depth - 1, kept);
    return below + here.number;
}

struct Name {
    std::string text = "fresh";
    ~Name() { std::printf("gone %s\n", text.c_str()); }
};
thread_local Name name;
static std::atomic<double> level{0.5};
static std::atomic<long> ticket{0};

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 20; i++)
        if (i % 3) shapes.push_back(std::make_unique<Square>(i));
        else shapes.push_back(std::make_unique<Ring>(i, i % 2 ? i + 1.0 : i / 2.0));
    double area = 0;
    int caught = 0;
    for (const auto &shape : shapes) {
        try {
            area += shape->area();
        } catch (const std::domain_error &error) {
            caught += static_cast<int>(std::string(error.what()).size());
        }
    }
    std::printf("shapes %.3f %d\n", area, caught);
    {
        std::vector<Counted> kept;
        try {
            deep(25, kept);
        } catch (const std::exception &error) {
            std::printf("caught %s alive %d\n", error.what(), alive);
        }
    }
    std::printf("alive %d\n", alive);
    std::map<std::string, int> words;
    for (const char *word : {"one", "two", "three", "two", "one", "two"}) words[word]++;
    for (const auto &[word, count] : words) std::printf("%s=%d ", word.c_str(), count);
    Fixed<long, 5> fixed{{1, 2, 3, 4, 5}};
    std::function<long(long)> scale = [&fixed](long by) { return fixed.total() * by; };
    std::vector<int> numbers(1000);
    for (int i = 0; i < 1000; i++) numbers[i] = i * 7919 % 1009;
    std::sort(numbers.begin(), numbers.end());
    std::printf("\nfixed %ld sorted %d %d\n", scale(3), numbers[0], numbers[500]);
    level.store(level.load() * 4);
    double expected = 2.0;
    bool swapped = level.compare_exchange_strong(expected, 9.25);
    for (int i = 0; i < 5; i++) ticket += i;
    std::printf("atomic %d %.2f %ld\n", swapped, level.load(), ticket.load());
    name.text = "changed";
    return 0;
}
