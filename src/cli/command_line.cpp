#include <algorithm>
#include <cmath>

#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/command.h"

namespace stallscope {
namespace {

std::vector<Command>& registry() {
  static std::vector<Command> commands;
  return commands;
}

constexpr const char* kFooter =
    "Examples:\n"
    "  stallscope run -- python train.py        record a program, write stallscope-report/\n"
    "  stallscope report trace.json.gz          analyse a trace recorded by another tool\n"
    "  stallscope lint src/                     look for stalls without running anything\n"
    "\n"
    "`stallscope COMMAND --help` explains a command.";

Error unknown(const std::string& what, const std::string& word,
              const std::vector<std::string>& candidates, const std::string& help) {
  const std::vector<std::string_view> known(candidates.begin(), candidates.end());
  const std::string hint = suggestion(word, known);
  return Error{.message = "unknown " + what + " '" + word + "'" + hint,
               .remedy = hint.empty() ? "see `" + help + "`" : ""};
}

}  // namespace

RegisterCommand::RegisterCommand(const Command& command) {
  registry().push_back(command);
}

CLI::Validator zero_or_more() {
  auto check = [](const std::string& text) {
    double value = 0;
    const bool passes =
        CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
    return passes ? std::string() : "'" + text + "' is no number of 0 or more";
  };
  return CLI::Validator(check, "");
}

int fail(const Error& error) {
  print_error(error);
  return kExitCannot;
}

std::vector<Command> commands() {
  std::vector<Command> sorted = registry();
  std::ranges::sort(sorted, {}, &Command::name);
  return sorted;
}

void build_command_line(CommandLine& line) {
  line.app = std::make_unique<CLI::App>(
      "Find what stalls a GPU training job, down to the source line.", "stallscope");
  CLI::App& app = *line.app;
  app.set_version_flag("--version", "stallscope " STALLSCOPE_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.add_flag_callback("--no-color", disable_color, "No colour (also: NO_COLOR, TERM=dumb)");
  app.footer(kFooter);
  app.require_subcommand(1);
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    if (!command.examples.empty()) sub->footer(std::string(command.examples));
    if (command.hidden) sub->group("");
    sub->fallthrough();
    const std::function<int()> run = command.setup(*sub);
    sub->callback([&line, run] { line.chosen = run; });
  }
}

std::vector<const CLI::Option*> visible_options(const CLI::App& app) {
  std::vector<const CLI::Option*> visible;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) visible.push_back(option);
  return visible;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

Error unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return unknown("command", word, names, "stallscope --help");
}

Error unknown_subcommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return unknown("command", word, names, full_name(app) + " --help");
}

Error unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : visible_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return unknown("option", word.substr(0, word.find('=')), names, full_name(app) + " --help");
}

}  // namespace stallscope
