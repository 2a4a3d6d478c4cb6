// The stack samples of one process, as the parent writes them beside the
// segments. Lines of tab-separated fields; a backslash hides tab, line break
// and itself. A cut last line is left out.
//
//   stallscope-samples 1  PID  RANK  LOCAL_RANK  WORLD_SIZE
//   f  LINE  FUNCTION  FILE           frame 0, 1, ... in order
//   a  ADDRESS  MODULE  BUILD_ID      a frame too: the native function that begins there in its
//                                     file
//   s  FRAME FRAME ...                stack 0, 1, ...; innermost first
//   e  TID  START_NS  DURATION_NS  STACK  STATE [HOLDER]
//                                     see sample_state.h; with lock-wait, who had the lock
//   c  TIME_NS  NAME  VALUE           a counter of the process
//   n  TEXT                           a sentence for the report
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/units.h"
#include "trace/run_manifest.h"
#include "trace/sample_state.h"

namespace stallscope {

inline constexpr std::string_view kSampleSuffix = ".samples";
/// A profile that the program made of itself: PID.N and this; the profiler's own format.
inline constexpr std::string_view kProfileSuffix = ".profile";
/// Collectives that were started without Python, as event lines in CLOCK_REALTIME: PID.N and this.
inline constexpr std::string_view kCollectivesSuffix = ".collectives";
inline constexpr std::string_view kSampleMagic = "stallscope-samples 1";

/// Collects lines; the owner appends them to a file now and then.
class SampleWriter {
 public:
  SampleWriter(int64_t pid, const RankIdentity& identity);
  uint32_t frame(const std::string& function, const std::string& file, uint32_t line);
  /// `address` is in the terms of the module's file.
  uint32_t native(uint64_t address, const std::string& module, const std::string& build_id);
  uint32_t stack(std::span<const uint32_t> innermost_first);
  /// `holder`: the thread that had the interpreter's lock meanwhile; 0 = unknown.
  void event(int64_t tid, Ns start, Ns duration, uint32_t stack, SampleState state,
             int64_t holder = 0);
  void counter(Ns time, std::string_view name, double value);
  void note(std::string_view text);
  /// The lines since the last call.
  std::string take() { return std::exchange(text_, {}); }
  size_t pending() const { return text_.size(); }

 private:
  std::string text_;
  uint32_t frame_count_ = 0;
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> frames_;
  std::map<std::vector<uint32_t>, uint32_t> stacks_;
};

/// Splits a line of the file at tabs and takes the backslashes away.
std::vector<std::string> sample_fields(std::string_view line);

/// Pid and rank from the first line of a file; false when it is no sample file.
bool parse_sample_head(std::string_view line, int64_t& pid, RankIdentity& identity);

}  // namespace stallscope
