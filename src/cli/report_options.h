// Options and messages that every command which makes a report shares.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/pipeline.h"

namespace stallscope {

/// --step-range, --ranks, --source, --path-map, --libclang, --rules, --max-inflated.
void add_pipeline_options(CLI::App& app, PipelineOptions& options);

/// The last line: where the report is and how to open it.
void print_where(const std::string& folder);

}  // namespace stallscope
