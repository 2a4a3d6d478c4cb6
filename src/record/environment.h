// The environment of the recorded program: what makes it load our libraries,
// without taking away what the user had set.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/options.h"

namespace stallscope {

struct TargetEnvironment {
  std::vector<std::string> variables;  ///< "NAME=value", the whole environment
  std::vector<std::string> notes;      ///< what cannot be recorded because of the user's settings
};

/// `base` is the environment as it would be without us; `recording_folder` an
/// existing absolute path for segments.
Result<TargetEnvironment> target_environment(const RecordOptions& options,
                                             const std::string& recording_folder,
                                             std::vector<std::string> base);

/// This process's environment as "NAME=value" texts.
std::vector<std::string> current_environment();

}  // namespace stallscope
