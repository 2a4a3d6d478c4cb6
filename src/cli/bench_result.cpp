#include "cli/bench_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/operator_groups.h"
#include "base/units.h"
#include "report/json_parts.h"

namespace stallscope {
namespace {

Json over(double amount, double nanoseconds) {
  return nanoseconds > 0 ? Json(amount / nanoseconds * 1e9) : Json();
}

const Json* find_kernel(const Json& facts, const std::string& name) {
  for (const Json& it : facts)
    if (it["name"] == name) return &it;
  return nullptr;
}

/// Time by kernel per step (its median launch times its launches), with its work where the trainer
/// knows it.
Json roofline(const Json& report, const Json& facts, double steps) {
  Json rows = Json::array();
  if (report["ranks"].empty() || !report["ranks"][0]["kernels"].is_array() || steps <= 0)
    return rows;
  const Json works = facts.value("kernels", Json::array());
  std::map<std::string, double> best;  // by product: its time per step when it runs alone
  for (const Json& it : facts.value("productRates", Json::array()))
    best[it["name"]] = it["bestNs"].get<double>();
  for (const Json& kernel : report["ranks"][0]["kernels"]) {
    const std::string name = kernel["name"];
    const Json* work = find_kernel(works, name);
    const double count = kernel["count"].get<double>();
    const double launches = work != nullptr ? (*work)["launches"].get<double>() : count / steps;
    if (launches == 0) continue;  // before the first step only
    const double time = kernel["medianNs"].get<double>() * launches;
    const auto alone = best.find(name);
    rows.push_back(
        {{"name", name},
         {"group", to_string(operator_group(name, ""))},
         {"launches", launches},
         {"timeNs", time},
         {"flops", work != nullptr ? (*work)["flops"] : Json()},
         {"bytes", work != nullptr ? (*work)["bytes"] : Json()},
         {"flopsPerSecond", work != nullptr ? over((*work)["flops"], time) : Json()},
         {"bytesPerSecond", work != nullptr ? over((*work)["bytes"], time) : Json()},
         {"shareOfBest", alone != best.end() && time > 0 ? Json(alone->second / time) : Json()}});
  }
  return rows;
}

Json groups_of(const Json& kernels) {
  std::map<std::string, Json> groups;
  for (const Json& row : kernels) {
    Json& it = groups[row["group"]];
    if (it.is_null())
      it = {{"group", row["group"]},
            {"launches", 0.0},
            {"timeNs", 0.0},
            {"flops", 0.0},
            {"bytes", 0.0}};
    for (const char* field : {"launches", "timeNs", "flops", "bytes"})
      if (row[field].is_number()) it[field] = it[field].get<double>() + row[field].get<double>();
  }
  Json out = Json::array();
  for (auto& [name, it] : groups) out.push_back(std::move(it));
  return out;
}

/// Model FLOP over step time, over the rate of the same products alone in the same run.
Json utilisation(const Json& facts, double step) {
  double flops = 0, best = 0;
  for (const Json& it : facts.value("productRates", Json::array())) {
    flops += it["flops"].get<double>();
    best += it["bestNs"].get<double>();
  }
  // Alone they cannot take longer than with all the rest: then other programs held them up.
  if (step <= 0 || best <= 0 || best > step) return {};
  const double attention = facts.value("attentionFlops", 0.0);
  const double rate = flops / best * 1e9;
  const double again = facts.value("recomputedFlops", 0.0);
  const double model = flops + attention - facts.value("recomputedProductFlops", 0.0);
  return {{"modelFlops", model},
          {"matrixProductFlops", flops},
          {"attentionFlops", attention},
          {"denominatorFlopsPerSecond", rate},
          {"denominator",
           "this step's matrix products alone, each at its best, measured after the run"},
          {"modelFlopUtilisation", model / step * 1e9 / rate},
          {"recomputedFlops", again},
          {"hardwareFlopUtilisation", (model + again) / step * 1e9 / rate},
          {"matrixProductShare", best / step}};
}

std::string cell(const Json& value, double unit, const char* format = "{:.0f}") {
  return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>() / unit) : "-";
}

bool has_finding(const Json& report, std::string_view rule) {
  return std::ranges::any_of(report["findings"],
                             [&](const Json& finding) { return finding["ruleId"] == rule; });
}

// The slowest rank's step time. The trainer marks its steps, so their times hold even where a busy
// machine leaves the report without a verdict on what filled them. Null when no step can be used.
Json step_time_of(const Json& report) {
  Json slowest = report["summary"]["stepTimeNs"];
  if (slowest.is_object()) return slowest;
  for (const Json& rank : report["ranks"]) {
    const Json& step = rank["stepTimeNs"];
    if (step.is_object() && (!slowest.is_object() || step["median"] > slowest["median"]))
      slowest = step;
  }
  return slowest;
}

}  // namespace

