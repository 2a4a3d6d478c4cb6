// Records one run: folder, environment, child, gathering, run.json.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "record/child.h"
#include "record/options.h"
#include "record/run_folder.h"
#include "trace/run_manifest.h"

namespace stallscope {

struct Recording {
  RunFolder folder;
  RunManifest manifest;
  ChildEnd end;
};

/// Runs the command of `options` under the recorder and leaves a complete run
/// folder. An Error means that the program never started and nothing was left.
/// `overhead`, when it has been measured, is kept with the run.
Result<Recording> record(const RecordOptions& options,
                         const std::optional<PairedOverhead>& overhead = std::nullopt);

}  // namespace stallscope
