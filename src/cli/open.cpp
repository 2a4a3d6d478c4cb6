// `stallscope open`: look at a report, and at its trace in Perfetto, from this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/temporary_folder.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/serve.h"
#include "import/importer.h"
#include "report/exporter.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct OpenOptions {
  std::string folder = "stallscope-report";
  int port = 9001;  // the only port that Perfetto's content security policy admits
  bool trace = true;
};

/// Writes the folder's traces as one Perfetto file; empty when it has none.
Result<std::string> perfetto_file(const std::string& folder, const fs::path& into) {
  const std::string inputs[] = {folder};
  const Result<std::vector<std::string>> paths = expand_inputs(inputs);
  const Exporter* exporter = find_exporter("perfetto");
  if (!paths || paths->empty() || exporter == nullptr || into.empty()) return std::string();
  const std::string file = (into / exporter->file_name).string();
  Result<std::unique_ptr<ExportTarget>> target = exporter->open(file);
  if (!target) return target.error();
  for (const std::string& path : *paths) {
    const Result<Trace> trace = import_trace(path);
    if (!trace) return trace.error();
    if (const Status added = (*target)->add(*trace); !added) return added.error();
  }
  if (const Status written = (*target)->finish(nullptr); !written) return written.error();
  return file;
}

int run_open(const OpenOptions& options) {
  const fs::path folder(options.folder);
  if (!fs::exists(folder / "report.html"))
    return fail({.message = "there is no report.html in this folder",
                 .file = options.folder,
                 .remedy = "run `stallscope report` on the trace first"});
  std::vector<ServedFile> files = {
      {"/", (folder / "report.html").string(), "text/html; charset=utf-8"},
      {"/report.html", (folder / "report.html").string(), "text/html; charset=utf-8"},
      {"/report.json", (folder / "report.json").string(), "application/json"}};
  const TemporaryFolder temporary("open");
  bool has_trace = false;
  if (options.trace && fs::exists(folder / "trace")) {
    const Result<std::string> trace = perfetto_file(options.folder, temporary.path());
    if (!trace) print_message("the trace is not served: " + trace.error().to_string());
    has_trace = trace && !trace->empty();
    if (has_trace) files.push_back({"/trace", *trace, "application/octet-stream"});
  }
  const Status served = serve(
      files, {.port = static_cast<uint16_t>(options.port),
              .allowed_origin = "https://ui.perfetto.dev",
              .ready = [&](uint16_t port) {
                std::printf("report: http://127.0.0.1:%u/\n", port);
                if (has_trace)
                  std::printf("trace:  https://ui.perfetto.dev/#!/?url=http://127.0.0.1:%u/trace\n",
                              port);
                std::printf("Press Ctrl-C to stop.\n");
                std::fflush(stdout);
              }});
  return served ? static_cast<int>(kExitClean) : fail(served.error());
}

const RegisterCommand open_registration({
    .name = "open",
    .summary = "Serve a report and its trace to this machine's browser",
    .examples =
        "Examples:\n"
        "  stallscope open stallscope-report       the report, and its trace for ui.perfetto.dev\n"
        "  stallscope open out --port 8080         the report alone is enough on any port",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<OpenOptions>();
      app.add_option("folder", options->folder, "Folder with report.html")->type_name("DIR");
      app.add_option("--port", options->port,
                     "Port on 127.0.0.1; 0 chooses a free one; Perfetto's page needs 9001")
          ->check(CLI::Range(0, 65535));
      app.add_flag("!--no-trace", options->trace, "Serve the report only");
      return [options] { return run_open(*options); };
    },
});

}  // namespace
}  // namespace stallscope