Json bench_result(const BenchShape& shape, const Json& report, const Json& facts) {
  const Json step = step_time_of(report);
  const double median = step.is_object() ? step["median"].get<double>() : 0;
  const double steps = report["summary"]["stepsUsed"].get<double>();
  const double tokens = static_cast<double>(shape.batch * shape.sequence);
  double communication = 0;
  for (const Json& row : report["breakdown"])
    if (row["class"] == "exposed-communication") communication = row["fraction"];
  const Json kernels = roofline(report, facts, steps);
  return {{"schemaVersion", "1.0"},
          {"kind", "stallscope-reference"},
          {"model", shape.model},
          {"layers", shape.layers},
          {"hidden", shape.hidden},
          {"heads", facts.value("heads", Json())},
          {"batch", shape.batch},
          {"sequence", shape.sequence},
          {"vocabulary", facts.value("vocabulary", Json())},
          {"features", facts.value("features", Json())},
          {"k", facts.value("k", Json())},
          {"head", shape.head},
          {"precision", shape.precision},
          {"dropout", shape.dropout},
          {"padding", shape.padding},
          {"accumulate", shape.parts},
          {"recompute", shape.recompute},
          {"tensorParallel", shape.ranks},
          {"dataParallel", shape.replicas},
          {"overlap", shape.overlap},
          {"sequenceParallel", shape.sequence_parallel},
          {"device", report["environment"].value("cpu.model", "CPU")},
          {"host", report["environment"].value("host", "")},
          {"threadsPerRank", facts.value("threads", Json())},
          {"instructionSet", facts.value("instructionSet", Json())},
          {"products", facts.value("products", Json())},
          {"denormals", facts.value("denormals", Json())},
          {"parametersPerRank", facts.value("parameters", Json())},
          {"memoryBytesPerRank", facts.value("memoryBytes", Json())},
          {"minimumMemoryBytesPerRank", facts.value("minimumMemoryBytes", Json())},
          {"disturbed", has_finding(report, "node-contention")},
          {"stepsUsed", report["summary"]["stepsUsed"]},
          {"stepTimeNs", step},
          {"tokensPerSecond", median > 0 ? Json(tokens / (median / 1e9)) : Json()},
          {"nonPadTokensPerSecond",
           median > 0 ? Json(facts.value("tokens", tokens) / (median / 1e9)) : Json()},
          {"utilisation", utilisation(facts, median)},
          {"communicationFraction", communication},
          {"breakdown", report["breakdown"]},
          {"groups", groups_of(kernels)},
          {"kernels", kernels},
          {"transcoder", facts.value("transcoder", Json())},
          {"plan", facts.value("plan", Json::array())}};
}

