#include <doctest/doctest.h>

#include <thread>

#include "checks.h"

namespace stallscope::comm {
namespace {

using std::chrono::milliseconds;

/// Runs `body(communicator)` on one thread per rank and returns what each gave.
template <typename Body>
std::vector<std::string> on_threads(int size, Body body, milliseconds timeout = kDefaultTimeout) {
  auto group = make_thread_group(size, "test", timeout);
  std::vector<std::string> results(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      const auto index = static_cast<size_t>(r);
      results[index] = body(*group[index]);
    });
  }
  for (auto& thread : threads) thread.join();
  return results;
}

TEST_CASE("collectives agree with their definition") {
  for (const int size : {1, 2, 3, 4}) {
    CAPTURE(size);
    for (const std::string& wrong : on_threads(size, [](Communicator& c) { return check_all(c); }))
      CHECK(wrong == "");
  }
  auto single = make_single();
  CHECK(check_all(*single) == "");
}

TEST_CASE("sums are added in rank order, so every rank has the same bits") {
  // 1e8 + 1 - 1e8 depends on the order: (1e8 + 1) - 1e8 is 0 in f32, 1 in any other order.
  const auto results = on_threads(3, [](Communicator& c) {
    const float parts[] = {1e8F, 1.0F, -1e8F};
    std::vector<float> data(3, parts[c.rank()]);
    return c.all_reduce<float>(data).ok() ? std::to_string(data[1]) : "failed";
  });
  for (const std::string& sum : results) CHECK(sum == std::to_string(1e8F + 1.0F - 1e8F));
}

TEST_CASE("a rank that does not come is named") {
  const auto results = on_threads(
      2,
      [](Communicator& c) -> std::string {
        if (c.rank() == 1) return "";
        const Status status = c.barrier();
        return status.ok() ? "came" : status.error().message;
      },
      milliseconds(60));
  CHECK(results[0].find("rank 1") != std::string::npos);
  CHECK(results[0].find("did not arrive within 60 ms") != std::string::npos);
}

TEST_CASE("ranks that call different collectives are told so") {
  const auto results = on_threads(2, [](Communicator& c) -> std::string {
    std::vector<float> data(4);
    const Status status = c.rank() == 0 ? c.all_reduce<float>(data) : c.broadcast<float>(data, 0);
    return status.ok() ? "same" : status.error().message;
  });
  for (const std::string& message : results) {
    CHECK(message.find("all_reduce of 16 bytes") != std::string::npos);
    CHECK(message.find("broadcast of 16 bytes") != std::string::npos);
  }
}

TEST_CASE("buffers of the wrong size and ranks that are none are refused") {
  auto group = make_thread_group(2);
  std::vector<float> small(3), large(4);
  CHECK_FALSE(group[0]->all_gather<float>(std::span<const float>(small), large).ok());
  CHECK_FALSE(group[0]->reduce_scatter<float>(std::span<const float>(large), small).ok());
  CHECK_FALSE(group[0]->broadcast<float>(small, 2).ok());
  CHECK_FALSE(make_shared_memory({.name = "a/b", .rank = 0, .size = 1}).ok());
  CHECK_FALSE(make_shared_memory({.name = "a", .rank = 2, .size = 2}).ok());
  CHECK_FALSE(make_mpi().ok());
}

}  // namespace
}  // namespace stallscope::comm
