// --measure-overhead: the program, in pairs, with and without recording.
#pragma once

#include <optional>

#include "base/result.h"
#include "record/options.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// Runs the command 2 * `pairs` times, in alternating order, into folders that
/// are thrown away. nullopt when the runs give no interval; an Error when the
/// program could not be started or did not end well.
Result<std::optional<PairedOverhead>> measure_overhead(const RecordOptions& options,
                                                       uint32_t pairs);

}  // namespace stallscope
