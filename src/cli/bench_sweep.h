// `bench --sweep`: one reference run per point of a grid of shapes, as one table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench_result.h"

namespace stallscope {

struct SweepPoint {
  std::string name;  ///< "batch-8.seq-128.tp-1": also its folder
  BenchShape shape;
};

/// Every combination of the values, in the order given. Each axis is "KEY=V1,V2,..." with KEY
/// batch, seq or tp; error for anything else, an axis given twice, or more than 1,000 points.
Result<std::vector<SweepPoint>> sweep_points(const BenchShape& base,
                                             const std::vector<std::string>& axes);

/// One row of the table: the point's shape and what of its result compares; `result` is null when
/// the point could not run.
nlohmann::ordered_json sweep_row(const SweepPoint& point, const nlohmann::ordered_json& result);

/// The rows as a table.
std::string sweep_text(const nlohmann::ordered_json& rows);

}  // namespace stallscope
