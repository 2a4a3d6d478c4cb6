#include "report/exporter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace stallscope {
namespace {

std::vector<Exporter>& exporter_registry() {
  static std::vector<Exporter> exporters;
  return exporters;
}

constexpr size_t kFlushBytes = 1 << 20;

/// Where a timeline's first highlighted slice begins, or the timeline itself.
Ns offset_of_highlight(const Timeline& timeline) {
  for (const Slice& slice : timeline.slices)
    if (slice.highlighted) return slice.start;
  return 0;
}

}  // namespace

RegisterExporter::RegisterExporter(const Exporter& exporter) {
  exporter_registry().push_back(exporter);
}

const Exporter* find_exporter(std::string_view name) {
  for (const Exporter& exporter : exporter_registry())
    if (exporter.name == name) return &exporter;
  return nullptr;
}

std::vector<Exporter> exporters() {
  std::vector<Exporter> sorted = exporter_registry();
  std::ranges::sort(sorted, {}, &Exporter::name);
  return sorted;
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return Error{.message = std::string("cannot write: ") + std::strerror(errno), .file = path};
  return std::unique_ptr<OutputFile>(new OutputFile(file, path));
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::append(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() >= kFlushBytes) flush();
}

void OutputFile::flush() {
  if (!failed_ && std::fwrite(pending_.data(), 1, pending_.size(), file_) != pending_.size())
    failed_ = true;
  pending_.clear();
}

Status OutputFile::close() {
  flush();
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (failed_ || !closed)
    return Error{
        .message = "cannot write the whole file", .file = path_, .remedy = "check the free space"};
  return ok_status();
}

std::vector<FindingInstant> finding_instants(const Report& report) {
  std::vector<FindingInstant> out;
  std::map<int32_t, Ns> ahead;  // traces are exported on the first rank's clock
  for (const RankSummary& rank : report.summary.ranks) ahead[rank.rank] = rank.clock_offset;
  for (const Finding& finding : report.findings) {
    for (const Timeline& timeline : finding.exemplars) {
      if (timeline.origin >= 0) {
        out.push_back({&finding, timeline.rank,
                       timeline.origin + offset_of_highlight(timeline) - ahead[timeline.rank]});
        continue;
      }
      for (const RankSummary& rank : report.summary.ranks) {
        if (rank.rank != timeline.rank) continue;
        const auto step = std::ranges::find(rank.steps, timeline.step, &Step::index);
        if (step == rank.steps.end()) continue;
        out.push_back({&finding, timeline.rank, step->host_start - rank.clock_offset});
        break;
      }
    }
  }
  return out;
}

}  // namespace stallscope
