#include "report/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analyze/operator_groups.h"
#include "base/file.h"
#include "base/units.h"
#include "report/build.h"
#include "report/json_parts.h"
#include "report/present.h"
#include "report/report.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr uint64_t kLargestFile = 16 << 20;

std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "unknown";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// The rows of an array of objects, by the text under `key`.
std::map<std::string, Json> rows_by(const Json& reference, const char* array, const char* key) {
  std::map<std::string, Json> rows;
  const auto found = reference.find(array);
  if (found == reference.end() || !found->is_array()) return rows;
  for (const Json& row : *found)
    if (row.is_object() && row.contains(key) && row[key].is_string())
      rows[row[key].get<std::string>()] = row;
  return rows;
}

Result<Json> read_reference(const std::string& file) {
  const Result<std::string> content = read_file(file, kLargestFile);
  if (!content) return content.error();
  Json reference = Json::parse(*content, nullptr, false);
  const bool is_one = reference.is_object() && text(reference, "kind") == "stallscope-reference";
  const Json step = is_one && reference.contains("stepTimeNs") ? reference["stepTimeNs"] : Json();
  if (!step.is_object() || !number(step, "median") || *number(step, "median") <= 0)
    return Error{.message = "is no reference with a step time",
                 .file = file,
                 .remedy = "write one with stallscope bench"};
  return reference;
}

std::string description_of(const Json& reference) {
  return fmt::format(
      "{}, {} layers, hidden {}, batch {}, sequence {}, {}, {} head, tensor parallel {}, on {}",
      text(reference, "model"), text(reference, "layers"), text(reference, "hidden"),
      text(reference, "batch"), text(reference, "sequence"), text(reference, "precision"),
      text(reference, "head"), text(reference, "tensorParallel"), text(reference, "device"));
}

std::string known(const Report& report, const char* key) {
  const auto found = report.environment.find(key);
  return found == report.environment.end() ? std::string() : found->second;
}

// What a size of the run's shape is called in a reference, and whether steps that differ in it do
// another amount of work altogether.
struct ShapeField {
  std::string_view key;
  const char* field;
  bool decides;
};
constexpr ShapeField kShapeFields[] = {
    {"model", "model", true}, {"layers", "layers", true}, {"hidden", "hidden", true},
    {"batch", "batch", true}, {"seq", "sequence", true},  {"features", "features", true},
    {"k", "k", true},         {"heads", "heads", false},  {"vocabulary", "vocabulary", false},
};

struct ShapeNotes {
  std::string other;               ///< "12 layers, the reference 4": another amount of work
  std::vector<std::string> notes;  ///< what differs a little, and what is not known
};

ShapeNotes shape_notes(const RunShape& shape, const Json& reference) {
  ShapeNotes out;
  std::string unknown;
  for (const auto& [key, field, decides] : kShapeFields) {
    const std::string theirs = text(reference, field);
    if (theirs == "unknown") continue;  // a transcoder has no heads, a transformer no features
    const auto ours = shape.find(key);
    if (ours == shape.end()) {
      unknown += fmt::format("{}{} {}", unknown.empty() ? "" : ", ", field, theirs);
    } else if (ours->second == theirs) {
      continue;
    } else if (decides) {
      out.other += fmt::format("{}{} {}, the reference {}", out.other.empty() ? "" : "; ", field,
                               ours->second, theirs);
    } else {
      out.notes.push_back(
          fmt::format("{}: {} here, {} for the reference", field, ours->second, theirs));
    }
  }
  if (!unknown.empty())
    out.notes.push_back("not known of the run, and taken to be the reference's: " + unknown);
  return out;
}

std::string refusal(const Report& report, const Json& reference, const ShapeNotes& shape) {
  if (slowest_rank(report.summary) == nullptr || !report.step_time)
    return "the run has no step time to compare";
  if (std::string why = gpu_refusal(report); !why.empty()) return why;
  const std::string cpu = known(report, "cpu.model");
  if (!cpu.empty() && text(reference, "device") != cpu)
    return "the run was on " + cpu + ", the reference on " + text(reference, "device");
  return shape.other.empty() ? std::string() : "the run has " + shape.other;
}

// "all head, no dropout, recomputation"
std::string manner_of(const Json& reference) {
  std::string out = text(reference, "head") + " head, ";
  const double dropout = number(reference, "dropout").value_or(0);
  out += dropout > 0 ? fmt::format("dropout {}", dropout) : "no dropout";
  if (const double padding = number(reference, "padding").value_or(0); padding > 0)
    out += fmt::format(", {} of its tokens padding", format_fraction(padding));
  if (const double parts = number(reference, "accumulate").value_or(1); parts > 1)
    out += fmt::format(", gradients of {:.0f} parts added up", parts);
  if (text(reference, "recompute") == "true") out += ", recomputation";
  return out;
}

