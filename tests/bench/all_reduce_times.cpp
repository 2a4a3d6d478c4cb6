// All-reduce over two ranks, as threads and as processes, beside the memory passes
// that it cannot do without. One line for each size: bytes, then microseconds.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/communicator.h"

namespace stallscope::comm {
namespace {

constexpr size_t kSizes[] = {4, 64 << 10, 3'145'728, 37'748'736};

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

// The best of several runs of enough calls to be timed.
template <typename Body>
double best_us(size_t bytes, const Body& body) {
  const int calls = bytes < 1 << 12 ? 2000 : bytes < 1 << 20 ? 200 : 3;
  double best = 1e18;
  for (int run = 0; run < 15; ++run) {
    const double start = now_us();
    for (int i = 0; i < calls; ++i) body();
    best = std::min(best, (now_us() - start) / calls);
  }
  return best;
}

std::vector<double> times(Communicator& communicator) {
  std::vector<double> result;
  for (const size_t bytes : kSizes) {
    std::vector<float> data(bytes / sizeof(float), 0.0F);
    result.push_back(best_us(bytes, [&] {
      if (!communicator.all_reduce(std::span<float>(data)).ok()) std::exit(1);
    }));
  }
  return result;
}

std::vector<double> by_threads() {
  auto ends = make_thread_group(2);
  std::thread other([&] { times(*ends[1]); });
  std::vector<double> result = times(*ends[0]);
  other.join();
  return result;
}

std::vector<double> by_processes() {
  const std::string name = "bench-" + std::to_string(getpid());
  auto join = [&](int rank) {
    auto end = make_shared_memory({.name = name, .rank = rank, .size = 2});
    if (!end.ok()) std::exit(1);
    return std::move(*end);
  };
  const pid_t other = fork();
  if (other == 0) {
    times(*join(1));
    _exit(0);
  }
  std::vector<double> result = times(*join(0));
  waitpid(other, nullptr, 0);
  return result;
}

// Both ranks at once read one buffer and write another, twice: hand the own part over, take the
// sum.
std::vector<double> by_two_passes() {
  std::vector<double> result;
  for (const size_t bytes : kSizes) {
    double slowest = 0;
    std::vector<std::thread> ranks;
    std::vector<double> took(2);
    for (size_t r = 0; r < 2; ++r) {
      ranks.emplace_back([&, r] {
        const size_t room = std::max<size_t>(bytes, 64);
        std::vector<char> a(room, 1), b(room, 2);
        took[r] = best_us(bytes, [&] {
          std::memcpy(a.data(), b.data(), bytes);
          std::memcpy(b.data(), a.data(), bytes);
          asm volatile("" : : "r"(a.data()), "r"(b.data()) : "memory");
        });
      });
    }
    for (auto& rank : ranks) rank.join();
    for (const double one : took) slowest = std::max(slowest, one);
    result.push_back(slowest);
  }
  return result;
}

}  // namespace
}  // namespace stallscope::comm

int main() {
  using namespace stallscope::comm;
  const auto processes = by_processes();  // before any thread
  const auto threads = by_threads(), passes = by_two_passes();
  for (size_t i = 0; i < std::size(kSizes); ++i)
    std::printf("%zu %.3f %.3f %.3f\n", kSizes[i], threads[i], processes[i], passes[i]);
  return 0;
}
