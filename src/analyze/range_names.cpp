#include "analyze/range_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "trace/step_names.h"

namespace stallscope {
namespace {

struct Pattern {
  std::string_view part;  // of the name in lower case
  uint8_t nature;
};

constexpr Pattern kParts[] = {
    {"dataloader.__next__", kInputWait},
    {"enumerate(dataloader)", kInputWait},
    {"dataloaderiter.__next__", kInputWait},
    {"data_load", kInputWait},
    {"dataload", kInputWait},
    {"data loading", kInputWait},
    {"data load", kInputWait},
    {"data_wait", kInputWait},
    {"data wait", kInputWait},
    {"input_wait", kInputWait},
    {"input wait", kInputWait},
    {"wait_for_batch", kInputWait},
    {"wait for batch", kInputWait},
    {"next_batch", kInputWait},
    {"next batch", kInputWait},
    {"get_batch", kInputWait},
    {"get batch", kInputWait},
    {"fetch_batch", kInputWait},
    {"fetch batch", kInputWait},
    {"load_batch", kInputWait},
    {"load batch", kInputWait},
    {"batch_fetch", kInputWait},
    {"iteratorgetnext", kInputWait},
    {"mpi_", kCommunication},
    {"c10d::", kCommunication},
    {"gloo:", kCommunication},
    {"nccl:", kCommunication},
    {"torchdynamo", kCompile},
    {"dynamo_timed", kCompile},
    {"_compile.compile_inner", kCompile},
    {"compile_fx", kCompile},
    {"inductor compile", kCompile},
    {"triton_compile", kCompile},
    {"xlacompile", kCompile},
    {"xla_compile", kCompile},
    {"backend_compile", kCompile},
    {"jit_compile", kCompile},
    {"nvrtccompileprogram", kCompile},
    {"garbage collect", kCollection},
    {"gc.collect", kCollection},
    {"gc_collect", kCollection},
    {"python gc", kCollection},
    {"checkpoint", kCheckpoint},
    {"save_state", kCheckpoint},
    {"torch.save", kCheckpoint},
};

// Whole names, lower case.
constexpr std::string_view kInputNames[] = {"input", "data",       "dataload",
                                            "fetch", "next(data)", "load_data"};
constexpr std::string_view kCollectionNames[] = {"gc"};

// The letters of a name's words with anything else as one space: "## Step_12 ##" -> "step".
std::string letters(std::string_view name) {
  std::string words;
  for (char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalpha(u))
      words += static_cast<char>(std::tolower(u));
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

bool is_loader_wait(const std::string& name) {
  if (name.find("dataloader.py") == std::string::npos) return false;
  return name.ends_with("__next__") || name.ends_with("_next_data") ||
         name.ends_with("_get_data") || name.ends_with("_try_get_data");
}

}  // namespace

uint8_t range_nature(std::string_view raw) {
  const std::string name = lower(raw);
  uint8_t nature = 0;
  for (const Pattern& pattern : kParts)
    if (name.find(pattern.part) != std::string::npos) nature |= pattern.nature;
  // Looking for compiled code is not compiling, nor is asking whether something compiles.
  if (name.find("cache lookup") != std::string::npos ||
      name.find("is_torchdynamo") != std::string::npos)
    nature &= static_cast<uint8_t>(~kCompile);
  if (is_loader_wait(name)) nature |= kInputWait;
  const std::string words = letters(name);
  if (std::ranges::find(kInputNames, std::string_view(words)) != std::end(kInputNames))
    nature |= kInputWait;
  if (std::ranges::find(kCollectionNames, std::string_view(words)) != std::end(kCollectionNames))
    nature |= kCollection;
  // ncclAllReduce and its like are written without a separator.
  if (name.starts_with("nccl") && classify_collective(name) != CollectiveOp::unknown)
    nature |= kCommunication;
  if (!step_marker(raw).empty()) nature |= kFramework;
  return nature;
}

std::vector<uint8_t> range_natures(const Trace& trace) {
  std::vector<uint8_t> natures(trace.strings.size(), 0);
  std::vector<bool> known(trace.strings.size(), false);
  const auto kinds = trace.kinds();
  const auto names = trace.names();
  for (EventId id = 0; id < trace.size(); ++id) {
    if (kinds[id] != EventKind::range || known[names[id]]) continue;
    known[names[id]] = true;
    natures[names[id]] = range_nature(trace.text(names[id]));
  }
  return natures;
}

std::string step_marker(std::string_view name) {
  const size_t marker = step_marker_index(name.data(), name.size());
  return marker < kStepMarkerCount ? kStepMarkers[marker] : std::string{};
}

NamedFrame named_frame(std::string_view name) {
  // Kineto: "path/file.py(12): function"; the path may hold parentheses.
  const size_t end = name.find("): ");
  if (end == std::string_view::npos) return {};
  const size_t open = name.rfind('(', end);
  if (open == std::string_view::npos || open == 0) return {};
  NamedFrame frame{name.substr(0, open), 0, name.substr(end + 3)};
  const std::string_view digits = name.substr(open + 1, end - open - 1);
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), frame.line);
  if (error != std::errc() || stop != digits.data() + digits.size()) return {};
  return frame;
}

}  // namespace stallscope
