#include "record/run_folder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "record/gather.h"
#include "trace/segment_format.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

struct RunRoot {
  fs::path path;
  RunRoot() {
    std::string name = (fs::temp_directory_path() / "stallscope-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~RunRoot() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  RunRoot(const RunRoot&) = delete;
  RunRoot& operator=(const RunRoot&) = delete;
};

void finish(const RunFolder& folder, const RankIdentity& identity) {
  RunManifest manifest;
  manifest.id = folder.run_id;
  manifest.complete = true;
  manifest.started_at = "2026-11-21T00:00:00Z";
  manifest.identity = identity;
  REQUIRE(write_file(folder.trace + "/run.json", manifest_to_json(manifest)).ok());
}

RankIdentity rank_of(int rank, const char* job) {
  return {.rank = rank, .local_rank = rank, .world_size = 2, .launcher = "test", .job = job};
}

std::string segment_file(int32_t rank, uint32_t chunks, size_t bytes, int64_t pid) {
  segment::FileHeader header = {};
  header.magic = segment::kMagic;
  header.header_bytes = segment::kHeaderBytes;
  header.chunk_bytes = segment::kChunkBytes;
  header.chunks = chunks;
  header.rank = rank;
  header.pid = pid;
  header.state = segment::State::open;
  std::string content(bytes, '\0');
  content.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  return content;
}

}  // namespace

TEST_CASE("two runs never record into one folder at the same time") {
  const RunRoot root;
  const Result<RunFolder> first = create_run_folder(root.path.string(), {}, false);
  REQUIRE(first.ok());
  const Result<RunFolder> second = create_run_folder(root.path.string(), {}, false);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("another run") != std::string::npos);
}

TEST_CASE("ranks of one launch share a folder, the last one merges") {
  const RunRoot root;
  const Result<RunFolder> zero = create_run_folder(root.path.string(), rank_of(0, "a"), false);
  const Result<RunFolder> one = create_run_folder(root.path.string(), rank_of(1, "a"), false);
  REQUIRE(zero.ok());
  REQUIRE(one.ok());
  CHECK(zero->run_id == one->run_id);
  CHECK(zero->trace != one->trace);

  FolderLock lock;
  finish(*zero, rank_of(0, "a"));
  CHECK(claim_merge(*zero, rank_of(0, "a"), lock).value() == false);
  finish(*one, rank_of(1, "a"));
  CHECK(claim_merge(*one, rank_of(1, "a"), lock).value() == true);
  CHECK(fs::read_symlink(root.path / "trace") == zero->run_id);
  {
    const FolderLock merged = std::move(lock);
  }
  // Both may have ended at the same time: only one merges.
  CHECK(claim_merge(*zero, rank_of(0, "a"), lock).value() == false);
}

TEST_CASE("a launch that starts again, and another launch, get folders of their own") {
  const RunRoot root;
  const auto id = [&](int rank, const char* job) {
    const Result<RunFolder> folder =
        create_run_folder(root.path.string(), rank_of(rank, job), false);
    return folder ? folder->run_id : folder.error().to_string();
  };
  const std::string first = id(0, "a");
  CHECK(id(1, "a") == first);
  const std::string again = id(0, "a");
  CHECK(again == first + "-2");
  CHECK(id(1, "a") == again);
  CHECK(id(0, "b") != first);
}

TEST_CASE("a run that never started leaves nothing") {
  const RunRoot root;
  const fs::path inner = root.path / "new" / "folder";
  const Result<RunFolder> folder = create_run_folder(inner.string(), {}, false);
  REQUIRE(folder.ok());
  remove_run_folder(*folder);
  CHECK_FALSE(fs::exists(inner));
}

TEST_CASE("segments are gathered by rank, cut to what was used") {
  const RunRoot root;
  const fs::path from = root.path / "from", to = root.path / "to";
  fs::create_directories(from);
  fs::create_directories(to);
  constexpr size_t kUsed = segment::kHeaderBytes + 2 * segment::kChunkBytes;
  constexpr int64_t kNobody = 999'999'999;  // above any pid_max
  const auto write = [&](const char* name, const std::string& content) {
    REQUIRE(write_file((from / name).string(), content).ok());
  };
  write("1.ssg", segment_file(0, 2, kUsed + 1'000'000, kNobody));
  write("2.ssg", segment_file(1, 2, kUsed + 1'000'000, ::getpid()));  // still being written
  write("3.ssg", segment_file(-1, 2, kUsed, kNobody));
  write("4.ssg", "too short to be a segment");
  write("4.samples", "and no samples");
  write("4-1.samples", "of what followed by exec");
  const Gathered gathered = gather(from.string(), to.string(), true);
  CHECK(gathered.files == 6);
  CHECK(gathered.processes == 4);
  CHECK(gathered.warnings.empty());
  CHECK_FALSE(fs::exists(from));
  CHECK(fs::file_size(to / "rank-0/1.ssg") == kUsed);
  CHECK(fs::file_size(to / "rank-1/2.ssg") == kUsed);
  CHECK(fs::file_size(to / "local/3.ssg") == kUsed);
  CHECK(fs::exists(to / "local/4.ssg"));
}
