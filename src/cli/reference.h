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
  std::string shape;         ///< "model=bert,layers=4,..."; empty: found from the run
};

/// --reference, --shape.
void add_reference_options(CLI::App& app, ReferenceOptions& options);

/// Fills report.reference. With auto, the reference is trained now at the given shape, at the one
/// that the run's command line names, or at the one that operators in `inputs` tell by the shapes
/// of their own inputs. Error when the shape is not known or the file is no reference.
Status add_reference(Report& report, const ReferenceOptions& options,
                     std::span<const std::string> inputs);

/// The options of `stallscope bench` for "model=bert,layers=4,...".
Result<std::vector<std::string>> bench_options_of(const std::string& shape);

/// The shape that a command line names: flags as training scripts commonly call them. Empty when it
/// names no model and none of the sizes.
std::string shape_in_command(const std::vector<std::string>& command);

}  // namespace stallscope
