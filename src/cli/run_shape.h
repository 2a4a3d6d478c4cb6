// The shape of the model that a run trains, as far as something tells it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/reference.h"

namespace stallscope {

/// "model=bert,layers=4,..."; error on what is no such text.
Result<RunShape> parse_shape(const std::string& text);

/// What a command line names: flags as training scripts commonly call them. Empty when it names no
/// model and its sizes: flags alone would be a guess.
RunShape shape_in_command(const std::vector<std::string>& command);

/// What the operators of traces tell by the shapes of their inputs; empty when they tell nothing.
RunShape shape_in_operators(std::span<const std::string> inputs);

/// The keys without which a step of the same amount of work cannot be trained: "batch and seq".
/// Empty when all are there.
std::string missing_sizes(const RunShape& shape);

/// "model=bert,layers=4,..."
std::string shape_text(const RunShape& shape);

/// The options of `stallscope bench` for it.
std::vector<std::string> bench_options_of(const RunShape& shape);

}  // namespace stallscope
