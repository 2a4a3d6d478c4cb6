// Entry point: parses the command line, prints help and errors in one place.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.h"
#include "base/terminal.h"
#include "cli/command.h"

namespace stallscope {
namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.hidden) names.emplace_back(command.name);
  return names;
}

bool is_command(const std::string& name) {
  return std::ranges::any_of(commands(), [&](const Command& c) { return c.name == name; });
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : visible_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

Error unknown(const std::string& what, const std::string& word,
              const std::vector<std::string>& candidates, const std::string& help) {
  const std::vector<std::string_view> known(candidates.begin(), candidates.end());
  const std::string hint = suggestion(word, known);
  return Error{.message = "unknown " + what + " '" + word + "'" + hint,
               .remedy = hint.empty() ? "see `" + help + "`" : ""};
}

const CLI::App* parsed_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen =
      const_cast<CLI::App&>(app).get_subcommands();  // CLI11 2.1 has no const overload
  return chosen.empty() ? nullptr : chosen.front();
}

/// What CLI11 refused, as a message of ours.
Error explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = parsed_command(app);
  const CLI::App& where = command != nullptr ? *command : app;
  const std::string help =
      command != nullptr ? "stallscope " + command->get_name() + " --help" : "stallscope --help";
  // A misspelt option also shows as a missing required one: name the misspelling.
  for (const std::string& extra : app.remaining(true)) {
    if (extra.size() < 2 || extra[0] != '-') continue;
    return unknown("option", extra.substr(0, extra.find('=')), option_names(where), help);
  }
  return Error{.message = error.what(), .remedy = "see `" + help + "`"};
}

int run_main(int argc, char** argv) {
  CommandLine line;
  build_command_line(line);
  CLI::App& app = *line.app;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kExitCannot;
  }
  if (arguments[0] == "help") {  // `stallscope help run` reads as `stallscope run --help`
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (!arguments[0].starts_with('-') && !is_command(arguments[0])) {
    print_error(unknown("command", arguments[0], command_names(), "stallscope --help"));
    return kExitCannot;
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    print_error(explain(app, error));
    return kExitCannot;
  }
  return line.chosen ? line.chosen() : kExitClean;
}

}  // namespace
}  // namespace stallscope

int main(int argc, char** argv) {
  try {
    return stallscope::run_main(argc, argv);
  } catch (const std::exception& error) {
    stallscope::print_error({.message = std::string("internal error: ") + error.what(),
                             .remedy = "please report this with the command line"});
    return stallscope::kExitCannot;
  }
}
