#include "collect/collect_support.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "collect/settings.h"

extern char** environ;

namespace stallscope::test {
namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "stallscope-test-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string nvtx_target() {
  return STALLSCOPE_BINARY_DIR "/tests/collect/nvtx_target";
}

int start_target(const std::vector<std::string>& command, const std::string& folder,
                 const Variables& variables, int output) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto name = std::string(text.substr(0, text.find('=')));
    if (!variables.contains(name) && !name.starts_with("STALLSCOPE_"))
      environment.emplace_back(text);
  }
  if (!folder.empty()) {
    environment.push_back(std::string(settings::kOut) + "=" + folder);
    environment.push_back(std::string(settings::kNvtxInjection) +
                          "=" STALLSCOPE_BINARY_DIR "/lib/" + settings::kCollectLibrary);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  std::vector<char*> arguments, variables_out;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.data()));
  for (const std::string& variable : environment)
    variables_out.push_back(const_cast<char*>(variable.data()));
  arguments.push_back(nullptr);
  variables_out.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, command[0].c_str(), &actions, nullptr, arguments.data(),
                                 variables_out.data());
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(failed == 0);
  return pid;
}

Finished run_target(const std::vector<std::string>& command, const std::string& folder,
                    const Variables& variables) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const int pid = start_target(command, folder, variables, ends[1]);
  close(ends[1]);
  Finished finished;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    finished.output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished;
}

namespace {

size_t used_chunk_bytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  segment::ChunkHeader header{};
  size_t bytes = 0;
  for (size_t at = segment::kHeaderBytes;; at += segment::kChunkBytes) {
    in.seekg(static_cast<std::streamoff>(at));
    if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return bytes;
    if (header.sequence != 0) bytes += segment::kChunkBytes;
  }
}

}  // namespace

Recorded read_folder(const std::string& folder) {
  Recorded recorded;
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == segment::kFileSuffix) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::string& file : files) {
    Result<SegmentContents> contents = read_segment(file, recorded.trace);
    REQUIRE_MESSAGE(contents.ok(), contents.error().to_string());
    recorded.segments.push_back(*contents);
    recorded.chunk_bytes += used_chunk_bytes(file);
  }
  recorded.trace.finish();
  return recorded;
}

std::vector<EventId> events_named(const Trace& trace, EventKind kind, std::string_view name) {
  std::vector<EventId> found;
  for (EventId id = 0; id < trace.size(); ++id)
    if (trace.kinds()[id] == kind && trace.full_name(id) == name) found.push_back(id);
  return found;
}

size_t count_named(const Trace& trace, std::string_view name) {
  size_t count = 0;
  for (EventId id = 0; id < trace.size(); ++id) count += trace.full_name(id) == name ? 1 : 0;
  return count;
}

EventId only(const Trace& trace, EventKind kind, std::string_view name) {
  const std::vector<EventId> found = events_named(trace, kind, name);
  REQUIRE_MESSAGE(found.size() == 1, std::string(name));
  return found[0];
}

}  // namespace stallscope::test
