// `--reference`: the reference trainer beside a report.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "report/report.h"

namespace stallscope {

struct ReferenceOptions {
  std::string what = "off";  ///< auto, off, or a file that `stallscope bench` wrote
  std::string shape;         ///< "model=bert,layers=4,..."; what it lacks is found from the run
};

/// --reference, --shape.
void add_reference_options(CLI::App& app, ReferenceOptions& options);

/// Fills report.reference. With auto, the reference is trained now at the run's shape: what --shape
/// names, completed by the run's command line or by what operators in `inputs` tell. Error when the
/// shape is not known or the file is no reference.
Status add_reference(Report& report, const ReferenceOptions& options,
                     std::span<const std::string> inputs);

}  // namespace stallscope
