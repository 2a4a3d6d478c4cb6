// Damaged segments: errors or stated repairs, never a crash.
#include <doctest/doctest.h>

#include <fstream>
#include <random>

#include "collect/collect_support.h"
#include "collect/segment_harness.h"

using namespace stallscope;
using namespace stallscope::test;
namespace fs = std::filesystem;

namespace {

std::vector<unsigned char> recorded_bytes(const std::string& mode) {
  const TempFolder folder;
  run_target({nvtx_target(), mode, "500"}, folder.path());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) {
    std::ifstream file(entry.path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  FAIL("nothing was recorded");
  return {};
}

}  // namespace

TEST_CASE("truncated segments give what is left, or an error") {
  const std::vector<unsigned char> whole = recorded_bytes("every-call");
  REQUIRE(read_raw_segment(whole));
  for (size_t bytes = 0; bytes < whole.size(); bytes += 4093) {
    CAPTURE(bytes);
    const bool ok = read_raw_segment(std::span(whole).first(bytes));
    CHECK(ok == (bytes >= segment::kHeaderBytes));
  }
}

TEST_CASE("flipped bits never crash the reader") {
  std::mt19937 random(1);
  for (const char* mode : {"every-call", "payloads", "annotations"}) {
    const std::vector<unsigned char> whole = recorded_bytes(mode);
    // Most of a segment is free room: flip where there is something.
    std::vector<size_t> used;
    for (size_t i = 0; i < whole.size(); ++i)
      if (whole[i] != 0) used.push_back(i);
    for (int round = 0; round < 300; ++round) {
      std::vector<unsigned char> damaged = whole;
      for (int flip = 0; flip < 1 + round % 20; ++flip)
        damaged[used[random() % used.size()]] ^= static_cast<unsigned char>(1U << (random() % 8));
      read_raw_segment(damaged);
    }
  }
}

TEST_CASE("records of arbitrary content never crash the reader") {
  std::mt19937 random(2);
  std::vector<unsigned char> input(3 * 1024);
  for (int round = 0; round < 2000; ++round) {
    for (unsigned char& byte : input)
      byte = static_cast<unsigned char>(random() % 4 == 0 ? random() : random() % 40);
    read_made_segment(input);
  }
}

TEST_CASE("what is no segment is an error that says so") {
  Trace trace;
  const TempFolder folder;
  const fs::path path = folder.path() / "text.ssg";
  std::ofstream(path) << std::string(100000, 'x');
  const auto result = read_segment(path, trace);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().to_string().find("is not a segment") != std::string::npos);
  CHECK_FALSE(read_segment(folder.path() / "missing.ssg", trace).ok());
  CHECK_FALSE(read_segment(folder.path(), trace).ok());
}