std::string bench_text(const Json& result) {
  const Json& step = result["stepTimeNs"];
  if (!step.is_object())
    return "no step time: too few steps, or steps that tell nothing (report.html says why)\n";
  auto ns = [](const Json& value) { return format_duration(value.get<double>()); };
  std::string out = fmt::format(
      "{} {} layers, hidden {}, batch {}, sequence {}, {}, tensor parallel {}, data parallel {}, "
      "{} "
      "head\n",
      result["model"].get<std::string>(), result["layers"].dump(), result["hidden"].dump(),
      result["batch"].dump(), result["sequence"].dump(), result["precision"].get<std::string>(),
      result["tensorParallel"].dump(), result["dataParallel"].dump(),
      result["head"].get<std::string>());
  out += fmt::format("{} per step ({} to {}), {:.0f} tokens/s\n", ns(step["median"]),
                     ns(step["low"]), ns(step["high"]), result["tokensPerSecond"].get<double>());
  if (result["disturbed"].get<bool>())
    out += "other programs took CPUs meanwhile: on an idle machine the step is shorter\n";
  if (const Json& use = result["utilisation"]; !use.is_object()) {
    out +=
        "model FLOP utilisation unknown: the matrix products have no rate of their own (without "
        "oneDNN, or on a machine too busy to measure it)\n";
  } else {
    out += fmt::format(
        "model FLOP utilisation {}: {:.1f} GFLOP ({:.1f} of attention) over {:.0f} GFLOP/s,\n"
        "  {}; matrix products fill {} of the step\n",
        format_fraction(use["modelFlopUtilisation"]), use["modelFlops"].get<double>() / 1e9,
        use["attentionFlops"].get<double>() / 1e9,
        use["denominatorFlopsPerSecond"].get<double>() / 1e9, use["denominator"].get<std::string>(),
        format_fraction(use["matrixProductShare"]));
  }
  if (const double again = result["utilisation"].is_object()
                               ? result["utilisation"]["recomputedFlops"].get<double>()
                               : 0;
      again > 0)
    out +=
        fmt::format("recomputation adds {:.1f} GFLOP: hardware FLOP utilisation {}\n", again / 1e9,
                    format_fraction(result["utilisation"]["hardwareFlopUtilisation"]));
  if (result["padding"].get<double>() > 0)
    out += fmt::format("{:.0f} tokens/s without padding\n",
                       result["nonPadTokensPerSecond"].get<double>());
  if (result["memoryBytesPerRank"].is_number())
    out += fmt::format("memory {} per rank, {} at least; {}, {} threads, denormals {}\n",
                       format_bytes(result["memoryBytesPerRank"]),
                       format_bytes(result["minimumMemoryBytesPerRank"]),
                       result["products"].get<std::string>(), result["threadsPerRank"].dump(),
                       result["denormals"].get<std::string>());
  if (const Json& it = result["transcoder"]; it.is_object())
    out += fmt::format(
        "features: {} of {} active in the last step, {} never, {} dead (idle for over {} steps)\n"
        "loss: reconstruction {:.6g}, auxiliary {:.3g}, sparsity {:.3g}, pre-activation {:.3g}\n",
        it["activeInLastStep"].dump(), it["features"].dump(), it["neverActive"].dump(),
        it["dead"].dump(), it["deadAfterSteps"].dump(), it["loss"]["reconstruction"].get<double>(),
        it["loss"]["auxiliary"].get<double>(), it["loss"]["sparsity"].get<double>(),
        it["loss"]["preactivation"].get<double>());
  out += "\nwhere the step goes\n";
  for (const Json& row : result["breakdown"])
    out += fmt::format("  {:<24} {:>8}\n", row["class"].get<std::string>(),
                       format_fraction(row["fraction"].get<double>()));
  out += fmt::format("\n{:<34} {:>8} {:>10} {:>8} {:>8} {:>8}\n", "kernel (per step)", "launches",
                     "time", "GFLOP/s", "GB/s", "of best");
  for (const Json& row : result["kernels"])
    out += fmt::format("{:<34} {:>8} {:>10} {:>8} {:>8} {:>8}\n", row["name"].get<std::string>(),
                       cell(row["launches"], 1), ns(row["timeNs"]),
                       cell(row["flopsPerSecond"], 1e9), cell(row["bytesPerSecond"], 1e9, "{:.1f}"),
                       cell(row["shareOfBest"], 0.01, "{:.0f} %"));
  if (!result["plan"].empty()) out += "\nplan\n";
  for (const Json& row : result["plan"])
    out += fmt::format("  {:<32} {:<24} {}\n", row["parameters"].get<std::string>(),
                       row["split"].get<std::string>(), row["shape"].get<std::string>());
  return out;
}

}  // namespace stallscope
