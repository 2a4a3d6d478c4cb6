// What `stallscope run --annotate` marked in the program, as the run's environment tells it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stallscope {

/// Keys of the environment that tell it begin so.
inline constexpr const char* kAnnotatedPrefix = "annotate.";

struct Annotated {
  std::vector<std::string> marked;    ///< entry points, each once
  std::vector<std::string> left_out;  ///< what a library lacks, or why it was not marked
  uint64_t calls = 0;                 ///< of marks, over all processes
  double own_ns = 0;  ///< that the marks took, without the interpreter's own calls of them
};

/// nullopt when nothing was annotated.
std::optional<Annotated> annotated_of(const std::map<std::string, std::string>& environment);

}  // namespace stallscope
