// What a control group leaves of the machine, from files as the kernel writes them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/temporary_folder.h"
#include "trainer/loop/limits.h"

namespace stallscope::trainer {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

// Control groups of which `files` are there, and `membership` is this process's place.
class Groups {
 public:
  Groups(const std::string& membership, const Files& files) : folder_("limits-test") {
    write(fs::path(folder_.path()) / "membership", membership);
    for (const auto& [name, text] : files) write(fs::path(folder_.path()) / "root" / name, text);
  }
  operator ControlGroups() const {  // NOLINT: what the functions take
    return {.membership = folder_.path() + "/membership", .root = folder_.path() + "/root"};
  }

 private:
  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  TemporaryFolder folder_;
};

constexpr const char* kUnified = "0::/jobs/one\n";
constexpr const char* kSeparate = "4:memory:/jobs/one\n2:cpu,cpuacct:/jobs/one\n0::/\n";

TEST_CASE("processors are those of the smallest quota, rounded up") {
  const int all = cpu_limit({.membership = "/nothing", .root = "/nothing"});
  CHECK(all >= 1);
  struct Case {
    const char* membership;
    Files files;
    int want;
  };
  const Case cases[] = {
      {kUnified, {}, all},
      {kUnified, {{"jobs/one/cpu.max", "max 100000\n"}}, all},
      {kUnified, {{"jobs/one/cpu.max", "30000 100000\n"}}, 1},
      {kUnified, {{"jobs/one/cpu.max", "150000 100000\n"}}, std::min(all, 2)},
      {kUnified, {{"jobs/one/cpu.max", "max 100000\n"}, {"jobs/cpu.max", "50000 100000\n"}}, 1},
      {kUnified, {{"jobs/one/cpu.max", "no number\n"}}, all},
      {kUnified, {{"jobs/two/cpu.max", "30000 100000\n"}}, all},
      {kSeparate,
       {{"cpu/jobs/one/cpu.cfs_quota_us", "-1\n"}, {"cpu/jobs/one/cpu.cfs_period_us", "100000\n"}},
       all},
      {kSeparate,
       {{"cpu/jobs/one/cpu.cfs_quota_us", "90000\n"},
        {"cpu/jobs/one/cpu.cfs_period_us", "100000\n"}},
       1},
      // In a container the mount is the group itself.
      {kSeparate, {{"cpu/cpu.cfs_quota_us", "90000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}}, 1},
  };
  for (const Case& it : cases) {
    CAPTURE(it.files.empty() ? "" : it.files.begin()->first + " " + it.files.begin()->second);
    CHECK(cpu_limit(Groups(it.membership, it.files)) == it.want);
  }
}

TEST_CASE("memory is what the tightest limit leaves, file contents aside") {
  const double all = memory_limit({.membership = "/nothing", .root = "/nothing"});
  CHECK(all > 1e8);
  struct Case {
    const char* membership;
    Files files;
    double want;
  };
  const Case cases[] = {
      {kUnified, {{"jobs/one/memory.max", "1000000\n"}}, 1e6},
      {kUnified,
       {{"jobs/one/memory.max", "1000000\n"}, {"jobs/one/memory.current", "400000\n"}},
       6e5},
      {kUnified,
       {{"jobs/one/memory.max", "1000000\n"},
        {"jobs/one/memory.current", "400000\n"},
        {"jobs/one/memory.stat", "anon 100\ninactive_file 300000\nactive_file 5\n"}},
       9e5},
      {kUnified, {{"jobs/one/memory.max", "max\n"}, {"jobs/memory.max", "500000\n"}}, 5e5},
      {kUnified, {{"jobs/one/memory.max", "1000\n"}, {"jobs/one/memory.current", "4000\n"}}, 0},
      {kSeparate,
       {{"memory/jobs/one/memory.limit_in_bytes", "1000000\n"},
        {"memory/jobs/one/memory.usage_in_bytes", "400000\n"},
        {"memory/jobs/one/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n"}},
       7e5},
  };
  for (const Case& it : cases) {
    CAPTURE(it.files.begin()->first);
    CHECK(memory_limit(Groups(it.membership, it.files)) == doctest::Approx(it.want));
  }
  const Groups none(kSeparate,
                    {{"memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n"}});
  CHECK(memory_limit(none) == doctest::Approx(all).epsilon(0.2));
}

}  // namespace
}  // namespace stallscope::trainer
