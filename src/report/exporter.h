// Exporters: a Trace as a file that other tools open. Each lives in one file
// (export_*.cpp) and registers itself; nothing else names it.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/report.h"
#include "trace/trace.h"

namespace stallscope {

/// One file being written. Traces are added one at a time, so that memory is
/// that of the largest.
class ExportTarget {
 public:
  virtual ~ExportTarget() = default;
  virtual Status add(const Trace& trace) = 0;
  /// Adds what the analysis found, when there is a report, and closes the file.
  virtual Status finish(const Report* report) = 0;
};

struct Exporter {
  std::string_view name;       ///< "perfetto"
  std::string_view file_name;  ///< default name of the output
  std::string_view description;
  bool many_traces = true;  ///< false: the format holds one trace per file
  Result<std::unique_ptr<ExportTarget>> (*open)(const std::string& path) = nullptr;
};
struct RegisterExporter {
  explicit RegisterExporter(const Exporter& exporter);
};
const Exporter* find_exporter(std::string_view name);
std::vector<Exporter> exporters();

/// A file written in large pieces; the first error is kept until close().
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void append(std::string_view bytes);
  Status close();

 private:
  OutputFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void flush();
  std::FILE* file_;
  std::string path_;
  std::string pending_;
  bool failed_ = false;
};

/// An instant at which a finding was seen, in its trace's own time.
struct FindingInstant {
  const Finding* finding = nullptr;
  int32_t rank = -1;
  Ns at = 0;
};
/// From the findings' exemplars; one whose origin is unknown stands at its step's start.
std::vector<FindingInstant> finding_instants(const Report& report);

}  // namespace stallscope
