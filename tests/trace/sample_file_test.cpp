#include "trace/sample_file.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "import/sample_reader.h"

using namespace stallscope;
namespace fs = std::filesystem;

namespace {

struct SampleFile {
  std::string path =
      (fs::temp_directory_path() / ("stallscope-samples-" + std::to_string(::getpid()))).string();
  explicit SampleFile(const std::string& text) { (void)write_file(path, text); }
  ~SampleFile() { fs::remove(path); }
};

std::string example_samples() {
  SampleWriter writer(42, {.rank = 1, .local_rank = 0, .world_size = 2, .launcher = "", .job = ""});
  const uint32_t main = writer.frame("main", "train.py", 3);
  const uint32_t odd = writer.frame("tab\there", "back\\slash\nline", 7);
  const uint32_t stack = writer.stack(std::vector{odd, main});
  CHECK(writer.stack(std::vector{odd, main}) == stack);
  writer.event(43, 1000, 500, stack, SampleState::python);
  writer.event(43, 2000, 500, writer.stack(std::vector{main}), SampleState::waiting);
  const uint32_t native = writer.native(0x1230, "/usr/lib/libz.so.1", "ab12");
  writer.event(43, 3000, 500, writer.stack(std::vector{native, main}), SampleState::native);
  writer.note("a note");
  return writer.take();
}

}  // namespace

TEST_CASE("samples survive writing and reading, whatever their names hold") {
  const SampleFile file(example_samples());
  Trace trace;
  REQUIRE(read_samples(file.path, trace).ok());
  trace.finish();
  REQUIRE(trace.size() == 3);
  CHECK(trace.processes[0].pid == 42);
  CHECK(trace.processes[0].rank == 1);
  CHECK(trace.tracks[0].id == 43);
  const Event event = trace.event(0);
  CHECK(event.kind == EventKind::sample);
  CHECK(event.duration == 500);
  const auto stack = trace.stack(event.stack);
  REQUIRE(stack.size() == 2);
  CHECK(trace.text(trace.frame(stack[0]).function) == "tab\there");
  CHECK(trace.text(trace.frame(stack[0]).file) == "back\\slash\nline");
  CHECK(trace.frame(stack[0]).line == 7);
  CHECK(trace.frame(stack[1]).kind == FrameKind::python);
  const auto below = trace.stack(trace.event(2).stack);
  REQUIRE(below.size() == 2);
  CHECK(trace.frame(below[0]).kind == FrameKind::native);
  CHECK(trace.text(trace.frame(below[0]).function) == "libz.so.1+0x1230");
  CHECK(trace.text(trace.frame(below[0]).module) == "/usr/lib/libz.so.1");
  CHECK(trace.text(trace.frame(below[1]).function) == "main");
  CHECK(trace.health.warnings == std::vector<std::string>{"a note"});
  CHECK(trace.health.repairs.empty());
}

TEST_CASE("a native function of a sample is named by its symbols, without a line") {
  const SampleFile file(example_samples());
  Trace trace;
  const Symbolizer symbols = [](Trace& into, const NativeAddress& place, std::vector<Frame>& out) {
    CHECK(place.build_id == "ab12");
    CHECK(place.address == 0x1230);
    CHECK_FALSE(place.is_return_address);
    // A function that begins with what was inlined into it.
    for (const char* name : {"inlined", "deflate"})
      out.push_back({.function = into.strings.intern(name),
                     .file = into.strings.intern("deflate.c"),
                     .module = into.strings.intern(place.module_path),
                     .line = 7,
                     .kind = FrameKind::native});
  };
  REQUIRE(read_samples(file.path, trace, symbols).ok());
  trace.finish();
  const Frame& native = trace.frame(trace.stack(trace.event(2).stack)[0]);
  CHECK(trace.text(native.function) == "deflate");
  CHECK(native.line == 0);
  CHECK(native.file == 0);
}

TEST_CASE("samples join the process that a segment has described") {
  const SampleFile file(example_samples());
  Trace trace;
  trace.add_process(
      {.pid = 7, .rank = 0, .local_rank = 0, .world_size = 2, .host = "", .name = ""});
  trace.add_process(
      {.pid = 42, .rank = 1, .local_rank = 0, .world_size = 2, .host = "", .name = ""});
  REQUIRE(read_samples(file.path, trace).ok());
  CHECK(trace.processes.size() == 2);
  CHECK(trace.tracks[0].process == 1);
}

TEST_CASE("every cut and every changed byte of a file is read without a crash") {
  const std::string good = example_samples();
  for (size_t i = 0; i < good.size(); ++i) {
    for (const std::string& text :
         {good.substr(0, i), good.substr(0, i) + '\xff' + good.substr(i + 1),
          good.substr(0, i) + '9' + good.substr(i + 1)}) {
      const SampleFile file(text);
      Trace trace;
      if (read_samples(file.path, trace).ok()) trace.finish();
      CHECK(trace.size() <= 3);
    }
  }
}
