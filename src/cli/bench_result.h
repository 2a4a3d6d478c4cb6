// The result of a reference run, as the JSON of reference.json and as text.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stallscope {

/// The shape and manner of a reference run.
struct BenchShape {
  std::string model = "gpt", precision = "fp32", head = "all";
  uint64_t layers = 4, hidden = 768, heads = 0, batch = 8, sequence = 128, vocabulary = 0,
           features = 0, k = 0, ranks = 1, replicas = 1, parts = 1;
  double dropout = 0, padding = 0;
  bool recompute = false, overlap = false, sequence_parallel = false;
};

/// Joins the report of the recorded run with what the trainer wrote of itself (null: nothing).
nlohmann::ordered_json bench_result(const BenchShape& shape, const nlohmann::ordered_json& report,
                                    const nlohmann::ordered_json& facts);

/// The result as a few lines and tables.
std::string bench_text(const nlohmann::ordered_json& result);

}  // namespace stallscope
