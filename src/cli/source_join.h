// Which sources belong to a run, and what static analysis says about them.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "rule/rule.h"
#include "source/facts/source_fact.h"

namespace stallscope {

/// --source: `auto` takes the program's own folder and the files seen in its
/// stacks, `off` none, anything else is a folder or file to analyse.
struct SourceChoice {
  std::string what = "auto";
  std::string libclang = "auto";  ///< types of C++: auto, off or the library's path
};

/// The longest that types of C++ may delay a report.
inline constexpr std::chrono::seconds kMostTimeForTypes{10};

/// The source facts of a run, or nullopt when it is off or nothing of the
/// program's source lies on this machine. A project that cannot be analysed, or not as well as it
/// might be, is no error of the run: `warnings` say why.
std::optional<std::vector<SourceFact>> facts_of_run(const SourceChoice& choice,
                                                    const RunSummary& run,
                                                    std::span<const std::string> command,
                                                    std::span<const Rule> rules,
                                                    std::vector<std::string>& warnings);

}  // namespace stallscope
