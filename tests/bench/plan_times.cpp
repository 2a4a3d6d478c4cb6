// How long a tensor-parallel plan takes on a parameter tree: in one pass, and
// rule by rule over the whole tree, as repeated tree rewrites do.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "trainer/plan/plan.h"

namespace stallscope::trainer {
namespace {

constexpr const char* kKinds[] = {
    "attention.qkv.weight", "attention.qkv.bias", "attention.out.weight", "attention.out.bias",
    "norm1.gain",           "norm1.bias",         "mlp.up.weight",        "mlp.up.bias",
    "mlp.down.weight",      "mlp.down.bias"};

struct Case {
  const char* what;
  size_t leaves, rules;
};

// Leaves of transformer layers; rules name single leaves, as a program that places each does.
std::vector<std::string> leaves_of(size_t count) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i)
    paths.push_back("layer." + std::to_string(i / std::size(kKinds)) + "." +
                    kKinds[i % std::size(kKinds)]);
  return paths;
}

std::vector<PlanRule> rules_of(const std::vector<std::string>& paths, size_t count) {
  std::vector<PlanRule> rules;
  for (size_t i = 0; i < count; ++i)
    rules.push_back({paths[i * paths.size() / count], Split::column, static_cast<int>(i % 2)});
  return rules;
}

template <typename Body>
double best_us(int repeats, const Body& body) {
  double best = 1e18;
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void measure(const Case& it) {
  const std::vector<std::string> paths = leaves_of(it.leaves);
  const std::vector<PlanRule> rules = rules_of(paths, it.rules);
  size_t matched = 0;
  const double once = best_us(20, [&] {
    const Plan plan(rules);
    matched = it.leaves - plan.apply(paths).unmatched.size();
  });
  const double each = best_us(3, [&] {
    for (const PlanRule& rule : rules) Plan({rule}).apply(paths);
  });
  std::printf("%-34s %6zu %6zu %8zu %12.0f us %12.0f us %8.0f\n", it.what, it.leaves, it.rules,
              matched, once, each, each / once);
}

}  // namespace
}  // namespace stallscope::trainer

int main() {
  using stallscope::trainer::measure;
  std::printf("%-34s %6s %6s %8s %15s %15s %8s\n", "", "leaves", "rules", "matched", "one pass",
              "rule by rule", "ratio");
  measure({"600 transforms on 1,610 leaves", 1610, 600});
  measure({"half the leaves", 805, 600});
  measure({"half the rules", 1610, 300});
  measure({"100 layers (31.6 B parameters)", 1210, 600});
  measure({"ten times the leaves and rules", 16100, 6000});
  return 0;
}