std::vector<std::string> differences(const Report& report, const Json& reference,
                                     const RankSummary& rank) {
  std::vector<std::string> out;
  const std::string host = known(report, "host");
  if (host != text(reference, "host"))
    out.push_back(host.empty() ? "the run's machine is not known"
                               : "machine: " + host + " here, " + text(reference, "host") +
                                     " for the reference");
  const double ranks = number(reference, "tensorParallel").value_or(1) *
                       number(reference, "dataParallel").value_or(1);
  if (rank.world_size > 0 && rank.world_size != static_cast<int>(ranks))
    out.push_back(fmt::format("ranks: {} here, {:.0f} for the reference", rank.world_size, ranks));
  const std::string precision = known(report, "products.precision");
  if (!precision.empty() && precision != text(reference, "precision"))
    out.push_back(fmt::format("precision of matrix products: {} here, {} for the reference",
                              precision, text(reference, "precision")));
  out.push_back(
      fmt::format("the run's own {}head and dropout are not in a recording: the reference has {}{}",
                  precision.empty() ? "precision, " : "",
                  precision.empty() ? text(reference, "precision") + ", " : std::string(),
                  manner_of(reference)));
  if (text(reference, "disturbed") == "true")
    out.emplace_back("other programs took the CPUs while the reference ran: its step is too long");
  if (rank.view == RankView::host)
    out.emplace_back("the run did no device work: its classes are those of its step thread");
  return out;
}

std::vector<ReferenceRow> class_rows(const RankSummary& rank, const Json& reference) {
  const auto theirs = rows_by(reference, "breakdown", "class");
  std::vector<ReferenceRow> rows;
  for (const StepClass c : step_classes()) {
    ReferenceRow row{.name = std::string(to_string(c)),
                     .run_ns = static_cast<double>(rank.mean_breakdown[c])};
    if (const auto found = theirs.find(row.name); found != theirs.end())
      row.reference_ns = number(found->second, "durationNs");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ReferenceRow> group_rows(const RankSummary& rank, const Json& reference) {
  const auto theirs = rows_by(reference, "groups", "group");
  // The kernel table counts every step of the trace, discarded ones included: the median launch
  // keeps the warm-up's out.
  const auto steps = static_cast<double>(std::max<size_t>(rank.steps.size(), 1));
  std::vector<ReferenceRow> rows;
  for (size_t g = 0; g < kOperatorGroups; ++g) {
    const auto group = static_cast<OperatorGroup>(g);
    ReferenceRow row{.name = std::string(to_string(group))};
    for (const KernelRow& kernel : rank.kernels) {
      if (operator_group(kernel.name, kernel.op) != group) continue;
      const double launches = static_cast<double>(kernel.count) / steps;
      row.run_ns = row.run_ns.value_or(0) + static_cast<double>(kernel.median) * launches;
      row.run_launches = row.run_launches.value_or(0) + launches;
    }
    if (const auto found = theirs.find(row.name); found != theirs.end()) {
      row.reference_ns = number(found->second, "timeNs");
      row.reference_launches = number(found->second, "launches");
      row.reference_flops = number(found->second, "flops");
      row.reference_bytes = number(found->second, "bytes");
    }
    if (row.run_ns || row.reference_ns) rows.push_back(std::move(row));
  }
  return rows;
}

std::string cell(const std::optional<double>& ns) {
  return ns ? duration_text(*ns) : std::string("unknown");
}

}  // namespace

std::string gpu_refusal(const Report& report) {
  std::string gpu = known(report, "gpu.name");
  if (const std::string interface = known(report, "device.interface");
      gpu.empty() && !interface.empty())
    gpu = "a GPU (" + interface + ")";
  return gpu.empty() ? gpu : "the run used " + gpu + ", the reference runs on CPUs only";
}

Result<ReferenceComparison> compare_with_reference(const Report& report, const RunShape& shape,
                                                   const std::string& file) {
  const Result<Json> reference = read_reference(file);
  if (!reference) return reference.error();
  ReferenceComparison out{.source = file, .description = description_of(*reference)};
  out.reference_step = static_cast<Ns>(*number((*reference)["stepTimeNs"], "median"));
  ShapeNotes notes = shape_notes(shape, *reference);
  out.refused = refusal(report, *reference, notes);
  if (!out.refused.empty()) return out;
  const RankSummary& rank = *slowest_rank(report.summary);
  out.run_step = report.step_time->median;
  out.classes = class_rows(rank, *reference);
  out.groups = group_rows(rank, *reference);
  out.same_view = rank.view == RankView::device;
  out.not_like_for_like = std::move(notes.notes);
  for (std::string& note : differences(report, *reference, rank))
    out.not_like_for_like.push_back(std::move(note));
  return out;
}

std::string reference_text(const ReferenceComparison& it) {
  std::string out = "Reference: " + one_line(it.description) + "\n";
  if (!it.refused.empty()) return out + "  not compared: " + one_line(it.refused) + "\n";
  const auto gap = static_cast<double>(it.run_step - it.reference_step);
  out += fmt::format("  your step {}, a well-written one {} ({:.2f} times)\n",
                     duration_text(static_cast<double>(it.run_step)),
                     duration_text(static_cast<double>(it.reference_step)),
                     static_cast<double>(it.run_step) / static_cast<double>(it.reference_step));
  std::vector<ReferenceRow> rows = it.classes;
  std::ranges::stable_sort(rows, std::greater(),
                           [](const ReferenceRow& row) { return row.difference_ns().value_or(0); });
  if (gap > 0 && it.same_view) {
    std::string parts;
    for (const ReferenceRow& row : rows)
      if (row.difference_ns().value_or(0) > 0.01 * gap)
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                             duration_text(*row.difference_ns()), row.name);
    out += fmt::format("  of the {} between them: {}\n", duration_text(gap), parts);
  }
  for (const ReferenceRow& row : it.groups)
    out += fmt::format("  {:<22} {:>10} here {:>10} there\n", row.name, cell(row.run_ns),
                       cell(row.reference_ns));
  for (const std::string& note : it.not_like_for_like)
    out += "  not like for like: " + one_line(note) + "\n";
  return out;
}

}  // namespace stallscope
