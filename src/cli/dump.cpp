// `stallscope dump`: the events of a run as JSON lines.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "import/importer.h"
#include "trace/event_lines.h"

namespace stallscope {
namespace {

struct DumpOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> kinds;
  bool headers = false;
};

bool wanted(const DumpOptions& options, EventKind kind) {
  return options.kinds.empty() ||
         std::ranges::find(options.kinds, to_string(kind)) != options.kinds.end();
}

int dump_events(const DumpOptions& options) {
  const Result<std::vector<std::string>> paths = expand_inputs(options.inputs);
  if (!paths) return fail(paths.error());
  for (const std::string& path : *paths) {
    const Result<Trace> trace = import_trace(path);
    if (!trace) return fail(trace.error());
    std::string text;
    if (options.headers) text = header_lines(*trace);
    for (EventId id = 0; id < trace->size(); ++id) {
      if (!wanted(options, trace->kinds()[id])) continue;
      text += event_line(*trace, id);
      text += '\n';
      constexpr size_t kFlush = 1 << 16;
      if (text.size() < kFlush) continue;
      std::fwrite(text.data(), 1, text.size(), stdout);
      text.clear();
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail({.message = "cannot write to the standard output"});
  return kExitClean;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kEventKinds; ++kind)
    names.emplace_back(to_string(static_cast<EventKind>(kind)));
  return names;
}

const RegisterCommand dump_registration({
    .name = "dump",
    .summary = "Print the events of a run or trace as JSON lines",
    .examples = "Examples:\n"
                "  stallscope dump stallscope-report | head\n"
                "  stallscope dump trace.json.gz --kind kernel --kind memcpy\n"
                "  stallscope dump run --all > run.jsonl    can be read back by `report`",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<DumpOptions>();
      app.add_option("input", options->inputs, "Run folders or trace files")->required();
      app.add_option("--kind", options->kinds, "Only events of this kind (repeatable)")
          ->type_name("KIND")
          ->allow_extra_args(false)
          ->check(CLI::IsMember(kind_names()));
      app.add_flag("--all", options->headers,
                   "Also lines for processes, environment and health, so that `report` can read "
                   "the output back");
      return [options] { return dump_events(*options); };
    },
});

}  // namespace
}  // namespace stallscope
