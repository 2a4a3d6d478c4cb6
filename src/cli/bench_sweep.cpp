#include "cli/bench_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/units.h"
#include "report/json_parts.h"

namespace stallscope {
namespace {

constexpr size_t kMostPoints = 1000;

const std::map<std::string, uint64_t BenchShape::*> kAxes{
    {"batch", &BenchShape::batch}, {"seq", &BenchShape::sequence}, {"tp", &BenchShape::ranks}};

Error bad_axis(const std::string& axis) {
  return Error{.message = "'" + axis + "' is no axis of a sweep",
               .remedy = "write batch=, seq= or tp= and numbers, as batch=1,8"};
}

Result<std::vector<uint64_t>> values_of(const std::string& axis, const std::string& text) {
  std::vector<uint64_t> values;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    uint64_t value = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + comma, value);
    if (read.ec != std::errc() || read.ptr != text.data() + comma || value == 0 ||
        value > uint64_t{1} << 32)
      return bad_axis(axis);
    values.push_back(value);
    at = comma + 1;
  }
  return values;
}

std::string number(const Json& value, const char* format, double unit = 1) {
  return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>() / unit) : "-";
}

}  // namespace

Result<std::vector<SweepPoint>> sweep_points(const BenchShape& base,
                                             const std::vector<std::string>& axes) {
  std::vector<SweepPoint> points{{"", base}};
  std::set<std::string> seen;
  for (const std::string& axis : axes) {
    const std::string key = axis.substr(0, axis.find('='));
    const auto field = kAxes.find(key);
    if (field == kAxes.end() || key.size() == axis.size() || !seen.insert(key).second)
      return bad_axis(axis);
    const auto values = values_of(axis, axis.substr(key.size() + 1));
    if (!values.ok()) return values.error();
    std::vector<SweepPoint> more;
    for (const SweepPoint& point : points) {
      for (const uint64_t value : *values) {
        SweepPoint& it = more.emplace_back(point);
        it.name += (it.name.empty() ? "" : ".") + key + "-" + std::to_string(value);
        it.shape.*field->second = value;
      }
    }
    points = std::move(more);
    if (points.size() > kMostPoints) return Error{.message = "a sweep of more than 1,000 points"};
  }
  return points;
}

Json sweep_row(const SweepPoint& point, const Json& result) {
  const Json use = result.is_object() ? result["utilisation"] : Json();
  auto of = [&](const char* field) { return result.is_object() ? result[field] : Json(); };
  return {
      {"point", point.name},
      {"batch", point.shape.batch},
      {"sequence", point.shape.sequence},
      {"tensorParallel", point.shape.ranks},
      {"stepTimeNs", of("stepTimeNs")},
      {"tokensPerSecond", of("tokensPerSecond")},
      {"modelFlopUtilisation", use.is_object() ? use["modelFlopUtilisation"] : Json()},
      {"denominatorFlopsPerSecond", use.is_object() ? use["denominatorFlopsPerSecond"] : Json()},
      {"communicationFraction", of("communicationFraction")},
      {"memoryBytesPerRank", of("memoryBytesPerRank")}};
}

std::string sweep_text(const Json& rows) {
  std::string out = fmt::format(
      "{:>6} {:>6} {:>4} {:>11} {:>22} {:>10} {:>8} {:>12} {:>7} {:>12}\n", "batch", "seq", "tp",
      "step", "(interval)", "tokens/s", "MFU", "of GFLOP/s", "comm.", "memory/rank");
  for (const Json& row : rows) {
    const Json& step = row["stepTimeNs"];
    auto ns = [&](const char* field) {
      return step.is_object() ? format_duration(step[field].get<double>()) : std::string("-");
    };
    out += fmt::format("{:>6} {:>6} {:>4} {:>11} {:>22} {:>10} {:>8} {:>12} {:>7} {:>12}\n",
                       row["batch"].dump(), row["sequence"].dump(), row["tensorParallel"].dump(),
                       step.is_object() ? ns("median") : "not run", ns("low") + " to " + ns("high"),
                       number(row["tokensPerSecond"], "{:.0f}"),
                       number(row["modelFlopUtilisation"], "{:.1f} %", 0.01),
                       number(row["denominatorFlopsPerSecond"], "{:.0f}", 1e9),
                       number(row["communicationFraction"], "{:.1f} %", 0.01),
                       row["memoryBytesPerRank"].is_number()
                           ? format_bytes(row["memoryBytesPerRank"].get<double>())
                           : "-");
  }
  return out + "MFU: model FLOP utilisation, of the rate of the step's own matrix products alone\n";
}

}  // namespace stallscope
