#include "rule/scaffold.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "rule/load.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRule = R"(id: {0}
title: Say here what to do instead, as an imperative
severity: medium            # critical, high, medium, low, info: the worst it may be
languages: [python, cpp]    # python, cpp, cuda
why: |
  Say here what happens and why it costs time.
trace:                      # where it can be seen in a run: `stallscope rules kinds`
  observe: host-sync
  where: {{copy: device-to-host, bytes: "<= 16", step_fraction: ">= 0.5"}}
gain: {{model: remove-sync}}  # remove-kernels, shrink-host, batch-calls, overlap-collective, ...
fix:
  applicability: display    # safe, suggestion, display
  before: |
    x = value.item()
  after: |
    x = value
cases:
  fires: [cases/{0}/fires.jsonl]
  silent: [cases/{0}/silent.jsonl]
)";

// Ten steps; in each a kernel of 60 us, and what follows it.
constexpr const char* kCaseStart =
    R"(# A run in event lines; `stallscope dump DIR` prints a recorded one in this form.
{"repeat":12,"everyNs":200000}
{"kind":"range","name":"step","startNs":0,"durationNs":190000}
{"kind":"api","name":"cudaLaunchKernel","startNs":5000,"durationNs":4000,"correlation":1,"stack":["train.py:10 train"]}
{"kind":"kernel","name":"gemm","startNs":10000,"durationNs":60000,"correlation":1}
)";
constexpr const char* kCopy =
    R"x({"kind":"api","name":"cudaMemcpyAsync","startNs":20000,"durationNs":54000,"correlation":2,"stack":["train.py:11 train"]}
{"kind":"memcpy","name":"Memcpy DtoH (Device -> Pageable)","startNs":70000,"durationNs":2000,"correlation":2,"bytes":4}
{"kind":"api","name":"cudaStreamSynchronize","startNs":74000,"durationNs":3000,"stack":["train.py:11 train"]}
)x";
constexpr const char* kCaseEnd = R"({"end":true}
)";

}  // namespace

Result<std::vector<std::string>> scaffold_rule(const std::string& id, const std::string& folder) {
  const fs::path rule_file = fs::path(folder) / (id + ".yaml");
  const std::string text = fmt::format(fmt::runtime(kRule), id);
  if (const auto rule = parse_rule(text, rule_file.string()); !rule)
    return Error{.message = rule.error().message,
                 .remedy = "Use words joined by '-': copy-in-loop."};
  const fs::path cases = fs::path(folder) / "cases" / id;
  const std::vector<std::pair<fs::path, std::string>> files = {
      {rule_file, text},
      {cases / "fires.jsonl", "# expect: " + id + " train.py:11\n" + kCaseStart + kCopy + kCaseEnd},
      {cases / "silent.jsonl", std::string(kCaseStart) + kCaseEnd}};
  std::error_code error;
  for (const auto& [path, content] : files)
    if (fs::exists(path, error))
      return Error{.message = "file exists already", .file = path.string()};
  fs::create_directories(cases, error);
  if (error)
    return Error{.message = "cannot create the folder: " + error.message(), .file = cases.string()};
  std::vector<std::string> written;
  for (const auto& [path, content] : files) {
    if (const Status status = write_file(path.string(), content); !status) return status.error();
    written.push_back(path.string());
  }
  return written;
}

}  // namespace stallscope
